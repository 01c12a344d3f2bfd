// run.h - a run: one invocation of a graph on a namespace. Its loop thread's alone.
#pragma once

#include "graph/core/thread.h"
#include "graph/state/task_output.h"

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

// How a run is driven. A task that has a subgraph inside drives it as its own run is driven, so the
// table is handed down from whoever starts the outermost run (run/superstep.h).
typedef struct pons__loop {
    // cmd: instead of START's edges and routers; NULL: those.
    int (*begin)(pons_run *r, const pons_value *input, const char *owner, const pons_command *cmd,
                 pons_error *err);
    int (*go_on)(pons_run *r, pons_error *err); // of one that is unfinished in the store
    int (*advance)(pons_run *r, pons_error *err);
    void (*task)(pons_cx *cx); // runs one that another has called
} pons__loop;

#define PONS__LOOKUP_SLOTS 32

struct pons_run {
    pons_thread *t;
    const pons_graph *g; // a reference
    pons__ns *ns;        // NULL: another run took the namespace after this one had ended
    pons_run *parent;
    pons_cx *parent_task;
    pons_subgraph_mode mode; // of one inside a task
    const pons__loop *loop;  // what drives it, and what is inside it
    bool durable;            // false: no store, or a subgraph that is not checkpointed
    pons_run_options opts;
    uint64_t *before, *after; // (n_words) breakpoints of this run; NULL: none
    pons_value *only;         // names of the nodes whose tasks are streamed; NULL: all
    int limit;
    int supersteps;
    pons_run_state state;
    pons_error error;

    pons_cx **tasks; // of the superstep under way, in path order; the rest is a pool
    size_t n_tasks, cap_tasks, n_pool;
    bool prepared;
    pons_cx *spare; // places of tasks that were called and have ended, by `caller`

    char cp_id[32]; // of the state in ns; empty: not minted
    bool cp_stored;
    bool commit_due; // a step was applied and must be stored before the next
    bool spoiled;    // an apply ended half-way: memory is not to be trusted
    bool stopped;    // interrupt_before/after
    bool starting;   // the input is being applied
    bool input_row;  // the start's first checkpoint is still to be stored
    char source;
    pons_cx *escaped;  // the task whose command to the parent has ended this run
    pons_value *early; // an answer that came before its question: the first one asked in this step
    bool early_used;   // takes it
    bool stop_shown;   // the stream has said so
    pons_cancel_how cancel; // asked of this run alone
    bool step_timed;        // the superstep's time has begun,
    int64_t step_began_ns;  // then (host)
    bool drain;             // stop before the next superstep
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
    } lookup[PONS__LOOKUP_SLOTS]; // pointer -> channel
};
