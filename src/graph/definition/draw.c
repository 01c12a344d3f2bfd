// draw.c - a compiled graph as mermaid, dot, json, svg, or as LangGraph's HTTP API serves it. Dashed
// edges are those that a router, a node's own command or a failure may take. The picture is
// graphviz's work. What is drawn is worked out by drawing_scene.c; here it is only written.
//
// Names are anything but ':' and '|', so each format has its own way to write one: mermaid's ids are
// plain words with a code for every other character, and labels with such characters are quoted.
#include "graph/definition/drawing_scene.h"
#include "graph/definition/io_schema.h"
#include "graph/engine.h"
#include "pons/buf.h"
#include "pons/dot_svg.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct pen { // what is drawn, and where to
    pons_buf *b;
    const pons_value *nodes, *edges;
    const pons_value *takes, *gives; // what the declared schemas name, or NULL
} pen;

// ---- clusters -----------------------------------------------------------------------------------

typedef void (*node_fn)(pen *p, const pons_value *node, int depth);
typedef void (*cluster_fn)(pen *p, const char *id, size_t len, int depth); // len 0: its end

// How much of an id is the subgraph that its node is in: "a:b" of "a:b:c".
static size_t place_of(const char *id)
{
    const char *end = strrchr(id, ':');
    return end ? (size_t)(end - id) : 0;
}

static const char *name_of(const char *id)
{
    return strrchr(id, ':') ? strrchr(id, ':') + 1 : id;
}

// What the schemas say of START or END of the outermost graph, or NULL.
static const pons_value *names_at(const pen *p, const char *id)
{
    return strcmp(id, PONS_START) == 0 ? p->takes : strcmp(id, PONS_END) == 0 ? p->gives : NULL;
}

static bool is_inside(const char *id, const char *place, size_t len)
{
    return len == 0 || (strncmp(id, place, len) == 0 && id[len] == ':');
}

// The nodes of a cluster, then the clusters in it, each where its first node stands.
static void clusters(pen *p, const char *place, size_t len, int depth, node_fn node,
                     cluster_fn open)
{
    const pons_value *last = NULL; // of the cluster that has been written
    pons_each(n, p->nodes) {
        const char *id = pons_get_str(n, "id", "");
        if (is_inside(id, place, len) && place_of(id) == len) {
            node(p, n, depth);
        }
    }
    pons_each(n, p->nodes) {
        const char *id = pons_get_str(n, "id", "");
        if (!is_inside(id, place, len) || place_of(id) == len) {
            continue;
        }
        const size_t below = len + (len > 0), size = below + strcspn(id + below, ":");
        if (last && is_inside(id, pons_get_str(last, "id", ""), size)) {
            continue; // stands beside it
        }
        last = n;
        open(p, id, size, depth);
        clusters(p, id, size, depth + 1, node, open);
        open(p, id, 0, depth);
    }
}

static void indent(pen *p, int depth)
{
    for (int i = 0; i <= depth; i++) {
        pons_buf_str(p->b, "  ");
    }
}

// ---- mermaid ------------------------------------------------------------------------------------

static bool plain(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

// "a:b c" is a\3ab\20c; "end" would close a cluster.
static void mermaid_id(pons_buf *b, const char *id, size_t len)
{
    const bool word = len == 3 && strncasecmp(id, "end", len) == 0;
    for (size_t i = 0; i < len; i++) {
        if (plain(id[i]) && !(word && i == 0)) {
            pons_buf_byte(b, (uint8_t)id[i]);
        } else {
            pons_buf_printf(b, "\\%x", (unsigned)(unsigned char)id[i]);
        }
    }
}

static void mermaid_text(pons_buf *b, const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)name[i];
        if (c < 0x20 || strchr("\"#&<>`\\;", c)) {
            pons_buf_printf(b, "#%u;", (unsigned)c);
        } else {
            pons_buf_byte(b, c);
        }
    }
}

static void mermaid_label(pons_buf *b, const char *name, size_t len)
{
    size_t at = 0;
    while (at < len && plain(name[at])) {
        at++;
    }
    pons_buf_str(b, at == len ? "" : "\"");
    mermaid_text(b, name, len);
    pons_buf_str(b, at == len ? "" : "\"");
}

// "start", and below it the keys that the graph takes, or gives at its end.
static void mermaid_ends(pons_buf *b, const char *word, const pons_value *names)
{
    const char *between = "<br/>";
    pons_buf_printf(b, "\"%s", word);
    pons_each_member(key, ignored, names) {
        pons_buf_str(b, between);
        mermaid_text(b, key, strlen(key));
        between = ", ";
    }
    pons_buf_str(b, "\"");
}

static void mermaid_node(pen *p, const pons_value *n, int depth)
{
    const char *id = pons_get_str(n, "id", ""), *name = name_of(id);
    const bool start = strcmp(name, PONS_START) == 0, end = strcmp(name, PONS_END) == 0;
    const bool sub = pons_get_bool(n, "sub", false);
    indent(p, depth);
    mermaid_id(p->b, id, strlen(id));
    pons_buf_str(p->b, start || end ? "([" : sub ? "[[" : "[");
    name = start ? "start" : end ? "end" : name;
    if (names_at(p, id)) {
        mermaid_ends(p->b, name, names_at(p, id));
    } else {
        mermaid_label(p->b, name, strlen(name));
    }
    pons_buf_str(p->b, start || end ? "])\n" : sub ? "]]\n" : "]\n");
}

static void mermaid_cluster(pen *p, const char *id, size_t len, int depth)
{
    indent(p, depth);
    if (len == 0) {
        pons_buf_str(p->b, "end\n");
        return;
    }
    size_t at = len;
    while (at > 0 && id[at - 1] != ':') {
        at--;
    }
    pons_buf_str(p->b, "subgraph ");
    mermaid_id(p->b, id, len);
    pons_buf_str(p->b, "[");
    mermaid_label(p->b, id + at, len - at);
    pons_buf_str(p->b, "]\n");
}

static void draw_mermaid(pen *p)
{
    pons_buf_str(p->b, "graph TD\n");
    clusters(p, "", 0, 0, mermaid_node, mermaid_cluster);
    pons_each(e, p->edges) {
        const char *from = pons_get_str(e, "source", ""), *to = pons_get_str(e, "target", "");
        pons_buf_str(p->b, "  ");
        mermaid_id(p->b, from, strlen(from));
        pons_buf_str(p->b, pons_get_bool(e, "conditional", false) ? " -.-> " : " --> ");
        mermaid_id(p->b, to, strlen(to));
        pons_buf_str(p->b, "\n");
    }
}

// ---- dot ----------------------------------------------------------------------------------------

static void dot_quoted(pons_buf *b, const char *s, size_t len)
{
    pons_buf_byte(b, '"');
    for (size_t i = 0; i < len; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\') {
            pons_buf_byte(b, '\\');
        }
        pons_buf_byte(b, c < 0x20 ? ' ' : c);
    }
    pons_buf_byte(b, '"');
}

// A second line of a label that has just been written.
static void dot_names(pons_buf *b, const pons_value *names)
{
    const char *between = "\\n";
    if (!names || b->len == 0) {
        return;
    }
    b->len--; // the quote at its end
    pons_each_member(key, ignored, names) {
        pons_buf_str(b, between);
        const size_t at = b->len;
        dot_quoted(b, key, strlen(key));
        if (!b->failed) { // without its quotes
            memmove(b->data + at, b->data + at + 1, b->len - at - 1);
            b->len -= 2;
        }
        between = ", ";
    }
    pons_buf_byte(b, '"');
}

static void dot_node(pen *p, const pons_value *n, int depth)
{
    const char *id = pons_get_str(n, "id", ""), *name = name_of(id);
    const bool start = strcmp(name, PONS_START) == 0, end = strcmp(name, PONS_END) == 0;
    indent(p, depth);
    dot_quoted(p->b, id, strlen(id));
    pons_buf_printf(p->b, " [shape=%s",
                    start || end                     ? "oval"
                    : pons_get_bool(n, "sub", false) ? "box3d"
                                                     : "box");
    if (start || end || name != id) {
        name = start ? "start" : end ? "end" : name;
        pons_buf_str(p->b, ",label=");
        dot_quoted(p->b, name, strlen(name));
        dot_names(p->b, names_at(p, id));
    }
    pons_buf_str(p->b, "];\n");
}

static void dot_cluster(pen *p, const char *id, size_t len, int depth)
{
    indent(p, depth);
    if (len == 0) {
        pons_buf_str(p->b, "}\n");
        return;
    }
    size_t at = len;
    while (at > 0 && id[at - 1] != ':') {
        at--;
    }
    pons_autovalue cluster = json_sprintf("cluster_%.*s", (int)len, id);
    const char *name = json_string_value(cluster);
    p->b->failed = p->b->failed || !name;
    pons_buf_str(p->b, "subgraph ");
    dot_quoted(p->b, name ? name : "", name ? strlen(name) : 0);
    pons_buf_str(p->b, " {\n");
    indent(p, depth + 1);
    pons_buf_str(p->b, "label=");
    dot_quoted(p->b, id + at, len - at);
    pons_buf_str(p->b, ";\n");
}

static void draw_dot(pen *p, const char *name)
{
    pons_buf_str(p->b, "digraph ");
    dot_quoted(p->b, name, strlen(name));
    pons_buf_str(p->b, " {\n");
    clusters(p, "", 0, 0, dot_node, dot_cluster);
    pons_each(e, p->edges) {
        const char *from = pons_get_str(e, "source", ""), *to = pons_get_str(e, "target", "");
        pons_buf_str(p->b, "  ");
        dot_quoted(p->b, from, strlen(from));
        pons_buf_str(p->b, " -> ");
        dot_quoted(p->b, to, strlen(to));
        pons_buf_str(p->b, pons_get_bool(e, "conditional", false) ? " [style=dashed];\n" : ";\n");
    }
    pons_buf_str(p->b, "}\n");
}

// ---- json ---------------------------------------------------------------------------------------

static pons_value *as_json(const pons_graph *g, const pen *p)
{
    pons_value *nodes = json_array(), *edges = json_array(), *channels = json_array();
    pons_value *schemas = NULL;
    bool ok = nodes && edges && channels && pons_graph_schemas(g, &schemas, NULL) == PONS_OK;
    for (size_t i = 0; i < json_array_size(p->nodes) && ok; i++) {
        ok = json_array_append_new(
                 nodes, pons_value_ref(pons_get(json_array_get(p->nodes, i), "id"))) == 0;
    }
    for (size_t i = 0; i < g->n_channels && ok; i++) {
        ok = json_array_append_new(channels, json_string(g->channels[i].name)) == 0;
    }
    for (size_t i = 0; i < json_array_size(p->edges) && ok; i++) {
        const pons_value *e = json_array_get(p->edges, i);
        ok = json_array_append_new(
                 edges, pons_object_whole("from", pons_value_ref(pons_get(e, "source")), "to",
                                          pons_value_ref(pons_get(e, "target")), "conditional",
                                          pons_value_ref(pons_get(e, "conditional")), NULL)) == 0;
    }
    if (!ok) {
        pons_value_unref(edges);
        edges = NULL;
    }
    return pons_object_whole("name", json_string(g->name), "nodes", nodes, "channels", channels,
                             "edges", edges, "schemas", schemas, NULL);
}

static bool is_entered(const pen *p, const char *id)
{
    for (size_t i = 0; i < json_array_size(p->edges); i++) {
        if (strcmp(pons_get_str(json_array_get(p->edges, i), "target", ""), id) == 0) {
            return true;
        }
    }
    return false;
}

// A node is there called a runnable; data.id names what it is made by.
static pons_value *langgraph_node(const pons_value *n)
{
    const char *id = pons_get_str(n, "id", "");
    if (strcmp(id, PONS_END) == 0) {
        return pons_object_whole("id", json_string(id), NULL);
    }
    pons_value *kind =
        json_pack("[sss]", "pons", "graph", pons_get_bool(n, "sub", false) ? "graph" : "node");
    return pons_object_whole("id", json_string(id), "type", json_string("runnable"), "data",
                             pons_object_whole("id", kind, "name", json_string(id), NULL),
                             "metadata", pons_optional(pons_get(n, "metadata")), NULL);
}

static pons_value *as_langgraph(const pen *p)
{
    pons_value *nodes = json_array(), *edges = json_array();
    bool ok = nodes && edges;
    for (size_t i = 0; i < json_array_size(p->nodes) && ok; i++) {
        const pons_value *n = json_array_get(p->nodes, i);
        const char *id = pons_get_str(n, "id", "");
        if (strcmp(id, PONS_END) != 0 || is_entered(p, id)) {
            ok = json_array_append_new(nodes, langgraph_node(n)) == 0;
        }
    }
    for (size_t i = 0; i < json_array_size(p->edges) && ok; i++) {
        const pons_value *e = json_array_get(p->edges, i);
        ok = json_array_append_new(
                 edges, pons_object_whole("source", pons_value_ref(pons_get(e, "source")), "target",
                                          pons_value_ref(pons_get(e, "target")), "conditional",
                                          pons_get_bool(e, "conditional", false) ? json_true()
                                                                                 : PONS_ABSENT,
                                          NULL)) == 0;
    }
    if (!ok) {
        pons_value_unref(edges);
        edges = NULL;
    }
    return pons_object_whole("nodes", nodes, "edges", edges, NULL);
}

// ---- public functions ---------------------------------------------------------------------------

int pons_graph_draw(const pons_graph *g, const char *format, char **ret, pons_error *err)
{
    return pons_graph_draw_as(g, &(pons_draw_options){.format = format}, ret, err);
}

static int draw_svg(const pons_graph *g, int xray, char **ret, pons_error *err)
{
    char *dot = NULL;
    int st = pons_graph_draw_as(g, &(pons_draw_options){.format = "dot", .xray = xray}, &dot, err);
    if (st == PONS_OK) {
        st = pons_picture_svg(dot, ret, err);
    }
    free(dot);
    return st;
}

int pons_graph_draw_as(const pons_graph *g, const pons_draw_options *o, char **ret, pons_error *err)
{
    static const char *const formats[] = {"mermaid", "dot", "json", "langgraph", "svg"};
    size_t k = 0, n = sizeof formats / sizeof *formats;
    if (pons__graph_given(g, err) != PONS_OK) {
        return PONS_EINVAL;
    }
    while (k < n && strcmp(formats[k], o->format) != 0) {
        k++;
    }
    if (k == n) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a graph is drawn as mermaid, dot, json, langgraph or svg, not '%s'",
                              o->format);
    }
    if (strcmp(o->format, "svg") == 0) {
        return draw_svg(g, o->xray, ret, err);
    }
    pons_autobuf b = PONS_BUF_INIT;
    pons_autovalue scene = NULL;
    pons_autovalue json = NULL;
    int st = pons__scene(g, o->xray, &scene, err);
    if (st != PONS_OK) {
        return st;
    }
    pen p = {&b, pons_get(scene, "nodes"), pons_get(scene, "edges"),
             pons__contract_names(&g->input), pons__contract_names(&g->output)};
    if (strcmp(o->format, "mermaid") == 0) {
        draw_mermaid(&p);
    } else if (strcmp(o->format, "dot") == 0) {
        draw_dot(&p, g->name);
    } else {
        char *text = NULL;
        json = strcmp(o->format, "json") == 0 ? as_json(g, &p) : as_langgraph(&p);
        const long len = json ? pons_value_line(json, &text) : PONS_ENOMEM;
        if (len >= 0) {
            pons_buf_bytes(&b, text, (size_t)len);
            pons_buf_str(&b, "\n");
        }
        b.failed = b.failed || len < 0;
        free(text);
    }
    char *text = pons_buf_take(&b, NULL);
    if (!text) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a drawing");
    }
    *ret = text;
    return PONS_OK;
}
