// await.c - awaits, interrupts and tasks: what a node asks for and gets when it is run again.
//
// A task's calls are numbered in the order in which its node makes them. A replay must make the
// same calls: the kind (or name) and the request's hash are compared, and a difference is
// NONDETERMINISM naming both, never a silent wrong value. The life of an await:
//
//   asked ──commit──► pending ──handler.start──► … ──answer, committed──► answered ──► replay
//                        └─ crash ─► loaded ─► handler.start(restarted) ─► …
//
// A node may finish while something that it asked for is pending (it took whichever came first):
// the handler is told that the answer is not wanted any more.
#include "graph/graph_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define HUMAN "human"

static int call_next(pons_cx *cx, pons__call_kind kind, const char *name, const char *hash,
                     pons__call **ret, pons_error *err);
static pons__call *call_add(pons_cx *cx, pons__call_kind kind, const char *name, const char *hash);
static void call_fini(pons__call *c);
static bool outstanding(const pons__call *c);
static bool is_human(const pons__call *c);
static pons_cx *find(const pons_run *r, const char *id, size_t *ret_call);
static int answer(pons_cx *cx, size_t call, pons_value *value, pons_error *err);
static void cancel(pons_run *r, pons__call *c);

// ---------------------------------------------------------------- in a node

int pons_await(pons_cx *cx, const char *kind, pons_value *request, int64_t deadline_ms,
               const pons_value **ret_answer, pons_error *err)
{
    pons_autovalue owned = request;
    char hash[33];
    pons_value_hash(owned, hash);
    pons__call *c;
    int st = call_next(cx, PONS__CALL_AWAIT, kind, hash, &c, err);
    if (st != PONS_OK)
        return st;
    if (!c) {
        c = call_add(cx, PONS__CALL_AWAIT, kind, hash);
        if (!c)
            return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for an await");
        c->request = pons_value_ref(owned);
        c->start_due = true;
        if (deadline_ms > 0) {
            c->deadline_ns = pons_now_ns(&cx->run->t->clock) + deadline_ms * PONS_NS_PER_MS;
            c->deadline_wall_ms = pons_wall_ms(&cx->run->t->clock) + deadline_ms;
        }
    }
    if (!c->answer)
        return PONS_EPARKED;
    *ret_answer = c->answer;
    return PONS_OK;
}

int pons_interrupt(pons_cx *cx, pons_value *payload, const pons_value **ret_answer, pons_error *err)
{
    return pons_await(cx, HUMAN, payload, 0, ret_answer, err);
}

int pons_task(pons_cx *cx, const char *name, const pons_value *args, pons_task_fn fn, void *user,
              const pons_value **ret, pons_error *err)
{
    char hash[33];
    pons_value_hash(args, hash);
    pons__call *c;
    int st = call_next(cx, PONS__CALL_TASK, name, hash, &c, err);
    if (st == PONS_OK && c)
        *ret = c->answer;
    if (st != PONS_OK || c)
        return st;
    pons_value *result = NULL;
    st = fn(user, args, &result, err);
    if (st != PONS_OK)
        return st;
    c = call_add(cx, PONS__CALL_TASK, name, hash);
    if (!c) {
        pons_value_unref(result);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a task's result");
    }
    c->answer = result ? result : json_null();
    pons__rows rows = {0};
    st = pons__rows_call(&rows, cx, cx->n_calls - 1, err);
    if (st == PONS_OK)
        st = pons__run_commit(cx->run, &(pons__extra){.rows = &rows}, err);
    pons__rows_fini(&rows);
    if (st != PONS_OK) {
        call_fini(&cx->calls[--cx->n_calls]);
        pons__cx_break(cx, st, err);
        return st;
    }
    c->saved = cx->header_saved = true;
    *ret = c->answer;
    return PONS_OK;
}

bool pons__await_expected(const pons_cx *cx, const char *kind, const pons_value *request)
{
    char hash[33];
    if (cx->call_at >= cx->n_calls)
        return false;
    const pons__call *c = &cx->calls[cx->call_at];
    pons_value_hash(request, hash);
    return c->kind == PONS__CALL_AWAIT && strcmp(c->name, kind) == 0 && strcmp(c->hash, hash) == 0;
}

// The call that a replay expects here; NULL when this one is new.
static int call_next(pons_cx *cx, pons__call_kind kind, const char *name, const char *hash,
                     pons__call **ret, pons_error *err)
{
    size_t n = cx->call_at++;
    *ret = n < cx->n_calls ? &cx->calls[n] : NULL;
    if (!*ret)
        return PONS_OK;
    const pons__call *c = *ret;
    if (c->kind == kind && strcmp(c->name, name) == 0 && strcmp(c->hash, hash) == 0)
        return PONS_OK;
    static const char *const words[] = {"await", "task"};
    pons_error_set(err, PONS_ENONDETERMINISM, PONS__MODULE,
                   "call %zu of node '%s' was %s '%s' (%.8s) and is now %s '%s' (%.8s)", n,
                   cx->node->name, words[c->kind], c->name, c->hash, words[kind], name, hash);
    pons_error e = PONS_ERROR_INIT;
    pons__cx_fault(cx, PONS_ENONDETERMINISM, err ? err : &e);
    return PONS_ENONDETERMINISM;
}

static pons__call *call_add(pons_cx *cx, pons__call_kind kind, const char *name, const char *hash)
{
    char *own = strdup(name);
    if (!own || !pons__reserve(&cx->calls, &cx->cap_calls, cx->n_calls + 1, sizeof *cx->calls)) {
        free(own);
        return NULL;
    }
    pons__call *c = &cx->calls[cx->n_calls];
    *c = (pons__call){.kind = kind, .name = own};
    snprintf(c->hash, sizeof c->hash, "%s", hash);
    c->round = cx->round;
    pons__call_id(cx, c, cx->n_calls);
    cx->n_calls++;
    return c;
}

void pons__call_id(pons_cx *cx, pons__call *c, size_t n)
{
    if (c->round)
        snprintf(c->id, sizeof c->id, "%s.%zu.%d", pons__task_id(cx), n, c->round);
    else
        snprintf(c->id, sizeof c->id, "%s.%zu", pons__task_id(cx), n);
}

void pons__task_trim(pons_cx *cx)
{
    size_t keep = 0; // up to the last thing that a person said or a task returned
    for (size_t i = 0; i < cx->n_calls; i++) {
        if (outstanding(&cx->calls[i]) && !is_human(&cx->calls[i]))
            break;
        if (cx->calls[i].kind == PONS__CALL_TASK || is_human(&cx->calls[i]))
            keep = i + 1;
    }
    while (cx->n_calls > keep)
        call_fini(&cx->calls[--cx->n_calls]);
    cx->keep = keep;
    cx->round++;
    cx->header_due = true;
}

void pons__task_cancel(pons_cx *cx)
{
    for (size_t i = 0; i < cx->n_calls; i++)
        if (outstanding(&cx->calls[i]) && cx->calls[i].saved && !cx->calls[i].start_due)
            cancel(cx->run, &cx->calls[i]);
    pons__work_drop(cx);
    for (size_t i = 0; cx->child && i < cx->child->n_tasks; i++)
        if (cx->child->tasks[i]->state != PONS__TASK_DONE)
            pons__task_cancel(cx->child->tasks[i]);
}

bool pons__task_waits_for_people(const pons_cx *cx)
{
    if (cx->work || (cx->child && cx->child->state != PONS_RUN_INTERRUPTED))
        return false;
    for (size_t i = 0; i < cx->n_calls; i++)
        if (outstanding(&cx->calls[i]) && !is_human(&cx->calls[i]))
            return false;
    return true;
}

static void call_fini(pons__call *c)
{
    free(c->name);
    pons_value_unref(c->request);
    pons_value_unref(c->answer);
}

bool pons__task_pending(const pons_cx *cx)
{
    for (size_t i = 0; i < cx->n_calls; i++)
        if (outstanding(&cx->calls[i]))
            return true;
    return false;
}

void pons__awaits_unasked(pons_cx *cx)
{
    while (cx->n_calls > 0 && !cx->calls[cx->n_calls - 1].saved)
        call_fini(&cx->calls[--cx->n_calls]);
}

void pons__awaits_drop(pons_cx *cx)
{
    pons__awaits_unasked(cx);
    for (size_t i = 0; i < cx->n_calls; i++)
        if (outstanding(&cx->calls[i]) && !cx->calls[i].start_due)
            cancel(cx->run, &cx->calls[i]);
}

// ---------------------------------------------------------------- handlers

int pons__awaits_start(pons_run *r)
{
    int n = 0;
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        for (size_t k = 0; k < cx->n_calls && cx->state != PONS__TASK_DONE; k++) {
            pons__call *c = &cx->calls[k];
            if (!outstanding(c) || !c->start_due || !c->saved)
                continue;
            c->start_due = false;
            const pons_await_handler *h = pons__handler(r->t, c->name);
            if (!h || !h->start)
                continue;
            h->start(h->user, pons__run_root(r), c->id, c->request, c->restarted);
            n++;
        }
    }
    return n;
}

pons_run_state pons__awaits_state(const pons_run *r)
{
    pons_run_state state = PONS_RUN_INTERRUPTED;
    for (size_t i = 0; i < r->n_tasks; i++) {
        const pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_TODO)
            return PONS_RUN_READY;
        if (cx->state != PONS__TASK_PARKED)
            continue;
        if (cx->child && cx->child->state == PONS_RUN_READY)
            return PONS_RUN_READY;
        if (cx->wake_ns || cx->work || (cx->child && cx->child->state == PONS_RUN_PARKED))
            state = PONS_RUN_PARKED;
        for (size_t k = 0; k < cx->n_calls; k++)
            if (outstanding(&cx->calls[k]) && !is_human(&cx->calls[k]))
                state = PONS_RUN_PARKED;
    }
    return state;
}

// ---------------------------------------------------------------- answers

int pons_run_answer(pons_run *r, const char *await_id, pons_value *value, pons_error *err)
{
    size_t call = 0;
    pons_cx *cx = value ? find(r, await_id, &call) : NULL;
    if (!cx) {
        pons_value_unref(value);
        return pons_error_set(err, PONS_ENOTPENDING, PONS__MODULE,
                              "await '%s' is not pending in thread %s", await_id, r->t->id);
    }
    return answer(cx, call, value, err);
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
    if (any)
        pons__run_wake(r);
}

static int answer(pons_cx *cx, size_t call, pons_value *value, pons_error *err)
{
    pons__call *c = &cx->calls[call];
    pons__rows rows = {0};
    c->answer = value;
    int st = pons__rows_call(&rows, cx, call, err);
    if (st == PONS_OK)
        st = pons__run_commit(cx->run, &(pons__extra){.rows = &rows}, err);
    pons__rows_fini(&rows);
    if (st != PONS_OK) {
        c->answer = NULL;
        pons_value_unref(value);
        answer_lost(cx->run, err);
        return st;
    }
    c->start_due = false;
    cx->moved_ns = 0; // progress: the idle time starts anew
    if (cx->state == PONS__TASK_PARKED && !cx->wake_ns)
        cx->state = PONS__TASK_TODO;
    pons__run_wake(cx->run);
    return PONS_OK;
}

static int detach_one(pons_run *r, const pons_value *value, pons_error *err)
{
    pons__rows rows = {0};
    int n = 0, st = PONS_OK;
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK; i++) {
        pons_cx *cx = r->tasks[i];
        for (size_t k = 0; k < cx->n_calls && st == PONS_OK; k++) {
            pons__call *c = &cx->calls[k];
            if (!outstanding(c) || is_human(c) || !c->saved)
                continue;
            c->answer = pons_value_ref(value);
            c->detached = true;
            st = pons__rows_call(&rows, cx, k, err);
            n++;
        }
    }
    if (st == PONS_OK && n > 0)
        st = pons__run_commit(r, &(pons__extra){.rows = &rows}, err);
    pons__rows_fini(&rows);
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        for (size_t k = 0; k < cx->n_calls; k++) {
            pons__call *c = &cx->calls[k];
            if (!c->detached)
                continue;
            c->detached = false;
            if (st != PONS_OK) {
                pons_value_unref(c->answer);
                c->answer = NULL;
                continue;
            }
            if (cx->state == PONS__TASK_PARKED && !cx->wake_ns)
                cx->state = PONS__TASK_TODO;
            if (!c->start_due)
                cancel(r, c);
            c->start_due = false;
        }
    }
    if (st == PONS_OK && n > 0)
        pons__run_wake(r);
    if (st != PONS_OK)
        answer_lost(r, err);
    return st == PONS_OK ? n : st;
}

int pons_run_detach(pons_run *r, const pons_value *value, pons_error *err)
{
    int n = detach_one(r, value, err);
    for (size_t i = 0; i < r->n_tasks && n >= 0; i++) {
        if (!r->tasks[i]->child || r->tasks[i]->state == PONS__TASK_DONE)
            continue;
        int m = pons_run_detach(r->tasks[i]->child, value, err);
        n = m < 0 ? m : n + m;
    }
    return n;
}

static bool collect(const pons_run *r, pons_value *list)
{
    for (size_t i = 0; i < r->n_tasks; i++) {
        const pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_DONE)
            continue;
        for (size_t k = 0; k < cx->n_calls; k++) {
            const pons__call *c = &cx->calls[k];
            if (!outstanding(c) || !c->saved)
                continue;
            pons_value *item =
                json_pack("{sssssO?ssso}", "id", c->id, "kind", c->name, "request", c->request,
                          "node", cx->node->name, "deadline_ms",
                          c->deadline_wall_ms ? json_integer(c->deadline_wall_ms) : json_null());
            if (json_array_append_new(list, item) != 0)
                return false;
        }
        if (cx->child && !collect(cx->child, list))
            return false;
    }
    return true;
}

pons_value *pons_run_pending(const pons_run *r)
{
    pons_value *list = json_array();
    if (list && collect(r, list))
        return list;
    pons_value_unref(list);
    return NULL;
}

// A retry or a time-out of the policy: the task is run when it is over. Returns when it will be.
static int64_t time_due(pons_cx *cx, int64_t now_ns)
{
    if (cx->wake_ns && cx->wake_ns > now_ns)
        return cx->wake_ns;
    if (!cx->wake_ns) {
        int64_t due = pons__policy_limit(cx);
        if (due > now_ns)
            return due;
        pons__policy_expire(cx);
    }
    cx->header_due = cx->header_due || cx->wake_ns; // which says when it was due
    cx->wake_ns = cx->wake_wall_ms = 0;
    cx->state = PONS__TASK_TODO;
    pons__run_wake(cx->run);
    return INT64_MAX;
}

static int64_t deadlines(pons_run *r, int64_t now_ns, pons_error *err, int *st)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < r->n_tasks && *st == PONS_OK; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_DONE)
            continue;
        if ((cx->wake_ns || cx->limit_ns) && cx->state == PONS__TASK_PARKED) {
            int64_t due = time_due(cx, now_ns);
            next = due < next ? due : next;
        }
        for (size_t k = 0; k < cx->n_calls && *st == PONS_OK; k++) {
            pons__call *c = &cx->calls[k];
            if (!outstanding(c) || !c->saved || !c->deadline_ns)
                continue;
            if (c->deadline_ns > now_ns) {
                next = c->deadline_ns < next ? c->deadline_ns : next;
                continue;
            }
            bool started = !c->start_due;
            *st = answer(cx, k, pons_object("timeout", json_true(), NULL), err);
            if (*st == PONS_OK && started)
                cancel(r, c);
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
    int64_t next = deadlines(r, now_ns, err, &st);
    return st == PONS_OK ? next : now_ns; // due again: its commit had failed
}

// ---------------------------------------------------------------- people

// Lets a run that interrupt_before/after stopped go on; whether there was one.
static bool pass_stop(pons_run *r)
{
    bool any = r->stopped;
    if (r->stopped) {
        r->stopped = r->drain = r->drained = false;
        pons__run_wake(r);
    }
    for (size_t i = 0; i < r->n_tasks; i++)
        if (r->tasks[i]->child && r->tasks[i]->state != PONS__TASK_DONE)
            any = pass_stop(r->tasks[i]->child) || any;
    return any;
}

int pons_run_resume_value(pons_run *r, const pons_value *value, pons_error *err)
{
    pons_autovalue pending = pons_run_pending(r);
    const char *id = NULL;
    size_t i, n = 0;
    pons_value *p;
    json_array_foreach(pending, i, p)
    {
        if (strcmp(pons_get_str(p, "kind", ""), HUMAN) != 0)
            continue;
        id = pons_get_str(p, "id", NULL);
        n++;
    }
    if (n == 0 && pass_stop(r))
        return PONS_OK;
    if (n == 0)
        return pons_error_set(err, PONS_ENOTPENDING, PONS__MODULE,
                              "nothing in thread %s waits for a person", r->t->id);
    if (n > 1)
        return pons_error_set(err, PONS_EAMBIGUOUS, PONS__MODULE,
                              "%zu interrupts are pending in thread %s: answer them by id", n,
                              r->t->id);
    return pons_run_answer(r, id, value ? pons_value_ref(value) : json_null(), err);
}

int pons_run_resume_map(pons_run *r, const pons_value *id_to_value, pons_error *err)
{
    const char *id;
    pons_value *v;
    size_t call;
    json_object_foreach((pons_value *)(uintptr_t)id_to_value, id, v)
    {
        if (!find(r, id, &call))
            return pons_error_set(err, PONS_ENOTPENDING, PONS__MODULE,
                                  "interrupt '%s' is not pending in thread %s", id, r->t->id);
    }
    json_object_foreach((pons_value *)(uintptr_t)id_to_value, id, v)
    {
        int st = pons_run_answer(r, id, pons_value_ref(v), err);
        if (st != PONS_OK)
            return st;
    }
    return PONS_OK;
}

// ---------------------------------------------------------------- helpers

static bool outstanding(const pons__call *c)
{
    return c->kind == PONS__CALL_AWAIT && !c->answer;
}

static bool is_human(const pons__call *c)
{
    return strcmp(c->name, HUMAN) == 0;
}

static pons_cx *find(const pons_run *r, const char *id, size_t *ret_call)
{
    for (size_t i = 0; i < r->n_tasks && id; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_DONE)
            continue;
        for (size_t k = 0; k < cx->n_calls; k++)
            if (outstanding(&cx->calls[k]) && cx->calls[k].saved &&
                strcmp(cx->calls[k].id, id) == 0) {
                *ret_call = k;
                return cx;
            }
        pons_cx *inner = cx->child ? find(cx->child, id, ret_call) : NULL;
        if (inner)
            return inner;
    }
    return NULL;
}

static void cancel(pons_run *r, pons__call *c)
{
    if (c->canceled)
        return; // once
    c->canceled = true;
    const pons_await_handler *h = pons__handler(r->t, c->name);
    if (h && h->cancel)
        h->cancel(h->user, pons__run_root(r), c->id);
}
