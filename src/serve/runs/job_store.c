// job_store.c - what the store keeps of jobs.
//
// A run is kept twice in its life: when it is taken, before the client hears so, and when it has
// ended. What happens in between is in its thread's events and checkpoints, so a run that is open
// at a start is gone on with from there. Its two places change in one write.
#include "serve/runs/job_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN PONS__OWN ".open"
#define RUNS PONS__OWN ".runs."

enum { NS_MAX = PONS_ITEM_MAX };

int pons__own_put(const pons_items *it, const char *space, const char *key, const pons_value *value,
                  pons_error *err)
{
    return pons_items_put(it, space, key, value, &(pons_item_put){.unsearched = true}, err);
}

int pons__own_get(const pons_items *it, const char *space, const char *key, pons_value **ret,
                  pons_error *err)
{
    pons_autovalue item = NULL;
    const int rc = pons_items_get(it, space, key, &item, err);
    if (rc >= 0) {
        *ret = pons_value_ref(pons_get(item, "value"));
    }
    return rc;
}

int pons__own_list(const pons_items *it, const char *space, pons_value **ret, pons_error *err)
{
    pons_autovalue items = NULL;
    const int rc =
        pons_items_search(it, &(pons_items_query){.prefix = space, .limit = -1}, &items, err);
    if (rc >= 0) {
        *ret = json_array();
        pons_each(one, items) {
            json_array_append_new(*ret, pons_value_ref(pons_get(one, "value")));
        }
    }
    return rc;
}

void pons__kept_label(const char *thread, char ret[2 * PONS_NAME_MAX])
{
    size_t at = 0;
    for (const char *s = thread; *s && at + 3 < 2 * (size_t)PONS_NAME_MAX; s++) {
        if (*s == '.' || *s == '~') {
            ret[at++] = '~';
            ret[at++] = *s == '.' ? 'd' : 't';
        } else {
            ret[at++] = *s;
        }
    }
    ret[at] = '\0';
}

static void ns_of(const char *thread, char ret[NS_MAX])
{
    char label[2 * PONS_NAME_MAX];
    pons__kept_label(thread, label);
    snprintf(ret, NS_MAX, RUNS "%s", label);
}

int pons__kept_open(const pons_items *it, const pons_value *kept, const char *run, pons_error *err)
{
    return pons__own_put(it, OPEN, run, kept, err);
}

int pons__kept_end(const pons_items *it, const pons__job *j, bool forget, pons_error *err)
{
    enum { WRITES = 3 };
    char ns[NS_MAX];
    pons_item_write *out[WRITES] = {NULL}, all[WRITES];
    size_t n = 0;
    const int64_t now = pons_wall_ms(&it->clock);
    const pons_item_put put = {.unsearched = true};
    pons_autovalue v = pons__job_keep(j);
    ns_of(j->thread, ns);
    int rc = j->temporary
                 ? pons_items_write_put(&it->opts, now, OPEN, j->id, v, &put, &out[n++], err)
                 : pons_items_write_delete(OPEN, j->id, &out[n++], err);
    if (rc >= 0 && !forget) {
        rc = pons_items_write_put(&it->opts, now, ns, j->id, v, &put, &out[n++], err);
    }
    if (rc >= 0 && !forget && j->order.webhook) {
        rc = pons_items_write_put(&it->opts, now, PONS__HOOKS, j->id, v, &put, &out[n++], err);
    }
    for (size_t i = 0; rc >= 0 && i < n; i++) {
        all[i] = *out[i];
    }
    rc = rc < 0 ? rc : it->store.ops->items_write(it->store.self, all, n, PONS_SYNC_NORMAL, err);
    for (size_t i = 0; i < n; i++) {
        free(out[i]);
    }
    return rc;
}

static int newest_first(const void *a, const void *b)
{
    const json_t *const *x = a, *const *y = b;
    return -strcmp(pons_get_str(*x, "run_id", ""), pons_get_str(*y, "run_id", ""));
}

int pons__kept_list(const pons_items *it, const char *thread, pons_value **ret, pons_error *err)
{
    char ns[NS_MAX] = OPEN;
    pons_autovalue found = NULL;
    if (thread) {
        ns_of(thread, ns);
    }
    const int rc = pons__own_list(it, ns, &found, err);
    if (rc < 0) {
        return rc;
    }
    const size_t n = json_array_size(found);
    const pons_value **rows = calloc(n + 1, sizeof *rows);
    pons_value *list = json_array();
    if (!rows || !list) {
        free(rows);
        pons_value_unref(list);
        return pons_error_set(err, PONS_ENOMEM, "serve", "no memory for a list of runs");
    }
    for (size_t i = 0; i < n; i++) {
        rows[i] = json_array_get(found, i);
    }
    qsort(rows, n, sizeof *rows, newest_first); // ids are in the order of time
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, pons_value_ref(rows[i]));
    }
    free(rows);
    *ret = list;
    return PONS_OK;
}

int pons__kept_get(const pons_items *it, const char *thread, const char *run, pons_value **ret,
                   pons_error *err)
{
    char ns[NS_MAX];
    ns_of(thread, ns);
    return pons__own_get(it, ns, run, ret, err);
}

int pons__kept_delete(const pons_items *it, const char *thread, const char *run, pons_error *err)
{
    char ns[NS_MAX];
    ns_of(thread, ns);
    const int rc = pons_items_delete(it, OPEN, run, err);
    return rc < 0 ? rc : pons_items_delete(it, ns, run, err);
}

int pons__kept_forget(const pons_items *it, const char *thread, pons_error *err)
{
    pons_autovalue runs = NULL;
    int rc = pons__kept_list(it, thread, &runs, err);
    pons_each(one, runs) {
        rc = rc < 0 ? rc : pons__kept_delete(it, thread, pons_get_str(one, "run_id", ""), err);
    }
    return rc;
}
