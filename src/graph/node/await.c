// await.c - awaits, interrupts and tasks: what a node asks for and gets when it is run again.
//
// A task's calls are numbered in the order in which its node makes them (core/task_calls.c). A replay
// must make the same calls: the kind (or name) and the request's hash are compared, and a
// difference is NONDETERMINISM naming both, never a silent wrong value.
//
// A node may finish while something that it asked for is pending (it took whichever came first):
// the handler is told that the answer is not wanted any more.
#include "graph/node/await.h"

#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/engine.h"
#include "graph/persist/commit.h"

// The newest call's answer is there already: it is recorded before anybody sees it.
static int take_early(pons_cx *cx, pons_error *err)
{
    pons_run *root = pons__run_root(cx->run);
    pons__call *c = &cx->calls[cx->n_calls - 1];
    pons__rows rows = {0};
    c->answer = root->early;
    c->early = true;
    c->start_due = false;
    int st = cx->run->durable ? pons__rows_task(&rows, cx, err) : PONS_OK;
    if (st == PONS_OK) {
        st = pons__run_commit(cx->run, &(pons__extra){.rows = &rows}, err);
    }
    pons__rows_fini(&rows);
    if (st != PONS_OK) {
        c->answer = NULL;
        c->early = false;
        c->start_due = true;
        pons__cx_break(cx, st, err);
        return st;
    }
    pons__rows_saved(cx);
    root->early = NULL;
    root->early_used = true;
    return PONS_OK;
}

int pons_await(pons_cx *cx, const char *kind, pons_value *request, int64_t deadline_ms,
               const pons_value **ret_answer, pons_error *err)
{
    pons_autovalue owned = request;
    char hash[33];
    if (!pons_value_fits(owned)) {
        return pons__too_deep(cx, "asks with", err);
    }
    pons_value_hash(owned, hash);
    pons__call *c;
    int st = pons__call_next(cx, PONS__CALL_AWAIT, kind, hash, &c, err);
    if (st != PONS_OK) {
        return st;
    }
    if (!c) {
        c = pons__call_add(cx, PONS__CALL_AWAIT, kind, hash);
        if (!c) {
            return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for an await");
        }
        c->request = pons_value_ref(owned);
        c->start_due = true;
        if (deadline_ms > 0) {
            c->deadline_ns = pons_later_ns(pons_now_ns(&cx->run->t->clock), deadline_ms);
            c->deadline_wall_ms = pons_later_ms(pons_wall_ms(&cx->run->t->clock), deadline_ms);
            c->deadline_span_ms = deadline_ms;
        }
    }
    if (!c->answer && !c->saved && pons__call_is_human(c) && pons__run_root(cx->run)->early) {
        st = take_early(cx, err);
        c = &cx->calls[cx->call_at - 1];
    }
    if (st != PONS_OK || !c->answer) {
        return st != PONS_OK ? st : PONS_EPARKED;
    }
    *ret_answer = c->answer;
    return PONS_OK;
}

int pons_interrupt(pons_cx *cx, pons_value *payload, const pons_value **ret_answer, pons_error *err)
{
    return pons_await(cx, PONS__HUMAN, payload, 0, ret_answer, err);
}

int pons_task(pons_cx *cx, const char *name, const pons_value *args, pons_task_fn fn, void *user,
              const pons_value **ret, pons_error *err)
{
    char hash[33];
    pons_value_hash(args, hash);
    pons__call *c;
    int st = pons__call_next(cx, PONS__CALL_TASK, name, hash, &c, err);
    if (st == PONS_OK && c) {
        *ret = c->answer;
    }
    if (st != PONS_OK || c) {
        return st;
    }
    pons_value *result = NULL;
    st = fn(user, args, &result, err);
    if (st != PONS_OK) {
        return st;
    }
    if (!pons_value_fits(result)) {
        pons_value_unref(result);
        return pons__too_deep(cx, "gets from a task", err);
    }
    c = pons__call_add(cx, PONS__CALL_TASK, name, hash);
    if (!c) {
        pons_value_unref(result);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a task's result");
    }
    c->answer = result ? result : json_null();
    pons__rows rows = {0};
    st = pons__rows_call(&rows, cx, cx->n_calls - 1, err);
    if (st == PONS_OK) {
        st = pons__run_commit(cx->run, &(pons__extra){.rows = &rows}, err);
    }
    pons__rows_fini(&rows);
    if (st != PONS_OK) {
        pons__call_pop(cx);
        pons__cx_break(cx, st, err);
        return st;
    }
    pons__rows_call_saved(cx, cx->n_calls - 1);
    *ret = c->answer;
    return PONS_OK;
}

bool pons__await_expected(const pons_cx *cx, const char *kind, const pons_value *request)
{
    char hash[33];
    if (cx->call_at >= cx->n_calls) {
        return false;
    }
    const pons__call *c = &cx->calls[cx->call_at];
    pons_value_hash(request, hash);
    return c->kind == PONS__CALL_AWAIT && strcmp(c->name, kind) == 0 && strcmp(c->hash, hash) == 0;
}

int pons__call_next(pons_cx *cx, pons__call_kind kind, const char *name, const char *hash,
                    pons__call **ret, pons_error *err)
{
    size_t n = cx->call_at++;
    *ret = n < cx->n_calls ? &cx->calls[n] : NULL;
    if (!*ret) {
        return PONS_OK;
    }
    const pons__call *c = *ret;
    if (c->kind == kind && strcmp(c->name, name) == 0 && strcmp(c->hash, hash) == 0) {
        return PONS_OK;
    }
    pons_error_set(err, PONS_ENONDETERMINISM, PONS__MODULE,
                   "call %zu of node '%s' was %s '%s' (%.8s) and is now %s '%s' (%.8s)", n,
                   cx->node->name, pons__call_words[c->kind], c->name, c->hash,
                   pons__call_words[kind], name, hash);
    pons_error e = PONS_ERROR_INIT;
    pons__cx_fault(cx, PONS_ENONDETERMINISM, err ? err : &e);
    return PONS_ENONDETERMINISM;
}
