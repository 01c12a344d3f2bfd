// run_job.h - one run that a client asked for: what it is to do, and how far it is.
#pragma once

#include "pons/graph.h"

typedef enum pons__job_state {
    PONS__JOB_PENDING,
    PONS__JOB_RUNNING,
    PONS__JOB_SUCCESS,
    PONS__JOB_ERROR,
    PONS__JOB_INTERRUPTED, // somebody canceled it
    PONS__JOB_TIMEOUT,
    PONS__JOB_STATES
} pons__job_state;

// What becomes of a thread's runs that have not ended when another one comes.
typedef enum pons__multitask {
    PONS__MULTITASK_ENQUEUE,
    PONS__MULTITASK_REJECT,
    PONS__MULTITASK_INTERRUPT,
    PONS__MULTITASK_ROLLBACK,
    PONS__MULTITASKS
} pons__multitask;

#define PONS__TELL_NODE "langgraph_node"

// What whoever serves an await has to say to its run.
typedef enum pons__tell {
    PONS__TELL_ANSWER,
    PONS__TELL_MESSAGE, // a chunk of a message, before the answer; PONS__TELL_NODE in it: whose
    PONS__TELL_CUSTOM
} pons__tell;

enum { PONS__UUID = 37 };

// What a run is to do, decoded from its `kwargs`. Pointers are borrowed from them.
typedef struct pons__order {
    const pons_value *input; // NULL: goes on
    const pons_value *update, *go, *resume;
    bool command;           // there is one: it beats the input
    const char *checkpoint; // NULL: the newest
    const char *checkpoint_ns;
    const pons_value *before, *after; // "*" or lists of nodes
    const pons_value *context;
    const char *webhook; // NULL: none
    pons_durability durability;
    int recursion_limit; // 0: the graph's
    uint32_t stream;
    bool subgraphs;
} pons__order;

typedef struct pons__job {
    struct pons__job *next; // [queue]
    int refs;               // [queue]
    // const
    char id[PONS__UUID], thread[PONS_NAME_MAX], assistant[PONS_NAME_MAX], graph[PONS_NAME_MAX];
    pons__multitask multitask;
    int64_t created_ms, due_ms; // wall
    int64_t after;              // its events have greater numbers
    bool temporary;             // its thread goes with it
    bool taken_up;              // from a server before this one
    pons_value *kwargs, *metadata;
    pons__order order;
    // [queue]
    pons__job_state state;
    int attempt; // 0: never begun
    int64_t updated_ms;
    pons_value *error;   // {error, message}, or NULL
    bool stop, rollback; // it is to end before its time, and its checkpoints are to go as well
} pons__job;

const char *pons__job_word(pons__job_state s); // "pending", …
bool pons__multitask_of(const char *word, pons__multitask *ret);
const char *pons__multitask_word(pons__multitask m);
bool pons__job_ended(const pons__job *j); // [queue]

// A fresh id, as RFC 9562 has it: version 7, whose order is that of time. Any thread.
void pons__uuid(int64_t wall_ms, char ret[PONS__UUID]);

// Reads and checks what a run is to do. PONS_EINVAL says what cannot be done.
int pons__order_read(const pons_value *kwargs, pons__order *ret, pons_error *err);
// Takes kwargs and metadata (which may be NULL); a reference for the caller.
int pons__job_create(pons_value *kwargs, pons_value *metadata, pons__job **ret, pons_error *err);
void pons__job_free(pons__job *j); // without references
// As the store keeps it, and back. PONS_ECORRUPT.
pons_value *pons__job_keep(const pons__job *j);
int pons__job_read(const pons_value *kept, pons__job **ret, pons_error *err);
