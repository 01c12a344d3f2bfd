// task_cache_store.c - where cached tasks are kept.
//
// In the compiled graph they hang on the node, under its lock as threads share a graph: at most
// CACHE_MAX, the oldest leaves first. In a store they are items of the namespace
// "langgraph.cache.GRAPH.NODE" (hashes of the names, so that any name is a label), written by
// themselves as soon as the task has finished, and gone when their time is over. A store that fails
// is a cache that has nothing.
#include "graph/task/task_cache_store.h"

#include "graph/engine.h"
#include "pons/growing_list.h"
#include "pons/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_SPACE "langgraph.cache"
enum { CACHE_MAX = 256, SPACE_MAX = sizeof CACHE_SPACE + 2 * 33 + 1, CLEAR_BATCH = 128 };

// ---- in a store ---------------------------------------------------------------------------------

typedef struct found_keys { // [[namespace, key]…], at most a batch
    pons_value *list;
    int st;
} found_keys;

static bool is_stored(const pons_cx *cx)
{
    const pons_store_ops *ops = cx->run->t->store.ops;
    bool stored = false; // a subgraph's nodes are cached where the graph is that it is part of
    for (const pons_run *r = cx->run; r && !stored; r = r->parent) {
        stored = r->g->cache_stored;
    }
    return stored && ops && ops->item_get && ops->items_write;
}

static void space_of(const char *graph, const char *node, char ret[SPACE_MAX])
{
    char hashes[2][33] = {"", ""};
    for (int i = 0; i < (node ? 2 : 1); i++) {
        pons_autovalue name = json_string(i ? node : graph);
        pons_value_hash(name, hashes[i]);
    }
    snprintf(ret, SPACE_MAX, CACHE_SPACE ".%s%s%s", hashes[0], node ? "." : "", hashes[1]);
}

static int take_value(void *user, const pons_item_row *row)
{
    return pons_value_read(row->value.data, row->value.len, user, NULL);
}

static pons_value *get_stored(const pons_cx *cx, const char key[33])
{
    const pons_store s = cx->run->t->store;
    const int64_t now_ms = pons_wall_ms(&cx->run->t->clock);
    char space[SPACE_MAX];
    pons_value *task = NULL;
    pons_error err = PONS_ERROR_INIT;
    space_of(cx->run->g->name, cx->node->name, space);
    const int st = s.ops->item_get(s.self, space, key, now_ms, take_value, &task, &err);
    if (st != PONS_OK && st != PONS_ENOTFOUND) {
        pons_log(PONS_LOG_WARN, PONS__MODULE, "thread %s: the cache of node '%s' can't be read: %s",
                 cx->run->t->id, cx->node->name, err.message);
    }
    return task;
}

static void put_stored(const pons_cx *cx, const char key[33], const pons_value *task)
{
    const pons_store s = cx->run->t->store;
    const int64_t now_ms = pons_wall_ms(&cx->run->t->clock),
                  ttl_ms = cx->node->policy->cache_ttl_ms;
    char space[SPACE_MAX], *text = NULL;
    pons_error err = PONS_ERROR_INIT;
    space_of(cx->run->g->name, cx->node->name, space);
    const long n = pons_value_dump(task, &text);
    const pons_item_write w = {
        .what = PONS_ITEM_PUT,
        .row = {.ns = space,
                .key = key,
                .value = {text, n > 0 ? (size_t)n : 0},
                .words = "",
                .updated_ms = now_ms,
                .ttl_ms = ttl_ms > 0 ? ttl_ms : 0,
                .expires_ms = ttl_ms > 0 ? pons_later_ms(now_ms, ttl_ms) : 0}};
    const int st = n > 0 ? s.ops->items_write(s.self, &w, 1, PONS_SYNC_NORMAL, &err) : PONS_ENOMEM;
    free(text);
    if (st != PONS_OK) {
        pons_log(PONS_LOG_WARN, PONS__MODULE, "thread %s: what node '%s' made is not cached: %s",
                 cx->run->t->id, cx->node->name, err.message);
    }
}

static int take_key(void *user, const pons_item_row *row)
{
    found_keys *f = user;
    pons_value *pair = json_pack("[ss]", row->ns, row->key);
    f->st = json_array_append_new(f->list, pair) ? PONS_ENOMEM : PONS_OK;
    return f->st || json_array_size(f->list) == CLEAR_BATCH;
}

static int delete_keys(pons_store s, const pons_value *list, pons_error *err)
{
    pons_item_write writes[CLEAR_BATCH];
    size_t n = 0;
    for (; n < json_array_size(list); n++) {
        const pons_value *pair = json_array_get(list, n);
        writes[n] = (pons_item_write){.what = PONS_ITEM_DELETE,
                                      .row = {.ns = json_string_value(json_array_get(pair, 0)),
                                              .key = json_string_value(json_array_get(pair, 1))}};
    }
    return s.ops->items_write(s.self, writes, n, PONS_SYNC_NORMAL, err);
}

static int clear_stored(pons_store s, const char *prefix, pons_error *err)
{
    const pons_item_find find = {.prefix = prefix}; // also what is over
    for (;;) {
        pons_autovalue list = json_array();
        found_keys f = {.list = list};
        int st = list ? s.ops->items(s.self, &find, take_key, &f, err) : PONS_ENOMEM;
        if (st != PONS_OK || f.st != PONS_OK) {
            return st != PONS_OK && list
                       ? st
                       : pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a cache");
        }
        if (json_array_size(list) == 0) {
            return PONS_OK;
        }
        st = delete_keys(s, list, err);
        if (st != PONS_OK) {
            return st;
        }
    }
}

pons_value *pons__cache_get(const pons_cx *cx, const char key[33])
{
    pons__policy *p = cx->node->policy;
    if (is_stored(cx)) {
        return get_stored(cx, key);
    }
    const int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    pons_value *task = NULL;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n_entries && !task; i++) {
        if (strcmp(p->entries[i].key, key) == 0 && p->entries[i].until_ns > now_ns) {
            task = pons_value_ref(p->entries[i].task);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return task;
}

void pons__cache_put(const pons_cx *cx, const char key[33], pons_value *task)
{
    pons__policy *p = cx->node->policy;
    if (is_stored(cx)) {
        put_stored(cx, key, task);
        pons_value_unref(task);
        return;
    }
    const int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    pthread_mutex_lock(&p->lock);
    size_t at = 0;
    while (at < p->n_entries && strcmp(p->entries[at].key, key) != 0) {
        at++;
    }
    if (at == p->n_entries && at == CACHE_MAX) {
        at = p->oldest;
        p->oldest = (p->oldest + 1) % CACHE_MAX;
    }
    if (at == p->n_entries &&
        pons_list_reserve(&p->entries, &p->cap_entries, at + 1, sizeof *p->entries)) {
        p->entries[p->n_entries++] = (pons__cache_entry){.task = NULL};
    }
    if (at < p->n_entries) {
        pons_value_unref(p->entries[at].task);
        p->entries[at].task = task;
        p->entries[at].until_ns =
            p->cache_ttl_ms > 0 ? pons_later_ns(now_ns, p->cache_ttl_ms) : INT64_MAX;
        snprintf(p->entries[at].key, sizeof p->entries[at].key, "%s", key);
        task = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    pons_value_unref(task);
}

int pons_graph_cache_clear(const pons_graph *g, pons_store store, const char *node, pons_error *err)
{
    char prefix[SPACE_MAX];
    if (pons__graph_given(g, err) != PONS_OK) {
        return PONS_EINVAL;
    }
    const uint32_t ix = node ? pons__graph_node_find(g, node) : 0;
    if (node && ix >= g->n_nodes) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "graph %s has no node '%s'", g->name,
                              node);
    }
    for (size_t i = node ? ix : 0; i < (node ? ix + 1 : g->n_nodes); i++) {
        pons__policy *p = g->nodes[i].policy;
        if (!p) {
            continue;
        }
        pthread_mutex_lock(&p->lock);
        for (size_t k = 0; k < p->n_entries; k++) {
            pons_value_unref(p->entries[k].task);
        }
        p->n_entries = p->oldest = 0;
        pthread_mutex_unlock(&p->lock);
    }
    if (!store.ops || !store.ops->items || !store.ops->items_write) {
        return PONS_OK;
    }
    space_of(g->name, node, prefix);
    return clear_stored(store, prefix, err);
}
