// builder.c - records what a graph is to be, in any order; compile.c makes sense of it.
//
// Recording cannot fail: what is wrong is found by the compiler, all of it at once, and after a
// record that found no memory the graph will not compile.
#include "graph/definition/builder.h"

#include "pons/growing_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- helpers ------------------------------------------------------------------------------------

static char *copy(pons_graph_builder *b, const char *s)
{
    char *c = strdup(s ? s : "");
    if (!c) {
        b->failed = true;
    }
    return c;
}

static pons__names names_copy(const char *const *v, bool *failed)
{
    pons__names r = {0};
    while (v && v[r.n]) {
        r.n++;
    }
    r.v = calloc(r.n + 1, sizeof *r.v);
    for (size_t i = 0; i < r.n && r.v; i++) {
        r.v[i] = strdup(v[i]);
        if (!r.v[i]) {
            *failed = true;
        }
    }
    if (!r.v) {
        *failed = true;
    }
    return r;
}

static void runs_copy(pons_graph_builder *b, pons__node_spec *n, const pons_graph *const *runs)
{
    free(n->runs);
    n->runs = NULL;
    n->n_runs = 0;
    while (runs && runs[n->n_runs]) {
        n->n_runs++;
    }
    if (n->n_runs == 0) {
        return;
    }
    n->runs = calloc(n->n_runs, sizeof *n->runs);
    if (n->runs) {
        memcpy(n->runs, runs, n->n_runs * sizeof *n->runs);
    } else {
        b->failed = true;
    }
}

// The one policy or the several, whichever was given; both are found by the compiler.
static void retries_copy(pons_graph_builder *b, const pons_node_options *o, pons_retry **ret,
                         size_t *ret_n)
{
    const bool one = o->retry.attempts != 0;
    const size_t n = o->n_retries + one;
    free(*ret);
    *ret_n = 0;
    *ret = n > 0 ? calloc(n, sizeof **ret) : NULL;
    if (n == 0 || !*ret) {
        b->failed = b->failed || n > 0;
        return;
    }
    if (one) {
        (*ret)[0] = o->retry;
    }
    for (size_t i = one; i < n; i++) {
        (*ret)[i] = o->retries[i - one];
    }
    *ret_n = n;
}

static void names_fini(pons__names *n)
{
    for (size_t i = 0; i < n->n && n->v; i++) {
        free(n->v[i]);
    }
    free(n->v);
}

// ---- life ---------------------------------------------------------------------------------------

pons_graph_builder *pons_graph_builder_create(const char *name)
{
    pons_graph_builder *b = calloc(1, sizeof *b);
    if (!b) {
        return NULL;
    }
    b->name = strdup(name ? name : "");
    if (!b->name) {
        free(b);
        return NULL;
    }
    return b;
}

void pons_graph_builder_destroy(pons_graph_builder *b)
{
    if (!b) {
        return;
    }
    for (size_t i = 0; i < b->n_channels; i++) {
        pons__channel_fini(&b->channels[i]);
    }
    for (size_t i = 0; i < b->n_nodes; i++) {
        free(b->nodes[i].name);
        free(b->nodes[i].error_handler);
        names_fini(&b->nodes[i].goes);
        names_fini(&b->nodes[i].cache_on);
        for (size_t k = 0; k < b->nodes[i].n_shares; k++) {
            free(b->nodes[i].shares[k].outer);
            free(b->nodes[i].shares[k].inner);
        }
        free(b->nodes[i].shares);
        pons_value_unref(b->nodes[i].input);
        free(b->nodes[i].retries);
        free(b->nodes[i].runs);
    }
    free(b->retries);
    pons_value_unref(b->misplaced);
    pons_value_unref(b->input);
    pons_value_unref(b->output);
    pons_value_unref(b->context);
    for (size_t i = 0; i < b->n_edges; i++) {
        free(b->edges[i].from);
        free(b->edges[i].to);
    }
    for (size_t i = 0; i < b->n_joins; i++) {
        names_fini(&b->joins[i].from);
        free(b->joins[i].to);
    }
    for (size_t i = 0; i < b->n_routers; i++) {
        free(b->routers[i].from);
        names_fini(&b->routers[i].targets);
    }
    free(b->channels);
    free(b->nodes);
    free(b->edges);
    free(b->joins);
    free(b->routers);
    free(b->name);
    free(b);
}

// ---- records ------------------------------------------------------------------------------------

// Once a record has found no memory, the graph will not compile: the others are not taken.
static bool recording(const pons_graph_builder *b)
{
    return b && !b->failed;
}

void pons_graph_channel(pons_graph_builder *b, const char *name, const pons_channel_options *opts)
{
    pons_channel_options o = PONS_CHANNEL_OPTIONS_INIT;
    if (opts) {
        o = *opts;
    }
    if (!recording(b)) {
        return;
    }
    if (!pons_list_reserve(&b->channels, &b->cap_channels, b->n_channels + 1,
                           sizeof *b->channels)) {
        b->failed = true;
        return;
    }
    b->channels[b->n_channels++] = (pons__channel){
        .name = copy(b, name),
        .kind = o.kind,
        .reduce = o.reduce,
        .reduce_user = o.reduce_user,
        .initial = pons_value_ref(o.initial),
        .chat = o.chat,
        .single = o.kind == PONS_CHANNEL_LAST || (!o.several && (o.kind == PONS_CHANNEL_UNTRACKED ||
                                                                 o.kind == PONS_CHANNEL_EPHEMERAL)),
        .internal = o.internal,
        .schema = {.source = pons_value_ref(o.schema)},
    };
}

void pons_graph_node(pons_graph_builder *b, const char *name, pons_node_fn fn, void *user)
{
    if (!recording(b)) {
        return;
    }
    if (!pons_list_reserve(&b->nodes, &b->cap_nodes, b->n_nodes + 1, sizeof *b->nodes)) {
        b->failed = true;
        return;
    }
    b->nodes[b->n_nodes++] = (pons__node_spec){.name = copy(b, name), .fn = fn, .user = user};
}

void pons_graph_subgraph(pons_graph_builder *b, const char *name, const pons_graph *sub,
                         pons_subgraph_mode mode)
{
    pons_graph_node(b, name, NULL, NULL);
    if (recording(b)) {
        b->nodes[b->n_nodes - 1].sub = sub;
        b->nodes[b->n_nodes - 1].mode = mode;
    }
}

static void record_shares(pons_graph_builder *b, pons__node_spec *n, const pons_share *list,
                          bool in)
{
    for (const pons_share *s = list; s && s->outer && !b->failed; s++) {
        size_t at = 0;
        while (at < n->n_shares && (strcmp(n->shares[at].outer, s->outer) != 0 ||
                                    strcmp(n->shares[at].inner, s->inner ? s->inner : "") != 0)) {
            at++;
        }
        if (at == n->n_shares) {
            if (!pons_list_reserve(&n->shares, NULL, at + 1, sizeof *n->shares)) {
                b->failed = true;
                return;
            }
            n->shares[n->n_shares++] =
                (pons__share_spec){copy(b, s->outer), copy(b, s->inner), false, false};
        }
        n->shares[at].in = n->shares[at].in || in;
        n->shares[at].out = n->shares[at].out || !in;
    }
}

void pons_graph_subgraph_mapped(pons_graph_builder *b, const char *name, const pons_graph *sub,
                                pons_subgraph_mode mode, const pons_share *in,
                                const pons_share *out)
{
    pons_graph_subgraph(b, name, sub, mode);
    if (recording(b)) {
        pons__node_spec *n = &b->nodes[b->n_nodes - 1];
        n->mapped = true;
        record_shares(b, n, in, true);
        record_shares(b, n, out, false);
    }
}

void pons_graph_blocking(pons_graph_builder *b, const char *name, pons_blocking_fn fn, void *user)
{
    pons_graph_node(b, name, NULL, user);
    if (recording(b)) {
        b->nodes[b->n_nodes - 1].blocking = fn;
    }
}

// ---- programs -----------------------------------------------------------------------------------

void pons_graph_task(pons_graph_builder *b, const char *name, pons_step_fn fn, void *user)
{
    pons_graph_node(b, name, NULL, user);
    if (recording(b)) {
        b->nodes[b->n_nodes - 1].step = fn;
        b->nodes[b->n_nodes - 1].called = true;
    }
}

void pons_graph_task_blocking(pons_graph_builder *b, const char *name, pons_blocking_fn fn,
                              void *user)
{
    pons_graph_blocking(b, name, fn, user);
    if (recording(b)) {
        b->nodes[b->n_nodes - 1].called = true;
    }
}

void pons_graph_entrypoint(pons_graph_builder *b, pons_step_fn fn, void *user)
{
    if (!recording(b)) {
        return;
    }
    pons_graph_channel(b, PONS__STEP_INPUT,
                       &(pons_channel_options){.kind = PONS_CHANNEL_EPHEMERAL});
    pons_graph_channel(b, PONS__STEP_OUTPUT, NULL);
    pons_graph_channel(b, PONS__STEP_PREVIOUS, &(pons_channel_options){.internal = true});
    pons_graph_node(b, b->name, NULL, user);
    if (recording(b)) {
        b->nodes[b->n_nodes - 1].step = fn;
    }
    pons_graph_edge(b, PONS_START, b->name);
    pons_graph_edge(b, b->name, PONS_END);
}

// A node that has been recorded; NULL, and a fault: there is none.
static pons__node_spec *recorded(pons_graph_builder *b, const char *name, bool given,
                                 const char *what)
{
    for (size_t i = b->n_nodes; i-- > 0 && given;) { // mostly the newest
        if (strcmp(b->nodes[i].name, name ? name : "") == 0) {
            return &b->nodes[i];
        }
    }
    char text[PONS_NAME_MAX + 64];
    snprintf(text, sizeof text, "unknown node '%.*s' is given %s", PONS_NAME_MAX, name ? name : "",
             what);
    b->misplaced = b->misplaced ? b->misplaced : json_array();
    b->failed = json_array_append_new(b->misplaced, json_string(text)) != 0 || b->failed;
    return NULL;
}

void pons_graph_begin(pons_graph_builder *b, const char *name, pons_begin_fn fn)
{
    pons__node_spec *n = recording(b) ? recorded(b, name, true, "a beginning") : NULL;
    if (n) {
        n->begin = fn;
    }
}

void pons_graph_drop(pons_graph_builder *b, const char *name, pons_drop_fn fn)
{
    pons__node_spec *n = recording(b) ? recorded(b, name, true, "an end") : NULL;
    if (n) {
        n->drop = fn;
    }
}

void pons_graph_node_options(pons_graph_builder *b, const char *name, const pons_node_options *opts)
{
    pons__node_spec *n = recording(b) ? recorded(b, name, opts != NULL, "options") : NULL;
    if (!n) {
        return;
    }
    free(n->error_handler);
    pons_value_unref(n->input);
    n->input = pons_value_ref(opts->input_schema);
    names_fini(&n->goes);
    names_fini(&n->cache_on);
    n->opts = *opts;
    n->error_handler = opts->error_handler ? copy(b, opts->error_handler) : NULL;
    n->goes = names_copy(opts->goes, &b->failed);
    n->cache_on = names_copy(opts->cache_on, &b->failed);
    retries_copy(b, opts, &n->retries, &n->n_retries);
    runs_copy(b, n, opts->runs);
}

void pons_graph_defaults(pons_graph_builder *b, const pons_node_options *o)
{
    if (recording(b) && o) {
        retries_copy(b, o, &b->retries, &b->n_retries);
        b->defaults = (pons_node_options){.run_timeout_ms = o->run_timeout_ms,
                                          .idle_timeout_ms = o->idle_timeout_ms,
                                          .cache = o->cache,
                                          .cache_ttl_ms = o->cache_ttl_ms};
    }
}

void pons_graph_declare(pons_graph_builder *b, const pons_schemas *s)
{
    if (!recording(b) || !s) {
        return;
    }
    pons_value **const to[] = {&b->input, &b->output, &b->context};
    const pons_value *const from[] = {s->input, s->output, s->context};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        pons_value_unref(*to[i]);
        *to[i] = pons_value_ref(from[i]);
    }
}

void pons_graph_edge(pons_graph_builder *b, const char *from, const char *to)
{
    if (!recording(b)) {
        return;
    }
    if (!pons_list_reserve(&b->edges, &b->cap_edges, b->n_edges + 1, sizeof *b->edges)) {
        b->failed = true;
        return;
    }
    b->edges[b->n_edges++] = (pons__edge_spec){copy(b, from), copy(b, to)};
}

void pons_graph_join(pons_graph_builder *b, const char *const *from, size_t n, const char *to)
{
    if (!recording(b)) {
        return;
    }
    if (!pons_list_reserve(&b->joins, &b->cap_joins, b->n_joins + 1, sizeof *b->joins)) {
        b->failed = true;
        return;
    }
    pons__join_spec *j = &b->joins[b->n_joins++];
    *j = (pons__join_spec){.to = copy(b, to)};
    j->from.v = calloc(n + 1, sizeof *j->from.v);
    if (!j->from.v) {
        b->failed = true;
        return;
    }
    for (; j->from.n < n; j->from.n++) {
        j->from.v[j->from.n] = copy(b, from[j->from.n]);
    }
}

void pons_graph_router(pons_graph_builder *b, const char *from, pons_router_fn fn, void *user,
                       const char *const *targets)
{
    if (!recording(b)) {
        return;
    }
    if (!pons_list_reserve(&b->routers, &b->cap_routers, b->n_routers + 1, sizeof *b->routers)) {
        b->failed = true;
        return;
    }
    b->routers[b->n_routers++] = (pons__router_spec){.from = copy(b, from),
                                                     .fn = fn,
                                                     .user = user,
                                                     .anywhere = targets == NULL,
                                                     .targets = names_copy(targets, &b->failed)};
}
