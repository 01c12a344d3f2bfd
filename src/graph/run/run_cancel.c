// run_cancel.c - what ends a run from outside its nodes: a cancel, a superstep's time.
//
//   asked to cancel --> the node at work returns --> the rest of the step is not run
//                                                        |
//          interrupt: what has finished is recorded <----+----> rollback: as before the run
//                                |                                       |
//                                +----> FAILED, PONS_ECANCELED <---------+
//
// Between two supersteps there is nothing to record: the state is that of the last one. A subgraph
// at work stops first, and the task that it is in with it, without another attempt or a handler.
//
// A superstep's time begins when its first task is run. Nothing interrupts a node; one that returns
// when the time is over has come too late, and what it wrote does not count.
#include "graph/run/run_cancel.h"

#include "graph/core/alloc_runs.h"
#include "graph/core/remote_cancel.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/core/task_writes.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/persist/commit.h"
#include "graph/run/namespace_queue.h"
#include "graph/run/subgraph_namespaces.h"

#include <stdio.h>

// ---- canceled -----------------------------------------------------------------------------------

static int canceled(pons_run *r)
{
    pons_error_set(&r->error, PONS_ECANCELED, PONS__MODULE, "the run was canceled");
    pons_error_source(&r->error, "thread %s", r->t->id);
    r->state = PONS_RUN_FAILED;
    return PONS_OK;
}

bool pons__cut_due(pons_run *r)
{
    if (pons__run_cancel_how(r) != PONS_CANCEL_NONE) {
        return true;
    }
    for (pons_run *p = r->parent; p; p = p->parent) {
        if (pons__cut_step_over(p)) {
            return true;
        }
    }
    return false;
}

// The records of what has finished, in this run and in those inside it, and of what is to be asked
// again: as if each of them had been left by the death of the process.
static int keep_finished(pons_run *r, pons_error *err)
{
    pons__rows rows = {0};
    int st = PONS_OK;
    if (!r->durable) {
        return PONS_OK;
    }
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK && r->prepared; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_PARKED) {
            pons__awaits_unasked(cx);
        }
        if (cx->state == PONS__TASK_DONE || cx->state == PONS__TASK_PARKED) {
            st = pons__rows_task(&rows, cx, err);
        }
    }
    if (st == PONS_OK) {
        st = pons__run_commit(r, &(pons__extra){.rows = &rows}, err);
    }
    pons__rows_fini(&rows);
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK && r->prepared; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_DONE || cx->state == PONS__TASK_PARKED) {
            pons__rows_saved(cx);
        }
        if (cx->state != PONS__TASK_DONE && cx->child) {
            st = keep_finished(cx->child, err);
        }
    }
    return st;
}

int pons__cut(pons_run *r, pons_error *err)
{
    if (r->parent && pons__run_cancel_how(r) == PONS_CANCEL_NONE) {
        pons_error_set(&r->error, PONS_ETIMEOUT, PONS__MODULE,
                       "the time of a superstep around graph %s is over", r->g->name);
        r->state = PONS_RUN_FAILED;
        return PONS_OK;
    }
    if (r->parent) { // the outermost run sees to all of them
        return canceled(r);
    }
    if (r->queued_ns) { // nothing was begun
        pons__queue_leave(r);
        return canceled(r);
    }
    const bool back = pons__run_cancel_how(r) == PONS_CANCEL_ROLLBACK && r->durable;
    int st = PONS_OK;
    if (!back && !r->ns->ahead) {
        st = r->durable && r->opts.durability == PONS_DURABILITY_EXIT ? pons__below_store(r, err)
                                                                      : PONS_OK;
        st = st == PONS_OK ? keep_finished(r, err) : st;
    }
    if (st == PONS_OK) {
        st = pons__run_give_way(r, back, err);
    }
    if (st == PONS_OK && r->durable && r->opts.durability == PONS_DURABILITY_ASYNC) {
        st = pons__thread_flush(r->t, err);
    }
    if (st == PONS_OK && r->t->store.ops && r->opts.cancel) {
        st = pons__cancel_heeded(r->t, err);
    }
    return st == PONS_OK ? canceled(r) : st;
}

// ---- a superstep's time -------------------------------------------------------------------------

int64_t pons__cut_step_ns(pons_run *r)
{
    if (r->g->step_timeout_ms <= 0 || !r->prepared) {
        return INT64_MAX;
    }
    if (!r->step_timed) {
        r->step_timed = true;
        r->step_began_ns = pons_now_ns(&r->t->clock);
    }
    return pons_later_ns(r->step_began_ns, r->g->step_timeout_ms);
}

bool pons__cut_step_over_timed(pons_run *r)
{
    const int64_t due_ns = pons__cut_step_ns(r);
    return due_ns != INT64_MAX && pons_now_ns(&r->t->clock) >= due_ns;
}

static bool unfinished(const pons_run *r, size_t i, size_t from)
{
    const pons__task_state state = r->tasks[i]->state;
    return i == from || (state != PONS__TASK_DONE && state != PONS__TASK_FAILED);
}

void pons__cut_step(pons_run *r, size_t from)
{
    char names[PONS_ERROR_MESSAGE_MAX] = "";
    size_t at = 0;
    for (size_t i = 0; i < r->n_tasks && at < sizeof names; i++) {
        if (unfinished(r, i, from)) {
            at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", at ? ", " : "",
                                   r->tasks[i]->node->name);
        }
    }
    pons_error e = PONS_ERROR_INIT;
    pons_error_set(&e, PONS_ETIMEOUT, PONS__MODULE,
                   "a superstep of graph %s took longer than %lld ms; not finished: %s", r->g->name,
                   (long long)r->g->step_timeout_ms, names);
    pons_error_source(&e, "thread %s step %lld", r->t->id, (long long)r->ns->step + 1);
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        if (!unfinished(r, i, from)) {
            continue;
        }
        pons__task_give_up(cx);
        pons__awaits_unasked(cx);
        pons__task_cancel(cx);
        pons__task_drop(cx);
        cx->wake_ns = cx->wake_wall_ms = cx->wake_span_ms = cx->limit_ns = 0;
        cx->error = e;
        cx->state = PONS__TASK_FAILED;
    }
}
