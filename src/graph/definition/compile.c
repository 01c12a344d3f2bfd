// compile.c - from what a builder has recorded to a graph: names become indices, every fault is
// found.
//
//   channels -> nodes (sorted) -> edges, joins, routers -> shared channels -> options -> interrupts
//                                                                                          |
//                         a graph <- no faults <- every node reached, every node has a way out
//
// A fault does not stop the others from being found; only the lack of memory does.
#include "graph/definition/builder.h"
#include "graph/definition/io_schema.h"
#include "graph/engine.h"
#include "graph/util/bits.h"
#include "pons/buf.h"
#include "pons/growing_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECURSION_LIMIT_DEFAULT = 100, FAULTS_MAX = 4096, FAULT_MAX = 512 };

typedef struct faults { // "a; b; c"
    char text[FAULTS_MAX];
    size_t len, n;
    pons_value *list; // all of them
} faults;

// ---- helpers ------------------------------------------------------------------------------------

static void fault(faults *f, const char *fmt, ...)
{
    char one[FAULT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(one, sizeof one, fmt, ap);
    va_end(ap);
    if (!f->list) {
        f->list = json_array();
    }
    json_array_append_new(f->list, json_string(one)); // without memory for it, the text has it
    int n =
        snprintf(f->text + f->len, sizeof f->text - f->len, "%s%s", f->n++ > 0 ? "; " : "", one);
    f->len += n > 0 ? (size_t)n : 0;
    if (f->len >= sizeof f->text) {
        f->len = sizeof f->text - 1;
    }
}

static int by_node_name(const void *a, const void *b)
{
    return strcmp(((const pons__node *)a)->name, ((const pons__node *)b)->name);
}

// ---- the parts ----------------------------------------------------------------------------------

// Names may not look like the engine's own: "__...", the separators of namespaces, nothing.
static const char *name_fault(const char *name)
{
    if (!name || !name[0]) {
        return "has no name";
    }
    if (strncmp(name, "__", 2) == 0) {
        return "has a reserved name";
    }
    if (strpbrk(name, ":|")) {
        return "has ':' or '|' in its name";
    }
    return strlen(name) >= PONS_NAME_MAX ? "has too long a name" : NULL;
}

// A schema that does not compile is a fault.
static bool take_schema(pons__contract *c, const pons_value *schema, const char *what,
                        const char *of, faults *f)
{
    pons_error said = PONS_ERROR_INIT;
    c->source = pons_value_ref(schema);
    int st = pons__contract_compile(c, &said);
    if (st == PONS_EINVAL) {
        fault(f, "the %s%s: %s", what, of, said.message);
    }
    return st != PONS_ENOMEM;
}

// What follows from a channel's kind.
static void take_kind(pons__channel *c)
{
    c->tracked = c->kind != PONS_CHANNEL_UNTRACKED && c->kind != PONS_CHANNEL_IS_LAST_STEP &&
                 c->kind != PONS_CHANNEL_REMAINING_STEPS;
    c->transient = c->kind == PONS_CHANNEL_EPHEMERAL || c->kind == PONS_CHANNEL_ANY ||
                   c->kind == PONS_CHANNEL_TOPIC;
    c->appends = c->kind == PONS_CHANNEL_MESSAGES || c->kind == PONS_CHANNEL_TOPIC_ACC ||
                 (c->kind == PONS_CHANNEL_REDUCE && c->reduce == pons_reduce_append);
    c->folds = c->kind == PONS_CHANNEL_REDUCE || c->kind == PONS_CHANNEL_MESSAGES ||
               c->kind == PONS_CHANNEL_TOPIC || c->kind == PONS_CHANNEL_TOPIC_ACC;
    c->merges = c->kind == PONS_CHANNEL_REDUCE && c->reduce == pons_reduce_merge;
}

static bool take_channels(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    g->channels = calloc(b->n_channels + 1, sizeof *g->channels);
    if (!g->channels) {
        return false;
    }
    for (size_t i = 0; i < b->n_channels; i++) {
        const pons__channel *from = &b->channels[i];
        const char *why = name_fault(from->name);
        if (why) {
            fault(f, "channel '%s' %s", from->name ? from->name : "", why);
        }
        if (from->kind == PONS_CHANNEL_REDUCE && !from->reduce) {
            fault(f, "channel '%s' needs a reducer", from->name);
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(b->channels[k].name, from->name) == 0) {
                fault(f, "channel '%s' is declared twice", from->name);
            }
        }
        pons__channel *c = &g->channels[g->n_channels++];
        *c = *from;
        c->initial = pons_value_ref(from->initial);
        c->schema = (pons__contract){0};
        take_kind(c);
        g->managed = g->managed || c->kind == PONS_CHANNEL_IS_LAST_STEP ||
                     c->kind == PONS_CHANNEL_REMAINING_STEPS;
        c->name = strdup(from->name);
        if (!c->name ||
            !take_schema(&c->schema, from->schema.source, "schema of channel ", from->name, f)) {
            return false;
        }
    }
    return pons__graph_index_channels(g);
}

static bool take_schemas(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    return take_schema(&g->input, b->input, "input schema", "", f) &&
           take_schema(&g->output, b->output, "output schema", "", f) &&
           take_schema(&g->context, b->context, "context schema", "", f);
}

static bool take_nodes(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    g->nodes = calloc(b->n_nodes + 1, sizeof *g->nodes);
    g->start.name = strdup(PONS_START);
    if (!g->nodes || !g->start.name) {
        return false;
    }
    for (size_t i = 0; i < b->n_nodes; i++) {
        const pons__node_spec *from = &b->nodes[i];
        const char *why = name_fault(from->name);
        if (why) {
            fault(f, "node '%s' %s", from->name ? from->name : "", why);
        }
        if (!from->fn && !from->sub && !from->blocking && !from->step) {
            fault(f, "node '%s' has no function", from->name);
        }
        pons__node *n = &g->nodes[g->n_nodes++];
        *n = (pons__node){.name = strdup(from->name),
                          .fn = from->fn,
                          .user = from->user,
                          .sub = from->sub ? pons__graph_ref(from->sub) : NULL,
                          .blocking = from->blocking,
                          .step = from->step,
                          .called = from->called,
                          .mode = from->mode};
        if (!n->name) {
            return false;
        }
    }
    qsort(g->nodes, g->n_nodes, sizeof *g->nodes, by_node_name);
    for (size_t i = 1; i < g->n_nodes; i++) {
        if (strcmp(g->nodes[i].name, g->nodes[i - 1].name) == 0) {
            fault(f, "node '%s' is declared twice", g->nodes[i].name);
        }
    }
    g->n_words = g->n_nodes / PONS__WORD_BITS + 1;
    return pons__graph_index_nodes(g);
}

// The node that an edge leaves, with START; NULL and a fault when there is none.
static pons__node *origin(pons_graph *g, const char *name, faults *f)
{
    if (strcmp(name, PONS_START) == 0) {
        return &g->start;
    }
    uint32_t ix = pons__graph_node_find(g, name);
    if (ix < g->n_nodes) {
        return &g->nodes[ix];
    }
    if (ix == PONS__END) {
        fault(f, "an edge leaves END");
    } else {
        fault(f, "unknown node '%s' at the start of an edge", name);
    }
    return NULL;
}

// The index that an edge enters; PONS__NONE and a fault when there is none.
static uint32_t destination(const pons_graph *g, const char *name, faults *f)
{
    uint32_t ix = pons__graph_node_find(g, name);
    if (ix != PONS__NONE) {
        return ix;
    }
    if (strcmp(name, PONS_START) == 0) {
        fault(f, "an edge enters START");
    } else {
        fault(f, "unknown node '%s' at the end of an edge", name);
    }
    return PONS__NONE;
}

static bool add_edge(pons__node *n, uint32_t to)
{
    for (size_t i = 0; i < n->n_edges; i++) {
        if (n->edges[i] == to) {
            return true;
        }
    }
    if (!pons_list_reserve(&n->edges, NULL, n->n_edges + 1, sizeof *n->edges)) {
        return false;
    }
    n->edges[n->n_edges++] = to;
    return true;
}

static bool take_edges(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    for (size_t i = 0; i < b->n_edges; i++) {
        pons__node *n = origin(g, b->edges[i].from, f);
        uint32_t to = destination(g, b->edges[i].to, f);
        if (n && to != PONS__NONE && !add_edge(n, to)) {
            return false;
        }
    }
    return true;
}

static bool add_arm(pons__node *n, uint32_t join, uint32_t bit)
{
    if (!pons_list_reserve(&n->arms, NULL, n->n_arms + 1, sizeof *n->arms)) {
        return false;
    }
    n->arms[n->n_arms++] = (pons__arm){join, bit};
    return true;
}

static bool take_joins(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    g->joins = calloc(b->n_joins + 1, sizeof *g->joins);
    if (!g->joins) {
        return false;
    }
    for (size_t i = 0; i < b->n_joins; i++) {
        const pons__join_spec *from = &b->joins[i];
        pons__join *j = &g->joins[g->n_joins++];
        pons_buf label = {0};
        j->to = destination(g, from->to, f);
        j->from = calloc(from->from.n + 1, sizeof *j->from);
        if (!j->from) {
            return false;
        }
        if (from->from.n == 0 || from->from.n > PONS__ARMS_MAX) {
            fault(f, "a join into '%s' has %zu legs (1 to %d)", from->to, from->from.n,
                  PONS__ARMS_MAX);
        }
        for (size_t k = 0; k < from->from.n && k < PONS__ARMS_MAX; k++) {
            pons__node *n = origin(g, from->from.v[k], f);
            if (n == &g->start) {
                fault(f, "a join into '%s' can't wait for START", from->to);
            }
            if (!n || n == &g->start) {
                continue;
            }
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
        if (label.failed) {
            return false;
        }
    }
    return true;
}

static bool take_routers(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    for (size_t i = 0; i < b->n_routers; i++) {
        const pons__router_spec *from = &b->routers[i];
        pons__node *n = origin(g, from->from, f);
        if (!from->fn) {
            fault(f, "a router of '%s' has no function", from->from);
        }
        if (from->targets.n == 0 && !from->anywhere) {
            fault(f, "a router of '%s' names no targets", from->from);
        }
        if (!n) {
            continue;
        }
        if (!pons_list_reserve(&n->routers, NULL, n->n_routers + 1, sizeof *n->routers)) {
            return false;
        }
        pons__router *r = &n->routers[n->n_routers++];
        *r =
            (pons__router){.fn = from->fn,
                           .user = from->user,
                           .undrawn = from->anywhere,
                           .targets = calloc(from->targets.n + g->n_nodes + 1, sizeof *r->targets)};
        if (!r->targets) {
            return false;
        }
        for (size_t k = 0; k < from->targets.n; k++) {
            uint32_t to = destination(g, from->targets.v[k], f);
            if (to != PONS__NONE) {
                r->targets[r->n_targets++] = to;
            }
        }
        for (uint32_t k = 0; k < g->n_nodes && from->anywhere; k++) {
            if (!g->nodes[k].called) {
                r->targets[r->n_targets++] = k;
            }
        }
        if (from->anywhere) {
            r->targets[r->n_targets++] = PONS__END;
        }
    }
    return true;
}

static bool take_mapped(const pons_graph *g, pons__node *n, const pons__node_spec *from, faults *f)
{
    n->shares = calloc(from->n_shares + 1, sizeof *n->shares);
    for (size_t i = 0; i < from->n_shares && n->shares; i++) {
        const pons__share_spec *s = &from->shares[i];
        const uint32_t outer = pons__graph_channel_find(g, s->outer);
        const uint32_t inner = pons__graph_channel_find(n->sub, s->inner);
        if (outer == PONS__NONE || inner == PONS__NONE) {
            fault(f, "subgraph '%s' maps '%s' to '%s', and %s has no such channel", n->name,
                  s->outer, s->inner, outer == PONS__NONE ? "this graph" : "it");
            continue;
        }
        n->shares[n->n_shares++] = (pons__share){outer, inner, s->in, s->out};
    }
    return n->shares != NULL;
}

static const pons__node_spec *spec_of(const pons_graph_builder *b, const char *name)
{
    size_t i = 0;
    while (strcmp(b->nodes[i].name, name) != 0) {
        i++;
    }
    return &b->nodes[i];
}

static bool take_shares(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        pons__node *n = &g->nodes[i];
        if (!n->sub || n->shares) {
            continue;
        }
        const pons__node_spec *from = spec_of(b, n->name);
        if (from->mapped && from->sub == n->sub) {
            if (!take_mapped(g, n, from, f)) {
                return false;
            }
            continue;
        }
        n->shares = calloc(n->sub->n_channels + 1, sizeof *n->shares);
        if (!n->shares) {
            return false;
        }
        for (uint32_t inner = 0; inner < n->sub->n_channels; inner++) {
            uint32_t outer = pons__graph_channel_find(g, n->sub->channels[inner].name);
            if (outer != PONS__NONE) {
                n->shares[n->n_shares++] = (pons__share){outer, inner, true, true};
            }
        }
    }
    return true;
}

static bool take_names(const pons_graph *g, const pons__names *from, uint32_t **ret, size_t *ret_n,
                       faults *f)
{
    *ret = calloc(from->n + 1, sizeof **ret);
    for (size_t i = 0; i < from->n && *ret; i++) {
        uint32_t to = destination(g, from->v[i], f);
        if (to != PONS__NONE) {
            (*ret)[(*ret_n)++] = to;
        }
    }
    return *ret != NULL;
}

// A node's own policies, with the builder's where it has none.
static pons_node_options policies_of(const pons_graph_builder *b, const pons__node_spec *from)
{
    pons_node_options o = from->opts;
    const pons_node_options *d = &b->defaults;
    o.run_timeout_ms = o.run_timeout_ms == 0 ? d->run_timeout_ms : o.run_timeout_ms;
    o.idle_timeout_ms = o.idle_timeout_ms == 0 ? d->idle_timeout_ms : o.idle_timeout_ms;
    if (!o.cache && d->cache) {
        o.cache = true;
        o.cache_ttl_ms = d->cache_ttl_ms;
    }
    return o;
}

static bool take_retries(pons__node *n, const pons_retry *from, size_t n_from, faults *f)
{
    pons__policy *p = n->policy;
    p->retries = calloc(n_from + 1, sizeof *p->retries);
    for (size_t i = 0; i < n_from && p->retries; i++) {
        p->retries[p->n_retries++] = from[i];
        if (!(from[i].jitter >= 0 && from[i].jitter <= 1) || from[i].initial_ms < 0 ||
            from[i].max_ms < 0) {
            fault(f,
                  "node '%s' has a retry policy with a jitter outside 0 to 1, or a negative time",
                  n->name);
        }
    }
    return p->retries != NULL;
}

static bool take_cache_on(const pons_graph *g, pons__node *n, const pons__node_spec *from,
                          faults *f)
{
    pons__policy *p = n->policy;
    p->cache_on = calloc(from->cache_on.n + 1, sizeof *p->cache_on);
    for (size_t i = 0; i < from->cache_on.n && p->cache_on; i++) {
        uint32_t ch = pons__graph_channel_find(g, from->cache_on.v[i]);
        if (ch == PONS__NONE) {
            fault(f, "node '%s' is cached on unknown channel '%s'", n->name, from->cache_on.v[i]);
        } else {
            p->cache_on[p->n_cache_on++] = ch;
        }
    }
    return p->cache_on != NULL;
}

static bool take_policy(pons_graph *g, const pons_graph_builder *b, pons__node *n,
                        const pons__node_spec *from, faults *f)
{
    const pons_node_options policies = policies_of(b, from), *o = &policies;
    const bool own = from->n_retries > 0;
    const pons_retry *retries = own ? from->retries : b->retries;
    const size_t n_retries = own ? from->n_retries : b->n_retries;
    bool again = false;
    for (size_t i = 0; i < n_retries; i++) {
        again = again || retries[i].attempts > 1;
    }
    if (!again && o->run_timeout_ms <= 0 && o->idle_timeout_ms <= 0 && !from->error_handler &&
        !o->cache) {
        return true;
    }
    pons__policy *p = n->policy = calloc(1, sizeof *p);
    if (!p) {
        return false;
    }
    *p = (pons__policy){.run_timeout_ms = o->run_timeout_ms,
                        .idle_timeout_ms = o->idle_timeout_ms,
                        .handler = PONS__NONE,
                        .cache = o->cache,
                        .cache_ttl_ms = o->cache_ttl_ms,
                        .cache_key = from->opts.cache_key,
                        .cache_user = from->opts.cache_user};
    pthread_mutex_init(&p->lock, NULL);
    if (!take_retries(n, retries, n_retries, f)) {
        return false;
    }
    if (own && from->opts.retry.attempts != 0 && from->opts.n_retries > 0) {
        fault(f, "node '%s' has one retry policy and a list of them", n->name);
    }
    if (from->error_handler) {
        p->handler = destination(g, from->error_handler, f);
        if (p->handler == PONS__END || (p->handler != PONS__NONE && &g->nodes[p->handler] == n)) {
            fault(f, "node '%s' can't have '%s' as its error handler", n->name,
                  from->error_handler);
        }
    }
    return take_cache_on(g, n, from, f);
}

static bool take_runs(pons__node *n, const pons__node_spec *from, faults *f)
{
    if (from->n_runs == 0) {
        return true;
    }
    if (!n->fn && !n->step) {
        fault(f, "node '%s' is given graphs to run, but only a function runs graphs", n->name);
        return true;
    }
    n->runs = calloc(from->n_runs, sizeof *n->runs);
    for (size_t i = 0; i < from->n_runs && n->runs; i++) {
        const char *name = from->runs[i]->name;
        if (name_fault(name) || strchr(name, '#')) {
            fault(f, "node '%s' runs a graph that %s: '%s'", n->name,
                  name_fault(name) ? name_fault(name) : "has '#' in its name", name);
        }
        if (pons__graph_run_find(n, name, strlen(name))) {
            fault(f, "node '%s' runs two graphs of the name '%s'", n->name, name);
        }
        n->runs[n->n_runs++] = pons__graph_ref(from->runs[i]);
    }
    return n->runs != NULL;
}

static bool take_options(pons_graph *g, const pons_graph_builder *b, faults *f)
{
    pons_each(text, b->misplaced) {
        fault(f, "%s", json_string_value(text));
    }
    for (size_t i = 0; i < b->n_nodes; i++) {
        const pons__node_spec *from = &b->nodes[i];
        uint32_t ix = pons__graph_node_find(g, from->name);
        if (ix >= g->n_nodes || g->nodes[ix].goes) {
            continue; // twice the same name: said already
        }
        pons__node *n = &g->nodes[ix];
        if (!take_schema(&n->input, from->input, "input schema of node ", n->name, f) ||
            !take_names(g, &from->goes, &n->goes, &n->n_goes, f) ||
            !take_policy(g, b, n, from, f) || !take_runs(n, from, f)) {
            return false;
        }
        n->deferred = from->opts.deferred;
        n->goes_undrawn = from->opts.goes_undrawn;
        n->begin = from->begin;
        n->drop = from->drop;
        if (n->begin && !n->fn) {
            fault(f, "node '%s' can't be begun ahead: it is a subgraph, a task, or it blocks",
                  n->name);
        }
        if (n->deferred && !g->deferred) {
            g->deferred = calloc(g->n_words, sizeof *g->deferred);
        }
        if (n->deferred && !g->deferred) {
            return false;
        }
        if (n->deferred) {
            pons__bit_set(g->deferred, ix);
        }
    }
    return true;
}

static void take_interrupts(pons_graph *g, const pons_graph_options *opts, faults *f)
{
    const char *const *lists[] = {opts->interrupt_before, opts->interrupt_after};
    for (int after = 0; after < 2; after++) {
        for (const char *const *s = lists[after]; s && *s; s++) {
            uint32_t ix = pons__graph_node_find(g, *s);
            for (size_t i = 0; strcmp(*s, "*") == 0 && i < g->n_nodes; i++) {
                g->stops = true;
                g->nodes[i].before = g->nodes[i].before || !after;
                g->nodes[i].after = g->nodes[i].after || after;
            }
            if (strcmp(*s, "*") == 0) {
                continue;
            }
            if (ix >= g->n_nodes) {
                fault(f, "unknown node '%s' in interrupt_%s", *s, after ? "after" : "before");
            } else if (after) {
                g->stops = g->nodes[ix].after = true;
            } else {
                g->stops = g->nodes[ix].before = true;
            }
        }
    }
}

// ---- paths --------------------------------------------------------------------------------------

// Marks what can be reached from n; seen is a stackless work list by repetition.
static bool reach_from(const pons_graph *g, const pons__node *n, bool *seen)
{
    bool more = false;
    for (size_t i = 0; i < n->n_edges; i++) {
        if (n->edges[i] < g->n_nodes && !seen[n->edges[i]]) {
            more = seen[n->edges[i]] = true;
        }
    }
    for (size_t i = 0; i < n->n_arms; i++) {
        uint32_t to = g->joins[n->arms[i].join].to;
        if (to < g->n_nodes && !seen[to]) {
            more = seen[to] = true;
        }
    }
    for (size_t i = 0; i < n->n_routers; i++) {
        for (size_t k = 0; k < n->routers[i].n_targets; k++) {
            uint32_t to = n->routers[i].targets[k];
            if (to < g->n_nodes && !seen[to]) {
                more = seen[to] = true;
            }
        }
    }
    for (size_t i = 0; i < n->n_goes; i++) {
        if (n->goes[i] < g->n_nodes && !seen[n->goes[i]]) {
            more = seen[n->goes[i]] = true;
        }
    }
    if (n->policy && n->policy->handler < g->n_nodes && !seen[n->policy->handler]) {
        more = seen[n->policy->handler] = true;
    }
    return more;
}

static bool check_paths(const pons_graph *g, faults *f)
{
    bool *seen = calloc(g->n_nodes + 1, sizeof *seen);
    if (!seen) {
        return false;
    }
    if (g->start.n_edges + g->start.n_routers == 0) {
        fault(f, "no edge leaves START");
    }
    for (bool more = reach_from(g, &g->start, seen); more;) {
        more = false;
        for (size_t i = 0; i < g->n_nodes; i++) {
            if (seen[i] && reach_from(g, &g->nodes[i], seen)) {
                more = true;
            }
        }
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        const pons__node *n = &g->nodes[i];
        if (n->called) {
            if (seen[i] || n->n_edges + n->n_routers + n->n_arms + n->n_goes > 0) {
                fault(f, "task '%s' has an edge, a router or a way to go (it is called)", n->name);
            }
            if (n->deferred || (n->policy && n->policy->handler != PONS__NONE)) {
                fault(f, "task '%s' is deferred, or has an error handler: its caller has its error",
                      n->name);
            }
            continue;
        }
        if (!seen[i]) {
            fault(f, "node '%s' can't be reached from START", n->name);
        }
        if (n->n_edges + n->n_routers + n->n_arms + n->n_goes == 0) {
            fault(f, "node '%s' has no way out (give it an edge to END)", n->name);
        }
    }
    free(seen);
    return true;
}

// ---- public functions ---------------------------------------------------------------------------

static int compile(pons_graph_builder *b, const pons_graph_options *opts, faults *f,
                   pons_graph **ret, pons_error *err)
{
    pons_graph_options o = PONS_GRAPH_OPTIONS_INIT;
    if (opts) {
        o = *opts;
    }
    pons_graph *g = b && !b->failed ? calloc(1, sizeof *g) : NULL;
    if (!g) {
        goto nomem;
    }
    atomic_init(&g->refs, 1);
    g->recursion_limit = o.recursion_limit > 0 ? o.recursion_limit : RECURSION_LIMIT_DEFAULT;
    g->quiet = o.quiet;
    g->step_timeout_ms = o.step_timeout_ms;
    g->cache_stored = o.cache_stored;
    g->name = strdup(b->name);
    if (!g->name || !take_schemas(g, b, f) || !take_channels(g, b, f) || !take_nodes(g, b, f) ||
        !take_edges(g, b, f) || !take_joins(g, b, f) || !take_routers(g, b, f) ||
        !take_shares(g, b, f) || !take_options(g, b, f)) {
        goto nomem;
    }
    take_interrupts(g, &o, f);
    if (!check_paths(g, f)) {
        goto nomem;
    }
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

int pons_graph_compile(pons_graph_builder *b, const pons_graph_options *opts, pons_graph **ret,
                       pons_error *err)
{
    faults *f = calloc(1, sizeof *f);
    if (!f) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to compile a graph");
    }
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
    if (!f) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to compile a graph");
    }
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
