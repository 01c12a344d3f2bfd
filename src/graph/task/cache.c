// cache.c - what a node made of the same input before: its writes and routes, by a hash of what it
// can read. The cache hangs on the compiled node, under the node's lock as threads share a graph,
// and keeps at most CACHE_MAX tasks; the oldest leaves first.
#include "graph/task/cache.h"

#include "graph/base/grow.h"
#include "graph/core/writes.h"

#include <stdio.h>
#include <string.h>

enum { CACHE_MAX = 256 };

static bool take_routes(pons_cx *cx, const pons_value *task);
static bool cache_key(const pons_cx *cx, char ret[33]);

bool pons__cache_recall(pons_cx *cx)
{
    pons__policy *p = cx->node->policy;
    char key[33];
    if (!cache_key(cx, key)) {
        return false;
    }
    int64_t now_ns = pons_now_ns(&cx->run->t->clock);
    pons_autovalue task = NULL;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n_entries && !task; i++) {
        if (strcmp(p->entries[i].key, key) == 0 && p->entries[i].until_ns > now_ns) {
            task = pons_value_ref(p->entries[i].task);
        }
    }
    pthread_mutex_unlock(&p->lock);
    if (!task || !take_routes(cx, task)) {
        return false;
    }
    cx->cached = true;
    return true;
}

static bool take_routes(pons_cx *cx, const pons_value *task)
{
    size_t i;
    pons_value *w;
    int st = PONS_OK;
    json_array_foreach(pons_get(task, "w"), i, w)
    {
        st = st ? st
                : pons__cx_write(cx, (uint32_t)json_integer_value(json_array_get(w, 0)),
                                 pons_value_ref(json_array_get(w, 1)), NULL);
    }
    json_array_foreach(pons_get(task, "g"), i, w)
    {
        st = st ? st : pons__cx_route(cx, (uint32_t)json_integer_value(w), NULL);
    }
    json_array_foreach(pons_get(task, "s"), i, w)
    {
        st = st ? st
                : pons__cx_route(cx, (uint32_t)json_integer_value(json_array_get(w, 0)),
                                 pons_value_ref(json_array_get(w, 1)));
    }
    if (st != PONS_OK) {
        pons__task_drop(cx);
    }
    return st == PONS_OK;
}

// Channels and nodes go by their numbers: the cache lives no longer than the graph.
void pons__cache_store(pons_cx *cx)
{
    pons__policy *p = cx->node->policy;
    char key[33];
    if (cx->n_calls > 0 || !pons__out_empty(&cx->out) || cx->escape || cx->bare ||
        cx->inbox_fixed || !cache_key(cx, key)) {
        return;
    }
    pons_value *w = json_array(), *g = json_array(), *s = json_array();
    int bad = 0;
    for (size_t i = 0; i < cx->n_writes; i++) {
        bad |= json_array_append_new(
            w, json_pack("[IO]", (json_int_t)cx->writes[i].ch, cx->writes[i].v));
    }
    for (size_t i = 0; i < cx->n_gotos; i++) {
        bad |= json_array_append_new(g, json_integer((json_int_t)cx->gotos[i]));
    }
    for (size_t i = 0; i < cx->n_sends; i++) {
        bad |= json_array_append_new(
            s, json_pack("[IO]", (json_int_t)cx->sends[i].node, cx->sends[i].arg));
    }
    pons_value *task = pons_object_whole("w", w, "g", g, "s", s, NULL);
    if (bad || !task) {
        pons_value_unref(task);
        return;
    }
    int64_t now_ns = pons_now_ns(&cx->run->t->clock);
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
        pons__reserve(&p->entries, &p->cap_entries, at + 1, sizeof *p->entries)) {
        p->entries[p->n_entries++] = (pons__cache_entry){.task = NULL};
    }
    if (at < p->n_entries) {
        pons_value_unref(p->entries[at].task);
        p->entries[at].task = task;
        p->entries[at].until_ns =
            p->cache_ttl_ms > 0 ? now_ns + p->cache_ttl_ms * PONS_NS_PER_MS : INT64_MAX;
        snprintf(p->entries[at].key, sizeof p->entries[at].key, "%s", key);
        task = NULL;
    }
    pthread_mutex_unlock(&p->lock);
    pons_value_unref(task);
}

static bool cache_key(const pons_cx *cx, char ret[33])
{
    const pons__policy *p = cx->node->policy;
    const pons_graph *g = cx->run->g;
    pons_autovalue state = json_object();
    bool ok = state != NULL;
    size_t n = p->n_cache_on > 0 ? p->n_cache_on : g->n_channels;
    for (size_t i = 0; i < n && ok; i++) {
        size_t ch = p->n_cache_on > 0 ? p->cache_on[i] : i;
        const pons_value *v = cx->run->ns->slots[ch].v;
        ok = !v || json_object_set_new(state, g->channels[ch].name, pons_value_ref(v)) == 0;
    }
    pons_autovalue key = pons_object_whole("arg", cx->arg ? pons_value_ref(cx->arg) : json_null(),
                                           "in", pons_value_ref(state), NULL);
    if (!ok || !key) {
        return false;
    }
    pons_value_hash(key, ret);
    return true;
}
