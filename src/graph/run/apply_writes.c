// apply_writes.c - from what the tasks of a superstep wrote to the next state and the next tasks.
//
// Two passes. The first strings every write to its channel, in task order, and works out what each
// written channel becomes; any conflict ends it with nothing changed. The second changes: channels,
// then what has triggered, then joins, then what goes with the commit. Only the lack of memory can
// end the second; the state is then spoiled and is read from the store again. Only written channels
// are touched, so a step costs the same in a state of ten keys and of a thousand.
#include "graph/run/apply_writes.h"

#include "graph/engine.h"
#include "graph/state/channel_update.h"
#include "graph/state/effect_life.h"
#include "graph/state/list_update.h"
#include "graph/util/bits.h"
#include "pons/growing_list.h"

#include <string.h>

// ---- what is next -------------------------------------------------------------------------------

// Deferred nodes are put aside until nothing else is next.
static void defer(pons_run *r)
{
    pons__ns *ns = r->ns;
    for (size_t w = 0; w < r->g->n_words; w++) {
        ns->waiting[w] |= ns->next[w] & r->g->deferred[w];
        ns->next[w] &= ~r->g->deferred[w];
    }
    if (pons__ns_more(ns)) {
        return;
    }
    memcpy(ns->next, ns->waiting, r->g->n_words * sizeof *ns->next);
    memset(ns->waiting, 0, r->g->n_words * sizeof *ns->waiting);
}

static void trigger(pons_run *r)
{
    pons__ns *ns = r->ns;
    memset(ns->next, 0, r->g->n_words * sizeof *ns->next);
    if (ns->fired) {
        memset(ns->fired, 0, r->g->n_words * sizeof *ns->fired);
    }
    if (ns->n_sends > 0) {
        pons__ns_sends_clear(ns);
    }
    if (r->starting) { // what an unfinished run had left is discarded
        memset(ns->arrived, 0, r->g->n_joins * sizeof *ns->arrived);
        if (ns->waiting) {
            memset(ns->waiting, 0, r->g->n_words * sizeof *ns->waiting);
        }
    }
    for (size_t t = 0; t < r->n_tasks; t++) {
        pons_cx *cx = r->tasks[t];
        for (size_t i = 0; i < cx->n_sends; i++) {
            r->spoiled = !pons__ns_send(ns, cx->sends[i].node, cx->sends[i].arg) || r->spoiled;
            cx->sends[i].arg = NULL;
        }
        if (cx->bare) {
            for (size_t i = 0; i < cx->n_gotos; i++) {
                pons__bit_set(ns->next, cx->gotos[i]);
            }
            continue;
        }
        for (size_t i = 0; i < cx->node->n_edges; i++) {
            if (cx->node->edges[i] != PONS__END) {
                pons__bit_set(ns->next, cx->node->edges[i]);
            }
        }
        for (size_t i = 0; i < cx->n_gotos; i++) {
            pons__bit_set(ns->next, cx->gotos[i]);
        }
        for (size_t i = 0; i < cx->node->n_arms; i++) {
            ns->arrived[cx->node->arms[i].join] |= 1ULL << cx->node->arms[i].bit;
        }
    }
    for (size_t j = 0; j < r->g->n_joins; j++) {
        if (ns->arrived[j] != r->g->joins[j].full) {
            continue;
        }
        ns->arrived[j] = 0;
        if (r->g->joins[j].to != PONS__END) {
            pons__bit_set(ns->next, r->g->joins[j].to);
            pons__bit_set(ns->fired, r->g->joins[j].to);
        }
    }
    if (r->g->deferred) {
        defer(r);
    }
}

static int nomem(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to apply a superstep");
}

// ---- first pass ---------------------------------------------------------------------------------

static bool all_objects(pons_value *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!json_is_object(v[i]) || pons__overwrite(v[i])) {
            return false;
        }
    }
    return true;
}

static bool any_overwrite(pons_value *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (pons__overwrite(v[i])) {
            return true;
        }
    }
    return false;
}

// Says which channel did not take which node's write: the first with which the fold fails.
static void blame(pons_run *r, const pons__stage *s, pons_error *err)
{
    const pons__channel *ch = &r->g->channels[s->ch];
    const pons__slot *slot = &r->ns->slots[s->ch];
    uint32_t at = slot->first;
    for (size_t n = 1; r->flat[at].next != PONS__NONE; n++, at = r->flat[at].next) {
        pons_error ignored = PONS_ERROR_INIT;
        pons_value *v = NULL;
        size_t keep;
        int st = pons__channel_fold(ch, slot->v, r->updates, n, &v, &keep, &ignored);
        if (st != PONS_OK) {
            break;
        }
        pons_value_unref(v);
    }
    if (err) {
        pons_error e = *err;
        pons_error_set(err, e.status, PONS__MODULE, "node '%s' wrote channel '%s': %s",
                       r->tasks[r->flat[at].task]->node->name, ch->name, e.message);
    }
}

// Works out what a channel becomes. The short cuts give what the fold would.
static int stage(pons_run *r, pons__stage *s, pons_error *err)
{
    const pons__channel *ch = &r->g->channels[s->ch];
    pons__slot *slot = &r->ns->slots[s->ch];
    size_t n = 0;
    uint32_t writer = r->flat[slot->first].task;
    for (uint32_t at = slot->first; at != PONS__NONE; at = r->flat[at].next) {
        if (!pons_list_reserve(&r->updates, &r->cap_updates, n + 1, sizeof *r->updates)) {
            return nomem(err);
        }
        r->updates[n++] = r->flat[at].v;
        if (r->flat[at].task != writer && ch->single) {
            return pons_error_set(err, PONS_ECONCURRENT, PONS__MODULE,
                                  "nodes '%s' and '%s' wrote channel '%s' in the same step",
                                  r->tasks[writer]->node->name,
                                  r->tasks[r->flat[at].task]->node->name, ch->name);
        }
    }
    if (ch->appends && (!slot->v || json_is_array(slot->v)) && !any_overwrite(r->updates, n) &&
        (ch->kind != PONS_CHANNEL_MESSAGES ||
         (n == 1 && pons__messages_all_new(&slot->ids, slot->v, r->updates[0])))) {
        s->how = PONS__STAGE_APPEND;
        return PONS_OK;
    }
    if (ch->merges && (!slot->v || json_is_object(slot->v)) && all_objects(r->updates, n)) {
        s->how = PONS__STAGE_MERGE;
        return PONS_OK;
    }
    s->how = PONS__STAGE_SET;
    int st = pons__channel_fold(ch, slot->v, r->updates, n, &s->v, &s->keep, err);
    if (st != PONS_OK && st != PONS_ENOMEM) {
        blame(r, s, err);
    }
    return st;
}

static int gather(pons_run *r, size_t *ret_staged, pons_error *err)
{
    size_t n_flat = 0, n_stage = 0;
    if (++r->ns->mark == 0) { // it wrapped: no slot may look marked
        r->ns->mark = 1;
    }
    for (uint32_t t = 0; t < r->n_tasks; t++) {
        const pons_cx *cx = r->tasks[t];
        if (!pons_list_reserve(&r->flat, &r->cap_flat, n_flat + cx->n_writes, sizeof *r->flat)) {
            return nomem(err);
        }
        for (size_t i = 0; i < cx->n_writes; i++) {
            uint32_t at = (uint32_t)n_flat++;
            r->flat[at] = (pons__flat){cx->writes[i].v, cx->writes[i].ch, t, PONS__NONE};
            pons__slot *s = &r->ns->slots[cx->writes[i].ch];
            if (s->mark == r->ns->mark) {
                r->flat[s->last].next = at;
            } else {
                if (!pons_list_reserve(&r->stage, &r->cap_stage, n_stage + 1, sizeof *r->stage)) {
                    return nomem(err);
                }
                r->stage[n_stage++] = (pons__stage){.ch = cx->writes[i].ch};
                s->mark = r->ns->mark;
                s->first = at;
            }
            s->last = at;
        }
    }
    *ret_staged = n_stage;
    return PONS_OK;
}

static void unstage(pons_run *r, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (r->stage[i].how == PONS__STAGE_SET) {
            pons_value_unref(r->stage[i].v);
        }
    }
}

// Two tasks of a step that moved one effect must have moved it along its life.
static int check_effects(pons_run *r, pons_error *err)
{
    for (size_t t = 1; t < r->n_tasks; t++) {
        const pons__out *o = &r->tasks[t]->out;
        for (size_t i = 0; i < o->n_changes; i++) {
            for (size_t u = t; u-- > 0;) {
                const pons__change *c = pons__out_change(&r->tasks[u]->out, o->changes[i].id);
                if (!c) {
                    continue;
                }
                int st = pons__effect_check_move(c->state, o->changes[i].state, c->id, err);
                if (st != PONS_OK) {
                    return st;
                }
                break;
            }
        }
    }
    return PONS_OK;
}

// ---- second pass --------------------------------------------------------------------------------

// The slot's value, ours alone to change: made, or copied when somebody else holds it. NULL: no
// memory.
static pons_value *own_value(pons__slot *s, bool list)
{
    if (s->v && s->v->refcount == 1) {
        return s->v;
    }
    pons_value *own = s->v ? json_copy(s->v) : list ? json_array() : json_object();
    if (!own) {
        return NULL;
    }
    pons_value_unref(s->v);
    s->v = own;
    return own;
}

static bool append(pons_run *r, uint32_t ch)
{
    pons__slot *s = &r->ns->slots[ch];
    pons_value *list = own_value(s, true);
    bool ok = list != NULL;
    size_t before = json_array_size(list);
    for (uint32_t at = s->first; at != PONS__NONE && ok; at = r->flat[at].next) {
        ok = pons__list_extend(list, r->flat[at].v);
    }
    if (json_array_size(list) != before) {
        pons__ns_mark_dirty(r->ns, ch);
    }
    return ok;
}

static bool merge(pons_run *r, uint32_t ch)
{
    pons__slot *s = &r->ns->slots[ch];
    if (!s->dirty && s->v && s->stored && r->durable) {
        s->merged = json_object(); // without memory for it, the value is stored whole
    }
    pons_value *obj = own_value(s, false);
    bool ok = obj != NULL;
    for (uint32_t at = s->first; at != PONS__NONE && ok; at = r->flat[at].next) {
        ok = pons__object_merge(obj, r->flat[at].v, false);
        if (s->merged) {
            ok = pons__object_merge(s->merged, r->flat[at].v, true) && ok;
        }
    }
    pons__ns_mark_dirty(r->ns, ch);
    return ok;
}

static bool set_staged(pons_run *r, pons__stage *st)
{
    pons__slot *s = &r->ns->slots[st->ch];
    const pons__channel *ch = &r->g->channels[st->ch];
    bool ok = true;
    if (st->how == PONS__STAGE_APPEND) {
        ok = append(r, st->ch);
    } else if (st->how == PONS__STAGE_MERGE) {
        ok = merge(r, st->ch);
    } else if (s->v && (s->v == st->v || (r->durable && ch->tracked && json_equal(s->v, st->v)))) {
        pons_value_unref(st->v); // written, but not changed
    } else {
        pons__ns_swap(r->ns, st->ch, st->v, st->keep);
        if (ch->kind == PONS_CHANNEL_MESSAGES) {
            pons__ids_reset(&s->ids);
        }
    }
    if (ch->transient && s->v && !s->live) {
        s->live = true;
        r->ns->live[r->ns->n_live++] = st->ch;
    }
    return ok;
}

static void clear_transient(pons_run *r)
{
    pons__ns *ns = r->ns;
    size_t n = 0;
    for (size_t i = 0; i < ns->n_live; i++) {
        pons__slot *s = &ns->slots[ns->live[i]];
        if (s->mark == r->ns->mark) {
            ns->live[n++] = ns->live[i];
            continue;
        }
        pons_value_unref(s->v);
        s->v = NULL;
        s->keep = 0;
        s->live = false;
        pons__ns_mark_dirty(ns, ns->live[i]);
    }
    ns->n_live = n;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__apply(pons_run *r, pons_error *err)
{
    size_t n = 0, done = 0;
    int st = gather(r, &n, err);
    r->wrote = n > 0;
    for (; done < n && st == PONS_OK; done++) {
        st = stage(r, &r->stage[done], err);
    }
    if (st == PONS_OK) {
        st = check_effects(r, err);
    }
    if (st != PONS_OK) {
        unstage(r, done);
        return st;
    }
    for (size_t i = 0; i < n; i++) {
        r->spoiled = !set_staged(r, &r->stage[i]) || r->spoiled;
    }
    if (r->ns->n_live > 0) {
        clear_transient(r);
    }
    trigger(r);
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons__out *o = &r->tasks[i]->out;
        if (pons__out_empty(o)) {
            continue;
        }
        for (size_t k = 0; k < o->n_taken; k++) {
            if (o->taken[k] > r->ns->inbox_after) {
                r->ns->inbox_after = o->taken[k];
            }
        }
        r->spoiled = pons__out_move(&r->out, o) != PONS_OK || r->spoiled;
    }
    return r->spoiled ? nomem(err) : PONS_OK;
}
