// subgraph_run.c - a run inside a task.
//
// The child is a run of its own in a namespace below its parent's: "outer|node:task" fresh for each
// parent task (inherit, none), "outer|node" for one that keeps its state (own); when several tasks
// of a step are that node, those after the first have "outer|node:#1", ":#2", … of their own. Its
// checkpoints name the parent's task that it belongs to, so a parent task that is run again after a
// crash finds its child unfinished (and goes on with it) or finished (and takes its result), never
// a stranger's.
//
//   triggered: shared channels --copied (own: folded into what it remembers)--+
//                                                                             v
//   a Send:    the argument, as an input ----------------------------> the child's state
//                                                                             |
//   the parent's channels <-- one update a shared channel: what it changed <--+
//
// What it changed since it began is the appended tail of a list, the messages that are new, changed
// or gone, the difference of a sum, an overwrite where nothing smaller is known. Nothing of the
// parent flows into the child of a Send or into a mapped output, so there the whole value is the
// update; a list or a sum that the child remembers from earlier runs is left out by a *mark* of what
// it was when the run began, which is stored with the child's run (`began`).
//
// The child is driven as its parent's run is (`loop`), so nothing here knows what drives runs.
#include "graph/task/subgraph_run.h"

#include "graph/core/alloc_runs.h"
#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_random.h"
#include "graph/core/task_writes.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/node/route.h"
#include "graph/state/channel_update.h"
#include "pons/log.h"

#include <stdio.h>
#include <string.h>

// ---- marks --------------------------------------------------------------------------------------

// The first n items of a list, as a hash.
static void front_hash(const pons_value *list, size_t n, char ret[33])
{
    pons_autovalue front = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(front, pons_value_ref(json_array_get(list, i)));
    }
    pons_value_hash(front, ret);
}

// What lists and sums that flow out are when the run of an own subgraph begins.
static int mark_begin(pons_cx *cx, pons_error *err)
{
    pons__ns *ns = cx->child->ns;
    pons_value_unref(ns->began);
    ns->began = NULL;
    if (cx->node->mode != PONS_SUBGRAPH_OWN) {
        return PONS_OK;
    }
    bool ok = true;
    for (size_t i = 0; i < cx->node->n_shares; i++) {
        const pons__channel *ch = &ns->g->channels[cx->node->shares[i].inner];
        const pons_value *v = ns->slots[cx->node->shares[i].inner].v;
        pons_value *mark = NULL;
        if (ch->reduce == pons_reduce_add && json_is_number(v)) {
            mark = pons_value_ref(v);
        } else if (ch->appends && ch->kind != PONS_CHANNEL_MESSAGES && json_is_array(v)) {
            char hash[33];
            front_hash(v, json_array_size(v), hash);
            mark = json_pack("[Is]", (json_int_t)json_array_size(v), hash);
        } else {
            continue;
        }
        ns->began = ns->began ? ns->began : json_object();
        ok = json_object_set_new(ns->began, ch->name, mark) == 0 && ok;
    }
    return ok ? PONS_OK
              : pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a subgraph's run");
}

// ---- ending -------------------------------------------------------------------------------------

// The child's command to this graph. What its task has said goes with this one; messages that it
// has read are left where they are.
static int escape(pons_cx *cx, pons_error *err)
{
    pons_cx *from = cx->child->escaped;
    from->out.n_taken = 0;
    int st = pons__out_move(&cx->out, &from->out);
    if (st == PONS_OK && !cx->child->durable) {
        st = pons__out_move(&cx->out, &cx->child->out);
    }
    return st == PONS_OK ? pons__cx_escape(cx, from->escape, err) : st;
}

static pons_value *overwrite(const pons_value *v)
{
    return pons_object_whole("__overwrite__", pons_value_ref(v), NULL);
}

// An update under construction, given up on when it could not take something.
static pons_value *checked(pons_value *update, bool ok)
{
    if (ok) {
        return update;
    }
    pons_value_unref(update);
    return NULL;
}

// What a list or a sum got since its mark.
static pons_value *since(const pons__channel *ch, const pons_value *mark, bool flowed,
                         const pons_value *inner)
{
    if (!ch->folds) {
        return pons_value_ref(inner);
    }
    if (json_is_integer(mark) && json_is_integer(inner)) {
        json_int_t d = json_integer_value(inner) - json_integer_value(mark);
        return d ? json_integer(d) : PONS_ABSENT;
    }
    if (json_is_number(mark) && json_is_number(inner)) {
        double d = json_number_value(inner) - json_number_value(mark);
        return d < 0 || d > 0 ? json_real(d) : PONS_ABSENT;
    }
    size_t had = (size_t)json_integer_value(json_array_get(mark, 0));
    if (!json_is_array(mark) || !json_is_array(inner) || json_array_size(inner) < had) {
        return flowed ? overwrite(inner) : pons_value_ref(inner);
    }
    char hash[33];
    front_hash(inner, had, hash);
    if (strcmp(hash, json_string_value(json_array_get(mark, 1))) != 0) {
        return flowed ? overwrite(inner) : pons_value_ref(inner);
    }
    if (json_array_size(inner) == had) {
        return PONS_ABSENT;
    }
    pons_value *tail = json_array();
    bool ok = tail != NULL;
    for (size_t i = had; i < json_array_size(inner) && ok; i++) {
        ok = json_array_append_new(tail, pons_value_ref(json_array_get(inner, i))) == 0;
    }
    return checked(tail, ok);
}

// The items of inner behind those of outer, or an overwrite when its front is another.
static pons_value *tail_of(const pons_value *outer, const pons_value *inner)
{
    size_t had = json_array_size(outer), has = json_array_size(inner);
    if (has < had) {
        return overwrite(inner);
    }
    for (size_t i = 0; i < had; i++) {
        if (!json_equal(json_array_get(outer, i), json_array_get(inner, i))) {
            return overwrite(inner);
        }
    }
    pons_value *tail = json_array();
    bool ok = tail != NULL;
    for (size_t i = had; i < has && ok; i++) {
        ok = json_array_append_new(tail, pons_value_ref(json_array_get(inner, i))) == 0;
    }
    return checked(tail, ok);
}

static pons_value *keys_of(const pons_value *outer, const pons_value *inner)
{
    pons_value *update = json_object();
    bool ok = update != NULL;
    pons_each_member(key, v, outer) {
        if (ok && !json_object_get(inner, key)) {
            ok = json_object_set_new(update, key, json_null()) == 0;
        }
    }
    pons_each_member(key, v, inner) {
        if (ok && !json_equal(json_object_get(outer, key), v)) {
            ok = json_object_set_new(update, key, pons_value_ref(v)) == 0;
        }
    }
    return checked(update, ok);
}

static const pons_value *by_id(const pons_value *list, const char *id)
{
    for (size_t i = json_array_size(list); i-- > 0;) {
        if (strcmp(pons_get_str(json_array_get(list, i), "id", ""), id) == 0) {
            return json_array_get(list, i);
        }
    }
    return NULL;
}

static pons_value *messages_difference(const pons_value *outer, const pons_value *inner)
{
    pons_value *update = json_array();
    bool ok = update != NULL;
    pons_each(m, outer) {
        const char *id = pons_get_str(m, "id", "");
        if (!ok || json_array_get(inner, m_at) == m || by_id(inner, id)) {
            continue;
        }
        pons_value *gone = json_pack("{ssss}", "type", "remove", "id", id);
        ok = json_array_append_new(update, gone) == 0;
    }
    pons_each(m, inner) {
        if (!ok || json_array_get(outer, m_at) == m) {
            continue; // the common front, as it was
        }
        const pons_value *had = by_id(outer, pons_get_str(m, "id", ""));
        if (!had || !json_equal((pons_value *)(uintptr_t)had, m)) {
            ok = json_array_append_new(update, pons_value_ref(m)) == 0;
        }
    }
    return checked(update, ok);
}

// The update that makes inner of outer.
static pons_value *difference(const pons__channel *ch, const pons_value *outer,
                              const pons_value *inner)
{
    if (ch->kind == PONS_CHANNEL_MESSAGES) {
        return messages_difference(outer, inner);
    }
    if (!ch->folds || ch->kind == PONS_CHANNEL_TOPIC || ch->reduce == pons_reduce_union) {
        return pons_value_ref(inner);
    }
    if (ch->appends && json_is_array(inner) && (!outer || json_is_array(outer))) {
        return tail_of(outer, inner);
    }
    if (ch->reduce == pons_reduce_add && json_is_integer(outer) && json_is_integer(inner)) {
        return json_integer(json_integer_value(inner) - json_integer_value(outer));
    }
    if (ch->reduce == pons_reduce_add && !outer) {
        return pons_value_ref(inner);
    }
    if (ch->merges && json_is_object(outer) && json_is_object(inner)) {
        return keys_of(outer, inner);
    }
    return overwrite(inner);
}

// What the child made of a shared channel, as an update; PONS_ABSENT when it changed nothing.
static pons_value *update_of(const pons_cx *cx, const pons__share *sh)
{
    const pons__channel *ch = &cx->run->g->channels[sh->outer];
    const pons__channel *in = &cx->node->sub->channels[sh->inner];
    const pons_value *outer = cx->run->ns->slots[sh->outer].v;
    const pons_value *inner = cx->child->ns->slots[sh->inner].v;
    const pons_value *mark = json_object_get(cx->child->ns->began, in->name);
    const bool flowed = sh->in && !cx->send_ix;
    if (!inner) {
        return PONS_ABSENT;
    }
    if (mark) {
        return since(ch, mark, flowed, inner);
    }
    if (flowed) {
        return inner == outer || json_equal(inner, outer) ? PONS_ABSENT
                                                          : difference(ch, outer, inner);
    }
    const pons_value *given = cx->send_ix ? json_object_get(cx->arg, in->name) : NULL;
    if (given && !in->folds && json_equal(given, inner)) {
        return PONS_ABSENT; // its input, as it came
    }
    return pons_value_ref(inner);
}

static int copy_out(pons_cx *cx, pons_error *err)
{
    for (size_t i = 0; i < cx->node->n_shares; i++) {
        const pons__share *sh = &cx->node->shares[i];
        pons_value *update = sh->out ? update_of(cx, sh) : PONS_ABSENT;
        if (update == PONS_ABSENT) {
            continue;
        }
        int st = update ? pons__cx_write(cx, sh->outer, update, err) : PONS_ENOMEM;
        if (st != PONS_OK) {
            return st;
        }
    }
    return pons__out_move(&cx->out, &cx->child->out); // of one that is not checkpointed
}

// ---- public functions ---------------------------------------------------------------------------

int pons__subgraph_run(pons_cx *cx, pons_error *err)
{
    int st = cx->child ? PONS_OK : pons__subgraph_open(cx, true, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_run *child = cx->child;
    st = child->loop->advance(child, err);
    if (st != PONS_OK) {
        pons__cx_break(cx, st, err);
        return st;
    }
    switch (child->state) {
    case PONS_RUN_READY:
    case PONS_RUN_PARKED:
    case PONS_RUN_INTERRUPTED:
        return PONS_EPARKED;
    case PONS_RUN_FAILED:
        *err = child->error;
        return child->error.status;
    case PONS_RUN_DONE:
        if (child->escaped) {
            return escape(cx, err);
        }
        break;
    }
    return copy_out(cx, err);
}

// ---- opening ------------------------------------------------------------------------------------

// Fresh ones take the parent's values; one that remembers folds them into its own, as an input.
static int copy_in(pons_cx *cx, pons_error *err)
{
    pons__ns *ns = cx->child->ns;
    for (size_t i = 0; i < cx->node->n_shares; i++) {
        const pons__share *sh = &cx->node->shares[i];
        const pons__channel *ch = &ns->g->channels[sh->inner];
        pons_value *v = sh->in ? cx->run->ns->slots[sh->outer].v : NULL;
        pons_value *own = ns->slots[sh->inner].v, *folded = NULL;
        if (!v || (v == own && !ch->folds)) {
            continue;
        }
        size_t keep = 0;
        int st = PONS_OK;
        if (own && ns->step != PONS__STEP_NONE && ch->folds) {
            st = pons__channel_fold(ch, own, &v, 1, &folded, &keep, err);
        } else {
            folded = pons_value_ref(v);
        }
        if (st != PONS_OK) {
            return st;
        }
        pons__ns_set(ns, sh->inner, folded, keep);
    }
    return PONS_OK;
}

// A Send's argument, without what the child has no channel for, and what the engine has itself there:
// who sends its own state sends these with it.
static int input_of(pons_cx *cx, pons_value **ret, pons_error *err)
{
    pons_value *input = json_object();
    if (!json_is_object(cx->arg)) {
        pons_value_unref(input);
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "the argument of a Send to subgraph '%s' is its input: an object "
                              "{channel: value}",
                              cx->node->name);
    }
    bool ok = input != NULL;
    pons_each_member(name, v, cx->arg) {
        const uint32_t ch = pons__graph_channel_find(cx->node->sub, name);
        if (ch != PONS__NONE) {
            if (cx->node->sub->channels[ch].kind < PONS_CHANNEL_IS_LAST_STEP) {
                ok = ok && json_object_set_new(input, name, pons_value_ref(v)) == 0;
            }
            continue;
        }
        pons_log(PONS_LOG_WARN, PONS__MODULE,
                 "thread %s step %lld: a Send to subgraph '%s' names unknown channel '%s': dropped",
                 cx->run->t->id, (long long)cx->run->ns->step + 1, cx->node->name, name);
    }
    if (!ok) {
        pons_value_unref(input);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a subgraph's run");
    }
    *ret = input;
    return PONS_OK;
}

// What flows in, then the child's first superstep.
static int begin(pons_cx *cx, pons_error *err)
{
    pons_autovalue input = NULL;
    int st = cx->send_ix ? input_of(cx, &input, err) : copy_in(cx, err);
    if (st == PONS_OK) {
        st = mark_begin(cx, err);
    }
    return st == PONS_OK ? cx->child->loop->begin(cx->child, input, pons__task_id(cx), NULL, err)
                         : st;
}

int pons__subgraph_open(pons_cx *cx, bool start, pons_error *err)
{
    const bool own = cx->node->mode == PONS_SUBGRAPH_OWN;
    const size_t before = pons__child_before(cx);
    char place[PONS_NAME_MAX] = "";
    if (!start && (!cx->run->durable || cx->node->mode == PONS_SUBGRAPH_NONE)) {
        return PONS_OK;
    }
    if (!own) {
        snprintf(place, sizeof place, ":%s", pons__task_id(cx));
    } else if (before > 0) {
        snprintf(place, sizeof place, ":#%zu", before);
    }
    bool fresh = false;
    int st = pons__child_open(
        cx,
        &(pons__child){
            .g = cx->node->sub, .mode = cx->node->mode, .place = place, .owner = pons__task_id(cx)},
        start, &fresh, err);
    if (st == PONS_OK && fresh) {
        st = begin(cx, err);
    }
    if (st != PONS_OK && cx->child) {
        pons_run_destroy(cx->child);
        cx->child = NULL;
    }
    return st;
}

size_t pons__child_before(const pons_cx *cx)
{
    size_t before = 0;
    for (size_t i = 0; i < cx->run->n_tasks && cx->run->tasks[i] != cx; i++) {
        before += cx->run->tasks[i]->node_ix == cx->node_ix;
    }
    return before;
}

static pons_run *make_child(pons_cx *cx, const pons__child *o, pons__ns *ns, bool durable)
{
    pons_run *r = cx->run;
    pons_run *child = pons__run_create(r->t, o->g, ns, &r->opts, r->loop);
    if (!child) {
        return NULL;
    }
    child->limit = r->opts.recursion_limit > 0 ? r->opts.recursion_limit : o->g->recursion_limit;
    child->durable = durable;
    child->mode = o->mode;
    child->opts.interrupt_before = child->opts.interrupt_after = child->opts.stream_nodes = NULL;
    if (!r->opts.stream_subgraphs) {
        child->opts.stream = 0;
    }
    child->parent = r;
    child->parent_task = cx;
    cx->child = child;
    if (durable && o->mode == PONS_SUBGRAPH_OWN &&
        ns->base_serial != pons__run_root(r)->serial) { // where a rollback goes back to
        ns->base_serial = pons__run_root(r)->serial;
        snprintf(ns->base, sizeof ns->base, "%s", ns->exists ? ns->head : "");
    }
    return child;
}

// "outer|node", and where in it.
static int name_child(const pons_cx *cx, const char *place, char ret[PONS_NAME_MAX],
                      pons_error *err)
{
    const char *outer = cx->run->ns->name;
    int n =
        snprintf(ret, PONS_NAME_MAX, "%s%s%s%s", outer, outer[0] ? "|" : "", cx->node->name, place);
    if (n < PONS_NAME_MAX) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                          "the namespace of subgraph '%s' is longer than %d bytes", cx->node->name,
                          PONS_NAME_MAX - 1);
}

int pons__child_open(pons_cx *cx, const pons__child *o, bool start, bool *ret_fresh,
                     pons_error *err)
{
    pons_run *r = cx->run;
    char name[PONS_NAME_MAX];
    const bool durable = r->durable && o->mode != PONS_SUBGRAPH_NONE;
    int st = name_child(cx, o->place, name, err);
    pons__ns *ns = st == PONS_OK ? pons__ns_get(r->t, name, err) : NULL;
    if (!ns) {
        return PONS_EINVAL;
    }
    if (ns->active &&
        (ns->active->state == PONS_RUN_DONE || ns->active->state == PONS_RUN_FAILED)) {
        pons__run_release(ns->active); // of an earlier step, whose task nobody has cleared yet
    }
    if (ns->active) {
        return pons_error_set(err, PONS_EBUSY, PONS__MODULE,
                              "subgraph namespace '%s' has a run under way", name);
    }
    st = pons__ns_load(r->t, ns, o->g, durable, err);
    if (st != PONS_OK) {
        if (start && st != PONS_EINVAL) {
            pons__cx_break(cx, st, err);
        }
        return st;
    }
    bool mine = ns->exists && strcmp(ns->owner, o->owner) == 0;
    if (!mine && !start) {
        return PONS_OK;
    }
    pons_run *child = make_child(cx, o, ns, durable);
    if (!child) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a subgraph's run");
    }
    if (mine && !pons__ns_more(ns)) { // it had ended
        child->cp_stored = true;
        child->state = PONS_RUN_DONE;
        return PONS_OK;
    }
    *ret_fresh = !mine;
    return mine ? child->loop->go_on(child, err) : PONS_OK;
}
