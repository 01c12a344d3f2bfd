// draw.c - a compiled graph as mermaid, dot, json or svg. Dashed edges are those that a router, a
// node's own command or a failure may take. The picture is graphviz's work.
#include "graph/base/text.h"
#include "graph/engine.h"
#include "graph/shape/graph.h"
#include "pons/buf.h"
#include "pons/picture.h"

#include <stdlib.h>
#include <string.h>

typedef void (*edge_fn)(pons_buf *b, const char *from, const char *to, bool dashed);

static int draw_svg(const pons_graph *g, char **ret, pons_error *err);
static void each_edge(const pons_graph *g, const pons__node *n, pons_buf *b, edge_fn put);
static void all_edges(const pons_graph *g, pons_buf *b, edge_fn put);
static void mermaid_edge(pons_buf *b, const char *from, const char *to, bool dashed);
static void dot_edge(pons_buf *b, const char *from, const char *to, bool dashed);
static void json_edge(pons_buf *b, const char *from, const char *to, bool dashed);

int pons_graph_draw(const pons_graph *g, const char *format, char **ret, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    if (strcmp(format, "svg") == 0) {
        return draw_svg(g, ret, err);
    }
    if (strcmp(format, "mermaid") == 0) {
        pons_buf_str(&b, "graph TD\n  __start__([start])\n");
        for (size_t i = 0; i < g->n_nodes; i++) {
            pons_buf_printf(&b, g->nodes[i].sub ? "  %s[[%s]]\n" : "  %s[%s]\n", g->nodes[i].name,
                            g->nodes[i].name);
        }
        pons_buf_str(&b, "  __end__([end])\n");
        all_edges(g, &b, mermaid_edge);
    } else if (strcmp(format, "dot") == 0) {
        pons_buf_printf(&b, "digraph \"%s\" {\n  \"__start__\" [shape=oval,label=\"start\"];\n",
                        g->name);
        for (size_t i = 0; i < g->n_nodes; i++) {
            pons_buf_printf(&b, "  \"%s\" [shape=%s];\n", g->nodes[i].name,
                            g->nodes[i].sub ? "box3d" : "box");
        }
        pons_buf_str(&b, "  \"__end__\" [shape=oval,label=\"end\"];\n");
        all_edges(g, &b, dot_edge);
        pons_buf_str(&b, "}\n");
    } else if (strcmp(format, "json") == 0) {
        pons_buf_str(&b, "{\"name\":");
        pons__json_quoted(&b, g->name);
        pons_buf_str(&b, ",\"nodes\":[\"__start__\"");
        for (size_t i = 0; i < g->n_nodes; i++) {
            pons_buf_str(&b, ",");
            pons__json_quoted(&b, g->nodes[i].name);
        }
        pons_buf_str(&b, ",\"__end__\"],\"channels\":[");
        for (size_t i = 0; i < g->n_channels; i++) {
            pons_buf_str(&b, i ? "," : "");
            pons__json_quoted(&b, g->channels[i].name);
        }
        pons_buf_str(&b, "],\"edges\":[");
        size_t empty = b.len;
        all_edges(g, &b, json_edge);
        if (b.len > empty) {
            b.len--; // the last comma
        }
        pons_buf_str(&b, "]}\n");
    } else {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a graph is drawn as mermaid, dot, json or svg, not '%s'", format);
    }
    char *text = pons_buf_take(&b, NULL);
    if (!text) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a drawing");
    }
    *ret = text;
    return PONS_OK;
}

static void all_edges(const pons_graph *g, pons_buf *b, edge_fn put)
{
    each_edge(g, &g->start, b, put);
    for (size_t i = 0; i < g->n_nodes; i++) {
        each_edge(g, &g->nodes[i], b, put);
    }
}

static void each_edge(const pons_graph *g, const pons__node *n, pons_buf *b, edge_fn put)
{
    for (size_t i = 0; i < n->n_edges; i++) {
        put(b, n->name, pons__graph_node_name(g, n->edges[i]), false);
    }
    for (size_t i = 0; i < n->n_arms; i++) {
        put(b, n->name, pons__graph_node_name(g, g->joins[n->arms[i].join].to), false);
    }
    for (size_t i = 0; i < n->n_routers; i++) {
        for (size_t k = 0; k < n->routers[i].n_targets; k++) {
            put(b, n->name, pons__graph_node_name(g, n->routers[i].targets[k]), true);
        }
    }
    for (size_t i = 0; i < n->n_goes; i++) {
        put(b, n->name, pons__graph_node_name(g, n->goes[i]), true);
    }
    if (n->policy && n->policy->handler != PONS__NONE) {
        put(b, n->name, pons__graph_node_name(g, n->policy->handler), true);
    }
}

static int draw_svg(const pons_graph *g, char **ret, pons_error *err)
{
    char *dot = NULL;
    int st = pons_graph_draw(g, "dot", &dot, err);
    if (st == PONS_OK) {
        st = pons_picture_svg(dot, ret, err);
    }
    free(dot);
    return st;
}

static void mermaid_edge(pons_buf *b, const char *from, const char *to, bool dashed)
{
    pons_buf_printf(b, "  %s %s %s\n", from, dashed ? "-.->" : "-->", to);
}

static void dot_edge(pons_buf *b, const char *from, const char *to, bool dashed)
{
    pons_buf_printf(b, "  \"%s\" -> \"%s\"%s;\n", from, to, dashed ? " [style=dashed]" : "");
}

static void json_edge(pons_buf *b, const char *from, const char *to, bool dashed)
{
    pons_buf_str(b, "{\"from\":");
    pons__json_quoted(b, from);
    pons_buf_str(b, ",\"to\":");
    pons__json_quoted(b, to);
    pons_buf_str(b, dashed ? ",\"conditional\":true}," : ",\"conditional\":false},");
}
