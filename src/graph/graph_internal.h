// graph_internal.h - what the files of src/graph share. graph.c's essay is the map of it.
#ifndef PONS_GRAPH_INTERNAL_H
#define PONS_GRAPH_INTERNAL_H

#include "pons/buf.h"
#include "pons/graph.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define PONS__MODULE "graph"

// ---------------------------------------------------------------- small growth helpers

// Makes room for `need` items of `size` bytes in *items; false on no memory.
bool pons__reserve(void *items, size_t *cap, size_t need, size_t size);

void pons__json_quoted(pons_buf *b, const char *s); // as a JSON string
void pons__json_int(pons_buf *b, int64_t n);
void pons__json_value(pons_buf *b, const pons_value *v); // canonical JSON text

uint64_t pons__hash64(uint64_t seed, const void *data, size_t n); // FNV-1a
#define PONS__HASH_SEED 0xcbf29ce484222325ULL

// ---------------------------------------------------------------- the compiled graph

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
} pons__channel;

typedef struct pons__router {
    pons_router_fn fn;
    void *user;
    uint32_t *targets; // node indices or PONS__END
    size_t n_targets;
} pons__router;

typedef struct pons__share { // a channel that a subgraph and its parent both have
    uint32_t outer, inner;
} pons__share;

typedef struct pons__arm { // one leg of a join
    uint32_t join;
    uint32_t bit;
} pons__arm;

typedef struct pons__cache_entry {
    char key[33];
    int64_t until_ns; // host; INT64_MAX: never over
    pons_value *task; // {"w":[[channel,value]…],"g":[node…],"s":[[node,arg]…]}
} pons__cache_entry;

typedef struct pons__policy { // what most nodes do not have; see policy.c
    pons_retry retry;
    int64_t run_timeout_ms, idle_timeout_ms;
    uint32_t handler; // or PONS__NONE
    bool cache;
    int64_t cache_ttl_ms;
    uint32_t *cache_on; // channels; n 0: all
    size_t n_cache_on;
    pthread_mutex_t lock; // of what follows: a graph is shared by threads
    pons__cache_entry *entries;
    size_t n_entries, cap_entries, oldest;
} pons__policy;

#define PONS__END       UINT32_MAX
#define PONS__NONE      (UINT32_MAX - 1)
#define PONS__ARMS_MAX  64 // legs of a join: bits of a word
#define PONS__WORD_BITS 64

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
    uint32_t *goes; // what the node itself may go to
    size_t n_goes;
    pons_blocking_fn blocking; // instead of fn
    pons__policy *policy;      // NULL: none
} pons__node;

typedef struct pons__join {
    char *label; // "a+b>c": its name in checkpoints
    uint32_t *from;
    size_t n_from;
    uint64_t full; // the word with every leg's bit set
    uint32_t to;
} pons__join;

typedef struct pons__index { // open addressing over names
    uint32_t *slots;         // index + 1, 0 empty
    uint32_t mask;
} pons__index;

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
    bool stops;         // some node has interrupt_before/after
    bool managed;       // some channel is
    uint64_t *deferred; // (n_words), or NULL: no node is
};

const pons_graph *pons__graph_ref(const pons_graph *g);
void pons__graph_unref(const pons_graph *g);
uint32_t pons__graph_channel_find(const pons_graph *g, const char *name); // or PONS__NONE
uint32_t pons__graph_node_find(const pons_graph *g, const char *name); // PONS__END, PONS__NONE too
const char *pons__graph_node_name(const pons_graph *g, uint32_t ix);

// ---------------------------------------------------------------- channels

// Folds n updates of one step into old (or NULL). *ret: a new reference, may be NULL (empty).
// *keep: how many leading items of a list are as in old.
int pons__channel_fold(const pons__channel *ch, const pons_value *old, pons_value *const *updates,
                       size_t n, pons_value **ret, size_t *keep, pons_error *err);
const pons_value *pons__overwrite(const pons_value *update); // its value, or NULL
// Appends update's items (a list's, or itself) to list. False: no memory.
bool pons__list_extend(pons_value *list, const pons_value *update);
// Merges update into obj; null removes, or stays when keep_null.
bool pons__object_merge(pons_value *obj, const pons_value *update, bool keep_null);

// Gives every message of an update an id. Takes v; *ret is v or a copy.
int pons__messages_prepare(pons_cx *cx, pons_value *v, pons_value **ret, pons_error *err);
int pons__messages_fold(const pons_value *old, pons_value *const *updates, size_t n,
                        pons_value **ret, size_t *keep, pons_error *err);

typedef struct pons__ids { // message id → position, for the append path
    uint32_t *slots;       // position + 1
    uint32_t mask;
    size_t n; // messages indexed: a prefix of the list
} pons__ids;
// True when every message of update is new to list, so that it can just be appended.
bool pons__messages_all_new(pons__ids *ids, const pons_value *list, const pons_value *update);
void pons__ids_reset(pons__ids *ids);

// ---------------------------------------------------------------- namespaces

typedef struct pons__sent { // a Send
    uint32_t node;
    pons_value *arg;
} pons__sent;

typedef struct pons__slot { // a channel's value in a namespace
    pons_value *v;          // owned; NULL: empty
    size_t keep;            // leading items of a list that the store has as they are
    pons_value *merged;     // keys changed since the last store, of a merging channel; or NULL
    pons__ids ids;          // of a messages channel
    bool dirty;             // changed since the last store
    bool live;              // transient and set
    uint32_t mark;          // scratch of one apply: when it was last written,
    uint32_t first, last;   // and its writes in the flat list
} pons__slot;

typedef struct pons__ns { // a namespace's head, kept between runs
    struct pons__ns *next_ns;
    char name[PONS_NAME_MAX];
    const pons_graph *g; // the shape of slots; a reference
    pons__slot *slots;
    uint32_t *dirty; // indices of dirty slots
    size_t n_dirty;
    uint32_t *live; // indices of live transient slots
    size_t n_live;
    uint64_t *next;    // (n_words) nodes to run
    uint64_t *arrived; // (n_joins) legs that have arrived
    uint64_t *waiting; // (n_words) deferred nodes that were triggered; NULL without any
    pons__sent *sends; // to run after them
    size_t n_sends, cap_sends;
    pons_value *extra; // stored channels that the graph doesn't have, or NULL
    bool loaded;
    bool exists;          // has a stored checkpoint
    bool head_unfinished; // the stored head has nodes to run
    char head[32];        // id of the newest stored checkpoint
    int64_t step;         // of the state in slots; PONS__STEP_NONE before the first
    uint64_t run_id;
    bool run_id_stored;
    char owner[40];           // the parent's task that runs a subgraph
    pons_value *parents;      // {ns: checkpoint} of the graphs around it; NULL: none
    bool queued;              // commits of it may still be on their way
    bool ahead;               // some of those were lost: memory is not to be trusted
    char base[32];            // of an own subgraph: the head before the root run
    uint64_t base_serial;     // of this number
    bool forked;              // its newest run goes on from an older checkpoint
    pons_value *wrote;        // as which nodes the update being stored was made; or NULL
    pons_run *queue;          // runs that wait for the namespace
    char lost[PONS_NAME_MAX]; // a node to run that the graph does not have, or empty
    size_t snapshot_bytes;    // of the newest snapshot
    size_t tail_bytes;        // of the rows after it
    size_t tail_rows;
    uint32_t mark;       // of the newest apply, see pons__slot
    int64_t inbox_after; // the newest message this thread has consumed
    pons_run *active;
} pons__ns;

#define PONS__STEP_NONE  (-2)
#define PONS__STEP_INPUT (-1)

pons__ns *pons__ns_get(pons_thread *t, const char *name, pons_error *err);
// Loads the head once (stored: from the store) and shapes it for g.
int pons__ns_load(pons_thread *t, pons__ns *ns, const pons_graph *g, bool stored, pons_error *err);
void pons__ns_forget(pons__ns *ns); // the next use loads it again
void pons__ns_mark_dirty(pons__ns *ns, uint32_t ch);
bool pons__ns_more(const pons__ns *ns); // something is to run
void pons__ns_sends_clear(pons__ns *ns);
bool pons__ns_send(pons__ns *ns, uint32_t node, pons_value *arg); // takes arg; false: no memory

static inline bool pons__bit_get(const uint64_t *w, size_t i)
{
    return (w[i / PONS__WORD_BITS] >> (i % PONS__WORD_BITS)) & 1u;
}
static inline void pons__bit_set(uint64_t *w, size_t i)
{
    w[i / PONS__WORD_BITS] |= 1ULL << (i % PONS__WORD_BITS);
}
bool pons__bits_any(const uint64_t *w, size_t n);

// ---------------------------------------------------------------- checkpoints

typedef struct pons__image { // a checkpoint unpacked, knowing no graph
    pons_value *state;       // {channel: value}
    pons_value *next;        // [names]
    pons_value *joins;       // {label: [names]}
    pons_value *sends;       // [[name, arg]…]
    pons_value *waiting;     // [names]
    pons_value *wrote;       // [names] of an update
    uint64_t run_id;
    bool forked;
    char owner[40];
    pons_value *parents;
    char id[32], parent[32];
    int64_t step;
    char source;
    size_t snapshot_bytes, tail_bytes, tail_rows;
    bool found;
} pons__image;

void pons__image_fini(pons__image *im);
// Takes an older image's state; the next checkpoint is a whole one, with that image as its parent.
int pons__ns_restore(pons__ns *ns, const pons_graph *g, pons__image *im, pons_error *err);
int pons__image_apply(pons__image *im, const pons_checkpoint_row *row, pons_error *err);
int pons__image_head(pons_store store, const char *thread, const char *ns, pons__image *ret,
                     pons_error *err);
int pons__image_at(pons_store store, const char *thread, const char *ns, const char *id,
                   pons__image *ret, pons_error *err);
// Packs the namespace's state as the row that follows the stored head. Returns whether it is a
// snapshot.
bool pons__pack(pons__ns *ns, char source, pons_buf *buf);
// The row is committed: nothing is dirty any more.
void pons__packed(pons__ns *ns, const char *id, bool snapshot, size_t bytes);
const char *pons__source_word(char source);
int64_t pons__id_ms(const char *id); // the wall ms in a time-sortable id

// ---------------------------------------------------------------- what a task brings out

typedef struct pons__post {
    char *ns, *kind;
    pons_value *value;
} pons__post;
typedef struct pons__emit {
    char *type;
    pons_value *payload;
    int64_t ts_ms;
} pons__emit;
typedef struct pons__change { // an effect as it is or will be
    char id[40];
    char ns[PONS_NAME_MAX];
    pons_effect_state state;
    int64_t created, updated;
    pons_value *data; // {skill, args, attempt, args_hash, details, result, tag}
    bool fresh;       // intended here: not in the store yet
} pons__change;

typedef struct pons__out { // everything but channel writes
    pons__post *posts;
    size_t n_posts, cap_posts;
    pons__emit *emits;
    size_t n_emits, cap_emits;
    pons__change *changes;
    size_t n_changes, cap_changes;
    int64_t *taken;
    size_t n_taken, cap_taken;
} pons__out;

bool pons__out_empty(const pons__out *o);
void pons__out_clear(pons__out *o);     // empty, keeps its room
void pons__out_committed(pons__out *o); // leaves the events, which are to be shown
void pons__out_fini(pons__out *o);
int pons__out_post(pons__out *o, const char *ns, const char *kind, pons_value *value); // takes
int pons__out_emit(pons__out *o, const char *type, pons_value *payload, int64_t ts_ms);
int pons__out_take(pons__out *o, int64_t seq);
pons__change *pons__out_change(pons__out *o, const char *id); // borrowed, or NULL
// Takes c's data; replaces one of the same id.
int pons__out_change_put(pons__out *o, const pons__change *c);
void pons__out_change_drop(pons__out *o, const char *id);
// Moves everything of src behind what dst has.
int pons__out_move(pons__out *dst, pons__out *src);

// ---------------------------------------------------------------- tasks

typedef enum pons__task_state {
    PONS__TASK_TODO,   // to be run (again)
    PONS__TASK_PARKED, // waits for an answer
    PONS__TASK_DONE,
    PONS__TASK_FAILED
} pons__task_state;

typedef struct pons__write {
    uint32_t ch;
    pons_value *v;
} pons__write;

typedef enum pons__call_kind { PONS__CALL_AWAIT, PONS__CALL_TASK } pons__call_kind;

typedef struct pons__call { // the n-th await, interrupt or task of a task
    pons__call_kind kind;
    int round;  // of the attempt that made it
    char *name; // the await's kind, the task's name
    char hash[33];
    pons_value *request;
    pons_value *answer; // NULL: pending
    char id[40];
    int64_t deadline_ns; // host; 0: none
    int64_t deadline_wall_ms;
    bool saved;     // its record is committed
    bool start_due; // the handler is to be called
    bool restarted;
    bool canceled; // its handler was told that nobody waits any more
    bool detached; // scratch of a detach under way
    uint8_t shown; // a bit for each run around it, by depth, that has streamed it
} pons__call;

typedef struct pons__view { // a channel as a router sees it
    uint32_t ch;
    pons_value *v;
} pons__view;

struct pons_cx { // a task, and what its node sees
    pons_run *run;
    const pons__node *node;
    uint32_t node_ix;
    pons__task_state state;
    pons_error error;
    char id[24]; // lazily; names its records

    pons__write *writes;
    size_t n_writes, cap_writes;
    uint32_t *gotos;
    size_t n_gotos, cap_gotos;
    pons__sent *sends;
    size_t n_sends, cap_sends;
    pons_value *arg;    // of the Send that this task is; owned, or NULL
    uint32_t send_ix;   // its place + 1; 0: triggered
    bool bare;          // neither edges nor joins are followed
    bool cached;        // given by the cache
    bool outside;       // what it writes comes from outside (an update of the state)
    pons_value *escape; // a command to the parent: {"u","g","s"}
    pons__out out;

    int attempt, round; // failed attempts of this invocation; of this task ever
    size_t keep;        // calls that the newest round began with
    int64_t wake_ns;    // parked until another attempt; 0: not
    int64_t wake_wall_ms;
    int64_t started_ns, moved_ns; // of the time-outs: the attempt's begin, its newest progress
    int64_t limit_ns;             // when one of them is over; 0: none
    bool expired;                 // it was
    bool header_due;              // the header has changed
    bool begun, streamed;         // its start, its end has been shown
    bool node_special;            // has a policy, or blocks: a clear must be thorough
    struct pons_work *work;       // of a blocking node, under way or finished

    pons__call *calls;
    size_t n_calls, cap_calls;
    size_t call_at;      // the next call of this pass
    size_t answers_seen; // answers there when it parked
    bool header_saved;
    bool done_saved;

    bool wall_fixed, seeded;
    int64_t wall_ms;
    uint64_t seed;
    pons_rand rand;
    pons_id_source ids;
    bool rand_ready; // in this pass
    uint64_t effect_at;

    pons_value *inbox; // NULL: not asked yet
    int64_t inbox_bound;
    bool inbox_fixed; // the bound comes from an earlier pass

    const pons__router *router; // the one running, or NULL
    pons__view *views;
    size_t n_views, cap_views;
    pons_value **held; // borrowed until the node returns
    size_t n_held, cap_held;
    int fault;   // of a function that can't return one
    bool broken; // the store failed: the pass counts for nothing and is to be run again
    pons_error fault_error;

    pons_run *child;
};

// policy.c: whether a failed task gets another attempt (it is parked for it, or TODO) or a handler.
bool pons__policy_failed(pons_cx *cx, const pons_error *err);
void pons__policy_park(pons_cx *cx);     // sets limit_ns
int64_t pons__policy_limit(pons_cx *cx); // the same, moved by a worker's progress
void pons__policy_expire(pons_cx *cx);   // a time-out: what it waits for is canceled
int pons__policy_timed_out(const pons_cx *cx, pons_error *err);
bool pons__policy_recall(pons_cx *cx); // the cache has it
void pons__policy_store(pons_cx *cx);
void pons__policy_destroy(pons__policy *p);
// command.c
int pons__cx_route(pons_cx *cx, uint32_t to, pons_value *arg); // a goto, or a send (takes arg)
int pons__cx_escape(pons_cx *cx, const pons_value *escape, pons_error *err); // as the parent's node
int pons__command_routes(pons_cx *cx, const pons_command *cmd, pons_error *err);
int pons__cx_input(pons_cx *cx, const pons_value *input, pons_error *err);
int pons__run_patch(pons_run *r, const pons_value *writes, pons_error *err); // [[channel,value]…]
#define PONS__COMMAND_TASK "command" // whose records are updates that came with a resume
void pons__task_drop(pons_cx *cx);   // forgets what it wrote, where it goes, what it brings out
void pons__call_id(pons_cx *cx, pons__call *c, size_t n);
bool pons__task_waits_for_people(const pons_cx *cx);
void pons__task_trim(pons_cx *cx);   // the calls that another attempt makes anew
void pons__task_cancel(pons_cx *cx); // tells the handlers that nobody waits any more

// pool.c
int pons__work_run(pons_cx *cx,
                   pons_error *err); // of a blocking node: queues it, or takes its result
void pons__work_drop(pons_cx *cx);   // nobody waits for it any more; NULL-safe
int64_t pons__work_moved_ns(const pons_cx *cx); // the newest progress; 0: none
void pons__pool_close(pons_thread *t);          // waits for the workers

// Runs the child run of a subgraph node.
int pons__subgraph_run(pons_cx *cx, pons_error *err);
// Runs a TODO task to done, parked or failed.
void pons__task_run(pons_cx *cx);
void pons__task_start(pons_cx *cx, const pons_value *input); // the pass of START
void pons__task_clear(pons_cx *cx);                          // for another node
void pons__task_rewind(pons_cx *cx);                         // for another pass
void pons__task_destroy(pons_cx *cx);                        // NULL-safe
const char *pons__task_id(pons_cx *cx);           // mints the checkpoint's id when needed
void pons__task_hold(pons_cx *cx, pons_value *v); // takes v
void pons__task_fix(pons_cx *cx);                 // wall and seed, before a park
bool pons__task_pending(const pons_cx *cx);       // has an unanswered await of its own
void pons__cx_fault(pons_cx *cx, int st, const pons_error *err);
void pons__cx_break(pons_cx *cx, int st, const pons_error *err);
void pons__cx_make_id(pons_cx *cx, char ret[PONS_ID_MAX]);
int pons__cx_write(pons_cx *cx, uint32_t ch, pons_value *v, pons_error *err); // takes v
void pons__cx_dropped(const pons_cx *cx, const char *channel); // warns of a write to nowhere

// A task's records, as rows for a commit.
typedef struct pons__rows {
    pons_record_row *rows;
    size_t n, cap;
} pons__rows;
void pons__rows_fini(pons__rows *r);
int pons__rows_call(pons__rows *r, pons_cx *cx, size_t call, pons_error *err);
int pons__rows_task(pons__rows *r, pons_cx *cx, pons_error *err); // whatever is not saved yet
void pons__rows_saved(pons_cx *cx);
// Reads the records of a checkpoint into a run's tasks.
int pons__records_load(pons_run *r, pons_error *err);
int pons__rows_add(pons__rows *r, pons_run *run, const char *task, int32_t idx, pons_value *v,
                   pons_error *err); // takes v

// ---------------------------------------------------------------- runs and threads

typedef struct pons__flat { // a write, linked to the next one of its channel
    pons_value *v;
    uint32_t ch, task, next;
} pons__flat;
typedef struct pons__stage { // what a step makes of a channel
    uint32_t ch;
    enum { PONS__STAGE_SET, PONS__STAGE_APPEND, PONS__STAGE_MERGE } how;
    pons_value *v;
    size_t keep;
} pons__stage;

struct pons_run {
    pons_thread *t;
    const pons_graph *g; // a reference
    pons__ns *ns;        // NULL: another run took the namespace after this one had ended
    pons_run *parent;
    pons_cx *parent_task;
    bool durable; // false: no store, or a subgraph that is not checkpointed
    pons_run_options opts;
    int limit;
    int supersteps;
    pons_run_state state;
    pons_error error;

    pons_cx **tasks; // of the superstep under way, in path order; the rest is a pool
    size_t n_tasks, cap_tasks, n_pool;
    bool prepared;

    char cp_id[32]; // of the state in ns; empty: not minted
    bool cp_stored;
    bool commit_due; // a step was applied and must be stored before the next
    bool spoiled;    // an apply ended half-way: memory is not to be trusted
    bool stopped;    // interrupt_before/after
    bool starting;   // the input is being applied
    bool input_row;  // the start's first checkpoint is still to be stored
    char source;
    pons_cx *escaped; // the task whose command to the parent has ended this run
    bool drain;       // stop before the next superstep
    bool drained;
    bool wrote;               // the newest apply had a write
    int stepping;             // inside pons_run_step
    char base[32];            // the head when it began
    char input_id[32];        // of the start's first checkpoint; empty: not minted
    uint64_t serial;          // of the runs of its thread
    bool gap;                 // the state before the newest step is not stored,
    pons_value *ran;          // so that who ran in it must be: once other tasks are prepared, these
    pons_run *next_queued;    // submitted to a busy namespace: it waits in this list,
    pons__ns *queued_ns;      // of this one (NULL: it is not waiting),
    pons_value *queued_input; // with this
    int commands;             // records of updates that came with a resume
    pons__out out;

    pons__flat *flat;   // every write of the step, in task order
    pons__stage *stage; // every written channel
    pons_value **updates;
    size_t cap_flat, cap_stage, cap_updates;

    struct {
        const char *name;
        uint32_t ch;
    } lookup[32]; // pointer → channel
};
#define PONS__LOOKUP_SLOTS 32

struct pons_thread {
    pons_store store; // ops NULL: none
    pons_lease lease;
    char id[PONS_NAME_MAX];
    pons_clock clock;
    pons_rand rand;
    pons_id_source ids;
    pons_await_handler *handlers;
    size_t n_handlers;
    pons_event_cb on_event;
    void *user;
    pons__ns *namespaces;
    pons_buf buf;            // of the checkpoint being packed
    struct pons__pool *pool; // of blocking nodes; NULL until there is one
    pons_value *mem_inbox;   // without a store: [{seq, ns, kind, value}]
    pons_value *mem_effects; // without a store: {id: {state, …}}
    int64_t mem_seq;
    uint64_t serial; // of the newest run
};

typedef struct pons__extra { // what a commit carries besides the state
    pons_sync sync;
    pons__rows *rows;
    const pons__change *effect;
    bool may_wait; // may be queued
} pons__extra;

// Commits the state when it is not stored yet, what has gathered, and x. Nothing changes on
// failure.
int pons__run_commit(pons_run *r, const pons__extra *x, pons_error *err);
// Every commit of a thread goes through the first, every wait for queued ones through the second:
// a failure of either may mean that queued commits are lost, and marks whose they were.
int pons__thread_commit(pons_thread *t, pons__ns *ns, const pons_commit *c, bool queued,
                        pons_error *err);
int pons__thread_flush(pons_thread *t, pons_error *err);
// After a failure: a run whose queued commits were lost has FAILED.
void pons__run_lost(pons_run *r, const pons_error *err);
const char *pons__run_input_id(pons_run *r); // mints
const char *pons__run_cp(pons_run *r);       // mints
pons_run *pons__run_root(pons_run *r);
bool pons__run_note(pons_run *r, const char *only); // fills `ran`; only: instead of the tasks
uint32_t pons__run_channel(pons_run *r, const char *name);
pons_run *pons__run_create(pons_thread *t, const pons_graph *g, pons__ns *ns,
                           const pons_run_options *opts);
// cmd: instead of START's edges and routers; NULL: those.
int pons__run_begin(pons_run *r, const pons_value *input, const char *owner,
                    const pons_command *cmd, pons_error *err);
int pons__run_open(pons_thread *t, const pons_graph *g, const char *name,
                   const pons_run_options *opts, pons_run **ret, pons_error *err);
int pons__run_continue(pons_run *r, pons_error *err);
void pons__run_release(pons_run *r);
int pons__run_prepare(pons_run *r, pons_error *err);
// submit.c
void pons__queue_wake(pons__ns *ns); // the first one is READY when nothing is at work
int pons__queue_begin(pons_run *r, pons_error *err); // it is its turn, perhaps
void pons__queue_leave(pons_run *r);
// stream.c: all cost nothing when the run streams nothing
void pons__stream_state(pons_run *r, bool wrote, bool stored); // after an apply
// The input's checkpoint: before is the state without the input (taken).
void pons__stream_input(pons_run *r, pons_value *before);
pons_value *pons__stream_snapshot(const pons_run *r); // the state; NULL when nobody wants it
void pons__stream_task(pons_cx *cx, bool start);
void pons__stream_interrupts(pons_run *r);
bool pons__await_expected(const pons_cx *cx, const char *kind, const pons_value *request);
void pons__ns_drop(pons_thread *t, pons__ns *ns);
// Opens the child run of a subgraph task; without start, only one that was left unfinished.
int pons__subgraph_open(pons_cx *cx, bool start, pons_error *err);
void pons__run_wake(pons_run *r);    // READY, with its parents
int pons__awaits_start(pons_run *r); // calls the handlers that are due; how many
const pons_await_handler *pons__handler(const pons_thread *t, const char *kind);
pons_run_state pons__awaits_state(const pons_run *r);
void pons__awaits_drop(pons_cx *cx);    // a finished task wants no more answers
void pons__awaits_unasked(pons_cx *cx); // forgets what this pass asked and nobody has committed
int pons__apply(pons_run *r, pons_error *err);
pons_cx *pons__task_add(pons_run *r, uint32_t node_ix, pons_error *err);

int pons__effect_find(pons_cx *cx, const char *id, pons__change *ret, pons_error *err);
int pons__effect_check_move(pons_effect_state from, pons_effect_state to, const char *id,
                            pons_error *err);

#endif
