// prune.c - removes old checkpoints of a thread by a rule, and then the namespaces of subgraphs
// that nobody can come back to any more.
//
//   the store prunes by the rule -> every namespace below a fresh subgraph, what is above first:
//   is the checkpoint that its task ran from still kept? -> if not, it goes
//
// By the thread's holder, or by anybody while nobody holds it.
#include "graph/core/thread_lease.h"
#include "graph/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sweep { // namespaces of subgraphs that nobody can come back to
    pons_store store;
    const char *thread;
    pons_thread *holder; // or NULL
    const pons_prune *what;
    pons_value *names;
    int st;
} sweep;

static int sweep_all(sweep *s, const pons_lease *lease, pons_prune_result *sum, pons_error *err);

static int prune(pons_store store, const char *thread, pons_thread *holder, const pons_prune *what,
                 pons_prune_result *ret, pons_error *err)
{
    if (!store.ops) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "a thread without a store can't be read from outside");
    }
    if (!store.ops->prune) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE, "store %s can't prune",
                              store.ops->name);
    }
    if (what->keep_last < 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a thread keeps at least one checkpoint");
    }
    pons_prune_result sum = {0};
    int st = store.ops->prune(store.self, thread, what, &sum, err);
    if (st != PONS_OK || (!what->keep_last && !what->keep_since_ms)) {
        if (st == PONS_OK && ret) {
            *ret = sum;
        }
        return st;
    }
    sweep s = {
        .store = store, .thread = thread, .holder = holder, .what = what, .names = json_array()};
    pons_lease lease = {0};
    if (!s.names) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to prune thread %s",
                              thread);
    }
    if (what->lease) {
        st = sweep_all(&s, what->lease, &sum, err);
    } else {
        st = store.ops->lease_acquire(store.self, thread, &lease, err);
    }
    if (!what->lease && st == PONS_OK) {
        st = sweep_all(&s, &lease, &sum, err);
        store.ops->lease_release(store.self, &lease);
    } else if (!what->lease && st == PONS_EBUSY) { // just taken: the rest goes another time
        st = PONS_OK;
        if (err) {
            *err = (pons_error)PONS_ERROR_INIT;
        }
    }
    pons_value_unref(s.names);
    if (st == PONS_OK && ret) {
        *ret = sum;
    }
    return st;
}

int pons_state_prune_as(pons_store store, const char *thread, const pons_prune *what,
                        pons_prune_result *ret, pons_error *err)
{
    if (what->ns || what->lease) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a whole thread is pruned, which nobody holds");
    }
    return prune(store, thread, NULL, what, ret, err);
}

int pons_state_prune(pons_store store, const char *thread, int64_t keep_last, int64_t keep_since_ms,
                     int64_t *ret_removed, pons_error *err)
{
    pons_prune_result r = {0};
    int st = prune(store, thread, NULL,
                   &(pons_prune){.keep_last = keep_last, .keep_since_ms = keep_since_ms}, &r, err);
    if (st == PONS_OK && ret_removed) {
        *ret_removed = r.checkpoints;
    }
    return st;
}

int pons_thread_prune(pons_thread *t, int64_t keep_last, int64_t keep_since_ms,
                      int64_t *ret_removed, pons_error *err)
{
    int st = t->store.ops ? pons__thread_flush(t, err) : PONS_OK;
    if (st != PONS_OK) {
        return st;
    }
    pons_prune_result r = {0};
    st = prune(
        t->store, t->id, t,
        &(pons_prune){.lease = &t->lease, .keep_last = keep_last, .keep_since_ms = keep_since_ms},
        &r, err);
    if (st == PONS_OK && ret_removed) {
        *ret_removed = r.checkpoints;
    }
    return st;
}

int pons_thread_trim(pons_thread *t, pons_trim *what, pons_trim_result *ret, pons_error *err)
{
    if (!t->store.ops || !t->store.ops->trim) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE, "store %s can't trim a thread",
                              t->store.ops ? t->store.ops->name : "none");
    }
    what->lease = &t->lease;
    return t->store.ops->trim(t->store.self, what, ret, err);
}

// ---- namespaces of subgraphs --------------------------------------------------------------------

typedef struct id_search {
    const char *id;
    bool found;
} id_search;

static int sweep_name(void *user, const char *ns)
{
    sweep *s = user;
    if (!strchr(ns, ':')) { // only those have a subgraph that is fresh for each task above them
        return 0;
    }
    if (json_array_append_new(s->names, json_string(ns)) == 0) {
        return 0;
    }
    s->st = PONS_ENOMEM;
    return 1;
}

static int by_length(const void *a, const void *b)
{
    const size_t x = strlen(*(const char *const *)a), y = strlen(*(const char *const *)b);
    return (x > y) - (x < y);
}

static int is_id(void *user, const pons_checkpoint_row *row)
{
    id_search *s = user;
    s->found = !s->id || strcmp(row->id, s->id) == 0;
    return s->found;
}

// A fresh one belongs to the checkpoint above it that its task ran from: it stays with one that a
// rule keeps, not with one that others are only read from, since a fork of that runs it anew. One
// that keeps its state belongs to the namespace above it.
static int is_dead(const sweep *s, const char *ns, bool *ret, pons_error *err)
{
    const char *bar = strrchr(ns, '|');
    char above[PONS_NAME_MAX];
    snprintf(above, sizeof above, "%.*s", bar ? (int)(bar - ns) : 0, ns);
    *ret = false;
    for (pons__ns *n = s->holder ? s->holder->namespaces : NULL; n; n = n->next_ns) {
        if (n->active && strcmp(n->name, ns) == 0) {
            return PONS_OK;
        }
    }
    const bool fresh = strchr(bar ? bar : ns, ':') != NULL;
    pons__image im = {0};
    int st = fresh ? pons__image_head(s->store, s->thread, ns, &im, err) : PONS_OK;
    id_search look = {.id = fresh ? pons_get_str(im.parents, above, NULL) : NULL};
    const int64_t since = s->what->keep_since_ms;
    const bool known = !fresh || look.id;
    const bool recent = look.id && since && pons__id_ms(look.id) >= since;
    if (st == PONS_OK && known && !recent) {
        st = s->store.ops->history(s->store.self, s->thread, above, "",
                                   s->what->keep_last > 1 ? s->what->keep_last : 1, is_id, &look,
                                   err);
    }
    pons__image_fini(&im);
    *ret = st == PONS_OK && known && !recent && !look.found;
    return st;
}

static int sweep_all(sweep *s, const pons_lease *lease, pons_prune_result *sum, pons_error *err)
{
    int st = s->store.ops->namespaces(s->store.self, s->thread, sweep_name, s, err);
    if (s->st != PONS_OK) {
        st = pons_error_set(err, s->st, PONS__MODULE, "no memory to prune thread %s", s->thread);
    }
    bool swept = false;
    const size_t n = json_array_size(s->names);
    const char **names = st == PONS_OK && n ? malloc(n * sizeof *names) : NULL;
    if (st == PONS_OK && n && !names) {
        st = pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to prune thread %s",
                            s->thread);
    }
    for (size_t i = 0; names && i < n; i++) {
        names[i] = json_string_value(json_array_get(s->names, i));
    }
    if (names) {
        qsort(names, n, sizeof *names, by_length); // what is above comes first
    }
    for (size_t i = 0; names && i < n && st == PONS_OK; i++) {
        bool dead = false;
        st = is_dead(s, names[i], &dead, err);
        if (st != PONS_OK || !dead) {
            continue;
        }
        pons_prune_result one = {0};
        st = s->store.ops->prune(
            s->store.self, s->thread,
            &(pons_prune){.lease = lease, .ns = names[i], .keep_last = -1, .more = true}, &one,
            err);
        sum->checkpoints += one.checkpoints;
        swept = true;
    }
    free(names);
    if (st == PONS_OK && swept) { // gives the space back
        pons_prune_result rest = {0};
        pons_prune again = *s->what;
        again.lease = lease;
        st = s->store.ops->prune(s->store.self, s->thread, &again, &rest, err);
        sum->checkpoints += rest.checkpoints;
        sum->bytes_after = rest.bytes_after;
    }
    return st;
}
