// future.c - tasks that a node calls (pons/functional.h): they run in the caller's superstep.
//
//   call  --> a task of the superstep, behind the others --> runs when its result is asked for, or with
//             (retry, cache, time-outs, awaits: its own)     the superstep's tasks
//                                                                |
//   caller: the result <-- its call's record, committed <-- done, or failed (not recorded)
//
// The caller parks while a result is not there, and runs again from its top with those that are: the
// record of its n-th call says which. A failure is recorded once the caller has gone on from it, by
// another call; until then a resume runs the task again. What a task brings out besides its result
// (posts, events, effects, items) is committed with it.
//
// A call without an answer is in the store when something after it is, with its input; whoever opens
// the run makes its task again from that (persist/pending_writes.c), so that what it asks is pending at once.
#include "graph/task/future.h"

#include "graph/core/called_tasks.h"
#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/core/task_writes.h"
#include "graph/engine.h"
#include "graph/node/await.h"
#include "graph/persist/commit.h"
#include "graph/persist/stream.h"

enum { DEPTH_MAX = 64 };

// ---- the end of a task --------------------------------------------------------------------------

static pons_value *failure(const pons_error *e)
{
    return pons_object_whole("status", json_integer(e->status), "module", json_string(e->module),
                             "message", pons_string(e->message), "source", pons_string(e->source),
                             NULL);
}

// The caller's call gets its answer; a result is committed first, with what else the task brings out.
static bool answer(pons_cx *called)
{
    pons_run *r = called->run;
    pons_cx *caller = called->caller;
    pons__call *c = &caller->calls[called->caller_call];
    pons_error e = PONS_ERROR_INIT;
    if (r->opts.stream && !called->streamed) {
        pons__stream_task(called, false);
    }
    const bool failed = called->state == PONS__TASK_FAILED;
    c->answer = failed             ? failure(&called->error)
                : called->returned ? pons_value_ref(called->returned)
                                   : json_null();
    c->failed = failed && c->answer;
    if (failed && c->answer) {
        c->saved = false;
        return true;
    }
    int st = c->answer ? pons__out_move(&r->out, &called->out) : PONS_ENOMEM;
    pons__rows rows = {0};
    if (st == PONS_OK && r->durable) {
        st = pons__rows_call(&rows, caller, called->caller_call, &e);
    }
    if (st == PONS_OK) {
        st = pons__run_commit(r, &(pons__extra){.rows = &rows}, &e);
    }
    pons__rows_fini(&rows);
    if (st == PONS_OK) {
        pons__rows_call_saved(caller, called->caller_call);
        return true;
    }
    pons_value_unref(c->answer);
    c->answer = NULL;
    if (e.status == PONS_OK) {
        pons_error_set(&e, st, PONS__MODULE, "no memory for a task's result");
    }
    pons__cx_break(called, st, &e);
    return false;
}

void pons__future_settle(pons_cx *called)
{
    pons_cx *caller = called->caller;
    if (called->retired || called->lent || called->caller_call >= caller->n_calls ||
        (called->state != PONS__TASK_DONE && called->state != PONS__TASK_FAILED)) {
        return; // or the caller has not called it again yet
    }
    called->broken = false;
    called->fault = PONS_OK;
    if (caller->calls[called->caller_call].answer || answer(called)) {
        caller->moved_ns = 0; // progress
        if (caller->state == PONS__TASK_PARKED && !caller->wake_ns) {
            caller->state = PONS__TASK_TODO;
        }
        pons__called_retire(called);
    }
}

// ---- calls --------------------------------------------------------------------------------------

static int check_call(const pons_cx *cx, const char *task, uint32_t node, const pons_value *input,
                      pons_error *err)
{
    const pons_graph *g = cx->run->g;
    if (node >= g->n_nodes || !g->nodes[node].called) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "node '%s' calls '%s', which is no task of graph %s", cx->node->name,
                              task, g->name);
    }
    if (cx->router || cx->node_ix == PONS__END) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "a router of '%s' calls task '%s'",
                              cx->node->name, task);
    }
    if (cx->depth >= DEPTH_MAX) {
        return pons_error_set(err, PONS_ERECURSION, PONS__MODULE,
                              "task '%s' is called by tasks that are %d deep", task, DEPTH_MAX);
    }
    return pons_value_fits(input) ? PONS_OK : pons__too_deep(cx, "calls a task with", err);
}

int pons_call(pons_cx *cx, const char *task, pons_value *input, pons_future *ret, pons_error *err)
{
    pons_autovalue owned = input ? input : json_null();
    pons_error own = PONS_ERROR_INIT;
    char hash[33];
    err = err ? err : &own;
    const uint32_t node = pons__graph_node_find(cx->run->g, task ? task : "");
    int st = check_call(cx, task ? task : "", node, owned, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_value_hash(owned, hash);
    pons__call *c = NULL;
    st = pons__call_next(cx, PONS__CALL_STEP, task, hash, &c, err);
    if (st == PONS_OK && !c) {
        c = pons__call_add(cx, PONS__CALL_STEP, task, hash);
        if (!c) {
            return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to call a task");
        }
        c->request = pons_value_ref(owned);
    }
    if (st != PONS_OK) {
        return st;
    }
    const size_t n = cx->call_at - 1;
    pons_cx *called = c->answer ? NULL : pons__called_find(cx, n);
    if (called && (called->node_ix != node || !json_equal(called->arg, owned))) {
        pons__task_cancel(
            called); // of a call that nobody has recorded, and that is another one now
        pons__called_retire(called);
        called = NULL;
    }
    if (!c->answer && !called) {
        called = pons__called_add(cx, n, err);
        if (!called) {
            return err->status;
        }
    } else if (called) {
        pons__future_settle(called);
        if (called->broken) {
            return pons__future_broken(cx, called, err);
        }
    }
    ret->call = n;
    return PONS_OK;
}

// Runs what cx has called and can be run: all of it, so that what waits does so side by side.
static int run_called(pons_cx *cx, pons_error *err)
{
    pons_run *r = cx->run;
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *t = r->tasks[i];
        if (t->caller != cx || t->retired || t->lent || t->state != PONS__TASK_TODO) {
            continue;
        }
        if (pons__run_cancel_how(r) != PONS_CANCEL_NONE) {
            return PONS_OK; // the superstep's loop ends the run
        }
        if (r->opts.stream) {
            pons__stream_task(t, true);
        }
        r->loop->task(t);
        if (t->broken) {
            return pons__future_broken(cx, t, err);
        }
    }
    return PONS_OK;
}

int pons_future_result(pons_cx *cx, pons_future f, const pons_value **ret, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    if (!pons__future_call(cx, f)) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "node '%s' has no future %zu",
                              cx->node->name, f.call);
    }
    int st = pons__future_call(cx, f)->answer ? PONS_OK : run_called(cx, err);
    pons__call *c = pons__future_call(cx, f);
    if (st != PONS_OK || !c->answer) {
        return st != PONS_OK ? st : PONS_EPARKED;
    }
    if (c->failed) {
        c->taken = true;
        pons_error_set(err, (int)pons_get_int(c->answer, "status", PONS_EIO),
                       pons_get_str(c->answer, "module", PONS__MODULE), "%s",
                       pons_get_str(c->answer, "message", ""));
        pons_error_source(err, "%s", pons_get_str(c->answer, "source", ""));
        return err->status;
    }
    *ret = c->answer;
    return PONS_OK;
}

bool pons_future_done(const pons_cx *cx, pons_future f)
{
    const pons__call *c = pons__future_call(cx, f);
    return c && c->answer;
}

pons__call *pons__future_call(const pons_cx *cx, pons_future f)
{
    pons__call *c = f.call < cx->n_calls ? &cx->calls[f.call] : NULL;
    return c && c->kind == PONS__CALL_STEP ? c : NULL;
}

int pons__future_broken(pons_cx *cx, const pons_cx *called, pons_error *err)
{
    *err = called->fault_error;
    pons__cx_break(cx, called->fault, err);
    return called->fault;
}

int pons__futures_end(pons_cx *cx, pons_error *err)
{
    bool open = false, run = false;
    for (size_t i = 0; i < cx->n_calls; i++) {
        run = run || (cx->calls[i].kind == PONS__CALL_STEP && !cx->calls[i].answer);
    }
    int st = run ? run_called(cx, err) : PONS_OK;
    for (size_t i = 0; i < cx->n_calls && st == PONS_OK && run; i++) {
        open = open || (cx->calls[i].kind == PONS__CALL_STEP && !cx->calls[i].answer);
    }
    return st == PONS_OK && open ? PONS_EPARKED : st;
}

// ---- functions ----------------------------------------------------------------------------------

int pons__step_run(pons_cx *cx, pons_error *err)
{
    const uint32_t ch = cx->caller ? PONS__NONE : pons__run_channel(cx->run, PONS__STEP_INPUT);
    const pons_value *input = ch != PONS__NONE ? cx->run->ns->slots[ch].v : cx->arg;
    pons_value *result = NULL;
    int st = cx->node->step(cx, cx->node->user, input ? input : json_null(), &result, err);
    return pons__step_take(cx, st, result, err);
}

int pons__step_take(pons_cx *cx, int st, pons_value *result, pons_error *err)
{
    if (st == PONS_OK && !pons_value_fits(result)) {
        st = pons__too_deep(cx, "returns", err);
    }
    if (st != PONS_OK) {
        pons_value_unref(result);
        return st;
    }
    result = result ? result : json_null();
    if (cx->caller) {
        pons_value_unref(cx->returned);
        cx->returned = result;
        return PONS_OK;
    }
    const uint32_t output = pons__run_channel(cx->run, PONS__STEP_OUTPUT);
    const uint32_t previous = pons__run_channel(cx->run, PONS__STEP_PREVIOUS);
    bool saved = false;
    for (size_t i = 0; i < cx->n_writes; i++) {
        saved = saved || cx->writes[i].ch == previous;
    }
    st = saved ? PONS_OK : pons__cx_write(cx, previous, pons_value_ref(result), err);
    if (st != PONS_OK) {
        pons_value_unref(result);
        return st;
    }
    return pons__cx_write(cx, output, result, err);
}

const pons_value *pons_cx_previous(pons_cx *cx)
{
    const uint32_t ch = pons__graph_channel_find(cx->run->g, PONS__STEP_PREVIOUS);
    return ch == PONS__NONE ? NULL : cx->run->ns->slots[ch].v;
}

int pons_cx_save(pons_cx *cx, pons_value *v)
{
    return pons_cx_put(cx, PONS__STEP_PREVIOUS, v);
}
