// thread_lease.c - the right to write one thread of a store: its lease, the heads of its namespaces, the
// order of its commits.
//
// A namespace's head is read from the store once and then kept, so that starting a run at 10 Hz
// reads nothing. It is dropped (pons__ns_forget) when a run ends with a commit that had failed, as
// memory is then ahead of the store.
//
// Randomness: a thread's ids come from its seed mixed with the lease's epoch, so that a thread
// which is opened again with the same seed makes new ids.
#include "graph/core/thread_lease.h"

#include "graph/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- open and close -----------------------------------------------------------------------------

int pons_thread_open(pons_store store, const char *id, const pons_thread_options *opts,
                     pons_thread **ret, pons_error *err)
{
    if (!id || !id[0] || strlen(id) >= PONS_NAME_MAX || !opts || !opts->clock.now_ns) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a thread needs a name of 1 to %d bytes and a clock",
                              PONS_NAME_MAX - 1);
    }
    pons_thread *t = calloc(1, sizeof *t);
    pons_await_handler *handlers = calloc(opts->n_handlers + 1, sizeof *handlers);
    if (!t || !handlers) {
        free(t);
        free(handlers);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to open a thread");
    }
    t->store = store;
    t->clock = opts->clock;
    t->on_event = opts->on_event;
    t->on_stored = opts->on_stored;
    t->on_task = opts->on_task;
    t->user = opts->user;
    t->handlers = handlers;
    t->n_handlers = opts->n_handlers;
    t->items = opts->items ? *opts->items : (pons_items_options){0};
    if (opts->n_handlers > 0) {
        memcpy(handlers, opts->handlers, opts->n_handlers * sizeof *handlers);
    }
    snprintf(t->id, sizeof t->id, "%s", id);
    if (store.ops) {
        int st = store.ops->lease_acquire(store.self, id, &t->lease, err);
        if (st != PONS_OK) {
            free(handlers);
            free(t);
            return st;
        }
    }
    if (opts->seed) {
        const uint64_t golden = 0x9e3779b97f4a7c15ULL;
        pons_rand_seed(&t->rand, opts->seed ^ (t->lease.epoch * golden));
    } else {
        pons_rand_seed_os(&t->rand);
    }
    pons_id_source_init(&t->ids, t->clock, &t->rand);
    pons_buf_init(&t->buf);
    *ret = t;
    return PONS_OK;
}

void pons_thread_close(pons_thread *t)
{
    if (!t) {
        return;
    }
    pons__pool_destroy(t->pool); // its works may want the namespaces until then
    t->pool = NULL;
    if (t->store.ops) {
        pons_error ignored = PONS_ERROR_INIT; // what was queued and failed has been reported
        pons__thread_flush(t, &ignored);
        t->store.ops->lease_release(t->store.self, &t->lease);
    }
    while (t->namespaces) {
        pons__ns *ns = t->namespaces;
        t->namespaces = ns->next_ns;
        pons__ns_destroy(ns);
    }
    pons_value_unref(t->mem_inbox);
    pons_value_unref(t->mem_effects);
    pons_buf_fini(&t->buf);
    free(t->handlers);
    free(t);
}

const char *pons_thread_id(const pons_thread *t)
{
    return t->id;
}

const pons_await_handler *pons__handler(const pons_thread *t, const char *kind)
{
    for (size_t i = 0; i < t->n_handlers; i++) {
        if (strcmp(t->handlers[i].kind, kind) == 0) {
            return &t->handlers[i];
        }
    }
    return NULL;
}

// ---- namespaces ---------------------------------------------------------------------------------

pons__ns *pons__ns_get(pons_thread *t, const char *name, pons_error *err)
{
    for (pons__ns *ns = t->namespaces; ns; ns = ns->next_ns) {
        if (strcmp(ns->name, name) == 0) {
            return ns;
        }
    }
    pons__ns *ns = strlen(name) < PONS_NAME_MAX ? pons__ns_create(name) : NULL;
    if (!ns) {
        pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                       "namespace '%s' is longer than %d bytes (or there is no memory)", name,
                       PONS_NAME_MAX - 1);
        return NULL;
    }
    ns->next_ns = t->namespaces;
    t->namespaces = ns;
    return ns;
}

int pons__ns_load(pons_thread *t, pons__ns *ns, const pons_graph *g, bool stored, pons_error *err)
{
    if (ns->ahead) {
        pons__ns_forget(ns);
    }
    if (ns->loaded && ns->g == g) {
        return PONS_OK;
    }
    if (ns->loaded) { // the same state for another graph
        return pons__ns_reshape(ns, g, err);
    }
    pons__image im = {0};
    int st = PONS_ENOTFOUND;
    if (stored) {
        st = pons__thread_flush(t, err); // what is queued belongs to it
        if (st != PONS_OK) {
            return st;
        }
        st = pons__image_head(t->store, t->id, ns->name, &im, err);
    }
    if (st != PONS_OK && st != PONS_ENOTFOUND) {
        return st;
    }
    if (st == PONS_ENOTFOUND && err) {
        *err = (pons_error)PONS_ERROR_INIT;
    }
    st = pons__ns_adopt(ns, g, &im, err);
    pons__image_fini(&im);
    return st;
}

void pons__ns_drop(pons_thread *t, pons__ns *ns)
{
    for (pons__ns **at = &t->namespaces; *at; at = &(*at)->next_ns) {
        if (*at == ns) {
            *at = ns->next_ns;
            pons__ns_destroy(ns);
            return;
        }
    }
}

// ---- commits ------------------------------------------------------------------------------------

// What the store dropped nobody can tell, so every namespace with commits on their way is read
// again before it is used: a checkpoint must not stand on one that is not there.
static void lose_queued(pons_thread *t)
{
    for (pons__ns *ns = t->namespaces; ns; ns = ns->next_ns) {
        ns->ahead = ns->ahead || ns->queued;
        ns->queued = false;
    }
}

static void nothing_queued(pons_thread *t)
{
    for (pons__ns *ns = t->namespaces; ns; ns = ns->next_ns) {
        ns->queued = false;
    }
}

int pons__thread_commit(pons_thread *t, pons__ns *ns, const pons_commit *c, bool queued,
                        pons_error *err)
{
    const pons_store *s = &t->store;
    int st = queued ? s->ops->commit_async(s->self, c, err) : s->ops->commit(s->self, c, err);
    if (st != PONS_OK) {
        lose_queued(t);
    } else if (!queued) {
        nothing_queued(t); // commits become durable in their order
    } else {
        ns->queued = true;
    }
    return st;
}

int pons__thread_flush(pons_thread *t, pons_error *err)
{
    const pons_store *s = &t->store;
    int st = s->ops->flush ? s->ops->flush(s->self, &t->lease, err) : s->ops->drain(s->self, err);
    if (st != PONS_OK) {
        lose_queued(t);
    } else {
        nothing_queued(t);
    }
    return st;
}
