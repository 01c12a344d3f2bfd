// draw.c - a compiled graph as mermaid, dot, json or svg. Dashed edges are those that a router, a
// node's own command or a failure may take. The picture is graphviz's work: its program `dot` gets
// the dot text from an unlinked file and writes to a pipe, which is read to its end.
#include "graph/graph_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

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
    if (strcmp(format, "svg") == 0)
        return draw_svg(g, ret, err);
    if (strcmp(format, "mermaid") == 0) {
        pons_buf_str(&b, "graph TD\n  __start__([start])\n");
        for (size_t i = 0; i < g->n_nodes; i++)
            pons_buf_printf(&b, g->nodes[i].sub ? "  %s[[%s]]\n" : "  %s[%s]\n", g->nodes[i].name,
                            g->nodes[i].name);
        pons_buf_str(&b, "  __end__([end])\n");
        all_edges(g, &b, mermaid_edge);
    } else if (strcmp(format, "dot") == 0) {
        pons_buf_printf(&b, "digraph \"%s\" {\n  \"__start__\" [shape=oval,label=\"start\"];\n",
                        g->name);
        for (size_t i = 0; i < g->n_nodes; i++)
            pons_buf_printf(&b, "  \"%s\" [shape=%s];\n", g->nodes[i].name,
                            g->nodes[i].sub ? "box3d" : "box");
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
        if (b.len > empty)
            b.len--; // the last comma
        pons_buf_str(&b, "]}\n");
    } else {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a graph is drawn as mermaid, dot, json or svg, not '%s'", format);
    }
    char *text = pons_buf_take(&b, NULL);
    if (!text)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a drawing");
    *ret = text;
    return PONS_OK;
}

static void all_edges(const pons_graph *g, pons_buf *b, edge_fn put)
{
    each_edge(g, &g->start, b, put);
    for (size_t i = 0; i < g->n_nodes; i++)
        each_edge(g, &g->nodes[i], b, put);
}

static void each_edge(const pons_graph *g, const pons__node *n, pons_buf *b, edge_fn put)
{
    for (size_t i = 0; i < n->n_edges; i++)
        put(b, n->name, pons__graph_node_name(g, n->edges[i]), false);
    for (size_t i = 0; i < n->n_arms; i++)
        put(b, n->name, pons__graph_node_name(g, g->joins[n->arms[i].join].to), false);
    for (size_t i = 0; i < n->n_routers; i++)
        for (size_t k = 0; k < n->routers[i].n_targets; k++)
            put(b, n->name, pons__graph_node_name(g, n->routers[i].targets[k]), true);
    for (size_t i = 0; i < n->n_goes; i++)
        put(b, n->name, pons__graph_node_name(g, n->goes[i]), true);
    if (n->policy && n->policy->handler != PONS__NONE)
        put(b, n->name, pons__graph_node_name(g, n->policy->handler), true);
}

// Starts `dot -Tsvg` between the two descriptors; PONS_EENV when it is not there.
static int start_dot(int in, int out, pid_t *ret, pons_error *err)
{
    char *argv[] = {(char[]){"dot"}, (char[]){"-Tsvg"}, NULL};
    posix_spawn_file_actions_t files;
    if (posix_spawn_file_actions_init(&files) != 0)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to start dot");
    int rc = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (rc == 0)
        rc = posix_spawnp(ret, "dot", &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    if (rc == 0)
        return PONS_OK;
    pons_error_set(err, PONS_EENV, PONS__MODULE,
                   "a drawing as svg needs graphviz's program dot (Debian: graphviz)");
    pons_error_cause(err, "%s", strerror(rc));
    return PONS_EENV;
}

static int read_all(int fd, pons_buf *b)
{
    char chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return PONS_EIO;
        pons_buf_bytes(b, chunk, (size_t)n);
    }
    return b->failed ? PONS_ENOMEM : PONS_OK;
}

static int draw_svg(const pons_graph *g, char **ret, pons_error *err)
{
    pons_autobuf b = PONS_BUF_INIT;
    char *dot = NULL;
    int st = pons_graph_draw(g, "dot", &dot, err), status = 0;
    if (st != PONS_OK)
        return st;
    int in = memfd_create("graph.dot", MFD_CLOEXEC), out[2] = {-1, -1};
    size_t n = strlen(dot);
    pid_t pid = 0;
    if (in < 0 || pipe2(out, O_CLOEXEC) != 0 || write(in, dot, n) != (ssize_t)n ||
        lseek(in, 0, SEEK_SET) != 0)
        st = pons_error_set(err, PONS_EIO, PONS__MODULE, "cannot hand a graph to dot");
    if (st == PONS_OK)
        st = start_dot(in, out[1], &pid, err);
    if (out[1] >= 0)
        close(out[1]); // so that the read ends with the program
    if (st == PONS_OK) {
        st = read_all(out[0], &b);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        if (st != PONS_OK || status != 0)
            st = pons_error_set(err, PONS_EENV, PONS__MODULE, "dot could not draw graph %s",
                                g->name);
    }
    if (out[0] >= 0)
        close(out[0]);
    if (in >= 0)
        close(in);
    free(dot);
    if (st != PONS_OK)
        return st;
    *ret = pons_buf_take(&b, NULL);
    return *ret ? PONS_OK
                : pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a drawing");
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
