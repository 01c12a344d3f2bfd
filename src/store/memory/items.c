// items.c - items: counted, in one array by namespace and key. A commit's are made before it is
// applied (stage), and take their places without failing (apply). What reads takes references under
// the lock, copies the columns that a touch may change, and calls back without it.
#include "store/memory/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct seen { // an item as a reader found it
    mem_item *item;
    pons_item_row row;
} seen;

typedef struct seen_list {
    seen *at;
    size_t n, cap;
} seen_list;

// ---- helpers; the lock is held ------------------------------------------------------------------

// Where an item is, or where it goes.
static size_t place_of(const mem *m, const char *ns, const char *key, bool *found)
{
    size_t low = 0, high = m->n_items;
    *found = false;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        int order = strcmp(m->items[mid]->row.ns, ns);
        order = order ? order : strcmp(m->items[mid]->row.key, key);
        if (order == 0) {
            *found = true;
            return mid;
        }
        low = order < 0 ? mid + 1 : low;
        high = order < 0 ? high : mid;
    }
    return low;
}

static bool alive(const pons_item_row *item, int64_t now_ms)
{
    return item->expires_ms == 0 || item->expires_ms > now_ms;
}

static bool show(seen_list *list, mem_item *item)
{
    if (!pons__mem_grow(&list->at, &list->cap, list->n + 1, sizeof *list->at)) {
        return false;
    }
    item->refs++;
    list->at[list->n++] = (seen){item, item->row};
    return true;
}

static void item_unref(mem_item *x)
{
    if (--x->refs == 0) {
        free(x);
    }
}

static void forget(mem *m, seen_list *list) // takes the lock
{
    pthread_mutex_lock(&m->mtx);
    for (size_t i = 0; i < list->n; i++) {
        item_unref(list->at[i].item);
    }
    pthread_mutex_unlock(&m->mtx);
    free(list->at);
}

// ---- writing ------------------------------------------------------------------------------------

static mem_item *item_make(const pons_item_row *in)
{
    const size_t ns = strlen(in->ns) + 1, key = strlen(in->key) + 1, words = strlen(in->words) + 1;
    mem_item *x = malloc(sizeof *x + ns + key + words + in->value.len + in->vectors.len);
    if (!x) {
        return NULL;
    }
    x->refs = 1;
    x->row = *in;
    char *at = x->data;
    x->row.ns = memcpy(at, in->ns, ns);
    x->row.key = memcpy(at += ns, in->key, key);
    x->row.words = memcpy(at += key, in->words, words);
    at += words;
    if (in->value.len) {
        memcpy(at, in->value.data, in->value.len);
    }
    x->row.value.data = at;
    at += in->value.len;
    if (in->vectors.len) {
        memcpy(at, in->vectors.data, in->vectors.len);
    }
    x->row.vectors.data = at;
    return x;
}

int pons__mem_items_stage(mem *m, const pons_item_write *items, size_t n, mem_item ***ret,
                          pons_error *err)
{
    if (n == 0) {
        return PONS_OK;
    }
    mem_item **list = calloc(n, sizeof *list);
    bool good = list && pons__mem_grow(&m->items, &m->cap_items, m->n_items + n, sizeof *m->items);
    for (size_t i = 0; i < n && good; i++) {
        list[i] = items[i].what == PONS_ITEM_PUT ? item_make(&items[i].row) : NULL;
        good = list[i] || items[i].what != PONS_ITEM_PUT;
    }
    if (!good) {
        pons__mem_items_unstage(list, n);
        return pons__mem_no_memory(err);
    }
    *ret = list;
    return PONS_OK;
}

void pons__mem_items_unstage(mem_item **list, size_t n)
{
    for (size_t i = 0; list && i < n; i++) {
        if (list[i]) {
            item_unref(list[i]);
        }
    }
    free(list);
}

static void apply_put(mem *m, mem_item *x)
{
    bool found;
    const size_t at = place_of(m, x->row.ns, x->row.key, &found);
    x->row.created_ms = x->row.updated_ms;
    if (found) {
        mem_item *old = m->items[at];
        if (alive(&old->row, x->row.updated_ms)) {
            x->row.created_ms = old->row.created_ms;
        }
        item_unref(old);
    } else {
        memmove(&m->items[at + 1], &m->items[at], (m->n_items - at) * sizeof *m->items);
        m->n_items++;
    }
    m->items[at] = x;
}

static void remove_at(mem *m, size_t at)
{
    item_unref(m->items[at]);
    m->n_items--;
    memmove(&m->items[at], &m->items[at + 1], (m->n_items - at) * sizeof *m->items);
}

void pons__mem_items_apply(mem *m, const pons_item_write *items, size_t n, mem_item **list)
{
    for (size_t i = 0; i < n; i++) {
        const pons_item_row *in = &items[i].row;
        if (items[i].what == PONS_ITEM_PUT) {
            apply_put(m, list[i]);
            list[i] = NULL;
            continue;
        }
        bool found;
        const size_t at = place_of(m, in->ns, in->key, &found);
        if (found && items[i].what == PONS_ITEM_DELETE) {
            remove_at(m, at);
        } else if (found && alive(&m->items[at]->row, in->updated_ms)) {
            m->items[at]->row.expires_ms = in->expires_ms;
        }
    }
    pons__mem_items_unstage(list, n);
}

int pons__mem_items_write(void *self, const pons_item_write *items, size_t n, pons_sync sync,
                          pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_items(items, n, err);
    if (rc) {
        return rc;
    }
    mem_item **list = NULL;
    pthread_mutex_lock(&m->mtx);
    rc = pons__mem_items_stage(m, items, n, &list, err);
    if (!rc) {
        pons__mem_items_apply(m, items, n, list);
    }
    pthread_mutex_unlock(&m->mtx);
    return rc;
}

int pons__mem_items_sweep(void *self, int64_t now_ms, int64_t *ret_removed, pons_error *err)
{
    mem *m = self;
    int64_t removed = 0;
    pthread_mutex_lock(&m->mtx);
    for (size_t i = m->n_items; i-- > 0;) {
        if (!alive(&m->items[i]->row, now_ms)) {
            remove_at(m, i);
            removed++;
        }
    }
    pthread_mutex_unlock(&m->mtx);
    if (ret_removed) {
        *ret_removed = removed;
    }
    return PONS_OK;
}

void pons__mem_items_free(mem *m)
{
    for (size_t i = 0; i < m->n_items; i++) {
        item_unref(m->items[i]);
    }
    free(m->items);
}

// ---- reading ------------------------------------------------------------------------------------

int pons__mem_item_get(void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn,
                       void *user, pons_error *err)
{
    mem *m = self;
    int rc = pons__store_check_item(ns, key, err);
    if (rc) {
        return rc;
    }
    seen_list list = {0};
    bool found;
    pthread_mutex_lock(&m->mtx);
    const size_t at = place_of(m, ns, key, &found);
    if (found && alive(&m->items[at]->row, now_ms)) {
        rc = show(&list, m->items[at]) ? PONS_OK : pons__mem_no_memory(err);
    } else {
        rc = pons__item_not_found(err, ns, key);
    }
    pthread_mutex_unlock(&m->mtx);
    if (!rc) {
        fn(user, &list.at[0].row);
    }
    forget(m, &list);
    return rc;
}

static int newest_first(const void *a, const void *b)
{
    const pons_item_row *x = &((const seen *)a)->row, *y = &((const seen *)b)->row;
    int order = (x->updated_ms < y->updated_ms) - (x->updated_ms > y->updated_ms);
    order = order ? order : strcmp(x->ns, y->ns);
    return order ? order : strcmp(x->key, y->key);
}

int pons__mem_items(void *self, const pons_item_find *find, pons_item_fn fn, void *user,
                    pons_error *err)
{
    mem *m = self;
    seen_list list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    for (size_t i = 0; i < m->n_items && !rc; i++) {
        const pons_item_row *item = &m->items[i]->row;
        if (alive(item, find->now_ms) && pons__item_under(item->ns, find->prefix) &&
            (!find->words || pons__item_has_word(item->words, find->words)) &&
            !show(&list, m->items[i])) {
            rc = pons__mem_no_memory(err);
        }
    }
    pthread_mutex_unlock(&m->mtx);
    if (list.n) {
        qsort(list.at, list.n, sizeof *list.at, newest_first);
    }
    for (size_t i = 0; i < list.n && !rc; i++) {
        if (fn(user, &list.at[i].row)) {
            break;
        }
    }
    forget(m, &list);
    return rc;
}

int pons__mem_item_spaces(void *self, int64_t now_ms, int (*fn)(void *user, const char *ns),
                          void *user, pons_error *err)
{
    mem *m = self;
    seen_list list = {0};
    int rc = PONS_OK;
    pthread_mutex_lock(&m->mtx);
    for (size_t i = 0; i < m->n_items && !rc; i++) { // in the order of namespaces
        const pons_item_row *item = &m->items[i]->row;
        if (alive(item, now_ms) &&
            (list.n == 0 || strcmp(list.at[list.n - 1].row.ns, item->ns) != 0) &&
            !show(&list, m->items[i])) {
            rc = pons__mem_no_memory(err);
        }
    }
    pthread_mutex_unlock(&m->mtx);
    for (size_t i = 0; i < list.n && !rc; i++) {
        if (fn(user, list.at[i].row.ns)) {
            break;
        }
    }
    forget(m, &list);
    return rc;
}
