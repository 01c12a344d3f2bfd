// submit.c - a second run on a namespace that is at work, and stopping between steps.
//
//   submit ─► nothing at work ────────────────► begins
//          ├► reject ─► PONS_EBUSY
//          ├► enqueue ─► PARKED in the namespace's list ─► the other ended ─► READY ─► begins
//          └► interrupt, rollback ─► the other gives way: what it waits for is canceled, its state
//          is
//             the one after its last whole step (stored, whatever its durability), or the one that
//             it began with; it is FAILED with PONS_ECANCELED ─► begins
//
// A rollback is a checkpoint like a fork, of the state before the run and with that state's
// checkpoint as its parent; a history leaves out what lies between, and a prune removes it.
#include "graph/graph_internal.h"

#include <stdio.h>
#include <stdlib.h>

static bool at_work(const pons_run *r);
static bool inside(const pons_run *r);
static int give_way(pons_run *old, bool roll_back, pons_error *err);
static int roll_back_subgraphs(pons_run *old, pons_error *err);
static int roll_back_to(pons_run *r, const char *base, pons_error *err);
static int enqueue(pons_thread *t, const pons_graph *g, pons__ns *ns, const pons_value *input,
                   const pons_run_options *opts, pons_run **ret, pons_error *err);

int pons_run_submit(pons_thread *t, const pons_graph *g, const char *name, const pons_value *input,
                    pons_busy how, const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons__ns *ns = pons__ns_get(t, name, err);
    if (!ns)
        return PONS_EINVAL;
    pons_run *old = ns->active;
    bool busy = at_work(old) || ns->queue;
    if (busy && how == PONS_BUSY_REJECT)
        return pons_error_set(err, PONS_EBUSY, PONS__MODULE,
                              "namespace '%s' of thread %s has a run under way", name, t->id);
    if (how == PONS_BUSY_ROLLBACK && !t->store.ops)
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "a thread without a store can't roll back");
    if (busy && (how == PONS_BUSY_ENQUEUE || (old && inside(old)))) {
        if (how != PONS_BUSY_ENQUEUE)
            pons_run_drain(old); // its step is finished first, then it stands aside
        return enqueue(t, g, ns, input, opts, ret, err);
    }
    if (old && old->state != PONS_RUN_DONE && old->state != PONS_RUN_FAILED) {
        int st = give_way(old, how == PONS_BUSY_ROLLBACK && at_work(old), err);
        if (st != PONS_OK)
            return st;
    }
    return pons_run_start(t, g, name, input, opts, ret, err);
}

static bool at_work(const pons_run *r)
{
    return r && (r->state == PONS_RUN_READY || r->state == PONS_RUN_PARKED);
}

static bool inside(const pons_run *r)
{
    return r->stepping > 0;
}

// ---------------------------------------------------------------- giving way

static int give_way(pons_run *old, bool roll_back, pons_error *err)
{
    int st = PONS_OK;
    if (!roll_back && old->durable && !old->cp_stored && !old->ns->ahead)
        st = pons__run_commit(old, &(pons__extra){0}, err);
    if (st != PONS_OK)
        return st;
    for (size_t i = 0; i < old->n_tasks; i++)
        if (old->tasks[i]->state != PONS__TASK_DONE)
            pons__task_cancel(old->tasks[i]);
    for (size_t i = 0; i < old->n_pool; i++)
        pons__task_clear(old->tasks[i]);
    old->n_tasks = 0;
    if (roll_back)
        st = roll_back_subgraphs(old, err);
    if (roll_back && st == PONS_OK)
        st = roll_back_to(old, old->base, err);
    if (st != PONS_OK)
        return st;
    pons_error_set(&old->error, PONS_ECANCELED, PONS__MODULE, "another run took namespace '%s'",
                   old->ns->name);
    old->commit_due = false;
    old->state = PONS_RUN_FAILED;
    return PONS_OK;
}

// The graph of a namespace below a run's: "sub" or "sub:task|own", one name a level.
static const pons_graph *graph_below(const pons_run *r, const char *name)
{
    const pons_graph *g = r->g;
    size_t outer = strlen(r->ns->name);
    if (strncmp(name, r->ns->name, outer) != 0 || (outer && name[outer] != '|'))
        return NULL;
    for (name += outer + (outer > 0); g && *name; name += *name == '|') {
        char node[PONS_NAME_MAX];
        snprintf(node, sizeof node, "%.*s", (int)strcspn(name, ":|"), name);
        uint32_t ix = pons__graph_node_find(g, node);
        g = ix < g->n_nodes ? g->nodes[ix].sub : NULL;
        name += strcspn(name, "|");
    }
    return g;
}

// Subgraphs that keep their state go back as well; the others nobody finds again.
static int roll_back_subgraphs(pons_run *old, pons_error *err)
{
    int st = PONS_OK;
    for (pons__ns *ns = old->t->namespaces; ns && st == PONS_OK; ns = ns->next_ns) {
        const pons_graph *g =
            ns->base_serial == old->serial && !ns->active ? graph_below(old, ns->name) : NULL;
        if (!g)
            continue;
        st = pons__ns_load(old->t, ns, g, true, err);
        pons_run *r = st == PONS_OK ? pons__run_create(old->t, g, ns, NULL) : NULL;
        if (!r)
            return st ? st : pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a run");
        r->durable = true;
        st = roll_back_to(r, ns->base, err);
        r->state = PONS_RUN_DONE;
        pons_run_destroy(r);
    }
    return st;
}

static int roll_back_to(pons_run *old, const char *base, pons_error *err)
{
    pons_thread *t = old->t;
    pons__ns *ns = old->ns;
    pons__image im = {0};
    pons__out_clear(&old->out);
    int st = pons__thread_flush(t, err);
    bool gone = !ns->exists || strcmp(ns->head, base) == 0; // it has stored nothing
    if (st == PONS_OK && gone) {
        pons__ns_forget(ns);
        return pons__ns_load(t, ns, old->g, true, err);
    }
    if (st == PONS_OK && base[0])
        st = pons__image_at(t->store, t->id, ns->name, base, &im, err);
    if (st == PONS_OK && !base[0])
        im.state = json_object();
    if (st == PONS_OK)
        st = pons__ns_restore(ns, old->g, &im, err);
    pons__image_fini(&im);
    if (st != PONS_OK)
        return st;
    old->cp_id[0] = '\0';
    old->cp_stored = old->input_row = false;
    old->source = 'b';
    st = pons__run_commit(old, &(pons__extra){0}, err);
    old->spoiled = st != PONS_OK;
    return st;
}

// ---------------------------------------------------------------- the queue

static int enqueue(pons_thread *t, const pons_graph *g, pons__ns *ns, const pons_value *input,
                   const pons_run_options *opts, pons_run **ret, pons_error *err)
{
    pons_run *r = calloc(1, sizeof *r);
    if (!r)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a run");
    r->t = t;
    r->g = pons__graph_ref(g);
    r->opts = opts ? *opts : (pons_run_options)PONS_RUN_OPTIONS_INIT;
    r->limit = r->opts.recursion_limit > 0 ? r->opts.recursion_limit : g->recursion_limit;
    r->durable = t->store.ops != NULL;
    r->state = PONS_RUN_PARKED;
    r->queued_ns = ns;
    r->queued_input = pons_value_ref(input);
    pons_run **at = &ns->queue;
    while (*at)
        at = &(*at)->next_queued;
    *at = r;
    *ret = r;
    return PONS_OK;
}

void pons__queue_wake(pons__ns *ns)
{
    if (!at_work(ns->active) && ns->queue->state == PONS_RUN_PARKED)
        ns->queue->state = PONS_RUN_READY;
}

int pons__queue_begin(pons_run *r, pons_error *err)
{
    pons_thread *t = r->t;
    pons__ns *ns = r->queued_ns;
    pons_run *old = ns->active;
    if (at_work(old) || ns->queue != r) { // somebody else was quicker
        r->state = PONS_RUN_PARKED;
        return PONS_OK;
    }
    if (old && old->state == PONS_RUN_INTERRUPTED) {
        int st = give_way(old, false, err);
        if (st != PONS_OK)
            return st;
    }
    pons__queue_leave(r);
    pons_run *fresh;
    int st = pons__run_open(t, r->g, ns->name, &r->opts, &fresh, &r->error);
    if (st == PONS_OK) { // r takes its place
        memcpy(r->base, fresh->base, sizeof r->base);
        fresh->ns = NULL;
        pons_run_destroy(fresh);
        r->ns = ns;
        ns->active = r;
        st = pons__run_begin(r, r->queued_input, "", NULL, &r->error);
    }
    pons_value_unref(r->queued_input);
    r->queued_input = NULL;
    r->state = st == PONS_OK ? PONS_RUN_READY : PONS_RUN_FAILED;
    if (st != PONS_OK && ns->queue)
        pons__queue_wake(ns);
    return PONS_OK;
}

void pons__queue_leave(pons_run *r)
{
    pons__ns *ns = r->queued_ns;
    if (!ns)
        return;
    for (pons_run **at = &ns->queue; *at; at = &(*at)->next_queued)
        if (*at == r) {
            *at = r->next_queued;
            break;
        }
    r->queued_ns = NULL;
    r->next_queued = NULL;
    if (ns->queue)
        pons__queue_wake(ns);
}

// ---------------------------------------------------------------- draining

void pons_run_drain(pons_run *r)
{
    pons__run_root(r)->drain = true;
}

bool pons_run_drained(const pons_run *r)
{
    if (r->drained && r->state == PONS_RUN_INTERRUPTED)
        return true;
    for (size_t i = 0; i < r->n_tasks && r->state == PONS_RUN_INTERRUPTED; i++)
        if (r->tasks[i]->child && pons_run_drained(r->tasks[i]->child))
            return true;
    return false;
}
