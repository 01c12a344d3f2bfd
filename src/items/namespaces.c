// namespaces.c - the namespaces that have items: chosen by their first and last labels, cut to a depth,
// each once, in the order of their labels.
#include "items/names.h"
#include "pons/items.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 100 };

typedef struct listing {
    const pons_items_spaces *q;
    pons_value *prefix, *suffix; // labels
    pons_value *list;            // of lists of labels
    int st;
} listing;

// Whether `labels` from `from` on are those wanted; "*" is any.
static bool match(const pons_value *labels, size_t from, const pons_value *wanted)
{
    pons_each(want, wanted) {
        const char *have = json_string_value(json_array_get(labels, from + want_at));
        const char *text = json_string_value(want);
        if (!have || (strcmp(text, "*") != 0 && strcmp(text, have) != 0)) {
            return false;
        }
    }
    return true;
}

static int see_space(void *user, const char *ns)
{
    listing *l = user;
    if (pons__item_ns_reserved(ns)) {
        return 0;
    }
    pons_autovalue labels = pons__item_labels(ns);
    const size_t n = json_array_size(labels), tail = json_array_size(l->suffix);
    if (!labels) {
        return l->st = PONS_ENOMEM;
    }
    if (!match(labels, 0, l->prefix) || n < tail || !match(labels, n - tail, l->suffix)) {
        return 0;
    }
    while (l->q->max_depth > 0 && json_array_size(labels) > (size_t)l->q->max_depth) {
        json_array_remove(labels, json_array_size(labels) - 1);
    }
    l->st = json_array_append(l->list, labels) ? PONS_ENOMEM : PONS_OK;
    return l->st;
}

static int by_labels(const void *a, const void *b)
{
    const pons_value *x = *(const pons_value *const *)a, *y = *(const pons_value *const *)b;
    const size_t n = json_array_size(x), m = json_array_size(y);
    int order = 0;
    for (size_t i = 0; i < n && i < m && !order; i++) {
        order = strcmp(json_string_value(json_array_get(x, i)),
                       json_string_value(json_array_get(y, i)));
    }
    return order ? order : (n > m) - (n < m);
}

static int give_page(listing *l, pons_value **ret)
{
    const size_t n = json_array_size(l->list);
    const size_t from = l->q->offset > 0 ? (size_t)l->q->offset : 0;
    const int64_t limit = l->q->limit ? l->q->limit : PAGE;
    pons_value **all = malloc((n + 1) * sizeof(pons_value *));
    pons_value *page = json_array();
    int st = all && page ? PONS_OK : PONS_ENOMEM;
    for (size_t i = 0; i < n && !st; i++) {
        all[i] = json_array_get(l->list, i);
    }
    if (!st && n) {
        qsort(all, n, sizeof *all, by_labels);
    }
    size_t place = 0; // among those that differ
    for (size_t i = 0; i < n && !st; i++) {
        if (i && by_labels(&all[i - 1], &all[i]) == 0) {
            continue;
        }
        if (place >= from && (limit < 0 || place - from < (size_t)limit)) {
            st = json_array_append(page, all[i]) ? PONS_ENOMEM : PONS_OK;
        }
        place++;
    }
    free(all);
    if (st) {
        pons_value_unref(page);
        return st;
    }
    *ret = page;
    return PONS_OK;
}

int pons_items_namespaces(const pons_items *it, const pons_items_spaces *q, pons_value **ret,
                          pons_error *err)
{
    if (!it->store.ops || !it->store.ops->item_spaces) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "items", "store %s has no items",
                              it->store.ops ? it->store.ops->name : "(none)");
    }
    listing l = {.q = q,
                 .prefix = pons__item_labels(q->prefix ? q->prefix : ""),
                 .suffix = pons__item_labels(q->suffix ? q->suffix : ""),
                 .list = json_array()};
    int st = l.prefix && l.suffix && l.list ? PONS_OK : PONS_ENOMEM;
    st = st ? st
            : it->store.ops->item_spaces(it->store.self, pons_wall_ms(&it->clock), see_space, &l,
                                         err);
    st = st ? st : l.st;
    st = st ? st : give_page(&l, ret);
    pons_value_unref(l.prefix);
    pons_value_unref(l.suffix);
    pons_value_unref(l.list);
    return st == PONS_ENOMEM
               ? pons_error_set(err, st, "items", "no memory to list namespaces of items")
               : st;
}
