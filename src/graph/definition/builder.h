// builder.h - what a builder has recorded, for the compiler. Names are copies and unresolved.
#pragma once

#include "graph/definition/internal.h"

typedef struct pons__edge_spec {
    char *from, *to;
} pons__edge_spec;
typedef struct pons__names { // a list of copied strings
    char **v;
    size_t n;
} pons__names;
typedef struct pons__share_spec {
    char *outer, *inner;
    bool in, out;
} pons__share_spec;
typedef struct pons__node_spec {
    char *name;
    pons_node_fn fn;
    void *user;
    const pons_graph *sub;
    pons_subgraph_mode mode;
    bool mapped; // only these are shared
    pons__share_spec *shares;
    size_t n_shares;
    pons_blocking_fn blocking;
    pons_step_fn step;
    pons_begin_fn begin;
    pons_drop_fn drop;
    bool called;
    pons_node_options opts; // with the names below instead of its own
    pons__names goes, cache_on;
    char *error_handler;
    pons_retry *retries; // instead of those of opts
    size_t n_retries;
    const pons_graph **runs; // instead of that of opts
    size_t n_runs;
    pons_value *input; // the schema of opts.input_schema, held
} pons__node_spec;
typedef struct pons__join_spec {
    pons__names from;
    char *to;
} pons__join_spec;
typedef struct pons__router_spec {
    char *from;
    pons_router_fn fn;
    void *user;
    pons__names targets;
    bool anywhere; // no targets were named
} pons__router_spec;

struct pons_graph_builder {
    char *name;
    pons__channel *channels;
    size_t n_channels, cap_channels;
    pons__node_spec *nodes;
    size_t n_nodes, cap_nodes;
    pons__edge_spec *edges;
    size_t n_edges, cap_edges;
    pons__join_spec *joins;
    size_t n_joins, cap_joins;
    pons__router_spec *routers;
    size_t n_routers, cap_routers;
    pons_node_options defaults;           // of what a node's own options leave out
    pons_value *input, *output, *context; // schemas
    pons_retry *retries;                  // of those
    size_t n_retries;
    pons_value *misplaced; // [faults] of recording, or NULL
    bool failed;           // a record found no memory
};
