// subgraph.c - a run inside a task.
//
// The child is a run of its own in a namespace below its parent's: "outer|node:task" fresh for each
// parent task (inherit, none), "outer|node" for one that keeps its state (own). Its checkpoints
// name the parent's task that it belongs to, so a parent task that is run again after a crash finds
// its child unfinished (and goes on with it) or finished (and takes its result), never a
// stranger's.
//
// Channels that both graphs have are copied in when the child starts. When it ends, what it changed
// is written to the parent as one update each: the appended tail of a list, the messages that are
// new, changed or gone, the difference of a sum, an overwrite where nothing smaller is known.
//
// The child is driven as its parent's run is (`loop`), so nothing here knows what drives runs.
#include "graph/task/subgraph.h"

#include "graph/core/chance.h"
#include "graph/core/faults.h"
#include "graph/core/holding.h"
#include "graph/core/life.h"
#include "graph/core/runs.h"
#include "graph/core/writes.h"
#include "graph/engine.h"
#include "graph/node/route.h"

#include <stdio.h>
#include <string.h>

static int name_child(pons_cx *cx, char ret[PONS_NAME_MAX], pons_error *err);
static int copy_in(pons_cx *cx);
static int escape(pons_cx *cx, pons_error *err);
static int copy_out(pons_cx *cx, pons_error *err);
static pons_value *difference(const pons__channel *ch, const pons_value *outer,
                              const pons_value *inner);
static pons_value *overwrite(const pons_value *v);
static pons_value *tail_of(const pons_value *outer, const pons_value *inner);
static pons_value *keys_of(const pons_value *outer, const pons_value *inner);
static pons_value *messages_difference(const pons_value *outer, const pons_value *inner);

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

int pons__subgraph_open(pons_cx *cx, bool start, pons_error *err)
{
    pons_run *r = cx->run;
    char name[PONS_NAME_MAX];
    bool durable = r->durable && cx->node->mode != PONS_SUBGRAPH_NONE;
    if (!start && !durable) {
        return PONS_OK;
    }
    int st = name_child(cx, name, err);
    pons__ns *ns = st == PONS_OK ? pons__ns_get(r->t, name, err) : NULL;
    if (!ns) {
        return PONS_EINVAL;
    }
    if (ns->active) {
        return pons_error_set(err, PONS_EBUSY, PONS__MODULE,
                              "subgraph namespace '%s' has a run under way", name);
    }
    st = pons__ns_load(r->t, ns, cx->node->sub, durable, err);
    if (st != PONS_OK) {
        if (start && st != PONS_EINVAL) {
            pons__cx_break(cx, st, err);
        }
        return st;
    }
    bool mine = ns->exists && strcmp(ns->owner, pons__task_id(cx)) == 0;
    if (!mine && !start) {
        return PONS_OK;
    }
    pons_run *child = pons__run_create(r->t, cx->node->sub, ns, &r->opts, r->loop);
    if (!child) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a subgraph's run");
    }
    child->limit =
        r->opts.recursion_limit > 0 ? r->opts.recursion_limit : cx->node->sub->recursion_limit;
    child->durable = durable;
    if (!r->opts.stream_subgraphs) {
        child->opts.stream = 0;
    }
    child->parent = r;
    child->parent_task = cx;
    cx->child = child;
    if (durable && cx->node->mode == PONS_SUBGRAPH_OWN &&
        ns->base_serial != pons__run_root(r)->serial) { // where a rollback goes back to
        ns->base_serial = pons__run_root(r)->serial;
        snprintf(ns->base, sizeof ns->base, "%s", ns->exists ? ns->head : "");
    }
    if (mine && !pons__ns_more(ns)) { // it had ended
        child->cp_stored = true;
        child->state = PONS_RUN_DONE;
        return PONS_OK;
    }
    if (mine) {
        st = child->loop->go_on(child, err);
    } else {
        st = copy_in(cx);
        if (st == PONS_OK) {
            st = child->loop->begin(child, NULL, pons__task_id(cx), NULL, err);
        }
    }
    if (st != PONS_OK) {
        pons_run_destroy(child);
        cx->child = NULL;
    }
    return st;
}

static int name_child(pons_cx *cx, char ret[PONS_NAME_MAX], pons_error *err)
{
    const char *outer = cx->run->ns->name;
    bool own = cx->node->mode == PONS_SUBGRAPH_OWN;
    int n = snprintf(ret, PONS_NAME_MAX, "%s%s%s%s%s", outer, outer[0] ? "|" : "", cx->node->name,
                     own ? "" : ":", own ? "" : pons__task_id(cx));
    if (n < PONS_NAME_MAX) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                          "the namespace of subgraph '%s' is longer than %d bytes", cx->node->name,
                          PONS_NAME_MAX - 1);
}

static int copy_in(pons_cx *cx)
{
    for (size_t i = 0; i < cx->node->n_shares; i++) {
        const pons__share *sh = &cx->node->shares[i];
        pons__ns *ns = cx->child->ns;
        pons_value *v = cx->run->ns->slots[sh->outer].v;
        if (!v || v == ns->slots[sh->inner].v) {
            continue;
        }
        pons__ns_set(ns, sh->inner, pons_value_ref(v), 0);
    }
    return PONS_OK;
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

static int copy_out(pons_cx *cx, pons_error *err)
{
    for (size_t i = 0; i < cx->node->n_shares; i++) {
        const pons__share *sh = &cx->node->shares[i];
        const pons_value *outer = cx->run->ns->slots[sh->outer].v;
        const pons_value *inner = cx->child->ns->slots[sh->inner].v;
        if (!inner || inner == outer || json_equal(inner, outer)) {
            continue;
        }
        pons_value *update = difference(&cx->run->g->channels[sh->outer], outer, inner);
        int st = update ? pons__cx_write(cx, sh->outer, update, err) : PONS_ENOMEM;
        if (st != PONS_OK) {
            return st;
        }
    }
    return pons__out_move(&cx->out, &cx->child->out); // of one that is not checkpointed
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
    const char *key;
    pons_value *v;
    json_object_foreach((pons_value *)(uintptr_t)outer, key, v)
    {
        if (ok && !json_object_get(inner, key)) {
            ok = json_object_set_new(update, key, json_null()) == 0;
        }
    }
    json_object_foreach((pons_value *)(uintptr_t)inner, key, v)
    {
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
    size_t i;
    pons_value *m;
    json_array_foreach((pons_value *)(uintptr_t)outer, i, m)
    {
        const char *id = pons_get_str(m, "id", "");
        if (!ok || json_array_get(inner, i) == m || by_id(inner, id)) {
            continue;
        }
        pons_value *gone = json_pack("{ssss}", "type", "remove", "id", id);
        ok = json_array_append_new(update, gone) == 0;
    }
    json_array_foreach((pons_value *)(uintptr_t)inner, i, m)
    {
        if (!ok || json_array_get(outer, i) == m) {
            continue; // the common front, as it was
        }
        const pons_value *had = by_id(outer, pons_get_str(m, "id", ""));
        if (!had || !json_equal((pons_value *)(uintptr_t)had, m)) {
            ok = json_array_append_new(update, pons_value_ref(m)) == 0;
        }
    }
    return checked(update, ok);
}
