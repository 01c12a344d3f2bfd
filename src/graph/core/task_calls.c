// task_calls.c - a task's calls: the awaits, interrupts and tasks that its node has made, numbered in
// the order in which it makes them.
//
//   asked --commit--> pending --handler.start--> ... --answer, committed--> answered --> replay
//                        |
//                        +-- crash --> loaded --> handler.start(restarted) --> ...
//
// node/await.c makes them, persist/pending_writes.c stores them, run/await_answer.c answers them. Handlers are
// called on the loop thread, outside any pass.
#include "graph/core/task_calls.h"

#include "graph/core/called_tasks.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_random.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "pons/growing_list.h"
#include "pons/log.h"

#include <stdio.h>
#include <stdlib.h>

// ---- the list -----------------------------------------------------------------------------------

// A graph that the node ran has failed, and it goes on all the same: that is what a replay finds.
static bool keep_failure(pons_cx *cx)
{
    const pons_run *child = cx->child;
    if (!child || cx->node->sub || child->state != PONS_RUN_FAILED) {
        return true;
    }
    for (size_t i = 0; i < cx->n_calls; i++) {
        pons__call *c = &cx->calls[i];
        if (c->kind != PONS__CALL_GRAPH || c->answer || strcmp(c->id, child->ns->owner) != 0) {
            continue;
        }
        pons_value *what = pons_object_whole("status", json_integer(child->error.status), "module",
                                             json_string(child->error.module), "message",
                                             json_string(child->error.message), "source",
                                             json_string(child->error.source), NULL);
        c->answer = pons_object_whole(PONS__CALL_FAILED, what, NULL);
        c->saved = false;
        if (!c->answer) {
            return false;
        }
    }
    pons_run_destroy(cx->child);
    cx->child = NULL;
    return true;
}

pons__call *pons__call_add(pons_cx *cx, pons__call_kind kind, const char *name, const char *hash)
{
    if (!keep_failure(cx)) {
        return NULL;
    }
    for (size_t i = 0; i < cx->n_calls; i++) { // failures that the node goes on from
        pons__call *c = &cx->calls[i];
        if (c->failed && c->taken && !c->accepted) {
            c->accepted = true;
            c->saved = false;
        }
    }
    char *own = strdup(name);
    if (!own ||
        !pons_list_reserve(&cx->calls, &cx->cap_calls, cx->n_calls + 1, sizeof *cx->calls)) {
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
    if (c->round) {
        snprintf(c->id, sizeof c->id, "%s.%zu.%d", pons__task_id(cx), n, c->round);
    } else {
        snprintf(c->id, sizeof c->id, "%s.%zu", pons__task_id(cx), n);
    }
}

void pons__task_trim(pons_cx *cx)
{
    size_t keep = 0; // up to the last thing that a person said or a task returned
    for (size_t i = 0; i < cx->n_calls; i++) {
        if (pons__call_outstanding(&cx->calls[i]) && !pons__call_is_human(&cx->calls[i])) {
            break;
        }
        if (cx->calls[i].kind == PONS__CALL_GRAPH && !cx->calls[i].answer) {
            break; // the next attempt begins it anew
        }
        if (cx->calls[i].kind == PONS__CALL_STEP && (!cx->calls[i].answer || cx->calls[i].failed)) {
            continue; // called again, but for those before something that is kept
        }
        if (cx->calls[i].kind != PONS__CALL_AWAIT || pons__call_is_human(&cx->calls[i])) {
            keep = i + 1;
        }
    }
    for (size_t i = 0; i < keep; i++) {
        pons__call *c = &cx->calls[i];
        if (c->failed && !c->accepted) {
            pons_value_unref(c->answer);
            c->answer = NULL;
            c->failed = c->taken = false;
        }
    }
    while (cx->n_calls > keep) {
        pons__call_pop(cx);
    }
    cx->keep = keep;
    cx->round++;
    cx->header_due = true;
}

void pons__awaits_unasked(pons_cx *cx)
{
    while (cx->n_calls > 0 && !cx->calls[cx->n_calls - 1].saved) {
        pons__call_pop(cx);
    }
}

// ---- handlers -----------------------------------------------------------------------------------

void pons__call_cancel(pons_run *r, pons__call *c)
{
    if (c->canceled) {
        return; // once
    }
    c->canceled = true;
    const pons_await_handler *h = pons__handler(r->t, c->name);
    if (h && h->cancel) {
        h->cancel(h->user, pons__run_root(r), c->id);
    }
}

void pons__task_cancel(pons_cx *cx)
{
    for (size_t i = 0; i < cx->run->n_tasks; i++) { // what it has called
        pons_cx *t = cx->run->tasks[i];
        if (t->caller == cx && !t->retired) {
            pons__task_cancel(t);
            pons__called_retire(t);
        }
    }
    for (size_t i = 0; i < cx->n_calls; i++) {
        if (pons__call_outstanding(&cx->calls[i]) && cx->calls[i].saved &&
            !cx->calls[i].start_due) {
            pons__call_cancel(cx->run, &cx->calls[i]);
        }
    }
    pons__work_cancel(cx->work);
    cx->work = NULL;
    for (size_t i = 0; cx->child && i < cx->child->n_tasks; i++) {
        if (cx->child->tasks[i]->state != PONS__TASK_DONE) {
            pons__task_cancel(cx->child->tasks[i]);
        }
    }
}

void pons__awaits_drop(pons_cx *cx)
{
    pons__awaits_unasked(cx);
    for (size_t i = 0; i < cx->n_calls; i++) {
        if (pons__call_outstanding(&cx->calls[i]) && !cx->calls[i].start_due) {
            pons__call_cancel(cx->run, &cx->calls[i]);
        }
    }
}

int pons__awaits_start(pons_run *r)
{
    int n = 0;
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        for (size_t k = 0; k < cx->n_calls && cx->state != PONS__TASK_DONE; k++) {
            pons__call *c = &cx->calls[k];
            if (!pons__call_outstanding(c) || !c->start_due || !c->saved) {
                continue;
            }
            c->start_due = false;
            const pons_await_handler *h = pons__handler(r->t, c->name);
            if (!h && !pons__call_is_human(c)) {
                pons_log(PONS_LOG_WARN, PONS__MODULE,
                         "thread %s: node '%s' awaits '%s' (%s), which no handler serves: it waits "
                         "until the program answers",
                         r->t->id, cx->node->name, c->name, c->id);
            }
            if (!h || !h->start) {
                continue;
            }
            h->start(h->user, pons__run_root(r), c->id, c->request, c->restarted);
            n++;
        }
    }
    return n;
}

// ---- what a task waits for ----------------------------------------------------------------------

bool pons__task_asks(const pons_cx *cx)
{
    for (size_t i = 0; i < cx->n_calls; i++) {
        if (pons__call_outstanding(&cx->calls[i]) && !cx->calls[i].saved) {
            return true;
        }
    }
    return false;
}

bool pons__task_pending(const pons_cx *cx)
{
    for (size_t i = 0; i < cx->n_calls; i++) {
        if (pons__call_unanswered(&cx->calls[i])) {
            return true;
        }
    }
    return false;
}

size_t pons__task_answered(const pons_cx *cx)
{
    size_t n = 0;
    for (size_t i = 0; i < cx->n_calls; i++) {
        n += cx->calls[i].answer != NULL;
    }
    return n;
}

bool pons__task_waits_for_people(const pons_cx *cx)
{
    if (cx->work || (cx->child && cx->child->state != PONS_RUN_INTERRUPTED)) {
        return false;
    }
    for (size_t i = 0; i < cx->n_calls; i++) {
        if (pons__call_outstanding(&cx->calls[i]) && !pons__call_is_human(&cx->calls[i])) {
            return false;
        }
        const bool called = cx->calls[i].kind == PONS__CALL_STEP && !cx->calls[i].answer;
        const pons_cx *t = called ? pons__called_find(cx, i) : NULL;
        if (t && (t->state != PONS__TASK_PARKED || !pons__task_waits_for_people(t))) {
            return false;
        }
    }
    return true;
}

pons_run_state pons__awaits_state(const pons_run *r)
{
    pons_run_state state = PONS_RUN_INTERRUPTED;
    for (size_t i = 0; i < r->n_tasks; i++) {
        const pons_cx *cx = r->tasks[i];
        if (cx->state == PONS__TASK_TODO) {
            return PONS_RUN_READY;
        }
        if (cx->state != PONS__TASK_PARKED) {
            continue;
        }
        if (cx->child && cx->child->state == PONS_RUN_READY) {
            return PONS_RUN_READY;
        }
        if (cx->wake_ns || cx->work || (cx->child && cx->child->state == PONS_RUN_PARKED)) {
            state = PONS_RUN_PARKED;
        }
        for (size_t k = 0; k < cx->n_calls; k++) {
            if (pons__call_outstanding(&cx->calls[k]) && !pons__call_is_human(&cx->calls[k])) {
                state = PONS_RUN_PARKED;
            }
        }
    }
    return state;
}
