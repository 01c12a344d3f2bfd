// run_task.c - how a task is run: a pass of START's input or of a node, then its routers.
//
//   rewind -> timed out? -> cached? -> node, worker or subgraph -> routers -> done
//     ^                                        |                              failed -> policy
//     |                                        v                                         |
//     +------- an answer came ------------- parked                                       |
//     +------- another attempt is due <--------------------------------------------------+
//
// Where a host works beside itself (pons_graph_begin), a superstep's passes are all opened first, as
// far as the node, and finished one after the other.
//
// A rewind drops what the last pass wrote and keeps its awaits, time, seed and inbox bound.
#include "graph/task/run_task.h"

#include "graph/core/alloc_runs.h"
#include "graph/core/task_calls.h"
#include "graph/core/task_observer.h"
#include "graph/core/task_writes.h"
#include "graph/definition/io_schema.h"
#include "graph/engine.h"
#include "graph/persist/commit.h"
#include "graph/task/blocking_node.h"
#include "graph/task/future.h"
#include "graph/task/graph_call.h"
#include "graph/task/retry_timeout.h"
#include "graph/task/subgraph_run.h"
#include "graph/task/task_cache.h"
#include "graph/util/errors.h"

// The other half of a pass that was begun.
static void finish(pons_cx *cx)
{
    pons_error err;
    pons__error_empty(&err);
    cx->ahead = false;
    const int st = cx->node->fn(cx, cx->node->user, &err);
    pons__task_conclude(cx, st, &err, false);
}

// What a node with a schema of its own is given: its argument, or of the state what the schema names.
static int check_given(const pons_cx *cx, pons_error *err)
{
    if (cx->arg) {
        return pons__check_node(cx->node, cx->arg, err);
    }
    pons_autovalue seen = json_object();
    bool ok = seen != NULL;
    pons_each_member(name, ignored, pons__contract_names(&cx->node->input)) {
        const uint32_t ch = pons__graph_channel_find(cx->run->g, name);
        const pons_value *v = ch == PONS__NONE ? NULL : cx->run->ns->slots[ch].v;
        ok = ok && (!v || json_object_set_new(seen, name, pons_value_ref(v)) == 0);
    }
    return ok ? pons__check_node(cx->node, seen, err)
              : pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to check a schema");
}

static int recall(pons_cx *cx, bool *ret, pons_error *err)
{
    return cx->node->policy && cx->node->policy->cache ? pons__cache_recall(cx, ret, err) : PONS_OK;
}

static int run_node(pons_cx *cx, pons_error *err)
{
    if (cx->node->input.compiled && !cx->child && !cx->work) {
        const int st = check_given(cx, err);
        if (st != PONS_OK) {
            return st;
        }
    }
    bool found = false;
    const int st = recall(cx, &found, err);
    if (st != PONS_OK || found) {
        return st;
    }
    if (cx->node->blocking) {
        return pons__work_run(cx, err);
    }
    if (cx->node->sub) {
        return pons__subgraph_run(cx, err);
    }
    if (cx->node->step) {
        return pons__step_run(cx, err);
    }
    return cx->node->fn ? cx->node->fn(cx, cx->node->user, err) : PONS_OK;
}

// One pass: START's node is the writing of the input.
static void pass(pons_cx *cx, const pons_value *input)
{
    pons_error err;
    pons__error_empty(&err);
    int st = cx->expired ? pons__policy_timed_out(cx, &err)
             : input     ? pons__cx_input(cx, input, &err)
                         : run_node(cx, &err);
    pons__task_conclude(cx, st, &err, input != NULL);
}

void pons__task_run(pons_cx *cx)
{
    do { // again for an attempt that is due at once
        if (cx->ahead) {
            finish(cx);
            continue;
        }
        pons__seen_begins(cx);
        pons__task_rewind(cx);
        pass(cx, NULL);
    } while (cx->state == PONS__TASK_TODO && !cx->broken);
    if (cx->caller) {
        pons__future_settle(cx);
    }
}

void pons__task_begin(pons_cx *cx)
{
    cx->ahead = pons__task_open(cx);
    if (cx->ahead) {
        cx->node->begin(cx, cx->node->user);
    }
}

void pons_cx_ended(pons_cx *cx)
{
    if (cx->ahead) {
        finish(cx);
        pons__task_keep(cx);
    }
}

// A commit that fails is told of by the step's own, which has all of it once more.
void pons__task_keep(pons_cx *cx)
{
    pons_run *r = cx->run;
    if (cx->state != PONS__TASK_DONE || cx->done_saved || cx->escape || !r->durable ||
        r->opts.durability == PONS_DURABILITY_EXIT) {
        return;
    }
    pons__rows rows = {0};
    if (pons__rows_task(&rows, cx, NULL) == PONS_OK &&
        pons__run_commit(r, &(pons__extra){.rows = &rows}, NULL) == PONS_OK) {
        pons__rows_saved(cx);
    }
    pons__rows_fini(&rows);
}

void pons__task_start(pons_cx *cx, const pons_value *input)
{
    pass(cx, input);
}

// A replay that ends before it has made every call that is recorded.
static int too_few(const pons_cx *cx, pons_error *err)
{
    const pons__call *c = &cx->calls[cx->call_at];
    return pons_error_set(err, PONS_ENONDETERMINISM, PONS__MODULE,
                          "call %zu of node '%s' was %s '%s' (%.8s), and is not made any more",
                          cx->call_at, cx->node->name, pons__call_words[c->kind], c->name, c->hash);
}

static int run_routers(pons_cx *cx, pons_error *err)
{
    int st = PONS_OK;
    for (size_t i = 0; i < cx->node->n_routers && st == PONS_OK && cx->fault == PONS_OK; i++) {
        cx->router = &cx->node->routers[i];
        st = cx->router->fn(cx, cx->router->user, err);
    }
    cx->router = NULL;
    return st;
}

// The status of a pass whose node and routers returned st.
static int pass_status(pons_cx *cx, int st, pons_error *err)
{
    if (cx->fault != PONS_OK && st != PONS_EPARKED) {
        st = cx->fault;
        *err = cx->fault_error;
    }
    if (st == PONS_OK && cx->call_at < cx->n_calls && !cx->cached) {
        st = too_few(cx, err);
    }
    if (st == PONS_OK && (pons__task_asks(cx) || pons__graph_call_waits(cx))) {
        return PONS_EPARKED; // it did not return what the await did: its question is asked all the same
    }
    for (size_t i = 0; i < json_array_size(cx->inbox) && st == PONS_OK; i++) {
        st = pons__out_take(&cx->out, pons_get_int(json_array_get(cx->inbox, i), "seq", 0));
    }
    return st;
}

static void fail(pons_cx *cx, int st, pons_error *err, bool input)
{
    if (st == PONS_EPARKED) {
        pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                       "node '%s' returned parked, but nothing it asked for is pending",
                       cx->node->name);
    }
    if (err->status == PONS_OK) {
        pons_error_set(err, st, PONS__MODULE, "node '%s' failed: %s", cx->node->name,
                       pons_status_word(st));
    }
    if (!err->source[0]) {
        pons_error_source(err, "thread %s node %s", cx->run->t->id, cx->node->name);
    }
    pons__awaits_unasked(cx);
    if (cx->node->policy && !input && pons__policy_failed(cx, err)) {
        return;
    }
    cx->error = *err;
    cx->state = PONS__TASK_FAILED;
}

// What becomes of a pass that has come so far.
static void conclude(pons_cx *cx, int st, pons_error *said, bool input)
{
    pons_error err = *said;
    if (st == PONS_OK && cx->fault == PONS_OK && cx->n_calls > 0) {
        st = pons__futures_end(cx, &err);
    }
    if (st == PONS_OK && cx->fault == PONS_OK && !cx->cached && !cx->escape && !cx->bare) {
        st = run_routers(cx, &err);
    }
    if (cx->broken) { // the store failed under it: the engine's error, not the node's
        pons__awaits_unasked(cx);
        return;
    }
    st = pass_status(cx, st, &err);
    if (st == PONS_EPARKED && (pons__task_pending(cx) || cx->child || cx->work)) {
        cx->state = PONS__TASK_PARKED;
        if (cx->node->policy) {
            pons__policy_park(cx);
        }
        return;
    }
    if (st == PONS_OK) {
        cx->state = PONS__TASK_DONE;
        pons__awaits_drop(cx);
        if (cx->node->policy && cx->node->policy->cache && !cx->cached && !input) {
            pons__cache_store(cx);
        }
        return;
    }
    fail(cx, st, &err, input);
}

void pons__task_conclude(pons_cx *cx, int st, pons_error *said, bool input)
{
    conclude(cx, st, said, input);
    pons__seen_over(cx, said->status);
}

bool pons__task_open(pons_cx *cx)
{
    bool done = false;
    pons_error err;
    pons__error_empty(&err);
    pons__seen_begins(cx);
    pons__task_rewind(cx);
    int st = cx->expired ? pons__policy_timed_out(cx, &err) : PONS_OK;
    if (st == PONS_OK && cx->node->input.compiled) {
        st = check_given(cx, &err);
    }
    st = st == PONS_OK ? recall(cx, &done, &err) : st;
    if (st != PONS_OK || done) {
        pons__task_conclude(cx, st, &err, false);
    }
    return st == PONS_OK && !done;
}
