// run_open.c - opens a run and brings it to its first superstep: with an input, or where the store
// says that it was.
//
//   open: the namespace's head is loaded, the run has the namespace
//     |
//     +-- begin: the input is written and START's routers run, as a superstep; its commit is due
//     |
//     +-- continue: the tasks of the unfinished superstep, with what their records say
#include "graph/run/run_open.h"

#include "graph/core/alloc_runs.h"
#include "graph/core/called_tasks.h"
#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/core/thread_lease.h"
#include "graph/definition/io_schema.h"
#include "graph/engine.h"
#include "graph/node/route.h"
#include "graph/persist/commit.h"
#include "graph/persist/pending_writes.h"
#include "graph/persist/stream.h"
#include "graph/run/apply_writes.h"
#include "graph/task/graph_call.h"
#include "graph/task/retry_timeout.h"
#include "graph/task/run_task.h"
#include "graph/task/subgraph_run.h"
#include "graph/util/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The names of a run's options as bits; *ret stays NULL when there are none.
static int breakpoints(const pons_graph *g, const char *const *names, const char *what,
                       uint64_t **ret, pons_error *err)
{
    for (const char *const *s = names; s && *s; s++) {
        const bool all = strcmp(*s, "*") == 0;
        const uint32_t ix = all ? 0 : pons__graph_node_find(g, *s);
        if (!all && ix >= g->n_nodes) {
            return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                  "interrupt_%s names '%s', which is no node of graph %s", what, *s,
                                  g->name);
        }
        *ret = *ret ? *ret : calloc(g->n_words, sizeof **ret);
        if (!*ret) {
            return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a run");
        }
        for (size_t i = all ? 0 : ix; i < (all ? g->n_nodes : ix + 1); i++) {
            pons__bit_set(*ret, i);
        }
    }
    return PONS_OK;
}

// Whether g or a graph inside it has such a node. seen: the graphs that were looked at, since one may
// be inside in many places.
static bool has_node(const pons_graph *g, const char *name, pons_value *seen)
{
    char key[32];
    snprintf(key, sizeof key, "%p", (const void *)g);
    if (json_object_get(seen, key)) {
        return false;
    }
    json_object_set_new(seen, key, json_true());
    bool found = pons__graph_node_find(g, name) < g->n_nodes;
    for (size_t i = 0; i < g->n_nodes && !found; i++) {
        found = g->nodes[i].sub && has_node(g->nodes[i].sub, name, seen);
        for (size_t k = 0; k < g->nodes[i].n_runs && !found; k++) {
            found = has_node(g->nodes[i].runs[k], name, seen);
        }
    }
    return found;
}

// The names of a run's options as a list; *ret stays NULL when there is none.
static int streamed_nodes(const pons_graph *g, const char *const *names, pons_value **ret,
                          pons_error *err)
{
    for (const char *const *s = names; s && *s; s++) {
        pons_autovalue seen = json_object();
        if (!has_node(g, *s, seen)) {
            return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                  "stream_nodes names '%s', which is no node of graph %s, nor of "
                                  "its subgraphs",
                                  *s, g->name);
        }
        *ret = *ret ? *ret : json_array();
        if (json_array_append_new(*ret, json_string(*s)) != 0) {
            return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a run");
        }
    }
    return PONS_OK;
}

int pons__run_open(pons_thread *t, const pons_graph *g, const char *name,
                   const pons_run_options *opts, const pons__loop *loop, pons_run **ret,
                   pons_error *err)
{
    if (pons__graph_given(g, err) != PONS_OK) {
        return PONS_EINVAL;
    }
    pons__ns *ns = pons__ns_get(t, name, err);
    if (!ns) {
        return PONS_EINVAL;
    }
    pons_run *old = ns->active;
    if (old && old->state != PONS_RUN_DONE && old->state != PONS_RUN_FAILED) {
        return pons_error_set(err, PONS_EBUSY, PONS__MODULE,
                              "namespace '%s' of thread %s has a run under way", name, t->id);
    }
    if (old) { // it has ended and keeps nothing but its outcome
        for (size_t i = 0; i < old->n_pool; i++) {
            pons__task_clear(old->tasks[i]);
        }
        old->n_tasks = 0;
        pons__run_release(old);
        old->ns = NULL;
    }
    int st = pons__ns_load(t, ns, g, t->store.ops != NULL, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_run *r = pons__run_create(t, g, ns, opts, loop);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a run");
    }
    r->durable = t->store.ops != NULL;
    snprintf(r->base, sizeof r->base, "%s", ns->exists ? ns->head : "");
    st = breakpoints(g, r->opts.interrupt_before, "before", &r->before, err);
    if (st == PONS_OK) {
        st = breakpoints(g, r->opts.interrupt_after, "after", &r->after, err);
    }
    if (st == PONS_OK) {
        st = streamed_nodes(g, r->opts.stream_nodes, &r->only, err);
    }
    if (st != PONS_OK) {
        r->state = PONS_RUN_DONE; // nothing was begun
        pons_run_destroy(r);
        return st;
    }
    *ret = r;
    return PONS_OK;
}

// The checkpoints that the graphs around this one stand on: {namespace: id}.
static int parents_of(const pons_run *r, pons_value **ret, pons_error *err)
{
    pons_value *parents = json_object();
    bool ok = parents != NULL;
    for (pons_run *p = r->parent; p && ok; p = p->parent) {
        ok = json_object_set_new(parents, p->ns->name, json_string(pons__run_cp(p))) == 0;
    }
    if (!ok) {
        pons_value_unref(parents);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a subgraph's run");
    }
    *ret = parents;
    return PONS_OK;
}

// The namespace goes on from an input.
static void take_input(pons__ns *ns, const pons_run *r, const char *owner, pons_value *parents)
{
    enum { INPUT_AND_START = 2 };
    pons_value_unref(ns->parents);
    ns->parents = parents;
    pons_value_unref(ns->metadata);
    ns->metadata = pons_value_ref(r->opts.metadata);
    ns->step += INPUT_AND_START;
    ns->run_id_stored = false;
    snprintf(ns->owner, sizeof ns->owner, "%s", owner);
    ns->forked = false;
    ns->lost[0] = '\0'; // what was to run is not any more
}

// The start's superstep: the input is written, START's routers run. Stored by the first advance.
int pons__run_begin(pons_run *r, const pons_value *input, const char *owner,
                    const pons_command *cmd, pons_error *err)
{
    pons__ns *ns = r->ns;
    int st = pons__check_context(r->g, r->opts.context, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_cx *cx = pons__task_add(r, PONS__END, err);
    if (!cx) {
        return PONS_ENOMEM;
    }
    pons_value *before = r->opts.stream ? pons__stream_snapshot(r) : NULL;
    uint64_t run_was = ns->run_id;
    ns->run_id = pons_rand_u64(&r->t->rand);
    cx->bare = cmd != NULL;
    pons__task_start(cx, input);
    if (cmd && cx->state == PONS__TASK_DONE) {
        st = pons__command_routes(cx, cmd, err);
    }
    if (cx->state == PONS__TASK_PARKED) {
        st = pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a router of START can't wait");
    }
    if (cx->state == PONS__TASK_FAILED || cx->broken) {
        st = pons__task_fault(cx, err);
    }
    r->starting = true;
    if (st == PONS_OK) {
        st = pons__apply(r, err);
    }
    r->starting = false;
    pons_value *parents = NULL;
    if (st == PONS_OK && r->parent) {
        st = parents_of(r, &parents, err);
    }
    if (st != PONS_OK) {
        ns->run_id = run_was;
        pons_value_unref(before);
        return st;
    }
    take_input(ns, r, owner, parents);
    r->stopped = pons__run_stop_due(r);
    r->n_tasks = 0;
    r->cp_id[0] = '\0';
    r->cp_stored = false; // what a fork has stored is the state before its input
    r->source = 'l';
    r->input_row = !r->g->quiet && r->opts.durability != PONS_DURABILITY_EXIT;
    r->commit_due = true;
    r->input_id[0] = '\0';
    r->gap = r->durable && !r->input_row && pons__run_note(r, PONS_START);
    if (before && r->input_row) {
        pons__stream_input(r, before);
    } else {
        pons_value_unref(before);
    }
    if (r->opts.stream) {
        pons__stream_state(r, true, true);
    }
    return PONS_OK;
}

// A task that waited goes on waiting; its time-outs begin again.
static void park(pons_cx *cx)
{
    bool waits = pons__task_pending(cx) && pons__task_answered(cx) <= cx->answers_seen;
    for (size_t i = 0; i < cx->n_calls && waits; i++) { // of a task that is gone the node is told
        const pons__call *c = &cx->calls[i];
        waits = c->kind != PONS__CALL_STEP || c->answer || pons__called_find(cx, i);
    }
    if (cx->state != PONS__TASK_TODO || (!cx->wake_ns && !waits)) {
        return;
    }
    cx->state = PONS__TASK_PARKED;
    if (cx->node->policy && !cx->wake_ns) {
        pons__policy_park(cx);
    }
}

int pons__run_continue(pons_run *r, pons_error *err)
{
    pons__ns *ns = r->ns;
    if (ns->step == PONS__STEP_NONE) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__MODULE,
                              "namespace '%s' of thread %s has nothing to go on from", ns->name,
                              r->t->id);
    }
    if (ns->lost[0]) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "checkpoint %s goes on at node '%s', which graph %s does not have",
                              ns->head, ns->lost, r->g->name);
    }
    snprintf(r->cp_id, sizeof r->cp_id, "%s", ns->head);
    r->cp_stored = true;
    r->source = 'l';
    if (r->opts.metadata && pons__ns_more(ns)) { // with the next checkpoint
        pons_value_unref(ns->metadata);
        ns->metadata = pons_value_ref(r->opts.metadata);
        ns->run_id_stored = false;
    }
    int st = pons__ns_more(ns) ? pons__check_context(r->g, r->opts.context, err) : PONS_OK;
    if (st != PONS_OK) {
        return st;
    }
    if (!pons__ns_more(ns)) { // it had ended: its state is there to be read
        r->state = PONS_RUN_DONE;
        if (r->opts.stream) {
            pons__stream_state(r, true, false);
        }
        return pons__run_commit(r, &(pons__extra){0}, err);
    }
    st = pons__run_prepare(r, err);
    if (st == PONS_OK && r->durable) {
        st = pons__records_load(r, err);
    }
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK; i++) {
        park(r->tasks[i]);
    }
    if (r->opts.stream && st == PONS_OK) {
        pons__stream_state(r, true, true);
    }
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_DONE) {
            continue;
        }
        if (cx->node->sub) {
            st = pons__subgraph_open(cx, false, err);
        } else if (cx->node->n_runs > 0) {
            st = pons__graph_call_open(cx, err);
        }
    }
    return st;
}

int pons__run_prepare(pons_run *r, pons_error *err)
{
    if (r->gap && !r->cp_stored && r->supersteps > 0 && !pons__run_note(r, NULL)) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a superstep");
    }
    r->n_tasks = 0;
    r->spare = NULL;
    for (size_t w = 0; w < r->g->n_words; w++) {
        for (uint64_t bits = r->ns->next[w]; bits; bits &= bits - 1) {
            uint32_t ix = (uint32_t)(w * PONS__WORD_BITS) + (uint32_t)__builtin_ctzll(bits);
            if (!pons__task_add(r, ix, err)) {
                return PONS_ENOMEM;
            }
        }
    }
    for (size_t i = 0; i < r->ns->n_sends; i++) {
        pons_cx *cx = pons__task_add(r, r->ns->sends[i].node, err);
        if (!cx) {
            return PONS_ENOMEM;
        }
        cx->arg = pons_value_ref(r->ns->sends[i].arg);
        cx->send_ix = (uint32_t)i + 1;
    }
    r->prepared = true;
    r->step_timed = false;
    return PONS_OK;
}

static bool stops_before(const pons_run *r, size_t node)
{
    return r->g->nodes[node].before || (r->before && pons__bit_get(r->before, node));
}

// Whether interrupt_before or interrupt_after holds the run here.
bool pons__run_stops_here(const pons_run *r)
{
    bool due = false, more = false;
    for (size_t i = 0; i < r->n_tasks; i++) {
        const uint32_t ix = r->tasks[i]->node_ix;
        if (r->tasks[i]->caller || r->tasks[i]->retired) {
            continue;
        }
        due = due || r->tasks[i]->node->after ||
              (r->after && ix < r->g->n_nodes && pons__bit_get(r->after, ix));
    }
    for (size_t i = 0; i < r->g->n_nodes; i++) {
        bool next = pons__bit_get(r->ns->next, i);
        more = more || next;
        due = due || (next && stops_before(r, i));
    }
    for (size_t i = 0; i < r->ns->n_sends; i++) {
        due = due || stops_before(r, r->ns->sends[i].node);
    }
    return (more || r->ns->n_sends > 0) && due;
}
