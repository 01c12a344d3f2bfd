// items.c - items as a node writes and reads them.
//
// Writes are gathered with what else the task brings out, and go with the step's commit; the record of
// a finished task keeps them meanwhile. A read lays them over what the store has: those of the graphs
// around this one first, then those of the run that are not committed yet, then the task's own.
#include "pons/items.h"

#include "graph/core/faults.h"
#include "graph/engine.h"

#include <stdlib.h>
#include <string.h>

// ---- helpers ------------------------------------------------------------------------------------

static int need_items(const pons_cx *cx, pons_error *err)
{
    const pons_store *s = &cx->run->t->store;
    if (s->ops && s->ops->items_write) {
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE, "node '%s': %s has no items",
                          cx->node->name, s->ops ? "this store" : "a thread without a store");
}

static pons_items items_of(const pons_cx *cx)
{
    const pons_thread *t = cx->run->t;
    return (pons_items){.store = t->store, .clock = t->clock, .opts = t->items};
}

static size_t add_all(const pons_item_write **to, size_t n, const pons__out *o)
{
    for (size_t i = 0; i < o->n_items; i++) {
        to[n++] = o->items[i];
    }
    return n;
}

static size_t add_around(const pons_item_write **to, size_t n, const pons_run *r)
{
    if (r->parent) {
        n = add_around(to, n, r->parent);
        n = add_all(to, n, &r->parent_task->out);
    }
    return add_all(to, n, &r->out);
}

static int overlay(const pons_cx *cx, const pons_item_write ***ret, size_t *ret_n, pons_error *err)
{
    size_t n = cx->out.n_items;
    for (const pons_run *r = cx->run; r; r = r->parent) {
        n += r->out.n_items + (r->parent ? r->parent_task->out.n_items : 0);
    }
    const pons_item_write **list = calloc(n + 1, sizeof(pons_item_write *));
    if (!list) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to read items");
    }
    n = add_around(list, 0, cx->run);
    *ret_n = add_all(list, n, &cx->out);
    *ret = list;
    return PONS_OK;
}

static int hold(pons_cx *cx, pons_value *v, const pons_value **ret)
{
    const size_t before = cx->n_held;
    pons__task_hold(cx, v);
    if (cx->n_held == before) {
        return PONS_ENOMEM; // it is freed, and the task knows
    }
    *ret = v;
    return PONS_OK;
}

int pons_cx_item_put(pons_cx *cx, const char *ns, const char *key, const pons_value *value,
                     const pons_item_put *opts, pons_error *err)
{
    pons_item_write *w = NULL;
    int st = need_items(cx, err);
    st = st ? st
            : pons_items_write_put(&cx->run->t->items, pons_cx_wall_ms(cx), ns, key, value, opts,
                                   &w, err);
    st = st ? st : pons__out_item(&cx->out, w);
    return st == PONS_ENOMEM ? pons_error_set(err, st, PONS__MODULE, "no memory for an item") : st;
}

int pons_cx_item_delete(pons_cx *cx, const char *ns, const char *key, pons_error *err)
{
    pons_item_write *w = NULL;
    int st = need_items(cx, err);
    st = st ? st : pons_items_write_delete(ns, key, &w, err);
    st = st ? st : pons__out_item(&cx->out, w);
    return st == PONS_ENOMEM ? pons_error_set(err, st, PONS__MODULE, "no memory for an item") : st;
}

// ---- reading ------------------------------------------------------------------------------------

// An item that is not in the store yet, as if it were.
static int give_written(const pons_cx *cx, const pons_item_write *w, pons_value **ret,
                        pons_error *err)
{
    const pons_items it = items_of(cx);
    pons_item_row row = w->row;
    pons_value *old = NULL;
    const bool over = row.expires_ms && row.expires_ms <= pons_wall_ms(&it.clock);
    if (w->what == PONS_ITEM_DELETE || over) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__MODULE, "there is no item %.80s in %.80s",
                              row.key, row.ns);
    }
    int st = pons_items_get(&it, row.ns, row.key, &old, NULL);
    row.created_ms = st == PONS_OK ? pons_get_int(old, "created_ms", 0) : row.updated_ms;
    pons_value_unref(old);
    return st == PONS_OK || st == PONS_ENOTFOUND
               ? pons_items_row_json(&row, ret, err)
               : pons_error_set(err, st, PONS__MODULE, "item %.80s in %.80s can't be read", row.key,
                                row.ns);
}

int pons_cx_item_get(pons_cx *cx, const char *ns, const char *key, const pons_value **ret,
                     pons_error *err)
{
    const pons_item_write **over = NULL, *mine = NULL;
    pons_value *item = NULL;
    size_t n = 0;
    int st = need_items(cx, err);
    st = st ? st : overlay(cx, &over, &n, err);
    for (size_t i = 0; i < n && !st; i++) { // the last one counts
        if (strcmp(over[i]->row.ns, ns) == 0 && strcmp(over[i]->row.key, key) == 0) {
            mine = over[i];
        }
    }
    const pons_items it = items_of(cx);
    if (!st && mine) {
        st = give_written(cx, mine, &item, err);
    } else if (!st) {
        st = pons_items_get(&it, ns, key, &item, err);
    }
    free(over);
    return st ? st : hold(cx, item, ret);
}

int pons_cx_item_search(pons_cx *cx, const pons_items_query *q, const pons_value **ret,
                        pons_error *err)
{
    const pons_item_write **over = NULL;
    pons_items_query mine = *q;
    pons_value *list = NULL;
    int st = need_items(cx, err);
    st = st ? st : overlay(cx, &over, &mine.n_over, err);
    mine.over = over;
    const pons_items it = items_of(cx);
    st = st ? st : pons_items_search(&it, &mine, &list, err);
    free(over);
    return st ? st : hold(cx, list, ret);
}
