// ext/store.h - the contract of a store: where threads, checkpoints, inboxes, effects and events
// are kept so that a run survives anything.
//
// A store knows nothing of graphs: checkpoints and records are opaque bytes to it, packed and read
// by the engine. What a store promises:
//
//   atomic    a pons_commit is applied whole or not at all, in the order given.
//   ordered   commits of one thread become visible and durable in the order they were made.
//   fenced    a commit carries the lease's epoch; a stale one is refused with PONS_ESTALE, and
//             nothing of it is applied.
//   numbered  inbox messages and events get rising sequence numbers per thread, without reuse.
//
// Threads: every op may be called from any thread of the process, at once, unless marked otherwise;
// a store may block for I/O in commit and reads. Callbacks run on the calling thread, under no lock
// of the store that a second call would need; pointers passed to them live only for the call. Rows
// that an op returns through `ret` are freed with pons_bytes_free.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_STORE_ABI      5u
#define PONS_NAME_MAX       128    // thread and namespace names, bytes with the zero
#define PONS_ITEM_MAX       512    // an item's namespace, and its key: bytes with the zero
#define PONS_ITEM_WORD_MAX  256    // bytes of one of its words
#define PONS_ITEM_WORDS_MAX 524288 // of all of them

typedef struct pons_bytes { // borrowed
    const void *data;
    size_t len;
} pons_bytes;

// Who holds a thread.
typedef struct pons_lease {
    char thread[PONS_NAME_MAX];
    uint64_t epoch; // rises with each acquisition, durable
    int64_t pid;    // of the holder
    char host[64];  // of the holder
    void *impl;     // the store's own (a locked file, …)
} pons_lease;

typedef enum pons_sync {
    PONS_SYNC_NORMAL, // survives the death of the process; the machine's death may cost the newest
    PONS_SYNC_FULL    // on stable storage when the call returns
} pons_sync;

// One checkpoint, a packed row a step.
typedef struct pons_checkpoint_row {
    char id[32];     // time-sortable
    char parent[32]; // empty for the first
    int64_t step;    // -1: input
    bool snapshot;   // readable without its ancestors
    pons_bytes data; // the engine's
    const char
        *ns; // in a commit, when it is not that of the commit; NULL: it is. Not filled by reads
} pons_checkpoint_row;

// A task's record under a checkpoint: pending writes, awaits and their answers, task results. Same
// (task, idx) replaces.
typedef struct pons_record_row {
    char checkpoint[32];
    char task[40];
    int32_t idx;
    pons_bytes data;
} pons_record_row;

typedef struct pons_inbox_row {
    int64_t seq; // filled by the store
    const char *ns;
    const char *kind;
    pons_bytes value;
} pons_inbox_row;

typedef struct pons_event_row {
    int64_t seq; // filled by the store, rising per thread from 1
    const char *ns;
    int64_t ts_ms; // wall clock
    const char *type;
    pons_bytes payload; // JSON text
} pons_event_row;

// An effect: one intended change of the world. See graph.h for its life.
typedef struct pons_effect_row {
    char id[40];
    const char *ns;
    int32_t state;   // pons_effect_state
    int64_t created; // wall ms
    int64_t updated; // wall ms
    pons_bytes data; // JSON text, the engine's
} pons_effect_row;

// An item: a document that belongs to no thread, found by its namespace and key, by its words, or by
// its vectors (pons/items.h). Namespaces are labels joined by '.', none of them empty.
typedef struct pons_item_row {
    const char *ns;
    const char *key;
    pons_bytes value;   // JSON text, the caller's
    const char *words;  // what a search for words finds it by, a space between two; "": nothing
    pons_bytes vectors; // the caller's; may be empty
    int64_t created_ms; // wall; filled by the store
    int64_t updated_ms; // wall: when it was put, by the clock of who puts it
    int64_t ttl_ms;     // 0: for ever
    int64_t expires_ms; // wall: from then on it is not there any more; 0: never
} pons_item_row;

typedef enum pons_item_do {
    PONS_ITEM_PUT,    // a new one, or in the place of an old one, whose created_ms it keeps
    PONS_ITEM_DELETE, // only ns and key count; one that is not there is gone already
    PONS_ITEM_TOUCH   // only ns, key, updated_ms (now) and expires_ms: lives until then
} pons_item_do;

typedef struct pons_item_write {
    pons_item_do what;
    pons_item_row row;
} pons_item_write;

// Which items. An item is in a namespace that begins with the labels of `prefix`.
typedef struct pons_item_find {
    const char *prefix; // NULL or "": any
    const char *words;  // with at least one of these, a space between two; NULL: any
    int64_t now_ms;     // wall: what has expired by then is not there
} pons_item_find;

// Everything that becomes true at once. Arrays may be NULL when their count is 0.
typedef struct pons_commit {
    const pons_lease *lease; // whose epoch fences it
    const char *ns;          // of the checkpoint and the records
    pons_sync sync;
    const pons_checkpoint_row *checkpoints; // usually one; several after quiet steps
    size_t n_checkpoints;
    const pons_record_row *records;
    size_t n_records;
    const int64_t *inbox_taken; // consumed messages of this thread
    size_t n_inbox_taken;
    const pons_inbox_row *posts; // to namespaces of this thread
    size_t n_posts;
    const pons_effect_row *effects; // upsert by id
    size_t n_effects;
    pons_event_row *events; // seq is filled in
    size_t n_events;
    const pons_item_write *items; // in this order
    size_t n_items;
    // Of commit_async, may be NULL: called when it has been written, or was refused, on whatever thread
    // did that, with no lock held and before a drain or a flush that waits for it returns; of several
    // with the same user that are written together once.
    void (*written)(void *user);
    void *user;
} pons_commit;

typedef struct pons_thread_info {
    const char *thread;
    int64_t created_ms, updated_ms;
    int64_t checkpoints, events, bytes; // bytes: what it occupies, about
    int64_t holder_pid;                 // 0: nobody
    const char *holder_host;
    pons_bytes note; // what thread_note has set; empty: nothing
} pons_thread_info;

// What stays of a thread, and so what goes. A checkpoint stays when any rule keeps it: it is the
// newest of its namespace, it is among the last `keep_last`, or it was made since `keep_since_ms`;
// and with each that stays, those that it is read from, back to its snapshot. With both rules 0 all
// checkpoints stay. Records go with their checkpoint. Messages and effects always stay.
typedef struct pons_prune {
    const pons_lease *lease; // the caller's; NULL: the store takes the thread for as long
    const char *ns;          // NULL: each namespace of the thread
    // Checkpoints by number, in the order of commits. < 0: not even the newest stays and the times
    // do not count, for a namespace that nobody will read again (ns must be given).
    int64_t keep_last;
    int64_t keep_since_ms; // wall ms, by the time in the id; one without a time is old
    int64_t
        events_since_ms; // events before the first one since then go, except the newest; 0: none
    bool more;           // another prune follows at once: space may be given back with that one
} pons_prune;

typedef struct pons_prune_result {
    int64_t checkpoints, events; // removed
    int64_t bytes_before;        // size of the whole store, about
    int64_t bytes_after;
} pons_prune_result;

// What is old, for `trim`, which takes a little of it away at a time: in the order of commits, the
// oldest first, whatever clocks say.
typedef struct pons_trim {
    const pons_lease *lease; // the caller's
    int32_t limit;           // rows that may go in this call; > 0
    // The checkpoints of a namespace that were committed before this one, with their records. It
    // stays, as do those that it is read from, back to its snapshot. Rows that are no snapshots must
    // be read from the row before them, as the engine's are. NULL: none.
    const char *ns, *before;
    // Events with smaller numbers whose type is named (a '*' at its end stands for the rest;
    // NULL-terminated) keep their number, time and type, and lose their payload, which becomes
    // {"pruned":true}. 0: none.
    int64_t thin_before;
    const char *const *thin_types;
    int64_t thin_at; // in and out: events up to this number have been seen to
    // Events with smaller numbers go, but never the newest. 0: none.
    int64_t events_before;
    // Effects of these states (1 << state), made and last changed before this wall time, go, up to
    // the first of them that was made since then; but never the newest. 0: none.
    int64_t effects_before_ms;
    uint32_t effect_states;
} pons_trim;

typedef struct pons_trim_result {
    int64_t checkpoints, events, effects; // that went in this call
    int64_t thinned;                      // events that lost their payload
    int64_t bytes;                        // that the whole store uses, about
    bool more;                            // another call would take more away
} pons_trim_result;

// Return 0 to go on, anything else to stop early (the op then returns PONS_OK).
typedef int (*pons_checkpoint_fn)(void *user, const pons_checkpoint_row *row);
typedef int (*pons_record_fn)(void *user, const pons_record_row *row);
typedef int (*pons_inbox_fn)(void *user, const pons_inbox_row *row);
typedef int (*pons_event_fn)(void *user, const pons_event_row *row);
typedef int (*pons_effect_fn)(void *user, const pons_effect_row *row);
typedef int (*pons_thread_fn)(void *user, const pons_thread_info *info);
typedef int (*pons_item_fn)(void *user, const pons_item_row *row);

// ---- lanes --------------------------------------------------------------------------------------
//
// A session is work for one target, a lane the queue of a target: at most one of its sessions runs.
// Any number of runners, on any number of machines, take sessions from the lanes.
//
//     enqueue -> PENDING --claim--> RUNNING --finish--> SUCCEEDED | FAILED | UNKNOWN
//                   ^  \               |
//                   |   +--cancel--> CANCELLED
//                   +--wake-- WAITING <-+ finish, with the time from which it may go on
//
// Whoever claims gets the lane's epoch, and writes nothing any more once somebody else has it. Runners
// beat; who sees no beat of another for a while, by a clock of its own, reclaims what that one has:
// no clock of two machines is compared.

#define PONS_SESSION_DATA_MAX (16 * 1024 * 1024) // bytes of data, and of a note

typedef enum pons_session_state {
    PONS_SESSION_PENDING,
    PONS_SESSION_WAITING, // pending again from due_ms on
    PONS_SESSION_RUNNING,
    PONS_SESSION_SUCCEEDED,
    PONS_SESSION_FAILED,  // these and UNKNOWN stay: dead letters
    PONS_SESSION_UNKNOWN, // it ran, and nobody can say what became of it
    PONS_SESSION_CANCELLED
} pons_session_state;

typedef struct pons_session_row {
    const char *id;   // unique in the store; bytes with the zero at most PONS_NAME_MAX, as lane's
    const char *lane; // its target
    int32_t priority; // the smaller the earlier
    int64_t order_ms; // among equals: when it was made; then as they came
    pons_bytes data;  // what is to be done, the caller's
    // Filled by the store.
    int64_t seq;       // by which they came
    int32_t state;     // pons_session_state
    int32_t attempt;   // how often it was claimed
    uint64_t epoch;    // of its lane, when it was claimed or reclaimed last; rises
    const char *owner; // RUNNING: the runner; else ""
    int64_t due_ms;    // WAITING: wall time
    pons_bytes note;   // the runner's: how far it is, what came of it
} pons_session_row;

typedef struct pons_session_claim {
    const char *runner;       // who claims; at most PONS_NAME_MAX bytes with the zero
    const char *const *lanes; // only these; NULL: any
    size_t n_lanes;
} pons_session_claim;

typedef struct pons_session_end {
    const char *id;
    uint64_t epoch; // as it was claimed
    int32_t state;  // SUCCEEDED, FAILED, UNKNOWN, or WAITING for another attempt
    int64_t due_ms; // WAITING: wall time
    pons_bytes note;
    const char *next_for; // the runner that takes the lane's next session at once; NULL: nobody
} pons_session_end;

typedef struct pons_session_find {
    uint32_t states;  // bits (1 << state)
    const char *lane; // NULL: any
    int64_t after;    // sessions with greater seq
    int64_t limit;    // 0: all
} pons_session_find;

// What has ended and is old, for `trim`, which takes a little of it away at a time: in the order in which they
// came, so no clock is asked. The newest of all always stays.
typedef struct pons_session_trim {
    int64_t keep; // SUCCEEDED and CANCELLED among so many of the last that came stay; < 0: all
    int64_t keep_failed; // FAILED and UNKNOWN, in the same way
    int64_t after;       // where the last call stopped; 0: at the oldest. Moved on by the call
    int32_t limit;       // so many are looked at; greater than 0
} pons_session_trim;

typedef struct pons_session_trimmed {
    int64_t sessions, failed; // that are gone: SUCCEEDED and CANCELLED; FAILED and UNKNOWN
    bool more;                // another call has something to look at
} pons_session_trimmed;

typedef int (*pons_session_fn)(void *user, const pons_session_row *row);
// beats: how many there were; 0: it has lanes and never beat.
typedef int (*pons_runner_fn)(void *user, const char *runner, int64_t beats);

typedef struct pons_lane_ops {
    // All of them or none, in this order. PONS_EEXIST names the id that is there already.
    int (*enqueue)(void *self, const pons_session_row *rows, size_t n, pons_error *err);
    // Of one that waits or is pending: lane, priority, order and data. PONS_ENOTFOUND;
    // PONS_EREFUSED: it is claimed, or has ended.
    int (*change)(void *self, const pons_session_row *row, pons_error *err);
    int (*cancel)(void *self, const char *id, pons_bytes note, pons_error *err); // as change
    // The first session of all lanes that are free: fn gets it, RUNNING. PONS_ENOTFOUND: none; also
    // while another claims the same.
    int (*claim)(void *self, const pons_session_claim *how, pons_session_fn fn, void *user,
                 pons_error *err);
    // What the runner wants to be known when it dies. PONS_ESTALE: the session is not its own any more.
    int (*note)(void *self, const char *id, uint64_t epoch, pons_bytes note, pons_error *err);
    // fn gets what next_for has claimed by this, if anything. PONS_ESTALE: nothing has changed.
    int (*finish)(void *self, const pons_session_end *end, pons_session_fn fn, void *user,
                  pons_error *err);
    // Sessions whose time has come are pending again. *ret_due_ms: when the next one's comes; 0: none
    // waits.
    int (*wake)(void *self, int64_t now_ms, int64_t *ret_due_ms, pons_error *err);
    int (*beat)(void *self, const char *runner, pons_error *err);
    int (*leave)(void *self, const char *runner, pons_error *err); // beats no more; keeps its lanes
    int (*runners)(void *self, pons_runner_fn fn, void *user, pons_error *err);
    // All that `gone` runs is the runner's, each lane with a higher epoch: fn gets each session.
    // PONS_ESTALE: it has beaten since `beats`.
    int (*reclaim)(void *self, const char *gone, int64_t beats, const char *runner,
                   pons_session_fn fn, void *user, pons_error *err);
    int (*get)(void *self, const char *id, pons_session_fn fn, void *user,
               pons_error *err); // PONS_ENOTFOUND
    int (*list)(void *self, const pons_session_find *find, pons_session_fn fn, void *user,
                pons_error *err); // as they came
    // A descriptor that gets readable when a lane's first session has changed, or may have: then claim
    // all that there is. As notify_fd. NULL: look each second.
    int (*event_fd)(void *self);
    // Takes a little of what is old away; ids of what is gone are free again. *ret is written on success.
    int (*trim)(void *self, pons_session_trim *what, pons_session_trimmed *ret, pons_error *err);
} pons_lane_ops;

typedef struct pons_lanes { // copied by value
    const pons_lane_ops *ops;
    void *self;
} pons_lanes;

typedef struct pons_store_ops {
    uint32_t abi; // PONS_STORE_ABI
    const char *name;

    void (*close)(void *self); // drains, then frees; NULL-safe

    // Creates the thread when it is new. PONS_EBUSY with "held by pid P on HOST" when another has
    // it.
    int (*lease_acquire)(void *self, const char *thread, pons_lease *ret, pons_error *err);
    void (*lease_release)(void *self, pons_lease *lease);
    // For a display: the holder of a thread, or PONS_ENOTFOUND. Takes nothing.
    int (*lease_peek)(void *self, const char *thread, pons_lease *ret, pons_error *err);

    int (*commit)(void *self, const pons_commit *c, pons_error *err);
    // Queues (copying everything) and returns; blocks only for backpressure. A failure shows at the
    // next commit, commit_async or drain of that thread, which is then refused. Event seqs are not
    // filled. Ordered with commit.
    int (*commit_async)(void *self, const pons_commit *c, pons_error *err);
    int (*drain)(void *self, pons_error *err); // waits for everything queued

    // The newest checkpoint of a namespace and its ancestors back to the nearest snapshot, handed
    // to fn oldest first (the snapshot), ending with the head. PONS_ENOTFOUND when there is none.
    int (*head)(void *self, const char *thread, const char *ns, pons_checkpoint_fn fn, void *user,
                pons_error *err);
    // The same for one checkpoint id.
    int (*checkpoint)(void *self, const char *thread, const char *ns, const char *id,
                      pons_checkpoint_fn fn, void *user, pons_error *err);
    // Rows newest first, `before` exclusive ("" for the head), at most limit (0: all).
    int (*history)(void *self, const char *thread, const char *ns, const char *before,
                   int64_t limit, pons_checkpoint_fn fn, void *user, pons_error *err);
    // Records under a checkpoint, by (task, idx).
    int (*records)(void *self, const char *thread, const char *ns, const char *checkpoint,
                   pons_record_fn fn, void *user, pons_error *err);
    // The namespaces that have checkpoints, as rows with only ns filled.
    int (*namespaces)(void *self, const char *thread, int (*fn)(void *user, const char *ns),
                      void *user, pons_error *err);

    // From any process: durable (NORMAL), ordered. Creates the thread when it is new. Needs no
    // lease.
    int (*inbox_post)(void *self, const char *thread, const pons_inbox_row *row, int64_t *ret_seq,
                      pons_error *err);
    // Unconsumed messages with seq > after, in order. ns NULL: all namespaces.
    int (*inbox_read)(void *self, const char *thread, const char *ns, int64_t after,
                      pons_inbox_fn fn, void *user, pons_error *err);

    int (*effect_get)(void *self, const char *thread, const char *id, pons_effect_fn fn, void *user,
                      pons_error *err); // PONS_ENOTFOUND
    // Effects whose state's bit (1 << state) is in mask, in order of creation.
    int (*effects)(void *self, const char *thread, uint32_t state_mask, pons_effect_fn fn,
                   void *user, pons_error *err);
    int (*events)(void *self, const char *thread, int64_t after, int64_t limit, pons_event_fn fn,
                  void *user, pons_error *err);
    int (*event_last)(void *self, const char *thread, int64_t *ret_seq, pons_error *err);

    int (*threads)(void *self, pons_thread_fn fn, void *user, pons_error *err);
    // PONS_EBUSY while somebody holds it.
    int (*thread_delete)(void *self, const char *thread, pons_error *err);

    // The rest came later: NULL in a store that can't.

    // Makes thread `to` with all that `from` has at this moment: checkpoints, records, effects,
    // events with their numbers, but not its messages, which were meant for `from`. Needs no lease:
    // a thread at work is copied between two commits. PONS_ENOTFOUND; PONS_EEXIST when there is a
    // thread `to`.
    int (*thread_copy)(void *self, const char *from, const char *to, pons_error *err);
    // Removes what `what` does not keep, and gives the space back. Whatever stays can be read as
    // before; numbers of events go on; the id of a checkpoint that went may come again. It may be
    // stopped at any moment, and removes the newest first, so that everything there is readable
    // then, too. Nobody may commit a child of a checkpoint that is going. ret may be NULL.
    // PONS_ENOTFOUND; PONS_EBUSY when somebody holds the thread and no lease was given;
    // PONS_ESTALE.
    int (*prune)(void *self, const char *thread, const pons_prune *what, pons_prune_result *ret,
                 pons_error *err);
    // Takes a little of what is old away, in one transaction: for a program that has other things to
    // do. Killed at any moment, all that is there can be read as before; numbers of events go on.
    // Space is given back by calls that find nothing else. PONS_ESTALE; PONS_ENOTFOUND when there is
    // no checkpoint `before` (then nothing went). what->thin_at is set, also for nothing.
    int (*trim)(void *self, pons_trim *what, pons_trim_result *ret, pons_error *err);
    // A descriptor that gets readable when messages or events of others may have come, on any
    // thread; reading its 8 bytes clears it. The store's own, to the close; < 0: a status. A store
    // without this op has to be looked at.
    int (*notify_fd)(void *self);
    // As drain, of one thread: waits for what is queued of it, and tells only its failure. Without
    // this op the threads of a store hear of each other's failures at a drain.
    int (*flush)(void *self, const pons_lease *lease, pons_error *err);
    // Whether calls fail because the store is away for now: it cannot be reached, its disk is full or
    // fails, or it came back without what had not been synced. Nothing that was synced is lost: release the thread, take
    // it again until that succeeds, and go on from its head. Without this op a failure is for good.
    bool (*away)(void *self);

    // Items. Needs no lease, from any process: all of them or none, durable as a commit is. Where
    // an item and the state of a thread belong together, it goes into the commit.
    int (*items_write)(void *self, const pons_item_write *items, size_t n, pons_sync sync,
                       pons_error *err);
    int (*item_get)(void *self, const char *ns, const char *key, int64_t now_ms, pons_item_fn fn,
                    void *user, pons_error *err); // PONS_ENOTFOUND
    // Newest put first, then by namespace and key, in the order of bytes.
    int (*items)(void *self, const pons_item_find *find, pons_item_fn fn, void *user,
                 pons_error *err);
    // The namespaces that have items, in the order of bytes.
    int (*item_spaces)(void *self, int64_t now_ms, int (*fn)(void *user, const char *ns),
                       void *user, pons_error *err);
    // Removes what has expired. ret may be NULL.
    int (*items_sweep)(void *self, int64_t now_ms, int64_t *ret_removed, pons_error *err);
    // Writes what is known of a thread as a whole (its metadata: the caller's bytes), which goes
    // with it and is copied with it. Makes the thread when it is new. `was`: only if that is what
    // stands there, else PONS_EEXIST; NULL: whatever stands there. Needs no lease.
    int (*thread_note)(void *self, const char *thread, pons_bytes note, const pons_bytes *was,
                       pons_error *err);
    // Threads as `threads` tells them, or that one alone (PONS_ENOTFOUND). Without sizes it reads
    // one row a thread: checkpoints, events and bytes are 0, updated_ms is that of the row.
    int (*thread_list)(void *self, const char *thread, bool sizes, pons_thread_fn fn, void *user,
                       pons_error *err);
    void (*lanes)(void *self, pons_lanes *ret); // the store's, to its close
} pons_store_ops;

// A store at work: copied by value; `self` outlives every copy.
typedef struct pons_store {
    const pons_store_ops *ops;
    void *self;
} pons_store;

// A store that is loaded: what the module "store-NAME" exports (pons/module.h).
//
//     const void *ops;
//     pons_module_load("store", "postgres", &ops, &err);
//     ((const pons_store_driver *)ops)->open(url, &store, &err);
#define PONS_STORE_DRIVER_ABI 4u
typedef struct pons_store_driver {
    uint32_t abi;     // PONS_STORE_DRIVER_ABI
    const char *name; // "postgres"
    // url: all that was written, "NAME:" with it. Errors as those of pons_store_sqlite_open, PONS_EENV when the server can't be reached.
    int (*open)(const char *url, pons_store *ret, pons_error *err);
} pons_store_driver;
// Opens what a person wrote: "memory:"; "NAME:…" by the module store-NAME, which gets all of it
// ("postgresql://…" is store-postgres, too); anything else is the path of an SQLite file. "sqlite:"
// may stand before a path, and has to where the path itself begins with a word and a colon.
int pons_store_open(const char *url, pons_store *ret, pons_error *err);

// SQLite, which is linked in, in memory or in one file. In memory: what it has is gone when it is closed.
// In a file: WAL; locks are files under `path`-locks/. Errors: PONS_EENV when the file can't be made or
// is not a pons store; PONS_ECORRUPT; PONS_EUNSUPPORTED for a newer schema, by its number.
int pons_store_memory_open(pons_store *ret, pons_error *err);
int pons_store_sqlite_open(const char *path, pons_store *ret, pons_error *err);
void pons_store_close(pons_store *s); // NULL-safe and closed-safe

PONS_C_END
