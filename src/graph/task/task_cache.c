// task_cache.c - what a node made of the same input before: its writes and routes, by a hash of what it
// can read, or of what its key function makes of that. Channels and nodes go by their names, so that
// what is kept (task_cache_store.c) may outlive the compiled graph; where a name is not there any more,
// nothing was kept.
#include "graph/task/task_cache.h"

#include "graph/core/task_writes.h"
#include "graph/engine.h"
#include "graph/task/task_cache_store.h"

#include <string.h>

// ---- tasks as values ----------------------------------------------------------------------------

static pons_value *pack(const pons_cx *cx)
{
    const pons_graph *graph = cx->run->g;
    pons_value *w = json_array(), *g = json_array(), *s = json_array();
    int bad = 0;
    for (size_t i = 0; i < cx->n_writes; i++) {
        bad |= json_array_append_new(
            w, json_pack("[sO]", graph->channels[cx->writes[i].ch].name, cx->writes[i].v));
    }
    for (size_t i = 0; i < cx->n_gotos; i++) {
        bad |= json_array_append_new(g, json_string(pons__graph_node_name(graph, cx->gotos[i])));
    }
    for (size_t i = 0; i < cx->n_sends; i++) {
        bad |= json_array_append_new(
            s, json_pack("[sO]", graph->nodes[cx->sends[i].node].name, cx->sends[i].arg));
    }
    pons_value *task =
        pons_object_whole("w", w, "g", g, "s", s, "r", pons_optional(cx->returned), NULL);
    if (bad) {
        pons_value_unref(task);
        return NULL;
    }
    return task;
}

static bool take_writes(pons_cx *cx, const pons_value *task)
{
    pons_each(w, pons_get(task, "w")) {
        const char *name = json_string_value(json_array_get(w, 0));
        const uint32_t ch = name ? pons__graph_channel_find(cx->run->g, name) : PONS__NONE;
        if (ch == PONS__NONE ||
            pons__cx_write(cx, ch, pons_value_ref(json_array_get(w, 1)), NULL) != PONS_OK) {
            return false;
        }
    }
    return true;
}

static bool take_ways(pons_cx *cx, const pons_value *task, const char *member)
{
    pons_each(w, pons_get(task, member)) {
        const bool send = json_is_array(w);
        const char *name = json_string_value(send ? json_array_get(w, 0) : w);
        const uint32_t to = name ? pons__graph_node_find(cx->run->g, name) : PONS__NONE;
        if (to == PONS__NONE || (send && to == PONS__END) ||
            pons__cx_route(cx, to, send ? pons_value_ref(json_array_get(w, 1)) : NULL) != PONS_OK) {
            return false;
        }
    }
    return true;
}

static bool take_routes(pons_cx *cx, const pons_value *task)
{
    cx->returned = pons_value_ref(pons_get(task, "r"));
    const bool whole =
        take_writes(cx, task) && take_ways(cx, task, "g") && take_ways(cx, task, "s");
    if (!whole) {
        pons__task_drop(cx);
    }
    return whole;
}

// ---- keys ---------------------------------------------------------------------------------------

static int key_of(const pons_cx *cx, char ret[33], pons_error *err)
{
    const pons__policy *p = cx->node->policy;
    const pons_graph *g = cx->run->g;
    pons_autovalue state = json_object();
    bool ok = state != NULL;
    const size_t n = p->n_cache_on > 0 ? p->n_cache_on : g->n_channels;
    for (size_t i = 0; i < n && ok && !cx->caller; i++) { // a task has its input alone
        const size_t ch = p->n_cache_on > 0 ? p->cache_on[i] : i;
        const pons_value *v = cx->run->ns->slots[ch].v;
        ok = !v || json_object_set_new(state, g->channels[ch].name, pons_value_ref(v)) == 0;
    }
    pons_value *made = NULL;
    if (ok && p->cache_key) {
        const int st = p->cache_key(p->cache_user, state, cx->arg, &made, err);
        if (st != PONS_OK) {
            return st;
        }
    }
    pons_autovalue key =
        p->cache_key ? pons_object_whole("key", made ? made : json_null(), NULL)
                     : pons_object_whole("arg", cx->arg ? pons_value_ref(cx->arg) : json_null(),
                                         "in", pons_value_ref(state), NULL);
    if (!ok || !key) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a cache's key");
    }
    pons_value_hash(key, ret);
    return PONS_OK;
}

int pons__cache_recall(pons_cx *cx, bool *ret, pons_error *err)
{
    char key[33];
    *ret = false;
    int st = key_of(cx, key, err);
    if (st != PONS_OK) {
        return st;
    }
    pons_autovalue task = pons__cache_get(cx, key);
    *ret = cx->cached = task && take_routes(cx, task);
    return PONS_OK;
}

void pons__cache_store(pons_cx *cx)
{
    char key[33];
    bool only_steps = true; // whose results are as good as the input that they follow from
    for (size_t i = 0; i < cx->n_calls; i++) {
        only_steps = only_steps && cx->calls[i].kind == PONS__CALL_STEP && !cx->calls[i].failed;
    }
    if (!only_steps || !pons__out_empty(&cx->out) || cx->escape || cx->bare || cx->inbox_fixed ||
        key_of(cx, key, NULL) != PONS_OK) {
        return;
    }
    pons_value *task = pack(cx);
    if (task) {
        pons__cache_put(cx, key, task);
    }
}
