// compiled_graph.c - a compiled graph as a thing: counted references, names to indices. compile.c makes it.
#include "graph/definition/internal.h"
#include "graph/definition/io_schema.h"

#include <stdlib.h>
#include <string.h>

// ---- life ---------------------------------------------------------------------------------------

void pons_graph_destroy(pons_graph *g)
{
    pons__graph_unref(g);
}

const pons_graph *pons__graph_ref(const pons_graph *g)
{
    atomic_fetch_add_explicit(&((pons_graph *)(uintptr_t)g)->refs, 1, memory_order_relaxed);
    return g;
}

static void policy_destroy(pons__policy *p)
{
    if (!p) {
        return;
    }
    for (size_t i = 0; i < p->n_entries; i++) {
        pons_value_unref(p->entries[i].task);
    }
    free(p->entries);
    free(p->cache_on);
    free(p->retries);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static void node_fini(pons__node *n)
{
    for (size_t i = 0; i < n->n_routers; i++) {
        free(n->routers[i].targets);
    }
    free(n->routers);
    free(n->edges);
    free(n->arms);
    free(n->shares);
    free(n->goes);
    policy_destroy(n->policy);
    pons__contract_fini(&n->input);
    free(n->name);
    pons__graph_unref(n->sub);
    for (size_t i = 0; i < n->n_runs; i++) {
        pons__graph_unref(n->runs[i]);
    }
    free(n->runs);
}

void pons__graph_unref(const pons_graph *shared)
{
    pons_graph *g = (pons_graph *)(uintptr_t)shared;
    if (!g || atomic_fetch_sub_explicit(&g->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    for (size_t i = 0; i < g->n_channels; i++) {
        pons__channel_fini(&g->channels[i]);
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        node_fini(&g->nodes[i]);
    }
    node_fini(&g->start);
    for (size_t i = 0; i < g->n_joins; i++) {
        free(g->joins[i].label);
        free(g->joins[i].from);
    }
    free(g->channels);
    free(g->nodes);
    free(g->joins);
    pons__contract_fini(&g->input);
    pons__contract_fini(&g->output);
    pons__contract_fini(&g->context);
    free(g->deferred);
    free(g->channel_index.slots);
    free(g->node_index.slots);
    free(g->name);
    free(g);
}

void pons__channel_fini(pons__channel *c)
{
    free(c->name);
    pons_value_unref(c->initial);
    pons__contract_fini(&c->schema);
}

// ---- names --------------------------------------------------------------------------------------

const char *pons_graph_name(const pons_graph *g)
{
    return g ? g->name : "";
}

const pons_graph *pons_graph_sub(const pons_graph *g, size_t i, const char **ret_node)
{
    for (size_t k = 0; g && k < g->n_nodes; k++) {
        if (g->nodes[k].sub && i-- == 0) {
            *ret_node = g->nodes[k].name;
            return g->nodes[k].sub;
        }
    }
    return NULL;
}

static const char *channel_name(const void *user, size_t i)
{
    return ((const pons_graph *)user)->channels[i].name;
}

static const char *node_name(const void *user, size_t i)
{
    return ((const pons_graph *)user)->nodes[i].name;
}

bool pons__graph_index_channels(pons_graph *g)
{
    return pons__index_build(&g->channel_index, g->n_channels, channel_name, g);
}

bool pons__graph_index_nodes(pons_graph *g)
{
    return pons__index_build(&g->node_index, g->n_nodes, node_name, g);
}

uint32_t pons__graph_channel_find(const pons_graph *g, const char *name)
{
    return pons__index_find(&g->channel_index, name, channel_name, g);
}

uint32_t pons__graph_node_find(const pons_graph *g, const char *name)
{
    if (strcmp(name, PONS_END) == 0) {
        return PONS__END;
    }
    return pons__index_find(&g->node_index, name, node_name, g);
}

const char *pons__graph_node_name(const pons_graph *g, uint32_t ix)
{
    return ix == PONS__END ? PONS_END : g->nodes[ix].name;
}

const pons_graph *pons__graph_run_find(const pons__node *node, const char *name, size_t n)
{
    for (size_t i = 0; i < node->n_runs; i++) {
        if (strlen(node->runs[i]->name) == n && memcmp(node->runs[i]->name, name, n) == 0) {
            return node->runs[i];
        }
    }
    return NULL;
}
