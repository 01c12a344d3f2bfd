// superstep.c - the loop that drives a run, and what is stored when.
//
//                      +------------------------- all done: apply --------------------+
//                      v                                                              |
//   start, resume -> READY --> store what is due --> prepare the tasks --> run them --+
//                      ^             |                                        |       |
//                      |             +--> DONE         nothing is next        |       +--> FAILED
//                      |             +--> INTERRUPTED  before, after, drain   |
//                      |             +--> FAILED       the limit              v
//                      |                                             some wait: store their
//                      |                                             records, call their handlers
//                      |                                                      |
//                      +--------- an answer, a time-out ------ PARKED <-------+
//
// PARKED is called INTERRUPTED when people are all that it waits for.
//
// The state in the namespace and the checkpoint in the store drift apart on purpose: by one step
// whose commit is due, by quiet steps, by a whole run under `exit`. `cp_stored` says whether the
// store has what memory has; every commit first brings the store level, so whatever hangs on a
// checkpoint (records, an effect, an event) finds it there.
#include "graph/run/superstep.h"

#include "graph/core/alloc_runs.h"
#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/core/task_observer.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/persist/commit.h"
#include "graph/persist/stream.h"
#include "graph/run/apply_writes.h"
#include "graph/run/namespace_queue.h"
#include "graph/run/run_cancel.h"
#include "graph/run/run_open.h"
#include "graph/run/subgraph_namespaces.h"
#include "graph/task/future.h"
#include "graph/task/run_task.h"
#include "graph/util/errors.h"

#include <stdio.h>

const pons__loop pons__supersteps = {
    .begin = pons__run_begin,
    .go_on = pons__run_continue,
    .advance = pons_run_advance,
    .task = pons__task_run,
};

int pons_run_advance(pons_run *r, pons_error *err)
{
    int st = PONS_OK;
    if (!r->parent && pons__run_cancel_how(r) != PONS_CANCEL_NONE) {
        pons_run_cancel(r, pons__run_cancel_how(r)); // also when it waits
    }
    while (st == PONS_OK && r->state == PONS_RUN_READY) {
        st = pons_run_step(r, err);
    }
    return st;
}

// Whether the state in memory may not stay out of the store any longer.
static bool must_store(const pons_run *r)
{
    if (r->cp_stored) {
        return false;
    }
    if (r->opts.durability == PONS_DURABILITY_EXIT) {
        return false; // finish does
    }
    return !r->g->quiet || r->ns->n_dirty > 0 || !pons__out_empty(&r->out);
}

// A subgraph that ends under `exit` is stored with the outermost run's end, or not at all: what it
// made is its parent's by then.
static bool leaves_to_root(const pons_run *r, pons_run_state state)
{
    return r->parent && r->durable && state == PONS_RUN_DONE && !r->cp_stored &&
           r->opts.durability == PONS_DURABILITY_EXIT && pons__out_empty(&r->out);
}

// Brings the store level with the run's end. Wholly quiet runs leave no trace.
static int finish(pons_run *r, pons_run_state state, pons_error *err)
{
    if (leaves_to_root(r, state)) {
        const bool own = r->mode == PONS_SUBGRAPH_OWN;
        snprintf(r->ns->unstored, sizeof r->ns->unstored, "%s", own ? pons__run_cp(r) : "");
        r->state = state;
        return PONS_OK;
    }
    if (r->durable && r->opts.durability == PONS_DURABILITY_EXIT && !r->parent) {
        int stored = pons__below_store(r, err);
        if (stored != PONS_OK) {
            return stored;
        }
    }
    bool trace = !r->g->quiet || r->ns->n_dirty > 0 || !pons__out_empty(&r->out) ||
                 r->ns->head_unfinished || state != PONS_RUN_DONE;
    int st = PONS_OK;
    if (r->ns->ahead || (!r->cp_stored && trace) || !pons__out_empty(&r->out)) {
        st = pons__run_commit(r, &(pons__extra){.may_wait = true}, err);
    }
    if (st == PONS_OK && r->durable && r->opts.durability == PONS_DURABILITY_ASYNC) {
        st = pons__thread_flush(r->t, err);
    }
    if (st == PONS_OK) {
        r->state = state;
    }
    return st;
}

// After an applied step: store it when it is due, and end the run when nothing is next.
static int settle_step(pons_run *r, pons_error *err)
{
    bool more = pons__ns_more(r->ns);
    if (r->commit_due && (must_store(r) || !r->durable)) {
        int st = pons__run_commit(r, &(pons__extra){.may_wait = true}, err);
        if (st != PONS_OK) {
            return st;
        }
    }
    r->commit_due = false;
    if (more && pons__run_root(r)->drain && (r->durable || !r->parent)) {
        r->stopped = r->drained = true;
    }
    if (r->stopped) {
        if (!r->drained && !r->stop_shown) {
            pons__stream_stop(pons__run_root(r));
            r->stop_shown = true;
        }
        return finish(r, PONS_RUN_INTERRUPTED, err);
    }
    if (r->supersteps >= r->limit) {
        pons_error e = PONS_ERROR_INIT;
        pons_error_set(&e, PONS_ERECURSION, PONS__MODULE,
                       "%d supersteps did not end graph %s (its recursion limit)", r->limit,
                       r->g->name);
        pons_error_source(&e, "thread %s step %lld", r->t->id, (long long)r->ns->step);
        r->error = e;
        return finish(r, PONS_RUN_FAILED, err);
    }
    return more ? PONS_OK : finish(r, PONS_RUN_DONE, err);
}

// Of several tasks that are to be run, those that a host works on beside each other are begun first.
static int begin_tasks(pons_run *r, pons_error *err)
{
    size_t todo = 0;
    for (size_t i = 0; i < r->n_tasks; i++) {
        todo += r->tasks[i]->state == PONS__TASK_TODO && !r->tasks[i]->caller;
    }
    for (size_t i = 0; i < r->n_tasks && todo > 1; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state != PONS__TASK_TODO || cx->caller || !cx->node->begin) {
            continue;
        }
        if (r->opts.stream) {
            pons__stream_task(cx, true);
        }
        pons__task_begin(cx);
        if (cx->broken) {
            return pons__task_fault(cx, err);
        }
    }
    return PONS_OK;
}

static bool all_done(const pons_run *r)
{
    for (size_t i = 0; i < r->n_tasks; i++) {
        if (r->tasks[i]->state != PONS__TASK_DONE) {
            return false;
        }
    }
    return true;
}

// Some wait or have failed: what is done and what was asked is kept, then the handlers are called.
static int conclude_parked(pons_run *r, bool failed, pons_error *err)
{
    pons__rows rows = {0};
    int st = PONS_OK;
    if (r->opts.stream) {
        pons__stream_interrupts(r);
    }
    if (r->durable && r->opts.durability == PONS_DURABILITY_EXIT) {
        st = pons__below_store(pons__run_root(r), err);
    }
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK && r->durable; i++) {
        st = pons__rows_task(&rows, r->tasks[i], err);
    }
    if (st == PONS_OK) {
        st = pons__run_commit(r, &(pons__extra){.rows = &rows}, err);
    }
    pons__rows_fini(&rows);
    if (st != PONS_OK) {
        return st;
    }
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons__rows_saved(r->tasks[i]);
    }
    if (failed) {
        for (size_t i = r->n_tasks; i-- > 0;) {
            if (r->tasks[i]->state == PONS__TASK_FAILED && !r->tasks[i]->caller) {
                r->error = r->tasks[i]->error; // the first in task order stays
            }
        }
        r->state = PONS_RUN_FAILED;
        return PONS_OK;
    }
    pons__awaits_start(r);
    r->state = pons__awaits_state(r);
    r->step_timed = r->step_timed && r->state != PONS_RUN_INTERRUPTED; // people take no time
    return PONS_OK;
}

static int conclude_step(pons_run *r, pons_error *err)
{
    pons_error e;
    pons__error_empty(&e);
    int st = pons__apply(r, &e);
    if (st != PONS_OK) { // nothing has changed; a resume runs the whole step again
        pons_error_source(&e, "thread %s step %lld", r->t->id, (long long)r->ns->step + 1);
        r->error = e;
        if (r->spoiled) {
            r->state = PONS_RUN_FAILED;
            return PONS_OK;
        }
        return finish(r, PONS_RUN_FAILED, err);
    }
    r->stopped = pons__run_stop_due(r);
    r->stop_shown = false;
    pons_value_unref(r->early);
    r->early = NULL;
    r->prepared = false;
    r->gap = r->durable && !r->cp_stored;
    r->ns->step++;
    r->supersteps++;
    r->cp_id[0] = '\0';
    r->cp_stored = false;
    r->commit_due = true;
    r->source = 'l';
    if (r->opts.stream) {
        pons__stream_state(r, r->wrote, true);
    }
    return settle_step(r, err);
}

// *cut: the run was canceled meanwhile, and is cut.
static int run_one(pons_run *r, size_t i, bool *cut, pons_error *err)
{
    pons_cx *cx = r->tasks[i];
    if (cx->caller && !cx->retired && cx->state != PONS__TASK_TODO) {
        pons__future_settle(cx); // one whose commit had failed
        if (cx->broken) {
            return pons__task_fault(cx, err);
        }
    }
    if (cx->state != PONS__TASK_TODO) {
        return PONS_OK;
    }
    if (r->opts.stream) {
        pons__stream_task(cx, true);
    }
    pons__task_run(cx);
    if (cx->broken) {
        return pons__task_fault(cx, err);
    }
    if (cx->node->begin && !all_done(r)) {
        pons__task_keep(cx); // what others take is a host's to say
    }
    if (pons__run_cancel_how(r) != PONS_CANCEL_NONE && !all_done(r)) {
        pons__tasks_give_up(r); // before anything of them is freed
        *cut = true;
        return pons__cut(r, err);
    }
    if (pons__cut_step_over(r)) {
        pons__cut_step(r, cx->state == PONS__TASK_FAILED ? r->n_tasks : i);
    }
    return PONS_OK;
}

// A task goes on in a graph around this one: the run ends here.
static int escape(pons_run *r, pons_cx *cx, pons_error *err)
{
    r->escaped = cx;
    r->state = PONS_RUN_DONE;
    pons__tasks_give_up(r);
    for (size_t k = 0; k < r->n_tasks; k++) {
        pons__task_cancel(r->tasks[k]);
    }
    return r->durable && !pons__out_empty(&r->out) ? pons__run_commit(r, &(pons__extra){0}, err)
                                                   : PONS_OK;
}

static int run_tasks(pons_run *r, pons_error *err)
{
    bool failed = false, parked = false;
    pons__awaits_start(r); // those of a resumed run
    if (pons__cut_step_over(r)) {
        pons__cut_step(r, r->n_tasks);
    }
    int st = begin_tasks(r, err);
    if (st != PONS_OK) {
        return st;
    }
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        bool cut = false;
        st = run_one(r, i, &cut, err);
        if (cut || st != PONS_OK) {
            return st;
        }
        if (r->opts.stream && !cx->streamed && !cx->escape && !cx->caller) {
            pons__stream_task(cx, false);
        }
        if (cx->escape) {
            return escape(r, cx, err);
        }
        failed = failed || (cx->state == PONS__TASK_FAILED && !cx->caller);
        parked = parked || cx->state == PONS__TASK_PARKED;
    }
    for (size_t i = 0; i < r->n_tasks; i++) { // one got a result, or was called, behind the loop
        parked = parked || r->tasks[i]->state == PONS__TASK_TODO;
    }
    return failed || parked ? conclude_parked(r, failed, err) : conclude_step(r, err);
}

// However the step ends: what was begun and not run is given up.
static int step_tasks(pons_run *r, pons_error *err)
{
    const int st = run_tasks(r, err);
    pons__tasks_give_up(r);
    return st;
}

static int superstep(pons_run *r, pons_error *err)
{
    if (!r->prepared) {
        int st = settle_step(r, err);
        if (st != PONS_OK || r->state != PONS_RUN_READY) {
            return st;
        }
        st = pons__run_prepare(r, err);
        if (st != PONS_OK) {
            return st;
        }
    }
    return step_tasks(r, err);
}

int pons_run_step(pons_run *r, pons_error *err)
{
    if (r->state != PONS_RUN_READY) {
        return PONS_OK;
    }
    if (r->queued_ns && pons__run_cancel_how(r) == PONS_CANCEL_NONE) {
        int st = pons__queue_begin(r, err);
        if (st != PONS_OK || r->queued_ns || r->state != PONS_RUN_READY) {
            return st;
        }
    }
    r->stepping++;
    int st = pons__cut_possible(r) && pons__cut_due(r) ? pons__cut(r, err) : superstep(r, err);
    r->stepping--;
    if (st != PONS_OK) {
        pons__run_lost(r, err);
    }
    if (r->ns && r->ns->queue) {
        pons__queue_wake(r->ns);
    }
    pons__seen_run(r);
    return st;
}
