// internal.h - a compiled graph: immutable but for the caches of its nodes, shared by threads.
//
// Nodes are sorted by name, so that an index is a rank in task order. END and "none" are indices
// too, beyond all nodes.
#pragma once

#include "graph/util/hash.h"
#include "pons/functional.h"
#include "pons/schema.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct pons__contract { // a JSON schema (definition/io_schema.c); all NULL: none
    pons_value *source;
    pons_schema *compiled;
} pons__contract;

typedef struct pons__channel {
    char *name;
    pons_channel_kind kind;
    pons_reducer_fn reduce;
    void *reduce_user;
    pons_value *initial;
    bool tracked;   // persisted
    bool transient; // cleared on a step without a write
    bool appends;   // a pure append can be done in place and stored as a tail
    bool folds;     // a write is not simply the value
    bool merges;    // objects merged by key, stored by changed key
    bool chat;      // messages get LangChain's form
    bool single;    // two writers in a step are a conflict
    bool internal;  // in neither a derived input schema nor an output
    pons__contract schema;
} pons__channel;

typedef struct pons__router {
    pons_router_fn fn;
    void *user;
    uint32_t *targets; // node indices or PONS__END
    size_t n_targets;
    bool undrawn;
} pons__router;

typedef struct pons__share { // a channel of a subgraph, and the parent's that it stands for
    uint32_t outer, inner;
    bool in, out; // which way it flows
} pons__share;

typedef struct pons__arm { // one leg of a join
    uint32_t join;
    uint32_t bit;
} pons__arm;

typedef struct pons__cache_entry {
    char key[33];
    int64_t until_ns; // host; INT64_MAX: never over
    pons_value *task; // {"w":[[channel,value]...],"g":[node...],"s":[[node,arg]...]}, by names
} pons__cache_entry;

typedef struct pons__policy { // what most nodes do not have: task/retry_timeout.c
    pons_retry *retries;
    size_t n_retries;
    int64_t run_timeout_ms, idle_timeout_ms;
    uint32_t handler; // or PONS__NONE
    bool cache;
    int64_t cache_ttl_ms;
    uint32_t *cache_on; // channels; n 0: all
    size_t n_cache_on;
    int (*cache_key)(void *user, const pons_value *state, const pons_value *arg, pons_value **ret,
                     pons_error *err); // NULL: what it would be given
    void *cache_user;
    pthread_mutex_t lock; // of what follows: a graph is shared by threads
    pons__cache_entry *entries;
    size_t n_entries, cap_entries, oldest;
} pons__policy;

#define PONS__STEP_INPUT    "input" // channels of a graph with an entrypoint
#define PONS__STEP_OUTPUT   "output"
#define PONS__STEP_PREVIOUS "previous"

#define PONS__END      UINT32_MAX
#define PONS__NONE     PONS__INDEX_NONE
#define PONS__ARMS_MAX 64 // legs of a join: bits of a word

typedef struct pons__node { // sorted by name, so that an index is a rank in task order
    char *name;
    pons_node_fn fn; // NULL: a subgraph
    void *user;
    const pons_graph *sub;
    pons_subgraph_mode mode;
    pons__share *shares;
    size_t n_shares;
    uint32_t *edges;
    size_t n_edges;
    pons__router *routers;
    size_t n_routers;
    pons__arm *arms;
    size_t n_arms;
    bool before, after; // interrupt_before / interrupt_after
    bool deferred;
    pons_begin_fn begin; // before any fn of the superstep; NULL: nothing
    pons_drop_fn drop;   // instead of fn, of one that was begun in vain; NULL: nothing
    uint32_t *goes;      // what the node itself may go to
    size_t n_goes;
    bool goes_undrawn;
    pons_blocking_fn blocking; // instead of fn
    pons_step_fn step;         // instead of fn: an entrypoint's, a task's
    bool called;               // a task: no edge leads here
    const pons_graph **runs;   // what fn may run; references
    size_t n_runs;
    pons__policy *policy; // NULL: none
    pons__contract input; // of what it is given
} pons__node;

typedef struct pons__join {
    char *label; // "a+b>c": its name in checkpoints
    uint32_t *from;
    size_t n_from;
    uint64_t full; // the word with every leg's bit set
    uint32_t to;
} pons__join;

struct pons_graph {
    atomic_uint refs; // a namespace that was run keeps its graph's shape
    char *name;
    pons__channel *channels;
    size_t n_channels;
    pons__node *nodes;
    size_t n_nodes;
    pons__node start; // START's edges and routers
    pons__join *joins;
    size_t n_joins;
    size_t n_words; // of a bit set over nodes
    pons__index channel_index, node_index;
    int recursion_limit;
    bool quiet;
    int64_t step_timeout_ms;
    bool cache_stored;
    bool stops;         // some node has interrupt_before/after
    bool managed;       // some channel is
    uint64_t *deferred; // (n_words), or NULL: no node is
    pons__contract input, output, context;
};

// PONS_EINVAL of a graph that is NULL.
static inline int pons__graph_given(const pons_graph *g, pons_error *err)
{
    return g ? PONS_OK
             : pons_error_set(err, PONS_EINVAL, "graph",
                              "no graph was given (NULL: did it compile?)");
}
const pons_graph *pons__graph_ref(const pons_graph *g);
void pons__graph_unref(const pons_graph *g); // NULL-safe, and of one that is half built
void pons__channel_fini(pons__channel *c);
bool pons__graph_index_channels(pons_graph *g); // false: no memory
bool pons__graph_index_nodes(pons_graph *g);
uint32_t pons__graph_channel_find(const pons_graph *g, const char *name); // or PONS__NONE
uint32_t pons__graph_node_find(const pons_graph *g, const char *name); // PONS__END, PONS__NONE too
const char *pons__graph_node_name(const pons_graph *g, uint32_t ix);
// Of what a node may run, the graph of that name; n: how much of the name counts. NULL: none.
const pons_graph *pons__graph_run_find(const pons__node *node, const char *name, size_t n);
