// graph.c - building and compiling a graph, and the map of this folder.
//
// THE IDEA. A graph is a set of nodes over named channels. One *superstep* runs every triggered
// node against the same state, then applies what they wrote in the order of the nodes' names, never
// in the order in which they finished. What the state is after a superstep is a *checkpoint*. The
// engine is four nouns:
//
//   pons_graph    compiled and immutable: names are indices, sorted, so that an index is also the
//                 place in task order; edges, routers and joins hang on their node
//   pons__ns      a namespace's head: one slot a channel, which nodes come next, which legs of
//                 joins have arrived. It outlives runs, so that starting one reads no store
//   pons_run      one invocation: the tasks of the superstep under way, and what has gathered for
//                 the next commit
//   pons_cx       one task: its writes, its posts, events and effects, its awaits; also what a node
//                 sees of the engine
//
// ONE SUPERSTEP (run.c)
//
//   store what is due ─► prepare tasks from `next` ─► run them ─┬─ all done ─► apply ─► store
//                                                               ├─ some park ─► store their
//                                                               records, │               call the
//                                                               handlers └─ some fail ─► store,
//                                                               FAILED
//
//   Applying checks everything before it changes anything: a conflict leaves the state as it was. A
//   commit that fails leaves the step applied in memory and *due*: the next advance tries it again
//   before anything else happens, and nothing of the step has been shown.
//
// WHAT IS COMMITTED WHEN
//
//   a step        one checkpoint row with what changed (checkpoint.c), together with the inbox
//                 messages it took, its posts, events and effects: all or nothing
//   a park        the checkpoint when it is not stored yet (exit durability, quiet steps), the
//                 records of what was asked and of the siblings that are done; then the handlers
//                 are called
//   an answer     its record, before anybody sees it
//   a task result its record, before it is returned
//   a dispatch    DISPATCHED, synced, before anything is sent (effect.c)
//
//   Under `async` only steps that carry nothing but state are queued. A step with durable events or
//   effects is committed in place (which keeps the order), because its events may be shown only
//   once they are there, with their numbers.
//
// FILES
//   graph.c       this; builder, compiler        draw.c        drawings
//   channels.c    kinds and reducers             messages.c    the messages reducer
//   run.c         the superstep loop             apply.c       writes → state → next tasks
//   commit.c      what goes into the store at once
//   cx.c          what a node can call           out.c         posts, events, effects of a task
//   await.c       awaits, interrupts, tasks      record.c      their records
//   effect.c      the effect ledger              checkpoint.c  packed rows
//   thread.c      lease, namespaces, events      subgraph.c    a run inside a task
//   state.c       reading from outside
//   travel.c      forks, updates from outside     submit.c     double texting, drain
//   stream.c      what a run shows of itself      pool.c       blocking nodes
//   command.c     goto, Send, Command            policy.c      retry, time-outs, handlers, cache
#include "graph/graph_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { RECURSION_LIMIT_DEFAULT = 100, FAULTS_MAX = 4096, FAULT_MAX = 512 };

typedef struct edge_spec {
    char *from, *to;
} edge_spec;
typedef struct names { // a list of copied strings
    char **v;
    size_t n;
} names;
typedef struct node_spec {
    char *name;
    pons_node_fn fn;
    void *user;
    const pons_graph *sub;
    pons_subgraph_mode mode;
    pons_blocking_fn blocking;
    pons_node_options opts; // with the names below instead of its own
    names goes, cache_on;
    char *error_handler;
} node_spec;
typedef struct join_spec {
    names from;
    char *to;
} join_spec;
typedef struct router_spec {
    char *from;
    pons_router_fn fn;
    void *user;
    names targets;
} router_spec;

struct pons_graph_builder {
    char *name;
    pons__channel *channels;
    size_t n_channels, cap_channels;
    node_spec *nodes;
    size_t n_nodes, cap_nodes;
    edge_spec *edges;
    size_t n_edges, cap_edges;
    join_spec *joins;
    size_t n_joins, cap_joins;
    router_spec *routers;
    size_t n_routers, cap_routers;
    pons_value *misplaced; // [faults] of recording, or NULL
    bool failed;           // a record found no memory
};

typedef struct faults { // "a; b; c"
    char text[FAULTS_MAX];
    size_t len, n;
    pons_value *list; // all of them
} faults;

static void fault(faults *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static names names_copy(const char *const *v, bool *failed);
static void names_fini(names *n);
static char *copy(pons_graph_builder *b, const char *s);
static void channel_fini(pons__channel *c);
static void node_fini(pons__node *n);
static int by_node_name(const void *a, const void *b);
static bool index_build(pons__index *ix, size_t n, const char *(*name)(const void *, size_t),
                        const void *user);
static uint32_t index_find(const pons__index *ix, const char *s,
                           const char *(*name)(const void *, size_t), const void *user);
static const char *channel_name(const void *user, size_t i);
static const char *node_name(const void *user, size_t i);
static bool take_channels(pons_graph *g, const pons_graph_builder *b, faults *f);
static bool take_nodes(pons_graph *g, const pons_graph_builder *b, faults *f);
static bool take_edges(pons_graph *g, const pons_graph_builder *b, faults *f);
static bool take_joins(pons_graph *g, const pons_graph_builder *b, faults *f);
static bool take_routers(pons_graph *g, const pons_graph_builder *b, faults *f);
static bool take_shares(pons_graph *g);
static bool take_options(pons_graph *g, const pons_graph_builder *b, faults *f);
static int compile(pons_graph_builder *b, const pons_graph_options *opts, faults *f,
                   pons_graph **ret, pons_error *err);
static void take_interrupts(pons_graph *g, const pons_graph_options *opts, faults *f);
static bool check_paths(const pons_graph *g, faults *f);

// ---------------------------------------------------------------- building

pons_graph_builder *pons_graph_builder_create(const char *name)
{
    pons_graph_builder *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->name = strdup(name ? name : "");
    if (!b->name) {
        free(b);
        return NULL;
    }
    return b;
}

void pons_graph_builder_destroy(pons_graph_builder *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_channels; i++)
        channel_fini(&b->channels[i]);
    for (size_t i = 0; i < b->n_nodes; i++) {
        free(b->nodes[i].name);
        free(b->nodes[i].error_handler);
        names_fini(&b->nodes[i].goes);
        names_fini(&b->nodes[i].cache_on);
    }
    pons_value_unref(b->misplaced);
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

// Once a record has found no memory, the graph will not compile: the others are not taken.
static bool recording(const pons_graph_builder *b)
{
    return b && !b->failed;
}

void pons_graph_channel(pons_graph_builder *b, const char *name, const pons_channel_options *opts)
{
    pons_channel_options o = PONS_CHANNEL_OPTIONS_INIT;
    if (opts)
        o = *opts;
    if (!recording(b))
        return;
    if (!pons__reserve(&b->channels, &b->cap_channels, b->n_channels + 1, sizeof *b->channels)) {
        b->failed = true;
        return;
    }
    b->channels[b->n_channels++] = (pons__channel){
        .name = copy(b, name),
        .kind = o.kind,
        .reduce = o.reduce,
        .reduce_user = o.reduce_user,
        .initial = pons_value_ref(o.initial),
    };
}

void pons_graph_node(pons_graph_builder *b, const char *name, pons_node_fn fn, void *user)
{
    if (!recording(b))
        return;
    if (!pons__reserve(&b->nodes, &b->cap_nodes, b->n_nodes + 1, sizeof *b->nodes)) {
        b->failed = true;
        return;
    }
    b->nodes[b->n_nodes++] = (node_spec){.name = copy(b, name), .fn = fn, .user = user};
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

void pons_graph_blocking(pons_graph_builder *b, const char *name, pons_blocking_fn fn, void *user)
{
    pons_graph_node(b, name, NULL, user);
    if (recording(b))
        b->nodes[b->n_nodes - 1].blocking = fn;
}

void pons_graph_node_options(pons_graph_builder *b, const char *name, const pons_node_options *opts)
{
    node_spec *n = NULL;
    if (!recording(b))
        return;
    for (size_t i = b->n_nodes; i-- > 0 && !n;) // mostly the newest
        if (strcmp(b->nodes[i].name, name ? name : "") == 0)
            n = &b->nodes[i];
    if (!n || !opts) {
        char text[PONS_NAME_MAX + 64];
        snprintf(text, sizeof text, "unknown node '%.*s' is given options", PONS_NAME_MAX,
                 name ? name : "");
        b->misplaced = b->misplaced ? b->misplaced : json_array();
        b->failed = json_array_append_new(b->misplaced, json_string(text)) != 0 || b->failed;
        return;
    }
    free(n->error_handler);
    names_fini(&n->goes);
    names_fini(&n->cache_on);
    n->opts = *opts;
    n->error_handler = opts->error_handler ? copy(b, opts->error_handler) : NULL;
    n->goes = names_copy(opts->goes, &b->failed);
    n->cache_on = names_copy(opts->cache_on, &b->failed);
}

void pons_graph_edge(pons_graph_builder *b, const char *from, const char *to)
{
    if (!recording(b))
        return;
    if (!pons__reserve(&b->edges, &b->cap_edges, b->n_edges + 1, sizeof *b->edges)) {
        b->failed = true;
        return;
    }
    b->edges[b->n_edges++] = (edge_spec){copy(b, from), copy(b, to)};
}

void pons_graph_join(pons_graph_builder *b, const char *const *from, size_t n, const char *to)
{
    if (!recording(b))
        return;
    if (!pons__reserve(&b->joins, &b->cap_joins, b->n_joins + 1, sizeof *b->joins)) {
        b->failed = true;
        return;
    }
    join_spec *j = &b->joins[b->n_joins++];
    *j = (join_spec){.to = copy(b, to)};
    j->from.v = calloc(n + 1, sizeof *j->from.v);
    if (!j->from.v) {
        b->failed = true;
        return;
    }
    for (; j->from.n < n; j->from.n++)
        j->from.v[j->from.n] = copy(b, from[j->from.n]);
}

void pons_graph_router(pons_graph_builder *b, const char *from, pons_router_fn fn, void *user,
                       const char *const *targets)
{
    if (!recording(b))
        return;
    if (!pons__reserve(&b->routers, &b->cap_routers, b->n_routers + 1, sizeof *b->routers)) {
        b->failed = true;
        return;
    }
    b->routers[b->n_routers++] = (router_spec){
        .from = copy(b, from), .fn = fn, .user = user, .targets = names_copy(targets, &b->failed)};
}

// ---------------------------------------------------------------- compiling

int pons_graph_compile(pons_graph_builder *b, const pons_graph_options *opts, pons_graph **ret,
                       pons_error *err)
{
    faults *f = calloc(1, sizeof *f);
    if (!f)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to compile a graph");
    int st = compile(b, opts, f, ret, err);
    if (st == PONS_EINVAL) {
        pons_error_set(err, st, PONS__MODULE, "%s", f->text);
        pons_error_source(err, "graph %s", b->name);
    }
    pons_value_unref(f->list);
    free(f);
    return st;
}

int pons_graph_faults(pons_graph_builder *b, const pons_graph_options *opts, pons_value **ret_list,
                      pons_error *err)
{
    faults *f = calloc(1, sizeof *f);
    pons_graph *g = NULL;
    if (!f)
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to compile a graph");
    int st = compile(b, opts, f, &g, err);
    pons__graph_unref(g);
    if (st == PONS_OK || st == PONS_EINVAL) {
        *ret_list = f->list ? f->list : json_array();
        f->list = NULL;
        st = PONS_OK;
    }
    pons_value_unref(f->list);
    free(f);
    return st;
}

static int compile(pons_graph_builder *b, const pons_graph_options *opts, faults *f,
                   pons_graph **ret, pons_error *err)
{
    pons_graph_options o = PONS_GRAPH_OPTIONS_INIT;
    if (opts)
        o = *opts;
    pons_graph *g = b && !b->failed ? calloc(1, sizeof *g) : NULL;
    if (!g)
        goto nomem;
    atomic_init(&g->refs, 1);
    g->recursion_limit = o.recursion_limit > 0 ? o.recursion_limit : RECURSION_LIMIT_DEFAULT;
    g->quiet = o.quiet;
    g->name = strdup(b->name);
    if (!g->name || !take_channels(g, b, f) || !take_nodes(g, b, f) || !take_edges(g, b, f) ||
        !take_joins(g, b, f) || !take_routers(g, b, f) || !take_shares(g) || !take_options(g, b, f))
        goto nomem;
    take_interrupts(g, &o, f);
    if (!check_paths(g, f))
        goto nomem;
    if (f->n > 0) {
        pons__graph_unref(g);
        return PONS_EINVAL;
    }
    *ret = g;
    return PONS_OK;

nomem:
    pons__graph_unref(g);
    return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to compile a graph");
}

void pons_graph_destroy(pons_graph *g)
{
    pons__graph_unref(g);
}

const pons_graph *pons__graph_ref(const pons_graph *g)
{
    atomic_fetch_add_explicit(&((pons_graph *)(uintptr_t)g)->refs, 1, memory_order_relaxed);
    return g;
}

void pons__graph_unref(const pons_graph *shared)
{
    pons_graph *g = (pons_graph *)(uintptr_t)shared;
    if (!g || atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < g->n_channels; i++)
        channel_fini(&g->channels[i]);
    for (size_t i = 0; i < g->n_nodes; i++)
        node_fini(&g->nodes[i]);
    node_fini(&g->start);
    for (size_t i = 0; i < g->n_joins; i++) {
        free(g->joins[i].label);
        free(g->joins[i].from);
    }
    free(g->channels);
    free(g->nodes);
    free(g->joins);
    free(g->deferred);
    free(g->channel_index.slots);
    free(g->node_index.slots);
    free(g->name);
    free(g);
}

const char *pons_graph_name(const pons_graph *g)
{
    return g->name;
}

uint32_t pons__graph_channel_find(const pons_graph *g, const char *name)
{
    return index_find(&g->channel_index, name, channel_name, g);
}

uint32_t pons__graph_node_find(const pons_graph *g, const char *name)
{
    if (strcmp(name, PONS_END) == 0)
        return PONS__END;
    return index_find(&g->node_index, name, node_name, g);
}

const char *pons__graph_node_name(const pons_graph *g, uint32_t ix)
{
    return ix == PONS__END ? PONS_END : g->nodes[ix].name;
}

// ---------------------------------------------------------------- the parts of a compile

// Names may not look like the engine's own: "__…", the separators of namespaces, nothing.
static const char *name_fault(const char *name)
{
    if (!name || !name[0])
        return "has no name";
    if (strncmp(name, "__", 2) == 0)
        return "has a reserved name";
    if (strpbrk(name, ":|"))
        return "has ':' or '|' in its name";
    return strlen(name) >= PONS_NAME_MAX ? "has too long a name" : NULL;
}

static bool take_channels(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    g->channels = calloc(b->n_channels + 1, sizeof *g->channels);
    if (!g->channels)
        return false;
    for (size_t i = 0; i < b->n_channels; i++) {
        const pons__channel *from = &b->channels[i];
        const char *why = name_fault(from->name);
        if (why)
            fault(f, "channel '%s' %s", from->name ? from->name : "", why);
        if (from->kind == PONS_CHANNEL_REDUCE && !from->reduce)
            fault(f, "channel '%s' needs a reducer", from->name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(b->channels[k].name, from->name) == 0)
                fault(f, "channel '%s' is declared twice", from->name);
        pons__channel *c = &g->channels[g->n_channels++];
        *c = *from;
        c->initial = pons_value_ref(from->initial);
        bool managed =
            c->kind == PONS_CHANNEL_IS_LAST_STEP || c->kind == PONS_CHANNEL_REMAINING_STEPS;
        g->managed = g->managed || managed;
        c->tracked = c->kind != PONS_CHANNEL_UNTRACKED && !managed;
        c->transient = c->kind == PONS_CHANNEL_EPHEMERAL || c->kind == PONS_CHANNEL_ANY ||
                       c->kind == PONS_CHANNEL_TOPIC;
        c->appends = c->kind == PONS_CHANNEL_MESSAGES || c->kind == PONS_CHANNEL_TOPIC_ACC ||
                     (c->kind == PONS_CHANNEL_REDUCE && c->reduce == pons_reduce_append);
        c->folds = c->kind == PONS_CHANNEL_REDUCE || c->kind == PONS_CHANNEL_MESSAGES ||
                   c->kind == PONS_CHANNEL_TOPIC || c->kind == PONS_CHANNEL_TOPIC_ACC;
        c->merges = c->kind == PONS_CHANNEL_REDUCE && c->reduce == pons_reduce_merge;
        c->name = strdup(from->name);
        if (!c->name)
            return false;
    }
    return index_build(&g->channel_index, g->n_channels, channel_name, g);
}

static bool take_nodes(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    g->nodes = calloc(b->n_nodes + 1, sizeof *g->nodes);
    g->start.name = strdup(PONS_START);
    if (!g->nodes || !g->start.name)
        return false;
    for (size_t i = 0; i < b->n_nodes; i++) {
        const node_spec *from = &b->nodes[i];
        const char *why = name_fault(from->name);
        if (why)
            fault(f, "node '%s' %s", from->name ? from->name : "", why);
        if (!from->fn && !from->sub && !from->blocking)
            fault(f, "node '%s' has no function", from->name);
        pons__node *n = &g->nodes[g->n_nodes++];
        *n = (pons__node){.name = strdup(from->name),
                          .fn = from->fn,
                          .user = from->user,
                          .sub = from->sub ? pons__graph_ref(from->sub) : NULL,
                          .blocking = from->blocking,
                          .mode = from->mode};
        if (!n->name)
            return false;
    }
    qsort(g->nodes, g->n_nodes, sizeof *g->nodes, by_node_name);
    for (size_t i = 1; i < g->n_nodes; i++)
        if (strcmp(g->nodes[i].name, g->nodes[i - 1].name) == 0)
            fault(f, "node '%s' is declared twice", g->nodes[i].name);
    g->n_words = g->n_nodes / PONS__WORD_BITS + 1;
    return index_build(&g->node_index, g->n_nodes, node_name, g);
}

// The node that an edge leaves, with START; NULL and a fault when there is none.
static pons__node *origin(pons_graph *g, const char *name, faults *f)
{
    if (strcmp(name, PONS_START) == 0)
        return &g->start;
    uint32_t ix = pons__graph_node_find(g, name);
    if (ix < g->n_nodes)
        return &g->nodes[ix];
    if (ix == PONS__END)
        fault(f, "an edge leaves END");
    else
        fault(f, "unknown node '%s' at the start of an edge", name);
    return NULL;
}

// The index that an edge enters; PONS__NONE and a fault when there is none.
static uint32_t destination(const pons_graph *g, const char *name, faults *f)
{
    uint32_t ix = pons__graph_node_find(g, name);
    if (ix != PONS__NONE)
        return ix;
    if (strcmp(name, PONS_START) == 0)
        fault(f, "an edge enters START");
    else
        fault(f, "unknown node '%s' at the end of an edge", name);
    return PONS__NONE;
}

static bool add_edge(pons__node *n, uint32_t to)
{
    for (size_t i = 0; i < n->n_edges; i++)
        if (n->edges[i] == to)
            return true;
    uint32_t *v = realloc(n->edges, (n->n_edges + 1) * sizeof *v);
    if (!v)
        return false;
    n->edges = v;
    v[n->n_edges++] = to;
    return true;
}

static bool take_edges(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    for (size_t i = 0; i < b->n_edges; i++) {
        pons__node *n = origin(g, b->edges[i].from, f);
        uint32_t to = destination(g, b->edges[i].to, f);
        if (n && to != PONS__NONE && !add_edge(n, to))
            return false;
    }
    return true;
}

static bool add_arm(pons__node *n, uint32_t join, uint32_t bit)
{
    pons__arm *v = realloc(n->arms, (n->n_arms + 1) * sizeof *v);
    if (!v)
        return false;
    n->arms = v;
    v[n->n_arms++] = (pons__arm){join, bit};
    return true;
}

static bool take_joins(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    g->joins = calloc(b->n_joins + 1, sizeof *g->joins);
    if (!g->joins)
        return false;
    for (size_t i = 0; i < b->n_joins; i++) {
        const join_spec *from = &b->joins[i];
        pons__join *j = &g->joins[g->n_joins++];
        pons_buf label = {0};
        j->to = destination(g, from->to, f);
        j->from = calloc(from->from.n + 1, sizeof *j->from);
        if (!j->from)
            return false;
        if (from->from.n == 0 || from->from.n > PONS__ARMS_MAX)
            fault(f, "a join into '%s' has %zu legs (1 to %d)", from->to, from->from.n,
                  PONS__ARMS_MAX);
        for (size_t k = 0; k < from->from.n && k < PONS__ARMS_MAX; k++) {
            pons__node *n = origin(g, from->from.v[k], f);
            if (n == &g->start)
                fault(f, "a join into '%s' can't wait for START", from->to);
            if (!n || n == &g->start)
                continue;
            j->from[j->n_from++] = (uint32_t)(n - g->nodes);
            j->full |= 1ULL << k;
            label.failed = label.failed || !add_arm(n, (uint32_t)i, (uint32_t)k);
            pons_buf_str(&label, k ? "+" : "");
            pons_buf_str(&label, n->name);
        }
        pons_buf_str(&label, ">");
        pons_buf_str(&label, from->to);
        pons_buf_bytes(&label, "", 1);
        j->label = label.data;
        if (label.failed)
            return false;
    }
    return true;
}

static bool take_routers(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    for (size_t i = 0; i < b->n_routers; i++) {
        const router_spec *from = &b->routers[i];
        pons__node *n = origin(g, from->from, f);
        if (!from->fn)
            fault(f, "a router of '%s' has no function", from->from);
        if (from->targets.n == 0)
            fault(f, "a router of '%s' names no targets", from->from);
        if (!n)
            continue;
        pons__router *v = realloc(n->routers, (n->n_routers + 1) * sizeof *v);
        if (!v)
            return false;
        n->routers = v;
        pons__router *r = &v[n->n_routers++];
        *r = (pons__router){.fn = from->fn,
                            .user = from->user,
                            .targets = calloc(from->targets.n + 1, sizeof *r->targets)};
        if (!r->targets)
            return false;
        for (size_t k = 0; k < from->targets.n; k++) {
            uint32_t to = destination(g, from->targets.v[k], f);
            if (to != PONS__NONE)
                r->targets[r->n_targets++] = to;
        }
    }
    return true;
}

static bool take_shares(pons_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        pons__node *n = &g->nodes[i];
        if (!n->sub)
            continue;
        n->shares = calloc(n->sub->n_channels + 1, sizeof *n->shares);
        if (!n->shares)
            return false;
        for (uint32_t inner = 0; inner < n->sub->n_channels; inner++) {
            uint32_t outer = pons__graph_channel_find(g, n->sub->channels[inner].name);
            if (outer != PONS__NONE)
                n->shares[n->n_shares++] = (pons__share){outer, inner};
        }
    }
    return true;
}

static bool take_names(const pons_graph *g, const names *from, uint32_t **ret, size_t *ret_n,
                       faults *f)
{
    *ret = calloc(from->n + 1, sizeof **ret);
    for (size_t i = 0; i < from->n && *ret; i++) {
        uint32_t to = destination(g, from->v[i], f);
        if (to != PONS__NONE)
            (*ret)[(*ret_n)++] = to;
    }
    return *ret != NULL;
}

static bool take_policy(pons_graph *g, pons__node *n, const node_spec *from, faults *f)
{
    const pons_node_options *o = &from->opts;
    if (o->retry.attempts <= 1 && o->run_timeout_ms <= 0 && o->idle_timeout_ms <= 0 &&
        !from->error_handler && !o->cache)
        return true;
    pons__policy *p = n->policy = calloc(1, sizeof *p);
    if (!p)
        return false;
    *p = (pons__policy){.retry = o->retry,
                        .run_timeout_ms = o->run_timeout_ms,
                        .idle_timeout_ms = o->idle_timeout_ms,
                        .handler = PONS__NONE,
                        .cache = o->cache,
                        .cache_ttl_ms = o->cache_ttl_ms};
    pthread_mutex_init(&p->lock, NULL);
    if (o->retry.jitter < 0 || o->retry.jitter > 1 || o->retry.initial_ms < 0 ||
        o->retry.max_ms < 0)
        fault(f, "node '%s' has a retry policy with a jitter outside 0 to 1, or a negative time",
              n->name);
    if (from->error_handler) {
        p->handler = destination(g, from->error_handler, f);
        if (p->handler == PONS__END || (p->handler != PONS__NONE && &g->nodes[p->handler] == n))
            fault(f, "node '%s' can't have '%s' as its error handler", n->name,
                  from->error_handler);
    }
    p->cache_on = calloc(from->cache_on.n + 1, sizeof *p->cache_on);
    for (size_t i = 0; i < from->cache_on.n && p->cache_on; i++) {
        uint32_t ch = pons__graph_channel_find(g, from->cache_on.v[i]);
        if (ch == PONS__NONE)
            fault(f, "node '%s' is cached on unknown channel '%s'", n->name, from->cache_on.v[i]);
        else
            p->cache_on[p->n_cache_on++] = ch;
    }
    return p->cache_on != NULL;
}

static bool take_options(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    size_t k;
    pons_value *text;
    json_array_foreach(b->misplaced, k, text)
    {
        fault(f, "%s", json_string_value(text));
    }
    for (size_t i = 0; i < b->n_nodes; i++) {
        const node_spec *from = &b->nodes[i];
        uint32_t ix = pons__graph_node_find(g, from->name);
        if (ix >= g->n_nodes || g->nodes[ix].goes)
            continue; // twice the same name: said already
        pons__node *n = &g->nodes[ix];
        if (!take_names(g, &from->goes, &n->goes, &n->n_goes, f) || !take_policy(g, n, from, f))
            return false;
        n->deferred = from->opts.deferred;
        if (n->deferred && !g->deferred)
            g->deferred = calloc(g->n_words, sizeof *g->deferred);
        if (n->deferred && !g->deferred)
            return false;
        if (n->deferred)
            pons__bit_set(g->deferred, ix);
    }
    return true;
}

static void take_interrupts(pons_graph *g, const pons_graph_options *opts, faults *f)
{
    const char *const *lists[] = {opts->interrupt_before, opts->interrupt_after};
    for (int after = 0; after < 2; after++) {
        for (const char *const *s = lists[after]; s && *s; s++) {
            uint32_t ix = pons__graph_node_find(g, *s);
            if (ix >= g->n_nodes)
                fault(f, "unknown node '%s' in interrupt_%s", *s, after ? "after" : "before");
            else if (after)
                g->stops = g->nodes[ix].after = true;
            else
                g->stops = g->nodes[ix].before = true;
        }
    }
}

// Marks what can be reached from n; seen is a stackless work list by repetition.
static bool reach_from(const pons_graph *g, const pons__node *n, bool *seen)
{
    bool more = false;
    for (size_t i = 0; i < n->n_edges; i++)
        if (n->edges[i] < g->n_nodes && !seen[n->edges[i]])
            more = seen[n->edges[i]] = true;
    for (size_t i = 0; i < n->n_arms; i++) {
        uint32_t to = g->joins[n->arms[i].join].to;
        if (to < g->n_nodes && !seen[to])
            more = seen[to] = true;
    }
    for (size_t i = 0; i < n->n_routers; i++)
        for (size_t k = 0; k < n->routers[i].n_targets; k++) {
            uint32_t to = n->routers[i].targets[k];
            if (to < g->n_nodes && !seen[to])
                more = seen[to] = true;
        }
    for (size_t i = 0; i < n->n_goes; i++)
        if (n->goes[i] < g->n_nodes && !seen[n->goes[i]])
            more = seen[n->goes[i]] = true;
    if (n->policy && n->policy->handler < g->n_nodes && !seen[n->policy->handler])
        more = seen[n->policy->handler] = true;
    return more;
}

static bool check_paths(const pons_graph *g, faults *f)
{
    bool *seen = calloc(g->n_nodes + 1, sizeof *seen);
    if (!seen)
        return false;
    if (g->start.n_edges + g->start.n_routers == 0)
        fault(f, "no edge leaves START");
    for (bool more = reach_from(g, &g->start, seen); more;) {
        more = false;
        for (size_t i = 0; i < g->n_nodes; i++)
            if (seen[i] && reach_from(g, &g->nodes[i], seen))
                more = true;
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        const pons__node *n = &g->nodes[i];
        if (!seen[i])
            fault(f, "node '%s' can't be reached from START", n->name);
        if (n->n_edges + n->n_routers + n->n_arms + n->n_goes == 0)
            fault(f, "node '%s' has no way out (give it an edge to END)", n->name);
    }
    free(seen);
    return true;
}

// ---------------------------------------------------------------- helpers

static void fault(faults *f, const char *fmt, ...)
{
    char one[FAULT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(one, sizeof one, fmt, ap);
    va_end(ap);
    if (!f->list)
        f->list = json_array();
    json_array_append_new(f->list, json_string(one)); // without memory for it, the text has it
    int n =
        snprintf(f->text + f->len, sizeof f->text - f->len, "%s%s", f->n++ > 0 ? "; " : "", one);
    f->len += n > 0 ? (size_t)n : 0;
    if (f->len >= sizeof f->text)
        f->len = sizeof f->text - 1;
}

static char *copy(pons_graph_builder *b, const char *s)
{
    char *c = strdup(s ? s : "");
    if (!c)
        b->failed = true;
    return c;
}

static names names_copy(const char *const *v, bool *failed)
{
    names r = {0};
    while (v && v[r.n])
        r.n++;
    r.v = calloc(r.n + 1, sizeof *r.v);
    for (size_t i = 0; i < r.n && r.v; i++) {
        r.v[i] = strdup(v[i]);
        if (!r.v[i])
            *failed = true;
    }
    if (!r.v)
        *failed = true;
    return r;
}

static void names_fini(names *n)
{
    for (size_t i = 0; i < n->n && n->v; i++)
        free(n->v[i]);
    free(n->v);
}

static void channel_fini(pons__channel *c)
{
    free(c->name);
    pons_value_unref(c->initial);
}

static void node_fini(pons__node *n)
{
    for (size_t i = 0; i < n->n_routers; i++)
        free(n->routers[i].targets);
    free(n->routers);
    free(n->edges);
    free(n->arms);
    free(n->shares);
    free(n->goes);
    pons__policy_destroy(n->policy);
    free(n->name);
    pons__graph_unref(n->sub);
}

static int by_node_name(const void *a, const void *b)
{
    return strcmp(((const pons__node *)a)->name, ((const pons__node *)b)->name);
}

static const char *channel_name(const void *user, size_t i)
{
    return ((const pons_graph *)user)->channels[i].name;
}

static const char *node_name(const void *user, size_t i)
{
    return ((const pons_graph *)user)->nodes[i].name;
}

// At most half full, so that a search ends soon.
static bool index_build(pons__index *ix, size_t n, const char *(*name)(const void *, size_t),
                        const void *user)
{
    uint32_t size = 8;
    while (size < 2 * n)
        size *= 2;
    ix->slots = calloc(size, sizeof *ix->slots);
    ix->mask = size - 1;
    if (!ix->slots)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const char *s = name(user, i);
        uint32_t at = (uint32_t)pons__hash64(PONS__HASH_SEED, s, strlen(s)) & ix->mask;
        while (ix->slots[at])
            at = (at + 1) & ix->mask;
        ix->slots[at] = i + 1;
    }
    return true;
}

static uint32_t index_find(const pons__index *ix, const char *s,
                           const char *(*name)(const void *, size_t), const void *user)
{
    uint32_t at = (uint32_t)pons__hash64(PONS__HASH_SEED, s, strlen(s)) & ix->mask;
    for (; ix->slots[at]; at = (at + 1) & ix->mask)
        if (strcmp(name(user, ix->slots[at] - 1), s) == 0)
            return ix->slots[at] - 1;
    return PONS__NONE;
}

// ---------------------------------------------------------------- shared by the folder

bool pons__reserve(void *items, size_t *cap, size_t need, size_t size)
{
    enum { FIRST = 8 };
    if (need <= *cap)
        return true;
    size_t room = *cap ? *cap : FIRST;
    while (room < need)
        room *= 2;
    void **at = items;
    void *v = realloc(*at, room * size);
    if (!v)
        return false;
    *at = v;
    *cap = room;
    return true;
}

uint64_t pons__hash64(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3ULL;
    return h;
}

bool pons__bits_any(const uint64_t *w, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (w[i])
            return true;
    return false;
}

void pons__json_quoted(pons_buf *b, const char *s)
{
    size_t n = strlen(s);
    bool plain = true;
    for (size_t i = 0; i < n && plain; i++)
        plain = (unsigned char)s[i] >= ' ' && s[i] != '"' && s[i] != '\\';
    if (plain) {
        pons_buf_bytes(b, "\"", 1);
        pons_buf_bytes(b, s, n);
        pons_buf_bytes(b, "\"", 1);
        return;
    }
    pons_autovalue v = json_string_nocheck(s);
    pons__json_value(b, v);
}

void pons__json_int(pons_buf *b, int64_t n)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%lld", (long long)n);
    pons_buf_bytes(b, text, (size_t)len);
}

void pons__json_value(pons_buf *b, const pons_value *v)
{
    if (json_is_integer(v)) { // the common small ones without an allocation
        pons__json_int(b, json_integer_value(v));
        return;
    }
    char *text = NULL;
    long n = pons_value_dump(v, &text);
    if (n < 0) {
        b->failed = true;
        return;
    }
    pons_buf_bytes(b, text, (size_t)n);
    free(text);
}
