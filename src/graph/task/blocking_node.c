// blocking_node.c - nodes that block: their input is copied to a worker (util/worker_pool.c), the task is
// parked, and what comes back is an update. All of this runs on the loop thread.
//
//   run: copy the input, put --> parked --> the pool is readable --> deliver: TODO --> run: update
//
// The input is a deep copy, so that no reference count is touched by two threads. A work whose task
// has timed out or was cleared is only told so.
#include "graph/task/blocking_node.h"

#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_writes.h"
#include "graph/engine.h"
#include "graph/util/cancel.h"

#include <stdlib.h>

// ---- helpers ------------------------------------------------------------------------------------

static pons__pool *pool_of(pons_thread *t)
{
    if (!t->pool) {
        t->pool = pons__pool_create();
    }
    return t->pool;
}

static pons_value *input_of(const pons_cx *cx)
{
    if (cx->arg) {
        return json_deep_copy(cx->arg);
    }
    pons_value *input = json_object();
    const pons_graph *g = cx->run->g;
    for (size_t i = 0; i < g->n_channels && input; i++) {
        const pons_value *v = cx->run->ns->slots[i].v;
        if (v && json_object_set_new(input, g->channels[i].name, json_deep_copy(v)) != 0) {
            pons_value_unref(input);
            input = NULL;
        }
    }
    return input;
}

static int queue(pons_cx *cx, pons_error *err)
{
    pons_thread *t = cx->run->t;
    pons__pool *p = pool_of(t);
    pons_work *w = p ? calloc(1, sizeof *w) : NULL;
    if (!w) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a blocking node");
    }
    *w = (pons_work){
        .fn = cx->node->blocking, .user = cx->node->user, .input = input_of(cx), .cx = cx};
    w->cancel = pons__cancel_ref(pons__run_root(cx->run)->opts.cancel);
    if (!w->input) {
        pons__work_free(w);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a blocking node");
    }
    cx->work = w;
    return pons__pool_put(p, w, err);
}

int pons__work_run(pons_cx *cx, pons_error *err)
{
    pons_work *w = cx->work;
    if (!w) {
        int st = queue(cx, err);
        return st == PONS_OK ? PONS_EPARKED : st;
    }
    if (!w->finished) {
        return PONS_EPARKED;
    }
    cx->work = NULL;
    int st = w->st;
    if (st == PONS_OK && cx->caller && !pons_value_fits(w->update)) {
        st = pons__too_deep(cx, "returns", err);
    } else if (st == PONS_OK && cx->caller) { // a task's result
        cx->returned = w->update;
        w->update = NULL;
    } else if (st == PONS_OK && w->update) {
        st = pons__cx_input(cx, w->update, err);
    } else if (st != PONS_OK && err) {
        *err = w->err;
    }
    pons__work_free(w);
    return st == PONS_EPARKED ? PONS_EINVAL : st;
}

// The injected clock is the loop's alone, so progress counts from when the loop looks.
int64_t pons__work_moved_ns(const pons_cx *cx)
{
    pons_work *w = cx->work;
    if (!w) {
        return 0;
    }
    unsigned reported = atomic_load_explicit(&w->progress, memory_order_relaxed);
    if (reported != w->seen) {
        w->moved_ns = pons_now_ns(&cx->run->t->clock);
    }
    w->seen = reported;
    return w->moved_ns;
}

int pons_thread_fd(pons_thread *t)
{
    pons__pool *p = pool_of(t);
    return p ? pons__pool_fd(p) : -1;
}

int pons_thread_deliver(pons_thread *t)
{
    pons__pool *p = t->pool;
    if (!p) {
        return 0;
    }
    pons_work *list = pons__pool_take(p);
    int n = 0;
    while (list) {
        pons_work *w = list;
        list = w->next;
        if (!w->cx) {
            pons__work_free(w);
            continue;
        }
        w->finished = true;
        if (w->cx->state == PONS__TASK_PARKED) {
            w->cx->state = PONS__TASK_TODO;
        }
        pons__run_wake(w->cx->run);
        n++;
    }
    return n;
}
