// task.h - a task: one node in one superstep, and what the node sees of the engine. Its run's loop
// thread's alone.
#pragma once

#include "graph/core/run.h"

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

#define PONS__HUMAN "human" // the kind of an await that a person answers

// Words of a record, by kind: pons__call_words.
typedef enum pons__call_kind {
    PONS__CALL_AWAIT,
    PONS__CALL_TASK,
    PONS__CALL_GRAPH,
    PONS__CALL_STEP // of one of the graph's tasks (task/future.c)
} pons__call_kind;

typedef struct pons__call { // the n-th await, interrupt or task of a task
    pons__call_kind kind;
    int round;  // of the attempt that made it
    char *name; // the await's kind, the task's name
    char hash[33];
    pons_value *request;
    pons_value *answer; // NULL: pending
    char id[40];
    int64_t deadline_ns;                        // host; 0: none
    int64_t deadline_wall_ms, deadline_span_ms; // the whole of it: what no clock makes longer
    bool saved;                                 // its record is committed
    bool start_due;                             // the handler is to be called
    bool restarted;
    bool canceled; // its handler was told that nobody waits any more
    bool early;    // its answer had come before it was asked
    bool detached; // scratch of a detach under way
    bool failed;   // of a task: the answer is its failure,
    bool taken;    // which the node has seen,
    bool accepted; // and gone on from: only then it is stored
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
    char id[PONS__TASK_ID_MAX]; // lazily; names its records

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
    int64_t wake_wall_ms, wake_span_ms;
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

    // Of a task that another one has called: who, and by which call. Of a place that is free: the next.
    pons_cx *caller;
    size_t caller_call;
    int depth;            // how many callers are around it
    bool retired;         // its place is free
    bool lent;            // its host runs it
    bool ahead;           // its pass has been begun, its function is still to be called
    pons_value *returned; // what a step gave; owned
};
