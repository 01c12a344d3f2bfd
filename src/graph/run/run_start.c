// run_start.c - runs as a program starts them: with an input, from what is unfinished, or on a
// namespace that is at work (double texting).
//
//   submit -> nothing at work ----------------> begins
//     |
//     +--> reject ---> PONS_EBUSY
//     |
//     +--> enqueue --> PARKED in the namespace's list -> the other ended -> READY -> begins
//     |
//     +--> interrupt, rollback -> the other gives way (run/namespace_queue.c) -> begins
#include "graph/core/run_accessors.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/run/namespace_queue.h"
#include "graph/run/run_open.h"
#include "graph/run/superstep.h"
#include "graph/util/cancel.h"

#include <stdlib.h>

int pons_run_start(pons_thread *t, const pons_graph *g, const char *ns, const pons_value *input,
                   const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons_run *r;
    int st = pons__run_open(t, g, ns, opts, &pons__supersteps, &r, err);
    if (st != PONS_OK) {
        return st;
    }
    st = pons__run_begin(r, input, "", NULL, err);
    if (st != PONS_OK) {
        r->state = PONS_RUN_DONE; // nothing was begun
        pons_run_destroy(r);
        return st;
    }
    *ret = r;
    return PONS_OK;
}

int pons_run_resume(pons_thread *t, const pons_graph *g, const char *ns,
                    const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons_run *r;
    int st = pons__run_open(t, g, ns, opts, &pons__supersteps, &r, err);
    if (st != PONS_OK) {
        return st;
    }
    st = pons__run_continue(r, err);
    if (st != PONS_OK) {
        r->state = PONS_RUN_DONE;
        pons_run_destroy(r);
        return st;
    }
    *ret = r;
    return PONS_OK;
}

// ---- on a namespace that is at work -------------------------------------------------------------

static int enqueue(pons_thread *t, const pons_graph *g, pons__ns *ns, const pons_value *input,
                   const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons_run *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a run");
    }
    r->t = t;
    r->g = pons__graph_ref(g);
    r->loop = &pons__supersteps;
    r->opts = opts ? *opts : (pons_run_options)PONS_RUN_OPTIONS_INIT;
    pons_value_ref(r->opts.metadata);
    pons_value_ref(r->opts.context);
    pons__cancel_ref(r->opts.cancel);
    r->limit = r->opts.recursion_limit > 0 ? r->opts.recursion_limit : g->recursion_limit;
    r->durable = t->store.ops != NULL;
    r->state = PONS_RUN_PARKED;
    r->queued_ns = ns;
    r->queued_input = pons_value_ref(input);
    pons_run **at = &ns->queue;
    while (*at) {
        at = &(*at)->next_queued;
    }
    *at = r;
    *ret = r;
    return PONS_OK;
}

int pons_run_submit(pons_thread *t, const pons_graph *g, const char *name, const pons_value *input,
                    pons_busy how, const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons__ns *ns = pons__graph_given(g, err) == PONS_OK ? pons__ns_get(t, name, err) : NULL;
    if (!ns) {
        return PONS_EINVAL;
    }
    pons_run *old = ns->active;
    bool busy = pons__run_at_work(old) || ns->queue;
    if (busy && how == PONS_BUSY_REJECT) {
        return pons_error_set(err, PONS_EBUSY, PONS__MODULE,
                              "namespace '%s' of thread %s has a run under way", name, t->id);
    }
    if (how == PONS_BUSY_ROLLBACK && !t->store.ops) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "a thread without a store can't roll back");
    }
    if (busy && (how == PONS_BUSY_ENQUEUE || (old && old->stepping > 0))) {
        if (how != PONS_BUSY_ENQUEUE) {
            pons_run_drain(old); // its step is finished first, then it stands aside
        }
        return enqueue(t, g, ns, input, opts, ret, err);
    }
    if (old && old->state != PONS_RUN_DONE && old->state != PONS_RUN_FAILED) {
        int st = pons__run_give_way(old, how == PONS_BUSY_ROLLBACK && pons__run_at_work(old), err);
        if (st != PONS_OK) {
            return st;
        }
    }
    return pons_run_start(t, g, name, input, opts, ret, err);
}

int pons_run_rollback(pons_run *r, pons_error *err)
{
    if (!r->durable) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "a thread without a store can't roll back");
    }
    return pons__run_give_way(r, true, err);
}
