// prune.c - what stays of a namespace.
//
// A store knows nothing of what a checkpoint means, so it can't make a snapshot of one. It keeps
// what the caller wants and, with each of these, the chain that it is read from. Parents are older
// than their children, so one pass from the newest to the oldest finds all of them.
//
// `prune` looks at all of a namespace and is for a person who waits. `trim` is for a program that
// goes on meanwhile: it knows where to cut and looks at the oldest rows only,
//
//     S......S.....S........S....B.....   S: snapshots, B: `before`, which is read from the last S
//     \_____/                             before it; the oldest stretch goes first, from its end, so
//     <-----                              that what is left of it can be read
#include "pons/growing_list.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

// ---- helpers ------------------------------------------------------------------------------------

static bool wanted(const prune_rows *rows, size_t at, const pons_prune *what)
{
    if (what->keep_last < 0) {
        return false;
    }
    if (at + 1 == rows->n || (!what->keep_last && !what->keep_since_ms)) {
        return true;
    }
    if (what->keep_last && rows->n - at <= (size_t)what->keep_last) {
        return true;
    }
    return what->keep_since_ms && rows->at[at].wall_ms >= what->keep_since_ms;
}

int pons__prune_check(const char *thread, const pons_prune *what, pons_error *err)
{
    int rc = pons__store_check_thread(thread, err);
    if (!rc && what->ns) {
        rc = pons__store_check_ns(what->ns, err);
    }
    if (!rc && what->keep_last < 0 && !what->ns) {
        rc = pons_error_set(err, PONS_EINVAL, "store",
                            "only a namespace that is named can be pruned whole");
    }
    if (!rc && !what->keep_last && !what->keep_since_ms && !what->events_since_ms) {
        rc = pons_error_set(err, PONS_EINVAL, "store", "pruning needs a rule of what stays");
    }
    return rc;
}

bool pons__prune_push(prune_rows *rows, const prune_row *row)
{
    if (!pons_list_reserve(&rows->at, &rows->cap, rows->n + 1, sizeof *rows->at)) {
        return false;
    }
    rows->at[rows->n++] = *row;
    return true;
}

size_t pons__prune_plan(prune_rows *rows, const pons_prune *what)
{
    size_t gone = 0;
    for (size_t i = 0; i < rows->n; i++) {
        rows->at[i].keep = wanted(rows, i, what);
    }
    for (size_t i = rows->n; i-- > 0;) {
        const prune_row *row = &rows->at[i];
        prune_row *parent = NULL;
        if (row->keep && !row->snapshot && row->parent && row->parent < row->key) {
            parent = pons__prune_find(rows, row->parent);
        }
        if (parent) {
            parent->keep = true;
        }
        gone += !row->keep;
    }
    return gone;
}

prune_row *pons__prune_find(const prune_rows *rows, int64_t key)
{
    size_t low = 0, high = rows->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->at[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < rows->n && rows->at[low].key == key ? &rows->at[low] : NULL;
}

int pons__trim_check(const pons_trim *what, pons_error *err)
{
    if (!what->lease || what->limit <= 0 || (what->before && !what->ns)) {
        return pons_error_set(
            err, PONS_EINVAL, "store",
            "trimming needs a lease, a limit, and a namespace with its checkpoint");
    }
    return what->ns ? pons__store_check_ns(what->ns, err) : PONS_OK;
}

bool pons__trim_names(const char *const *names, const char *name)
{
    for (; names && *names; names++) {
        const size_t n = strlen(*names);
        const bool open = n > 0 && (*names)[n - 1] == '*';
        if (open ? strncmp(*names, name, n - 1) == 0 : strcmp(*names, name) == 0) {
            return true;
        }
    }
    return false;
}

int pons__trim_lost(const pons_trim *what, pons_error *err)
{
    return pons_error_set(err, PONS_ENOTFOUND, "store", "thread %s has no checkpoint %s",
                          what->lease->thread, what->before);
}
