// drawing_scene.c - what is drawn of a graph, whatever it is drawn as.
//
// Edges of any kind are one edge between two nodes: a static one (an edge, a join's leg) hides what a
// router, a node's own command or a failure may do. A subgraph that is opened takes its node's place:
// its START and END go when only one edge leaves or enters them, and the edges around it are tied to
// its first and its last node. One whose END nothing reaches has no last node and stays closed.
//
//   START --> a --> sub --> END     START --> a --> sub:x --> sub:y --> END
//                    |
//        START --> x --> y --> END
#include "graph/definition/drawing_scene.h"

#include "graph/engine.h"

#include <stdio.h>
#include <string.h>

enum { NODES_MAX = 5000, LEVELS_MAX = 32 };

typedef struct scene {
    pons_value *nodes; // {id: node}
    pons_value *edges; // {"source|target": edge}
} scene;

typedef struct budget { // of one drawing
    size_t nodes;
    bool spent;
} budget;

// ---- one graph ----------------------------------------------------------------------------------

static bool add_node(scene *s, budget *b, const char *id, bool sub, pons_value *metadata)
{
    b->spent = b->spent || ++b->nodes > NODES_MAX;
    pons_value *node = pons_object_whole("id", json_string(id), "sub", json_boolean(sub),
                                         "metadata", metadata, NULL);
    if (b->spent) {
        pons_value_unref(node);
        return false;
    }
    return json_object_set_new(s->nodes, id, node) == 0;
}

static bool add_edge(scene *s, const char *from, const char *to, bool conditional)
{
    pons_value *key = json_sprintf("%s|%s", from, to);
    const char *name = json_string_value(key);
    bool ok = name != NULL;
    if (ok && !json_object_get(s->edges, name)) {
        ok = json_object_set_new(s->edges, name,
                                 pons_object_whole("source", json_string(from), "target",
                                                   json_string(to), "conditional",
                                                   json_boolean(conditional), NULL)) == 0;
    }
    pons_value_unref(key);
    return ok;
}

static bool add_edges(const pons_graph *g, const pons__node *n, const uint32_t *to, size_t count,
                      bool conditional, scene *s)
{
    for (size_t i = 0; i < count; i++) {
        if (!add_edge(s, n->name, pons__graph_node_name(g, to[i]), conditional)) {
            return false;
        }
    }
    return true;
}

// The static ones before the others, which they hide.
static bool edges_of(const pons_graph *g, const pons__node *n, scene *s)
{
    bool drawn = n->n_edges + n->n_arms > 0 || (n->n_goes > 0 && !n->goes_undrawn);
    bool ok = add_edges(g, n, n->edges, n->n_edges, false, s);
    for (size_t i = 0; i < n->n_arms && ok; i++) {
        ok = add_edges(g, n, &g->joins[n->arms[i].join].to, 1, false, s);
    }
    for (size_t i = 0; i < n->n_routers && ok; i++) {
        const pons__router *r = &n->routers[i];
        drawn = drawn || !r->undrawn;
        ok = r->undrawn || add_edges(g, n, r->targets, r->n_targets, true, s);
    }
    if (ok && !n->goes_undrawn) {
        ok = add_edges(g, n, n->goes, n->n_goes, true, s);
    }
    if (ok && n->policy && n->policy->handler != PONS__NONE) {
        ok = add_edge(s, n->name, pons__graph_node_name(g, n->policy->handler), true);
    }
    if (ok && !drawn && n != &g->start && !n->called) {
        ok = add_edge(s, n->name, PONS_END, false);
    }
    return ok;
}

// LangGraph's words for what a drawing tells of a node.
static pons_value *metadata_of(const pons__node *n)
{
    if (!n->deferred && !n->before && !n->after) {
        return PONS_ABSENT;
    }
    const char *stops = n->before && n->after ? "before,after" : n->before ? "before" : "after";
    return pons_object_whole("defer", n->deferred ? json_true() : PONS_ABSENT, "__interrupt",
                             n->before || n->after ? json_string(stops) : PONS_ABSENT, NULL);
}

static void fini(scene *s)
{
    pons_value_unref(s->nodes);
    pons_value_unref(s->edges);
    *s = (scene){0};
}

// The only node that no edge enters (or leaves), but for `without` and its edges; NULL: none, or
// several.
static const char *only_end(const scene *s, bool entered, const char *without)
{
    const char *side = entered ? "target" : "source", *other = entered ? "source" : "target";
    pons_autovalue tied = json_object();
    const char *found = NULL;
    bool ok = tied != NULL;
    pons_each_member(key, v, s->edges) {
        if (!without || strcmp(pons_get_str(v, other, ""), without) != 0) {
            ok = ok && json_object_set_new(tied, pons_get_str(v, side, ""), json_true()) == 0;
        }
    }
    pons_each_member(key, v, s->nodes) {
        if (json_object_get(tied, key) || (without && strcmp(key, without) == 0)) {
            continue;
        }
        if (found) {
            return NULL;
        }
        found = key;
    }
    return ok ? found : NULL;
}

// START or END goes when one edge ties it and what is left has one such end.
static bool trim(scene *s, bool first)
{
    const char *node = first ? PONS_START : PONS_END, *side = first ? "source" : "target";
    char edge[2 * PONS_NAME_MAX + 2] = "";
    size_t n = 0;
    pons_each_member(key, v, s->edges) {
        if (strcmp(pons_get_str(v, side, ""), node) == 0) {
            n++;
            snprintf(edge, sizeof edge, "%s", key);
        }
    }
    if (n != 1 || !only_end(s, first, node)) {
        return true;
    }
    return json_object_del(s->edges, edge) == 0 && json_object_del(s->nodes, node) == 0;
}

static bool take_nodes(scene *s, const char *name, const scene *inner)
{
    bool ok = true;
    pons_each_member(key, v, inner->nodes) {
        pons_value *id = json_sprintf("%s:%s", name, key), *copy = json_copy(v);
        ok = ok && id && copy && json_object_set(copy, "id", id) == 0 &&
             json_object_set(s->nodes, json_string_value(id), copy) == 0;
        pons_value_unref(id);
        pons_value_unref(copy);
    }
    return ok;
}

static bool take_edges(scene *s, const char *name, const scene *inner)
{
    bool ok = true;
    pons_each_member(key, v, inner->edges) {
        pons_autovalue from = json_sprintf("%s:%s", name, pons_get_str(v, "source", ""));
        pons_autovalue to = json_sprintf("%s:%s", name, pons_get_str(v, "target", ""));
        ok = ok && from && to &&
             add_edge(s, json_string_value(from), json_string_value(to),
                      pons_get_bool(v, "conditional", false));
    }
    return ok;
}

// The edges of a closed subgraph, tied to the ends of the opened one.
static bool tie(scene *s, const char *name, const char *first, const char *last)
{
    scene tied = {.edges = json_object()};
    bool ok = tied.edges != NULL;
    pons_each_member(key, v, s->edges) {
        const char *from = pons_get_str(v, "source", ""), *to = pons_get_str(v, "target", "");
        ok = ok &&
             add_edge(&tied, strcmp(from, name) == 0 ? last : from,
                      strcmp(to, name) == 0 ? first : to, pons_get_bool(v, "conditional", false));
    }
    pons_value_unref(s->edges);
    s->edges = tied.edges;
    return ok;
}

static bool open_subgraph(scene *s, const char *name, scene *inner)
{
    if (json_object_size(inner->nodes) < 2 || !only_end(inner, true, NULL) ||
        !only_end(inner, false, NULL)) {
        return true;
    }
    if (!trim(inner, true) || !trim(inner, false)) {
        return false;
    }
    pons_autovalue first = json_sprintf("%s:%s", name, only_end(inner, true, NULL));
    pons_autovalue last = json_sprintf("%s:%s", name, only_end(inner, false, NULL));
    return first && last && json_object_del(s->nodes, name) == 0 &&
           tie(s, name, json_string_value(first), json_string_value(last)) &&
           take_nodes(s, name, inner) && take_edges(s, name, inner);
}

static bool build(const pons_graph *g, int xray, int level, budget *b, scene *s)
{
    s->nodes = json_object();
    s->edges = json_object();
    bool ok = s->nodes && s->edges && add_node(s, b, PONS_START, false, PONS_ABSENT);
    for (size_t i = 0; i < g->n_nodes && ok; i++) {
        ok = g->nodes[i].called || // no edge leads there
             add_node(s, b, g->nodes[i].name, g->nodes[i].sub != NULL, metadata_of(&g->nodes[i]));
    }
    ok = ok && add_node(s, b, PONS_END, false, PONS_ABSENT) && edges_of(g, &g->start, s);
    for (size_t i = 0; i < g->n_nodes && ok; i++) {
        ok = edges_of(g, &g->nodes[i], s);
    }
    for (size_t i = 0; i < g->n_nodes && ok && level < xray && level < LEVELS_MAX; i++) {
        scene inner = {0};
        if (g->nodes[i].sub) {
            ok = build(g->nodes[i].sub, xray, level + 1, b, &inner) &&
                 open_subgraph(s, g->nodes[i].name, &inner);
        }
        fini(&inner);
    }
    return ok;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__scene(const pons_graph *g, int xray, pons_value **ret, pons_error *err)
{
    scene s = {0};
    budget b = {0};
    pons_value *nodes = json_array(), *edges = json_array();
    bool ok = nodes && edges && build(g, xray < 0 ? LEVELS_MAX : xray, 0, &b, &s);
    pons_each_member(key, v, s.nodes) {
        ok = ok && json_array_append_new(nodes, pons_value_ref(v)) == 0;
    }
    pons_each_member(key, v, s.edges) {
        ok = ok && json_array_append_new(edges, pons_value_ref(v)) == 0;
    }
    fini(&s);
    if (!ok) {
        pons_value_unref(nodes);
        pons_value_unref(edges);
        return b.spent ? pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                        "graph %s has more than %d nodes with its subgraphs: open "
                                        "fewer levels",
                                        g->name, NODES_MAX)
                       : pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a drawing");
    }
    *ret = pons_object_whole("nodes", nodes, "edges", edges, NULL);
    return *ret ? PONS_OK
                : pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a drawing");
}
