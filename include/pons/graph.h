// graph.h - the StateGraph engine: nodes, channels with reducers, conditional edges, awaits,
// interrupts, an inbox, an effect ledger, checkpoints.
//
// A pons_graph is compiled once and immutable. A pons_thread is the right to write one thread of a
// store (its lease). A pons_run is one invocation of a graph on a namespace of that thread; the
// caller drives it: pons_run_advance() executes supersteps until the run ends or everything in it
// waits.
//
// Nodes await, they do not block: a node that calls pons_await() without an answer returns
// PONS_EPARKED at once, and is run again *from its top* when the answer is there, so what it does
// before an await must give the same result again: read time, randomness and ids from the pons_cx,
// which fixes them, and the inbox through pons_cx_inbox().
//
// Threads: all functions on one pons_thread, its runs and cxs belong to one loop thread. What any number
// of threads may share at once: a compiled pons_graph (as what runs of different pons_threads run; to
// name, draw, read its schemas and clear its caches, which are locked inside), a pons_store, a
// pons_cancel, and values that nobody changes. The functions and user pointers that a graph was built
// with are called on each thread that runs it. A builder belongs to one thread; a graph is destroyed
// when nobody uses it any more. What takes a pons_store and the name of a thread reads or posts from
// any thread: pons_state_read, _history, _snapshot, _history_find, pons_threads_find, pons_stream_read,
// pons_effects_read, pons_inbox_post, pons_cancel_post, pons_items_….
#pragma once

#include "pons/clock.h"
#include "pons/ext/store.h"
#include "pons/items.h"
#include "pons/linkage.h"
#include "pons/messages.h"
#include "pons/random.h"
#include "pons/value.h"

PONS_C_BEGIN

typedef struct pons_graph_builder pons_graph_builder;
typedef struct pons_graph pons_graph;
typedef struct pons_thread pons_thread;
typedef struct pons_run pons_run;
typedef struct pons_cx pons_cx;
typedef struct pons_cancel pons_cancel;

#define PONS_START "__start__"
#define PONS_END   "__end__"

// ---- building -----------------------------------------------------------------------------------

typedef enum pons_channel_kind {
    PONS_CHANNEL_LAST,      // more than one write a step: INVALID_CONCURRENT_GRAPH_UPDATE
    PONS_CHANNEL_ANY,       // the last in task order wins; cleared on a step without a write
    PONS_CHANNEL_EPHEMERAL, // cleared on a step without a write; conflicts as LAST
    PONS_CHANNEL_TOPIC,     // list of this step's values, lists flattened
    PONS_CHANNEL_TOPIC_ACC, // the same, accumulating
    PONS_CHANNEL_REDUCE,    // folded by a reducer in task order
    PONS_CHANNEL_MESSAGES,  // by id: append, replace in place, {"type":"remove","id"}, all of them
                            // with the id "__remove_all__" (pons/messages.h)
    PONS_CHANNEL_UNTRACKED, // as LAST, never persisted
    // Managed: read only, the engine's own. True in the last superstep that the recursion limit
    // lets end; how many supersteps are left, this one included.
    PONS_CHANNEL_IS_LAST_STEP,
    PONS_CHANNEL_REMAINING_STEPS
} pons_channel_kind;

// new = reduce(old or NULL, update). Both borrowed; *ret is a new reference. Must be pure. The
// value
// {"__overwrite__": v} never reaches it.
typedef int (*pons_reducer_fn)(void *user, const pons_value *old, const pons_value *update,
                               pons_value **ret, pons_error *err);
// Ready-made reducers; append is stored by what was appended.
extern const pons_reducer_fn pons_reduce_append; // lists are concatenated, other values appended
extern const pons_reducer_fn pons_reduce_add;    // integers, reals
extern const pons_reducer_fn pons_reduce_merge;  // objects, shallow; null removes a key
extern const pons_reducer_fn pons_reduce_union;  // lists as sets, first occurrence keeps its place

typedef struct pons_channel_options {
    pons_channel_kind kind;
    pons_reducer_fn reduce; // REDUCE only
    void *reduce_user;
    const pons_value *initial; // NULL: empty; borrowed, referenced
    // MESSAGES: what is written is made LangChain's wire form first, from any form that
    // pons_message_of takes. Otherwise a message is any object, kept as it is.
    bool chat;
    // EPHEMERAL, UNTRACKED: several writers a step are no conflict, the last in task order counts.
    bool several;
    // A JSON schema of its value (pons/schema.h), shown with the graph's; of channels that do not fold
    // (LAST, ANY, EPHEMERAL, UNTRACKED) checked where a value comes from outside: inputs, updates.
    const pons_value *schema; // borrowed, referenced
    // Of the graph's own: in no schema of its input or output but those that it is declared with.
    bool internal;
} pons_channel_options;
#define PONS_CHANNEL_OPTIONS_INIT                                                                  \
    {                                                                                              \
        .kind = PONS_CHANNEL_LAST                                                                  \
    }

// A node: reads and writes through cx. Returns PONS_OK, PONS_EPARKED (only what an await or
// interrupt returned), or an error with err filled.
typedef int (*pons_node_fn)(pons_cx *cx, void *user, pons_error *err);
// A router: runs in its node's task, sees the state plus that node's own writes, and calls
// pons_cx_goto() once or more (no call: the run ends there unless static edges say otherwise).
typedef int (*pons_router_fn)(pons_cx *cx, void *user, pons_error *err);

typedef enum pons_subgraph_mode {
    PONS_SUBGRAPH_INHERIT, // fresh per parent task
    PONS_SUBGRAPH_OWN,     // a stable namespace whose state persists across runs
    PONS_SUBGRAPH_NONE     // not checkpointed
} pons_subgraph_mode;

pons_graph_builder *pons_graph_builder_create(const char *name);
void pons_graph_builder_destroy(pons_graph_builder *b); // NULL-safe
// These record; every fault is reported at compile, all at once. Strings are copied; user pointers
// outlive the graph.
void pons_graph_channel(pons_graph_builder *b, const char *name, const pons_channel_options *opts);
void pons_graph_node(pons_graph_builder *b, const char *name, pons_node_fn fn, void *user);
void pons_graph_subgraph(pons_graph_builder *b, const char *name, const pons_graph *sub,
                         pons_subgraph_mode mode); // shares the channels whose names both have
// The same with only what is named: in flows from a channel of this graph to one of sub when it
// starts, out back when it ends. Each list ends with {NULL}; NULL: nothing. What flows both ways
// comes back as what changed, what only comes out as a whole (docs/reference/graph.md).
typedef struct pons_share {
    const char *outer, *inner;
} pons_share;
void pons_graph_subgraph_mapped(pons_graph_builder *b, const char *name, const pons_graph *sub,
                                pons_subgraph_mode mode, const pons_share *in,
                                const pons_share *out);
void pons_graph_edge(pons_graph_builder *b, const char *from, const char *to);
void pons_graph_join(pons_graph_builder *b, const char *const *from, size_t n, const char *to);
// targets: every name that the router may go to, NULL-terminated (for validation and drawings); NULL:
// any node or the end, and none of these ways is drawn.
void pons_graph_router(pons_graph_builder *b, const char *from, pons_router_fn fn, void *user,
                       const char *const *targets);

// A node that must block: fn runs on a worker thread of the pons_thread, never on the loop's. input
// is the worker's own copy of {channel: value}, or of the Send's argument; *ret_update is {channel:
// value}, taken (NULL: nothing). A blocking node may be run again after a crash, like any other.
// Once pons_work_canceled says so (a time-out, another run, the thread closing) it should return
// soon: its result is not wanted any more, and pons_thread_close waits for it.
typedef struct pons_work pons_work;
typedef int (*pons_blocking_fn)(pons_work *w, void *user, const pons_value *input,
                                pons_value **ret_update, pons_error *err);
void pons_graph_blocking(pons_graph_builder *b, const char *name, pons_blocking_fn fn, void *user);
bool pons_work_canceled(const pons_work *w); // worker thread
void pons_work_progress(pons_work *w);       // worker thread: restarts the idle time-out

// Another attempt after an error: after initial_ms, then each wait times factor, at most max_ms;
// the wait is a deadline (pons_run_deadlines), nothing sleeps. Writes of a failed attempt are
// dropped. What people answered and tasks returned is kept, with everything before it; awaits after
// that are asked anew. Interrupts are no errors. The attempts count anew when a failed run is
// resumed.
typedef struct pons_retry {
    int attempts;                                        // in all; 0 and 1: no retry
    int64_t initial_ms;                                  // 0: at once
    double factor;                                       // < 1: 1
    int64_t max_ms;                                      // 0: no maximum
    double jitter;                                       // 0…1: a wait is up to so much longer
    bool (*retry_on)(void *user, const pons_error *err); // NULL: pons_retry_transient
    void *user;
} pons_retry;
// What may pass by itself: EIO, EBUSY, EAGAIN, ETIMEOUT, ECLOSED. An input that is wrong, something
// that is not there, a refusal stay what they are. And every error, but those that no attempt mends:
// ENONDETERMINISM, and ECANCELED once the run is.
bool pons_retry_transient(void *user, const pons_error *err);
bool pons_retry_any(void *user, const pons_error *err);

typedef struct pons_node_options {
    // Waits, once triggered, until no other node is triggered.
    bool deferred;
    pons_retry retry;
    // Several policies instead of one: the first whose predicate takes the error counts, with its
    // own attempts and waits; the attempts are counted over all of them. Borrowed until compiled;
    // retry must then be empty. NULL when n_retries is 0.
    const pons_retry *retries;
    size_t n_retries;
    // PONS_ETIMEOUT when an attempt takes longer in all, or goes so long without an answer or
    // progress. Waiting for people does not count; after a crash the time starts again. 0: none.
    int64_t run_timeout_ms, idle_timeout_ms;
    // Runs next superstep when this node has failed for good, with the argument {node, status,
    // word, message, source}; what the node wrote is dropped, its edges are not followed.
    const char *error_handler;
    // A finished task's writes and routes are kept under (graph, node, hash of its input), and given
    // again without running it: in the compiled graph, the newest 256 of a node, or in the store
    // (pons_graph_options.cache_stored). Tasks that awaited, emitted, posted, read their inbox or had
    // effects or items are not kept. A context is no input.
    bool cache;
    int64_t cache_ttl_ms;        // 0: for ever
    const char *const *cache_on; // NULL-terminated channels that are the input; NULL: all, and the
                                 // Send's argument in any case
    // What stands for the input instead: *ret is a new reference. state is {channel: value} of
    // cache_on; arg the Send's, or NULL. Must be pure. An error is the node's.
    int (*cache_key)(void *user, const pons_value *state, const pons_value *arg, pons_value **ret,
                     pons_error *err);
    void *cache_user;
    // NULL-terminated names that the node itself may go or send to (pons_cx_goto, pons_cx_send,
    // pons_cx_command); for a subgraph also those of its commands to the parent.
    const char *const *goes;
    // goes says where it may go, not where it does: it is not drawn, and who has no edge ends there.
    bool goes_undrawn;
    // NULL-terminated graphs that the node may run (pons_cx_run), each of another name; the graph
    // keeps a reference. Not of a subgraph or a blocking node.
    const pons_graph *const *runs;
    // A JSON schema of what the node is given, checked before it runs: of a Send's argument, or of
    // {channel: value} with those channels that its `properties` name. One that does not fit is the
    // node's failure. Borrowed, referenced; NULL: anything.
    const pons_value *input_schema;
} pons_node_options;
// Sets the options of a node that has been recorded.
void pons_graph_node_options(pons_graph_builder *b, const char *name,
                             const pons_node_options *opts);

// Policies for every node: a retry, time-outs and a cache that a node's own options leave out. The
// rest of o is not looked at.
void pons_graph_defaults(pons_graph_builder *b, const pons_node_options *o);

// JSON schemas (2020-12 as in pons/schema.h) of what the graph takes and gives, as {channel: value};
// NULL: derived from its channels. Borrowed, referenced.
typedef struct pons_schemas {
    const pons_value *input;   // of each input; PONS_EINVAL names the key that does not fit
    const pons_value *output;  // pons_graph_invoke gives what its `properties` name; not checked
    const pons_value *context; // of each run's context (NULL counts as an empty object)
} pons_schemas;
void pons_graph_declare(pons_graph_builder *b, const pons_schemas *s);

typedef struct pons_graph_options {
    int recursion_limit; // supersteps per run, default 100
    // Supersteps that change no stored channel, take no input and emit nothing durable write
    // nothing: they are stored together with the next one that does, or never.
    bool quiet;
    const char *const *interrupt_before; // NULL-terminated node names, "*" for all; or NULL
    const char *const *interrupt_after;
    // A superstep that takes longer, waits for retries and subgraphs included, ends the run: FAILED
    // with PONS_ETIMEOUT and the names of the nodes that had not finished. What the others wrote is
    // kept, a resume runs only those, with the whole time again. No policy of theirs retries it.
    // Waiting for people alone does not count. A node that does not return is not interrupted; it
    // was late, and what it wrote does not count. 0: none.
    int64_t step_timeout_ms;
    // What nodes cache, those of subgraphs too, is kept in the store of the thread that runs them, for other processes and
    // later ones, by the names of graph, node and channels: whoever changes what a node does clears
    // it. Without a store, or one that has no items, in the compiled graph.
    bool cache_stored;
} pons_graph_options;
#define PONS_GRAPH_OPTIONS_INIT                                                                    \
    {                                                                                              \
        .recursion_limit = 100                                                                     \
    }

// Compiles; on PONS_EINVAL the message lists every fault, separated by "; ".
int pons_graph_compile(pons_graph_builder *b, const pons_graph_options *opts, pons_graph **ret,
                       pons_error *err);
// Every fault, as a list of strings, however many: a compile's message is cut at its length.
int pons_graph_faults(pons_graph_builder *b, const pons_graph_options *opts, pons_value **ret_list,
                      pons_error *err);
void pons_graph_destroy(pons_graph *g); // NULL-safe; no run of it may be alive
// Forgets what nodes of this graph have cached: of one, or of all (NULL); in the compiled graph, and in
// the store unless store.ops is NULL. A task under way may put its own there after that.
int pons_graph_cache_clear(const pons_graph *g, pons_store store, const char *node,
                           pons_error *err);
const char *pons_graph_name(const pons_graph *g);
// {input_schema, output_schema, state_schema, context_schema|null, nodes: {name: schema}}, as declared
// or, but for context and nodes, derived from the channels. *ret is the caller's.
int pons_graph_schemas(const pons_graph *g, pons_value **ret, pons_error *err);
// The i-th of those nodes that are graphs, borrowed from g, and the node's name; NULL: there are no more.
const pons_graph *pons_graph_sub(const pons_graph *g, size_t i, const char **ret_node);
// A drawing: "mermaid", "dot", "json" ({name, nodes: [id...], channels, edges: [{from, to,
// conditional}], schemas}), "langgraph" (what LangGraph's HTTP API serves: {nodes: [{id, type, data: {id, name},
// metadata?}], edges: [{source, target, conditional?}]}), or "svg", which graphviz's program `dot`
// makes (PONS_EENV when it is not installed). The caller frees *ret.
int pons_graph_draw(const pons_graph *g, const char *format, char **ret, pons_error *err);
// The same with subgraphs opened: how many levels of them, < 0 for all. Their nodes are "sub:node".
typedef struct pons_draw_options {
    const char *format;
    int xray;
} pons_draw_options;
int pons_graph_draw_as(const pons_graph *g, const pons_draw_options *o, char **ret,
                       pons_error *err);

// ---- threads and runs ---------------------------------------------------------------------------

typedef struct pons_event {
    int64_t seq;        // > 0: durable, committed before it is shown; 0: live
    const char *thread; // borrowed for the call, as all members
    const char *ns;
    int64_t ts_ms; // wall clock
    const char *type;
    const pons_value *payload;
} pons_event;
typedef void (*pons_event_cb)(void *user, const pons_event *ev); // loop thread, no lock held

// How the host serves one kind of await. start: begin (or, after a crash, begin again: restarted)
// what was asked, and return; later, or even inside start, call pons_run_answer. It is called after
// the request is committed. cancel: the await was detached or timed out; the answer is not wanted
// any more. Interrupts have the kind "human" and need no handler: they wait for an answer from
// outside.
typedef struct pons_await_handler {
    const char *kind;
    void (*start)(void *user, pons_run *run, const char *await_id, const pons_value *request,
                  bool restarted);
    void (*cancel)(void *user, pons_run *run, const char *await_id);
    void *user;
} pons_await_handler;

// What a task does, told while it does it.
typedef enum pons_task_what {
    PONS_SEEN_BEGINS, // a pass of it
    PONS_SEEN_ENDS,
    PONS_SEEN_WAITS,
    PONS_SEEN_FAILS,
    PONS_SEEN_RUN_ENDS // its run, which has no node and no id: it has ended, failed or waits for people
} pons_task_what;
typedef struct pons_task_seen {
    pons_task_what what;
    const char *thread, *ns, *graph, *node, *id; // borrowed for the call
    const char *caller;                          // the id of the task that called it; or ""
    int superstep, attempt;
    int status; // of a failure
    bool cached;
    int64_t ts_ms; // wall clock
} pons_task_seen;

typedef struct pons_thread_options {
    pons_clock clock;                   // required
    uint64_t seed;                      // of ids and cx randomness; 0: from the system
    const pons_await_handler *handlers; // copied
    size_t n_handlers;
    pons_event_cb on_event; // may be NULL
    void *user;
    const pons_items_options *items; // of what nodes write and search; copied. NULL: none
    // For a host that reads events from the store: under PONS_DURABILITY_ASYNC those of steps, and what nodes
    // say, are queued with the checkpoints. on_event is not called with them; this is, with `user`, when
    // some are there to be read, on another thread. NULL: each is committed and shown at once.
    void (*on_stored)(void *user);
    // Told of every task of every run, with `user`, on the loop thread, while nothing is locked; nothing of
    // it is stored. For who measures (pons/traces.h). NULL: nobody.
    void (*on_task)(void *user, const pons_task_seen *seen);
} pons_thread_options;

// Takes the lease. PONS_EBUSY names the holder's pid and host.
int pons_thread_open(pons_store store, const char *id, const pons_thread_options *opts,
                     pons_thread **ret, pons_error *err);
// Releases the lease after draining. Runs are destroyed first by the caller. NULL-safe.
void pons_thread_close(pons_thread *t);
const char *pons_thread_id(const pons_thread *t);
// Readable when a blocking node has come back; then call pons_thread_deliver, which makes the runs
// that waited for it READY and returns how many tasks did. pons_run_deadlines delivers as well. -1:
// no memory.
int pons_thread_fd(pons_thread *t);
int pons_thread_deliver(pons_thread *t);
// The newest stored state of a namespace as {channel: value}; PONS_ENOTFOUND when there is none.
// Without a thread open: any process may read.
int pons_state_read(pons_store store, const char *thread, const char *ns, pons_value **ret_state,
                    pons_error *err);
// The checkpoints, newest first, as a list of {checkpoint_id, parent_id, step, source, ts_ms,
// next[], parents, values?}. parents: of a subgraph, {namespace: checkpoint_id} of the graphs
// around it when its run began; else empty.
int pons_state_history(pons_store store, const char *thread, const char *ns, int64_t limit,
                       bool with_values, pons_value **ret_list, pons_error *err);

// What a graph is at a checkpoint, from any process, while whoever holds the thread goes on:
//   {thread, ns, checkpoint_id, parent_id|null, ts_ms, values, next: [node...],
//    tasks: [{id, name, error|null, interrupts: [{id, value}], awaits: [{id, kind, request,
//             deadline_ms?}], result|null, arg?, ns?, state?}],
//    interrupts: [{id, value}...], metadata: {source, step, run_id, parents, …}}
// tasks are those of the step that comes next. One that has finished while others have not has its
// result ({channel: value}, a list of them when a channel was written twice) and is not in next; a
// Send has its arg. One that is a subgraph at work has its namespace, its questions as its own, and,
// with subgraphs, a snapshot of it as state. metadata also has what the run was given
// (pons_run_options). PONS_ENOTFOUND.
typedef struct pons_snapshot_options {
    const char *checkpoint; // NULL: the head
    bool subgraphs;
    bool bare; // without values
} pons_snapshot_options;
int pons_state_snapshot(pons_store store, const char *thread, const char *ns,
                        const pons_snapshot_options *opts, pons_value **ret, pons_error *err);
// Snapshots, newest first, of the checkpoints that fit.
typedef struct pons_history_query {
    const char *before;       // those committed before this one: a cursor; NULL: all
    int64_t limit;            // 0: none
    const pons_value *filter; // of their metadata, as that of items (pons/items.h); NULL: all
    bool bare;
} pons_history_query;
int pons_state_history_find(pons_store store, const char *thread, const char *ns,
                            const pons_history_query *q, pons_value **ret_list, pons_error *err);

// What is known of a thread as a whole: an object, which goes and is copied with it. Makes the
// thread when it is new; needs no lease. merge: other members stay as they are.
int pons_thread_metadata_set(pons_store store, const char *thread, const pons_value *metadata,
                             bool merge, pons_error *err);
typedef enum pons_threads_by {
    PONS_THREADS_BY_CREATED,
    PONS_THREADS_BY_UPDATED,
    PONS_THREADS_BY_ID,
    PONS_THREADS_BY_STATUS
} pons_threads_by;
typedef struct pons_threads_query {
    const char *thread;         // this one alone (PONS_ENOTFOUND); NULL: all
    const pons_value *metadata; // filters, as that of items; NULL: all
    const pons_value *values;   // of the state of ns
    const char *status;         // "idle", "busy", "interrupted", "error"; NULL: any
    const char *ns;             // NULL: its only namespace, or, of several, none
    pons_threads_by by;
    bool ascending;
    int64_t limit; // 0: 10; < 0: none
    int64_t offset;
} pons_threads_query;
// *ret: [{thread_id, created_ms, updated_ms, metadata, status, values|null, interrupts: {task:
// [{id, value}]}}]. busy: somebody holds it and it has something to do that no person must answer;
// error: a task failed; interrupted: people must answer, or it was left before its end; else idle.
int pons_threads_find(pons_store store, const pons_threads_query *q, pons_value **ret_list,
                      pons_error *err);

// Posts to a namespace's inbox, from any process and thread; needs no lease.
int pons_inbox_post(pons_store store, const char *thread, const char *ns, const char *kind,
                    const pons_value *value, pons_error *err);
// Unconsumed messages of a namespace: how many there are (after what this thread has consumed).
int pons_thread_inbox_count(pons_thread *t, const char *ns, int64_t *ret, pons_error *err);
// Emits a durable event outside any run (its own commit), or a live one.
int pons_thread_emit(pons_thread *t, const char *ns, const char *type, pons_value *payload,
                     pons_error *err); // takes payload
// Posts to a namespace's inbox and emits a durable event in one commit: what is shown as taken is
// there, and what is there was shown. value is borrowed, payload taken.
int pons_thread_post(pons_thread *t, const char *ns, const char *kind, const pons_value *value,
                     const char *type, pons_value *payload, pons_error *err);
// The same with one write of an item (pons_items_write_put, …_delete), or NULL, in that commit.
int pons_thread_post_with(pons_thread *t, const char *ns, const char *kind, const pons_value *value,
                          const char *type, pons_value *payload, const pons_item_write *item,
                          pons_error *err);
void pons_thread_emit_live(pons_thread *t, const char *ns, const char *type, pons_value *payload);

typedef enum pons_durability { // when a step's checkpoint is committed
    PONS_DURABILITY_ASYNC,     // pipelined in order, drained at the end
    PONS_DURABILITY_SYNC,      // before the next step begins and before its events are shown
    PONS_DURABILITY_EXIT       // at the end, an error, an interrupt or an await
} pons_durability;

typedef enum pons_run_state {
    PONS_RUN_READY,       // advance has something to do
    PONS_RUN_PARKED,      // waits for at least one await that a handler serves
    PONS_RUN_INTERRUPTED, // waits only for people
    PONS_RUN_DONE,
    PONS_RUN_FAILED // error saved; pons_run_resume(NULL) reruns what failed
} pons_run_state;

// What a run shows of itself, as events of the type "stream." and the mode's word. They are
// durable, numbered like all events and committed before they are shown, so a client that comes
// back with its last number reads what it missed (pons_stream_read). Payloads:
//   values       the whole state, after the input and after each step that wrote, and when a run
//                goes on; where it waits for people with "__interrupt__": [{id, value}]
//   updates      {node: {channel: value}}, a list of them when a channel was written twice, null
//                when nothing was; with "__metadata__":{"cached":true} when the cache gave it;
//                {"__interrupt__": [{id, value}]}, of a graph and of the subgraphs inside it, an
//                empty list where interrupt_before or interrupt_after holds it
//   messages     [chunk, {thread_id, langgraph_step, langgraph_node, langgraph_triggers,
//                langgraph_path, langgraph_checkpoint_ns, checkpoint_ns, and what the run's metadata
//                and the call have}], from pons_cx_message
//   custom       whatever pons_cx_custom got
//   tasks        {id, name, input, triggers, metadata?} at the start: triggers are "__pregel_push" of
//                a Send, else "branch:to:NAME" and "join:A+B:NAME" of each join into the node;
//                {id, name, result, error, cached, interrupts} at the end, or where it waits for
//                people: result is {channel: value}, {"$writes": [value...]} of several writes;
//                interrupts is a list of {id, value}
//   checkpoints  {config, parent_config|null, values, metadata: {source, step, parents, …}, next:
//                [node...], tasks: [{id, name, interrupts, state|null, result?, error?}]}; a config
//                is {"configurable": {thread_id, checkpoint_ns, checkpoint_id, checkpoint_map?}}, a
//                subgraph's task has one as its state. Where people are waited for once more, with
//                what the tasks wrote and ask
//   debug        tasks and checkpoints as {step, timestamp: ISO 8601, type: task | task_result |
//                checkpoint, payload}
enum {
    PONS_STREAM_VALUES = 1 << 0,
    PONS_STREAM_UPDATES = 1 << 1,
    PONS_STREAM_MESSAGES = 1 << 2,
    PONS_STREAM_CUSTOM = 1 << 3,
    PONS_STREAM_TASKS = 1 << 4,
    PONS_STREAM_CHECKPOINTS = 1 << 5,
    PONS_STREAM_DEBUG = 1 << 6
};

typedef struct pons_run_options {
    pons_durability durability; // default ASYNC
    int recursion_limit;        // 0: the graph's
    uint32_t stream;            // PONS_STREAM_…; 0: nothing
    bool stream_subgraphs;      // of its subgraphs as well
    // Of tasks only those of these nodes, of any of its graphs, and of the subgraphs that they are:
    // updates, messages, custom, tasks and debug's. NULL-terminated; NULL: all. PONS_EINVAL names an
    // unknown one. Borrowed until the run has begun.
    const char *const *stream_nodes;
    // What the program knows of the run: an object, stored with its checkpoints and shown with them
    // (pons_state_snapshot), "tags" a list of texts among them if it likes. NULL: nothing; a resume
    // keeps what the run has. Borrowed, referenced.
    const pons_value *metadata;
    // Breakpoints of this run alone, beside the graph's: NULL-terminated names, "*" for all nodes;
    // not of subgraphs. PONS_EINVAL names an unknown one. Borrowed until the run has begun.
    const char *const *interrupt_before, *const *interrupt_after;
    // What the nodes of this run, and of its subgraphs, find beside the state: a value (referenced)
    // and a pointer of the caller's. Neither is stored: a resume gives them again.
    const pons_value *context;
    void *context_user;
    pons_cancel *cancel; // ends this run when it is requested; referenced. NULL: none
} pons_run_options;
#define PONS_RUN_OPTIONS_INIT                                                                      \
    {                                                                                              \
        .durability = PONS_DURABILITY_ASYNC                                                        \
    }

// What a node, or an input, may ask for at once.
typedef struct pons_send {
    const char *node;
    pons_value *arg; // taken
} pons_send;
typedef struct pons_command {
    pons_value *update;     // {channel: value}, or NULL; taken
    const char *const *go;  // NULL-terminated, or NULL: added to the static edges
    const pons_send *sends; // NULL when n_sends is 0
    size_t n_sends;
    bool parent;                  // applied by the parent's node; the subgraph ends, and what
                                  // else it wrote since its start is dropped
    const pons_value *resume;     // as input: the answer to the one pending interrupt; borrowed
    const pons_value *resume_map; // as input: {interrupt id: answer}; borrowed
} pons_command;

// A new invocation on a namespace, with input {channel: value} (may be NULL: run from the entry
// with the state as it is). Pending tasks of an unfinished earlier run there are discarded. One run
// at a time a namespace (PONS_EBUSY). The graph outlives the run.
int pons_run_start(pons_thread *t, const pons_graph *g, const char *ns, const pons_value *input,
                   const pons_run_options *opts, pons_run **ret, pons_error *err);
// Continues what was left unfinished: after a crash, a failure or an interrupt. Unanswered awaits
// are started again with restarted = true. Of a namespace that has nothing unfinished it is a run
// that is DONE, with the state; PONS_ENOTFOUND when there is no checkpoint.
int pons_run_resume(pons_thread *t, const pons_graph *g, const char *ns,
                    const pons_run_options *opts, pons_run **ret, pons_error *err);
// A command as input. With a resume: the update is applied (durably) to the unfinished run, which
// then gets its answers. Without: a new run that begins at `go` and `sends` with the update instead
// of at START; without those an unfinished run goes on. parent is PONS_EINVAL, go with a resume
// too.
int pons_run_command(pons_thread *t, const pons_graph *g, const char *ns, const pons_command *cmd,
                     const pons_run_options *opts, pons_run **ret, pons_error *err);
// What becomes of a run that is still at work (READY or PARKED) on a namespace when another comes.
// One that waits for people is not at work: the new input takes its place.
typedef enum pons_busy {
    PONS_BUSY_ENQUEUE,   // the new one is PARKED until the other has ended, then READY
    PONS_BUSY_REJECT,    // PONS_EBUSY
    PONS_BUSY_INTERRUPT, // the old one stops at its last step's boundary, its checkpoints stay
    PONS_BUSY_ROLLBACK   // its checkpoints go as well: the state is as before it started or was
                         // resumed; events and effects, which have happened, stay. Needs a store
} pons_busy;
// As pons_run_start, but with an answer to a namespace that is at work. The run that had to give
// way is FAILED with PONS_ECANCELED and is still the caller's to destroy. From inside one of its
// nodes, the old run's step is finished first.
int pons_run_submit(pons_thread *t, const pons_graph *g, const char *ns, const pons_value *input,
                    pons_busy how, const pons_run_options *opts, pons_run **ret, pons_error *err);
// The same without another one: the run gives way, and its checkpoints go, as PONS_BUSY_ROLLBACK says.
// Not from inside a node. PONS_EUNSUPPORTED without a store.
int pons_run_rollback(pons_run *r, pons_error *err);
// Goes on from an older checkpoint: writes a checkpoint with the source "fork" that has its state,
// and runs what came next there (of an input's checkpoint: that input again, PONS_ENOTFOUND when
// what it made was not stored by itself); or with input, a new invocation on that state. What
// people had answered after it is dropped, so interrupts fire again, and every effect waits for a
// person: its dispatch interrupts with {"type":"confirm_effect","effect_id","skill","args"}, and
// anything but true,
// {"confirm":true}, "yes" or "approve" makes it REFUSED. Subgraphs that keep their state (own), at
// any depth, go back to where they were at that checkpoint, with a "fork" of their own. The head's
// own id without input is pons_run_resume.
int pons_run_fork(pons_thread *t, const pons_graph *g, const char *ns, const char *checkpoint,
                  const pons_value *input, const pons_run_options *opts, pons_run **ret,
                  pons_error *err);
// Asks the run, and its subgraphs that are checkpointed, to stop before the next superstep. It is
// then INTERRUPTED with pons_run_drained, and can be resumed by anybody.
void pons_run_drain(pons_run *r);
bool pons_run_drained(const pons_run *r);

// A request to end runs: made by a program, given to the runs that it is for, asked for on any thread
// or in a signal handler. A run that was asked ends at its next advance, or inside the one under way
// once the node at work returns, FAILED with PONS_ECANCELED; no retry, no error handler takes that.
// The state is that of its last whole superstep. A run that has ended is not touched.
//   interrupt  what its checkpoints and finished tasks are stays, and a resume goes on from there:
//              the nodes that had not finished are run again
//   rollback   as PONS_BUSY_ROLLBACK: its checkpoints go, the state is as before it started or was
//              resumed; items, events and effects stay. Without a store as interrupt
typedef enum pons_cancel_how {
    PONS_CANCEL_NONE,
    PONS_CANCEL_INTERRUPT,
    PONS_CANCEL_ROLLBACK
} pons_cancel_how;
int pons_cancel_create(pons_cancel **ret, pons_error *err);
void pons_cancel_destroy(pons_cancel *c); // NULL-safe; runs that have it keep what they need
void pons_cancel_request(pons_cancel *c, pons_cancel_how how); // the first request stays
pons_cancel_how pons_cancel_requested(const pons_cancel *c);
// Readable from the request on, for a loop that polls: then pons_run_deadlines and advance.
// pons_run_wait and pons_run_sleep look at it themselves. Not to be read from.
int pons_cancel_fd(const pons_cancel *c);
// From any process: asks whoever holds a thread to end the run that it has there. PONS_ENOTPENDING:
// nobody holds it. The holder listens, or it hears nothing.
int pons_cancel_post(pons_store store, const char *thread, pons_cancel_how how, pons_error *err);
// Has c requested when somebody asks so from now on; a thread of c's own looks ten times a second, until
// c is destroyed. The store outlives c, and the runs that have it. Once for a c, and
// before the thread is opened, or a request may come in between.
int pons_cancel_listen(pons_cancel *c, pons_store store, const char *thread, pons_error *err);
// The same for one run, on its loop thread, also from inside a node. A run that waits is READY then.
void pons_run_cancel(pons_run *r, pons_cancel_how how);

// Changes the state as if as_node had written values ({channel: value}, or NULL: nothing): its
// routers and edges say what comes next. Finished siblings' writes of an unfinished step are
// applied as well. What had not run of it stays next when as_node is a node of that step; when
// as_node had its turn before, its routers decide anew, and what had not run is given up, but for
// deferred nodes and those that a join has triggered, which stay next. as_node may be PONS_START (an input: what was next is dropped,
// and with it what finished siblings wrote) or PONS_END (values must be NULL: what had finished is
// applied, and nothing is next); NULL: the node that wrote last, and a tie is PONS_EAMBIGUOUS. One
// checkpoint with the source "update"; its id is in ret_checkpoint (may be NULL; empty without a
// store). It counts one step, as START two: an input's checkpoint is step -1, the first node's 1. An
// answer that comes right after it (pons_run_command, pons_run_resume_value) is kept for the first
// question that the next step asks; so after an update of the subgraph that the run waits in.
typedef struct pons_state_change {
    const pons_value *values;
    const char *as_node;
} pons_state_change;
int pons_state_update(pons_thread *t, const pons_graph *g, const char *ns, const pons_value *values,
                      const char *as_node, char ret_checkpoint[32], pons_error *err);
// Several supersteps of several changes each, a checkpoint a superstep. On failure those before
// stay. None, an empty superstep, and START or END beside another change are PONS_EINVAL.
typedef struct pons_state_step {
    const pons_state_change *changes;
    size_t n;
} pons_state_step;
int pons_state_update_bulk(pons_thread *t, const pons_graph *g, const char *ns,
                           const pons_state_step *steps, size_t n, char ret_checkpoint[32],
                           pons_error *err);
// A thread with all that another has. PONS_EEXIST, PONS_ENOTFOUND.
int pons_state_copy(pons_store store, const char *from, const char *to, pons_error *err);
// Forgets old checkpoints of every namespace: the last keep_last of each stay (at least one), and
// those since keep_since_ms (wall; 0: no such rule). *ret_removed may be NULL.
int pons_state_prune(pons_store store, const char *thread, int64_t keep_last, int64_t keep_since_ms,
                     int64_t *ret_removed, pons_error *err);
// A subgraph that is fresh for each parent task goes whole when no rule keeps the checkpoint that
// its task ran from. The same with all that a store can leave out, and what it gave back; ns and
// lease are not for it.
int pons_state_prune_as(pons_store store, const char *thread, const pons_prune *what,
                        pons_prune_result *ret, pons_error *err);
// The same for a thread that is open here.
int pons_thread_prune(pons_thread *t, int64_t keep_last, int64_t keep_since_ms,
                      int64_t *ret_removed, pons_error *err);
// Takes a little of what is old away from a thread that is open here: the store's `trim` with the
// thread's lease. PONS_EUNSUPPORTED without a store, or one that can't.
int pons_thread_trim(pons_thread *t, pons_trim *what, pons_trim_result *ret, pons_error *err);
// What was streamed in those modes after a number, as {seq, ns, ts_ms, mode, payload}, at most
// limit (0: all).
int pons_stream_read(pons_store store, const char *thread, uint32_t modes, int64_t after,
                     int64_t limit, pons_value **ret_list, pons_error *err);
// How a client of several modes sees an event: payload for one mode, [mode, payload] for several,
// and
// [[namespace…], mode, payload] with subgraphs. NULL when it is of no such mode. A new reference.
pons_value *pons_stream_shape(const pons_event *ev, uint32_t modes, bool subgraphs);
// "values", … of one mode; 0 for another word.
uint32_t pons_stream_mode(const char *word);
// One call for a program that wants no more: opens the thread on the real clock, runs input (NULL:
// goes on; answer: to its one open question, may be NULL) until the run has ended or waits
// (pons_run_wait), and closes. store.ops NULL: nothing is kept. *ret_state is {channel: value}, with
// "__interrupt__": [{id, value}] when it waits for people; a failed run is its error.
int pons_graph_invoke(const pons_graph *g, pons_store store, const char *thread,
                      const pons_value *input, const pons_value *answer,
                      const pons_run_options *opts, pons_value **ret_state, pons_error *err);
void pons_run_destroy(pons_run *r); // NULL-safe; an unfinished run can be resumed later

// Executes supersteps until the state is not READY. Returns PONS_OK whatever the state, and an
// error only when the engine itself failed (the store, the lease): nothing of the step has been
// shown, and the next advance tries its commit again; or, when checkpoints that were queued (async)
// could not be stored, the run is FAILED and a resume goes on from what is stored. A failed node is
// PONS_RUN_FAILED with the reason in pons_run_error.
int pons_run_advance(pons_run *r, pons_error *err);
// One superstep; for fairness and debugging.
int pons_run_step(pons_run *r, pons_error *err);
// For a program that does nothing else: advances, and sleeps until a deadline or a blocking node,
// until the run has ended, waits for people, or waits for nothing but the caller's own handlers.
// Needs a clock that runs.
int pons_run_wait(pons_run *r, pons_error *err);
// The sleeping half of it, for a program that steps: runs nothing, and returns when the run is not
// PARKED any more, or still PARKED when it waits for nothing but the caller's own handlers.
int pons_run_sleep(pons_run *r, pons_error *err);
pons_run_state pons_run_state_get(const pons_run *r);
const pons_error *pons_run_error(const pons_run *r); // borrowed; empty unless FAILED
const pons_value *pons_run_get(const pons_run *r, const char *channel); // borrowed until advanced
int pons_run_supersteps(const pons_run *r);                             // of this invocation
// The nodes that the next superstep runs, or those of the one that is under way: a list of names in
// task order, a Send's as often as it was sent; empty at the end. A new reference.
pons_value *pons_run_next(const pons_run *r);

// Records an answer (committed) and makes the run READY. PONS_ENOTPENDING for an unknown or
// answered id. Takes value. From the loop thread, also inside a handler's start.
int pons_run_answer(pons_run *r, const char *await_id, pons_value *value, pons_error *err);
// What whoever serves an await has to show before he answers it: streamed as if the node that waits had
// said it (pons_cx_message, pons_cx_custom), committed at once. Take their values. PONS_ENOTPENDING.
int pons_run_message(pons_run *r, const char *await_id, pons_value *chunk, pons_value *metadata,
                     pons_error *err);
int pons_run_custom(pons_run *r, const char *await_id, pons_value *payload, pons_error *err);
// Answers every outstanding await but those of kind "human" with value (a copy of the reference),
// and calls the handlers' cancel. Returns how many.
int pons_run_detach(pons_run *r, const pons_value *value, pons_error *err);
// What is pending: a list of {id, kind, request, deadline_ms|null, node}. New reference.
pons_value *pons_run_pending(const pons_run *r);
// Answers awaits whose deadline passed with {"timeout":true}; returns the next deadline in host ns,
// or INT64_MAX.
int64_t pons_run_deadlines(pons_run *r, pons_error *err);
// The resume forms for people: a bare value when exactly one interrupt is pending (else
// PONS_EAMBIGUOUS), or with ids a map {id: value} (unknown: PONS_ENOTPENDING).
int pons_run_resume_value(pons_run *r, const pons_value *value, pons_error *err);
int pons_run_resume_map(pons_run *r, const pons_value *id_to_value, pons_error *err);

// ---- inside a node ------------------------------------------------------------------------------

// State as it was when the superstep began, or for a router with the node's own writes applied.
// Borrowed until the node returns; NULL when empty.
const pons_value *pons_cx_get(pons_cx *cx, const char *channel);
// Takes v (may be shared with other values: it is published). A write to a channel that the graph
// does not have is dropped, with a warning in the log (pons/log.h).
int pons_cx_put(pons_cx *cx, const char *channel, pons_value *v);
// A router to what it has named, a node to what its options' `goes` has.
void pons_cx_goto(pons_cx *cx, const char *node);
// Runs node next superstep with a private argument, once for each send: after the nodes that were
// triggered, in the order of the tasks that sent and of their calls. Takes arg.
void pons_cx_send(pons_cx *cx, const char *node, pons_value *arg);
const pons_value *
pons_cx_arg(const pons_cx *cx);         // of the send that this task is, or NULL; borrowed
int pons_cx_attempt(const pons_cx *cx); // of the retry policy: 1, 2, …

// Writes, goes and sends at once. parent outside a subgraph is PONS_EINVAL, resume in a node too.
int pons_cx_command(pons_cx *cx, const pons_command *cmd, pons_error *err);

int64_t pons_cx_wall_ms(pons_cx *cx);                // fixed at the task's first run
uint64_t pons_cx_random(pons_cx *cx);                // a sequence fixed at the task's first run
void pons_cx_id(pons_cx *cx, char ret[PONS_ID_MAX]); // the same
int pons_cx_superstep(const pons_cx *cx);
int pons_cx_remaining_steps(const pons_cx *cx);
const char *pons_cx_node(const pons_cx *cx);
const char *pons_cx_ns(const pons_cx *cx);
pons_thread *pons_cx_thread(pons_cx *cx);
// Whether the run is to end: a node that takes long looks, and returns PONS_ECANCELED. One that returns
// PONS_OK has finished, and what it wrote counts. pons_work_canceled says the same to a blocking one.
bool pons_cx_canceled(const pons_cx *cx);
const pons_value *pons_cx_context(const pons_cx *cx); // of the run's options; borrowed, or NULL
void *pons_cx_context_user(const pons_cx *cx);

// Durable event, committed with the step and then shown. Takes payload.
int pons_cx_emit(pons_cx *cx, const char *type, pons_value *payload);

// Streams, when the run's options ask for it: committed and shown at once, also when the node fails
// later; repeated when the node is run again. Take their values. metadata may be NULL.
void pons_cx_message(pons_cx *cx, pons_value *chunk, pons_value *metadata);
void pons_cx_custom(pons_cx *cx, pons_value *payload);

// The inbox of this run's namespace: a list of {seq, kind, value} in order, consumed by this step's
// commit. What a task has seen is fixed at its first call. Borrowed until the node returns.
const pons_value *pons_cx_inbox(pons_cx *cx, pons_error *err);
// Posts to a namespace of this thread, in this step's commit. Takes value.
int pons_cx_post(pons_cx *cx, const char *ns, const char *kind, pons_value *value);

// Items (pons/items.h) of the thread's store. What a node writes is in its superstep's commit, in task
// order: killed before, nothing of it is there; after, it is there with the checkpoint, once. Until
// then the node, and later nodes of its run, read it, and nobody else does. A write of an attempt that
// failed is dropped; one of a task that has finished waits with it for its siblings. Under `async` such
// a step is not queued; under `exit` items come with the one commit. A fork, a rollback or a pruning
// takes no item back. What a node reads is what is there then, also when it is run again.
// The embedding function is called here, on the loop's thread. PONS_EUNSUPPORTED without a store.
int pons_cx_item_put(pons_cx *cx, const char *ns, const char *key, const pons_value *value,
                     const pons_item_put *opts, pons_error *err);
int pons_cx_item_delete(pons_cx *cx, const char *ns, const char *key, pons_error *err);
// As pons_items_get and pons_items_search (over is the engine's own); *ret is borrowed until the node
// returns.
int pons_cx_item_get(pons_cx *cx, const char *ns, const char *key, const pons_value **ret,
                     pons_error *err);
int pons_cx_item_search(pons_cx *cx, const pons_items_query *q, const pons_value **ret,
                        pons_error *err);

// Asks the host for something that takes time. PONS_OK: *ret_answer is borrowed until the node
// returns. PONS_EPARKED: return it. Takes request. deadline_ms: host time from now, 0 none; then
// the answer is {"timeout":true}. Identity: call order, kind and the request's hash; a mismatch on
// replay is PONS_ENONDETERMINISM with both, and so is a node that ends without having made every call
// that is recorded. A node that asks and returns PONS_OK all the same is parked: its question is
// asked. A kind without a handler waits for pons_run_answer, and a warning in the log says so.
int pons_await(pons_cx *cx, const char *kind, pons_value *request, int64_t deadline_ms,
               const pons_value **ret_answer, pons_error *err);
// Asks a person: an await of kind "human" with its own id. The same returns.
int pons_interrupt(pons_cx *cx, pons_value *payload, const pons_value **ret_answer,
                   pons_error *err);
// Runs fn once: the result is stored with the task and replay returns it without running.
typedef int (*pons_task_fn)(void *user, const pons_value *args, pons_value **ret, pons_error *err);
int pons_task(pons_cx *cx, const char *name, const pons_value *args, pons_task_fn fn, void *user,
              const pons_value **ret, pons_error *err);

// Runs a graph, one of the node's options' `runs`, as a subgraph is run, and gives its state at the
// end as {channel: value}; borrowed until the node returns. input is {channel: value} or NULL,
// borrowed. Until then PONS_EPARKED: return it. The child's interrupts and awaits are this run's, its
// error is what this returns. Recorded as a task's result is: a replay runs nothing again, and a
// crash goes on with the child where it was. Identity: call order, the graph's name, input and mode.
// One after the other within a node. INHERIT and NONE: a namespace of its own for each call,
// "node:ID"; OWN: "node:#GRAPH", which remembers (docs/reference/graph.md). A command to the parent is
// PONS_EINVAL there.
int pons_cx_run(pons_cx *cx, const pons_graph *g, const pons_value *input, pons_subgraph_mode mode,
                const pons_value **ret_state, pons_error *err);

// ---- effects ------------------------------------------------------------------------------------

//   INTENDED --> DISPATCHED --> ACCEPTED --> DONE | FAILED | CANCELED
//      |              +--------------+-----> OUTCOME_UNKNOWN
//      +> REFUSED     +> REFUSED, DONE, FAILED, CANCELED
// The table is enforced; terminal states never change.
typedef enum pons_effect_state {
    PONS_EFFECT_INTENDED,
    PONS_EFFECT_DISPATCHED,
    PONS_EFFECT_ACCEPTED,
    PONS_EFFECT_DONE,
    PONS_EFFECT_FAILED,
    PONS_EFFECT_CANCELED,
    PONS_EFFECT_OUTCOME_UNKNOWN,
    PONS_EFFECT_REFUSED
} pons_effect_state;
const char *pons_effect_state_word(pons_effect_state s); // "intended", …

typedef struct pons_effect {
    char id[40]; // 32 hex digits: H(thread, ns, run, superstep, node, call, attempt)
    pons_effect_state state;
    int attempt;
    char args_hash[33];      // of {skill, args}
    const pons_value *skill; // string; borrowed, as the rest, until the node returns
    const pons_value *args;
    const pons_value *details; // what dispatch recorded (epoch, expires_ms, boot_id)
    const pons_value *result;  // what settle recorded, or NULL
    const pons_value *tag;     // the caller's (task_id, …)
} pons_effect;

// INTENDED, in this step's commit. ret_id (40 bytes) gets the id. Takes args and tag (may be NULL).
int pons_effect_intend(pons_cx *cx, const char *skill, pons_value *args, int attempt,
                       pons_value *tag, char ret_id[40], pons_error *err);
// Sends, at most once. If the effect is INTENDED: commits DISPATCHED with details (taken) and FULL
// sync *now*, then calls send once. If it is further: does not send. *ret_state is the state found
// before the call; a failing send leaves DISPATCHED (the outcome is then a matter of asking).
typedef int (*pons_effect_send_fn)(void *user, const pons_effect *e, pons_error *err);
int pons_effect_dispatch(pons_cx *cx, const char *id, pons_value *details, pons_effect_send_fn send,
                         void *user, pons_effect_state *ret_state, pons_error *err);
// Moves it on, in this step's commit. Takes result (may be NULL). An illegal move is PONS_EINVAL.
int pons_effect_settle(pons_cx *cx, const char *id, pons_effect_state to, pons_value *result,
                       pons_error *err);
// Reads one as this task sees it (its own changes included). PONS_ENOTFOUND.
int pons_effect_get(pons_cx *cx, const char *id, pons_effect *ret, pons_error *err);
// All effects of a thread whose (1 << state) is in mask, from outside a node: a list of {id, state,
// skill, args, attempt, args_hash, details, result, tag, created_ms, updated_ms}.
int pons_effects_read(pons_store store, const char *thread, uint32_t state_mask,
                      pons_value **ret_list, pons_error *err);

PONS_C_END
