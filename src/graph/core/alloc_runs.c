// alloc_runs.c - how runs and tasks are made and freed.
//
// A run keeps its tasks in a pool: clearing one for the next node costs nothing for the common
// task, which asked for nothing. A task may hold a run (a subgraph's), which holds tasks.
#include "graph/core/alloc_runs.h"

#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/core/task_writes.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/util/cancel.h"
#include "pons/growing_list.h"

#include <stdlib.h>

// ---- tasks --------------------------------------------------------------------------------------

pons_cx *pons__task_add(pons_run *r, uint32_t node_ix, pons_error *err)
{
    if (r->n_tasks == r->n_pool) {
        pons_cx *fresh = calloc(1, sizeof *fresh);
        if (!fresh || !pons_list_reserve(&r->tasks, &r->cap_tasks, r->n_pool + 1, sizeof(void *))) {
            free(fresh);
            pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a task");
            return NULL;
        }
        r->tasks[r->n_pool++] = fresh;
    }
    pons_cx *cx = r->tasks[r->n_tasks++];
    pons__task_clear(cx);
    cx->run = r;
    cx->node_ix = node_ix;
    cx->node = node_ix == PONS__END ? &r->g->start : &r->g->nodes[node_ix];
    cx->node_special = cx->node->policy || cx->node->blocking || cx->node->step;
    return cx;
}

// Whether caller is around cx: called it, or who did.
static bool is_below(const pons_cx *cx, const pons_cx *caller)
{
    while (cx && cx != caller) {
        cx = cx->caller;
    }
    return cx != NULL;
}

void pons__task_give_up(pons_cx *cx)
{
    if (!cx->ahead) {
        return;
    }
    cx->ahead = false;
    for (size_t i = 0; i < cx->run->n_tasks; i++) {
        pons_cx *t = cx->run->tasks[i];
        t->lent = t->lent && !is_below(t, cx);
    }
    if (cx->node->drop) {
        cx->node->drop(cx, cx->node->user);
    }
}

void pons__tasks_give_up(pons_run *r)
{
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons__task_give_up(r->tasks[i]);
    }
}

void pons__task_rewind(pons_cx *cx)
{
    pons__task_give_up(cx);
    pons__task_drop_writes(cx);
    if (!pons__out_empty(&cx->out)) {
        pons__out_clear(&cx->out);
    }
    cx->call_at = 0;
    cx->effect_at = 0;
    cx->rand_ready = false;
    cx->bare = cx->cached = cx->outside = false;
    cx->router = NULL;
    cx->fault = PONS_OK;
    cx->broken = false;
    if (cx->returned) {
        pons_value_unref(cx->returned);
        cx->returned = NULL;
    }
}

void pons__task_clear(pons_cx *cx)
{
    pons__task_rewind(cx);
    cx->state = PONS__TASK_TODO;
    cx->begun = cx->streamed = false;
    cx->wall_fixed = cx->seeded = cx->header_saved = cx->done_saved = false;
    if (!cx->id[0] && !cx->child && !cx->inbox && !cx->inbox_fixed && cx->n_calls == 0 &&
        !cx->send_ix && !cx->node_special) {
        return; // the common task, which asked for nothing
    }
    while (cx->n_calls > 0) {
        pons__call_pop(cx);
    }
    pons_run_destroy(cx->child);
    pons_value_unref(cx->inbox);
    cx->child = NULL;
    cx->inbox = NULL;
    cx->answers_seen = 0;
    cx->inbox_fixed = false;
    cx->id[0] = '\0';
    pons__work_cancel(cx->work);
    cx->work = NULL;
    pons_value_unref(cx->arg);
    cx->arg = NULL;
    cx->send_ix = 0;
    cx->caller = NULL;
    cx->caller_call = 0;
    cx->depth = 0;
    cx->retired = cx->lent = false;
    cx->attempt = cx->round = 0;
    cx->keep = 0;
    cx->wake_ns = cx->wake_wall_ms = cx->wake_span_ms = cx->started_ns = cx->moved_ns =
        cx->limit_ns = 0;
    cx->expired = cx->header_due = cx->node_special = false;
}

static void task_destroy(pons_cx *cx)
{
    if (!cx) {
        return;
    }
    pons__task_clear(cx);
    pons__out_fini(&cx->out);
    free(cx->writes);
    free(cx->gotos);
    free(cx->sends);
    free(cx->calls);
    free(cx->views);
    free(cx->held);
    free(cx);
}

// ---- runs ---------------------------------------------------------------------------------------

pons_run *pons__run_create(pons_thread *t, const pons_graph *g, pons__ns *ns,
                           const pons_run_options *opts, const pons__loop *loop)
{
    pons_run *r = calloc(1, sizeof *r);
    if (!r) {
        return NULL;
    }
    r->t = t;
    r->g = pons__graph_ref(g);
    r->ns = ns;
    r->loop = loop;
    r->serial = ++t->serial;
    r->opts = opts ? *opts : (pons_run_options)PONS_RUN_OPTIONS_INIT;
    pons_value_ref(r->opts.metadata);
    pons_value_ref(r->opts.context);
    pons__cancel_ref(r->opts.cancel);
    r->limit = r->opts.recursion_limit > 0 ? r->opts.recursion_limit : g->recursion_limit;
    r->state = PONS_RUN_READY;
    ns->active = r;
    return r;
}

// Gives the namespace back. Memory that is ahead of the store for good is read again.
void pons__run_release(pons_run *r)
{
    if (!r->ns || r->ns->active != r) {
        return;
    }
    r->ns->active = NULL;
    if (r->ns->queue) {
        pons__queue_wake(r->ns);
    }
    if (r->durable && (r->spoiled || r->ns->ahead || r->commit_due ||
                       (!r->cp_stored && r->state != PONS_RUN_DONE))) {
        pons__ns_forget(r->ns);
    }
}

void pons_run_destroy(pons_run *r)
{
    if (!r) {
        return;
    }
    for (size_t i = 0; i < r->n_pool; i++) {
        task_destroy(r->tasks[i]);
    }
    pons__queue_leave(r);
    pons_value_unref(r->queued_input);
    pons_value_unref((pons_value *)(uintptr_t)r->opts.metadata);
    pons_value_unref(r->ran);
    pons_value_unref(r->early);
    pons_value_unref((pons_value *)(uintptr_t)r->opts.context);
    pons_cancel_destroy(r->opts.cancel);
    pons_value_unref(r->only);
    free(r->before);
    free(r->after);
    pons__run_release(r);
    if (r->parent_task && r->mode != PONS_SUBGRAPH_OWN) {
        pons__ns_drop(r->t, r->ns); // nobody asks for it by this name again in this process
    }
    pons__graph_unref(r->g);
    pons__out_fini(&r->out);
    free(r->tasks);
    free(r->flat);
    free(r->stage);
    free(r->updates);
    free(r);
}

// ---- runs that wait for their namespace ---------------------------------------------------------

void pons__queue_wake(pons__ns *ns)
{
    if (!pons__run_at_work(ns->active) && ns->queue->state == PONS_RUN_PARKED) {
        ns->queue->state = PONS_RUN_READY;
    }
}

void pons__queue_leave(pons_run *r)
{
    pons__ns *ns = r->queued_ns;
    if (!ns) {
        return;
    }
    for (pons_run **at = &ns->queue; *at; at = &(*at)->next_queued) {
        if (*at == r) {
            *at = r->next_queued;
            break;
        }
    }
    r->queued_ns = NULL;
    r->next_queued = NULL;
    if (ns->queue) {
        pons__queue_wake(ns);
    }
}
