// namespace_queue.c - runs that wait for a namespace, and runs that leave it for another.
//
// A run that gives way: what it waits for is canceled; its state is the one after its last whole
// step (stored, whatever its durability), or the one that it began with; it is FAILED with
// PONS_ECANCELED.
//
// A rollback is a checkpoint like a fork, of the state before the run and with that state's
// checkpoint as its parent; a history leaves out what lies between, and a prune removes it.
#include "graph/run/namespace_queue.h"

#include "graph/core/alloc_runs.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/persist/commit.h"
#include "graph/run/run_open.h"
#include "graph/run/subgraph_namespaces.h"

#include <string.h>

// ---- its turn -----------------------------------------------------------------------------------

int pons__queue_begin(pons_run *r, pons_error *err)
{
    pons_thread *t = r->t;
    pons__ns *ns = r->queued_ns;
    pons_run *old = ns->active;
    if (pons__run_at_work(old) || ns->queue != r) { // somebody else was quicker
        r->state = PONS_RUN_PARKED;
        return PONS_OK;
    }
    if (old && old->state == PONS_RUN_INTERRUPTED) {
        int st = pons__run_give_way(old, false, err);
        if (st != PONS_OK) {
            return st;
        }
    }
    pons__queue_leave(r);
    pons_run *fresh;
    int st = pons__run_open(t, r->g, ns->name, &r->opts, r->loop, &fresh, &r->error);
    if (st == PONS_OK) { // r takes its place
        memcpy(r->base, fresh->base, sizeof r->base);
        r->before = fresh->before;
        r->after = fresh->after;
        fresh->before = fresh->after = NULL;
        fresh->ns = NULL;
        pons_run_destroy(fresh);
        r->ns = ns;
        ns->active = r;
        st = pons__run_begin(r, r->queued_input, "", NULL, &r->error);
    }
    pons_value_unref(r->queued_input);
    r->queued_input = NULL;
    r->state = st == PONS_OK ? PONS_RUN_READY : PONS_RUN_FAILED;
    if (st != PONS_OK && ns->queue) {
        pons__queue_wake(ns);
    }
    return PONS_OK;
}

// ---- rolling back -------------------------------------------------------------------------------

// Memory goes back to a checkpoint; *ret_stored: the store has newer ones, so it must be told.
static int restore(pons_run *r, pons__ns *ns, const pons_graph *g, const char *base,
                   bool *ret_stored, pons_error *err)
{
    pons_thread *t = r->t;
    pons__image im = {0};
    int st = PONS_OK;
    *ret_stored = ns->exists && strcmp(ns->head, base) != 0;
    if (!*ret_stored) {
        pons__ns_forget(ns);
        return pons__ns_load(t, ns, g, true, err);
    }
    if (base[0]) {
        st = pons__image_at(t->store, t->id, ns->name, base, &im, err);
    } else {
        im.state = json_object();
    }
    if (st == PONS_OK) {
        st = pons__ns_restore(ns, g, &im, err);
    }
    pons__image_fini(&im);
    return st;
}

// Subgraphs that keep their state go back as well, in the same commit; the others nobody finds again.
static int roll_back(pons_run *old, pons_error *err)
{
    pons_thread *t = old->t;
    pons__others below = {0};
    bool mine = false, stored;
    pons__out_clear(&old->out);
    int st = pons__thread_flush(t, err);
    for (pons__ns *ns = t->namespaces; ns && st == PONS_OK; ns = ns->next_ns) {
        const pons_graph *g =
            ns->base_serial == old->serial && !ns->active ? pons__below(old, ns->name) : NULL;
        if (!g) {
            continue;
        }
        st = pons__ns_load(t, ns, g, true, err);
        st = st == PONS_OK ? restore(old, ns, g, ns->base, &stored, err) : st;
        if (st != PONS_OK || !stored) {
            continue;
        }
        pons_run *r = pons__others_add(&below, t, g, ns, old->loop);
        st = r ? PONS_OK : pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a run");
        if (r) {
            r->source = 'b';
        } else {
            pons__ns_forget(ns);
        }
    }
    if (st == PONS_OK) {
        st = restore(old, old->ns, old->g, old->base, &mine, err);
    }
    if (st == PONS_OK) {
        old->cp_id[0] = '\0';
        old->cp_stored = !mine;
        old->input_row = false;
        old->source = 'b';
        st = pons__run_commit(old, &(pons__extra){.with = below.v, .n_with = below.n}, err);
        old->spoiled = st != PONS_OK;
    }
    pons__others_end(&below, st != PONS_OK);
    return st;
}

// ---- giving way ---------------------------------------------------------------------------------

int pons__run_give_way(pons_run *old, bool back, pons_error *err)
{
    int st = PONS_OK;
    if (!back && old->durable && !old->cp_stored && !old->ns->ahead) {
        st = pons__run_commit(old, &(pons__extra){0}, err);
    }
    if (st != PONS_OK) {
        return st;
    }
    for (size_t i = 0; i < old->n_tasks; i++) {
        if (old->tasks[i]->state != PONS__TASK_DONE) {
            pons__task_cancel(old->tasks[i]);
        }
    }
    for (size_t i = 0; i < old->n_pool; i++) {
        pons__task_clear(old->tasks[i]);
    }
    old->n_tasks = 0;
    st = back ? roll_back(old, err) : PONS_OK;
    if (st != PONS_OK) {
        return st;
    }
    pons_error_set(&old->error, PONS_ECANCELED, PONS__MODULE, "another run took namespace '%s'",
                   old->ns->name);
    old->commit_due = false;
    old->state = PONS_RUN_FAILED;
    return PONS_OK;
}
