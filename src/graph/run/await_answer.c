// await_answer.c - what a run waits for, and what becomes of it: answers, time-outs, people.
//
//   answer --> find the call, in the run or in a subgraph inside --> commit its record
//                                                                           |
//                                  the run and its parents are READY <-- the task is TODO
//
// Anything that this process may answer with comes through here, on the loop thread.
#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/engine.h"
#include "graph/persist/commit.h"
#include "graph/persist/stream.h"
#include "graph/run/run_cancel.h"
#include "graph/run/run_open.h"
#include "graph/task/retry_timeout.h"

#include <string.h>

// ---- what is pending ----------------------------------------------------------------------------

static bool collect(const pons_run *r, pons_value *list)
{
    for (size_t i = 0; i < r->n_tasks; i++) {
        const pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_DONE) {
            continue;
        }
        for (size_t k = 0; k < cx->n_calls; k++) {
            const pons__call *c = &cx->calls[k];
            if (!pons__call_outstanding(c) || !c->saved) {
                continue;
            }
            pons_value *item =
                json_pack("{sssssO?ssso}", "id", c->id, "kind", c->name, "request", c->request,
                          "node", cx->node->name, "deadline_ms",
                          c->deadline_wall_ms ? json_integer(c->deadline_wall_ms) : json_null());
            if (json_array_append_new(list, item) != 0) {
                return false;
            }
        }
        if (cx->child && !collect(cx->child, list)) {
            return false;
        }
    }
    return true;
}

pons_value *pons_run_pending(const pons_run *r)
{
    pons_value *list = json_array();
    if (list && collect(r, list)) {
        return list;
    }
    pons_value_unref(list);
    return NULL;
}

static pons_cx *find(const pons_run *r, const char *id, size_t *ret_call)
{
    for (size_t i = 0; i < r->n_tasks && id; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_DONE) {
            continue;
        }
        for (size_t k = 0; k < cx->n_calls; k++) {
            if (pons__call_outstanding(&cx->calls[k]) && cx->calls[k].saved &&
                strcmp(cx->calls[k].id, id) == 0) {
                *ret_call = k;
                return cx;
            }
        }
        pons_cx *inner = cx->child ? find(cx->child, id, ret_call) : NULL;
        if (inner) {
            return inner;
        }
    }
    return NULL;
}

// ---- answers ------------------------------------------------------------------------------------

static int not_pending(const pons_run *r, const char *id, pons_error *err)
{
    return pons_error_set(err, PONS_ENOTPENDING, PONS__MODULE,
                          "await '%s' is not pending in thread %s", id, r->t->id);
}

// When queued commits are lost with it, the run has failed, and whoever waits for it is to see
// that.
static void answer_lost(pons_run *r, const pons_error *err)
{
    bool any = false;
    for (pons_run *p = r; p; p = p->parent) {
        pons__run_lost(p, err);
        any = any || p->ns->ahead;
    }
    if (any) {
        pons__run_wake(r);
    }
}

static int answer(pons_cx *cx, size_t call, pons_value *value, pons_error *err)
{
    pons__call *c = &cx->calls[call];
    pons__rows rows = {0};
    c->answer = value;
    int st = pons__rows_call(&rows, cx, call, err);
    if (st == PONS_OK) {
        st = pons__run_commit(cx->run, &(pons__extra){.rows = &rows}, err);
    }
    pons__rows_fini(&rows);
    if (st != PONS_OK) {
        c->answer = NULL;
        pons_value_unref(value);
        answer_lost(cx->run, err);
        return st;
    }
    c->start_due = false;
    cx->moved_ns = 0; // progress: the idle time starts anew
    if (cx->state == PONS__TASK_PARKED && !cx->wake_ns) {
        cx->state = PONS__TASK_TODO;
    }
    pons__run_wake(cx->run);
    return PONS_OK;
}

int pons_run_answer(pons_run *r, const char *await_id, pons_value *value, pons_error *err)
{
    size_t call = 0;
    if (!pons_value_fits(value)) {
        pons_value_unref(value);
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "an answer is nested deeper than %d",
                              PONS_VALUE_DEPTH_MAX);
    }
    pons_cx *cx = value ? find(r, await_id, &call) : NULL;
    if (!cx) {
        pons_value_unref(value);
        return not_pending(r, await_id, err);
    }
    return answer(cx, call, value, err);
}

int pons_run_message(pons_run *r, const char *await_id, pons_value *chunk, pons_value *metadata,
                     pons_error *err)
{
    size_t call = 0;
    pons_cx *cx = find(r, await_id, &call);
    if (!cx) {
        pons_value_unref(chunk);
        pons_value_unref(metadata);
        return not_pending(r, await_id, err);
    }
    return pons__stream_message(cx, chunk, metadata, err);
}

int pons_run_custom(pons_run *r, const char *await_id, pons_value *payload, pons_error *err)
{
    size_t call = 0;
    pons_cx *cx = find(r, await_id, &call);
    if (!cx) {
        pons_value_unref(payload);
        return not_pending(r, await_id, err);
    }
    return pons__stream_say(cx, PONS_STREAM_CUSTOM, payload, false, err);
}

// The answer of a detached call has been committed, or could not be.
static void detach_end(pons_cx *cx, pons__call *c, int st)
{
    c->detached = false;
    if (st != PONS_OK) {
        pons_value_unref(c->answer);
        c->answer = NULL;
        return;
    }
    if (cx->state == PONS__TASK_PARKED && !cx->wake_ns) {
        cx->state = PONS__TASK_TODO;
    }
    if (!c->start_due) {
        pons__call_cancel(cx->run, c);
    }
    c->start_due = false;
}

static int detach_one(pons_run *r, const pons_value *value, pons_error *err)
{
    pons__rows rows = {0};
    int n = 0, st = PONS_OK;
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK; i++) {
        pons_cx *cx = r->tasks[i];
        for (size_t k = 0; k < cx->n_calls && st == PONS_OK; k++) {
            pons__call *c = &cx->calls[k];
            if (!pons__call_outstanding(c) || pons__call_is_human(c) || !c->saved) {
                continue;
            }
            c->answer = pons_value_ref(value);
            c->detached = true;
            st = pons__rows_call(&rows, cx, k, err);
            n++;
        }
    }
    if (st == PONS_OK && n > 0) {
        st = pons__run_commit(r, &(pons__extra){.rows = &rows}, err);
    }
    pons__rows_fini(&rows);
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        for (size_t k = 0; k < cx->n_calls; k++) {
            if (cx->calls[k].detached) {
                detach_end(cx, &cx->calls[k], st);
            }
        }
    }
    if (st == PONS_OK && n > 0) {
        pons__run_wake(r);
    }
    if (st != PONS_OK) {
        answer_lost(r, err);
    }
    return st == PONS_OK ? n : st;
}

int pons_run_detach(pons_run *r, const pons_value *value, pons_error *err)
{
    int n = detach_one(r, value, err);
    for (size_t i = 0; i < r->n_tasks && n >= 0; i++) {
        if (!r->tasks[i]->child || r->tasks[i]->state == PONS__TASK_DONE) {
            continue;
        }
        int m = pons_run_detach(r->tasks[i]->child, value, err);
        n = m < 0 ? m : n + m;
    }
    return n;
}

// ---- time ---------------------------------------------------------------------------------------

// A retry or a time-out of the policy: the task is run when it is over. Returns when it will be.
static int64_t time_due(pons_cx *cx, int64_t now_ns)
{
    if (cx->wake_ns && cx->wake_ns > now_ns) {
        return cx->wake_ns;
    }
    if (!cx->wake_ns) {
        int64_t due = pons__policy_limit(cx);
        if (due > now_ns) {
            return due;
        }
        pons__policy_expire(cx);
    }
    cx->header_due = cx->header_due || cx->wake_ns; // which says when it was due
    cx->wake_ns = cx->wake_wall_ms = cx->wake_span_ms = 0;
    cx->state = PONS__TASK_TODO;
    pons__run_wake(cx->run);
    return INT64_MAX;
}

// Answers a call whose deadline has passed. The deadline of one that waits on; INT64_MAX: none.
static int64_t call_deadline(pons_cx *cx, size_t k, int64_t now_ns, pons_error *err, int *st)
{
    pons__call *c = &cx->calls[k];
    if (!pons__call_outstanding(c) || !c->saved || !c->deadline_ns) {
        return INT64_MAX;
    }
    if (c->deadline_ns > now_ns) {
        return c->deadline_ns;
    }
    const bool started = !c->start_due;
    *st = answer(cx, k, pons_object_whole("timeout", json_true(), NULL), err);
    if (*st == PONS_OK && started) {
        pons__call_cancel(cx->run, c);
    }
    return INT64_MAX;
}

static int64_t deadlines(pons_run *r, int64_t now_ns, pons_error *err, int *st)
{
    int64_t next = r->state == PONS_RUN_PARKED ? pons__cut_step_ns(r) : INT64_MAX;
    if (next <= now_ns) {
        pons__run_wake(r);
        next = INT64_MAX;
    }
    for (size_t i = 0; i < r->n_tasks && *st == PONS_OK; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_DONE) {
            continue;
        }
        if ((cx->wake_ns || cx->limit_ns) && cx->state == PONS__TASK_PARKED) {
            int64_t due = time_due(cx, now_ns);
            next = due < next ? due : next;
        }
        for (size_t k = 0; k < cx->n_calls && *st == PONS_OK; k++) {
            const int64_t due = call_deadline(cx, k, now_ns, err, st);
            next = due < next ? due : next;
        }
        if (cx->child) {
            int64_t inner = deadlines(cx->child, now_ns, err, st);
            next = inner < next ? inner : next;
        }
    }
    return next;
}

int64_t pons_run_deadlines(pons_run *r, pons_error *err)
{
    int st = PONS_OK;
    int64_t now_ns = pons_now_ns(&r->t->clock);
    pons_thread_deliver(r->t);
    if (pons__run_cancel_how(r) != PONS_CANCEL_NONE) {
        pons_run_cancel(r, pons__run_cancel_how(r)); // it is READY for that
        return now_ns;
    }
    int64_t next = deadlines(r, now_ns, err, &st);
    return st == PONS_OK ? next : now_ns; // due again: its commit had failed
}

// ---- people -------------------------------------------------------------------------------------

// Whether it stood at its breakpoint when it was opened, and has not moved.
static bool opened_at_stop(const pons_run *r)
{
    bool began = r->state != PONS_RUN_READY || r->supersteps > 0;
    for (size_t i = 0; i < r->n_tasks; i++) {
        began = began || r->tasks[i]->n_calls > 0 || r->tasks[i]->child;
    }
    return !began && r->ns->source != 'u' && pons__run_stop_due(r);
}

// Lets a run that interrupt_before/after stopped go on; whether there was one. One of another process
// goes on by itself.
static bool pass_stop(pons_run *r)
{
    bool any = r->stopped || opened_at_stop(r);
    if (r->stopped) {
        r->stopped = r->drain = r->drained = false;
        pons__run_wake(r);
    }
    for (size_t i = 0; i < r->n_tasks; i++) {
        if (r->tasks[i]->child && r->tasks[i]->state != PONS__TASK_DONE) {
            any = pass_stop(r->tasks[i]->child) || any;
        }
    }
    return any;
}

// Right after an update nothing has been asked yet: the answer is kept, with the checkpoint, for
// the first question of this step.
static int answer_early(pons_run *r, const pons_value *value, pons_error *err)
{
    pons_value *v = value ? pons_value_ref(value) : json_null();
    pons__rows rows = {0};
    int st = PONS_OK;
    if (r->durable) {
        st = pons__rows_add(&rows, r, PONS__COMMAND_TASK, r->commands,
                            pons_object_whole("early", pons_value_ref(v), NULL), err);
    }
    if (st == PONS_OK && r->durable) {
        st = pons__run_commit(r, &(pons__extra){.rows = &rows}, err);
    }
    pons__rows_fini(&rows);
    if (st != PONS_OK) {
        pons_value_unref(v);
        return st;
    }
    r->commands++;
    r->early = v;
    return PONS_OK;
}

// Whether the run, or a subgraph that it waits in, is between two supersteps, as at a breakpoint or
// after an update, and no task of the next has had its turn. A fork has not.
static bool is_between(const pons_run *r)
{
    bool began = r->state != PONS_RUN_READY || r->ns->source == 'f', below = false;
    for (size_t i = 0; i < r->n_tasks; i++) {
        const pons_cx *cx = r->tasks[i];
        const bool child = cx->child && cx->state != PONS__TASK_DONE;
        began = began || cx->n_calls > 0 || cx->child || cx->state != PONS__TASK_TODO ||
                cx->done_saved || cx->error.status != PONS_OK;
        below = below || (child && is_between(cx->child));
    }
    return !began || below;
}

int pons_run_resume_value(pons_run *r, const pons_value *value, pons_error *err)
{
    pons_autovalue pending = pons_run_pending(r);
    const char *id = NULL;
    size_t n = 0;
    pons_each(p, pending) {
        if (strcmp(pons_get_str(p, "kind", ""), PONS__HUMAN) != 0) {
            continue;
        }
        id = pons_get_str(p, "id", NULL);
        n++;
    }
    const bool stopped = n == 0 && pass_stop(r);
    if (n == 0 && !r->early && !r->early_used && is_between(r)) {
        return answer_early(r, value, err);
    }
    if (stopped) {
        return PONS_OK;
    }
    if (n == 0) {
        return pons_error_set(err, PONS_ENOTPENDING, PONS__MODULE,
                              "nothing in thread %s waits for a person", r->t->id);
    }
    if (n > 1) {
        return pons_error_set(err, PONS_EAMBIGUOUS, PONS__MODULE,
                              "%zu interrupts are pending in thread %s: answer them by id", n,
                              r->t->id);
    }
    return pons_run_answer(r, id, value ? pons_value_ref(value) : json_null(), err);
}

int pons_run_resume_map(pons_run *r, const pons_value *id_to_value, pons_error *err)
{
    size_t call;
    pons_each_member(id, v, id_to_value) {
        if (!find(r, id, &call)) {
            return pons_error_set(err, PONS_ENOTPENDING, PONS__MODULE,
                                  "interrupt '%s' is not pending in thread %s", id, r->t->id);
        }
    }
    pons_each_member(id, v, id_to_value) {
        int st = pons_run_answer(r, id, pons_value_ref(v), err);
        if (st != PONS_OK) {
            return st;
        }
    }
    return PONS_OK;
}
