// commit.h - what goes into the store at once.
#ifndef PONS_GRAPH_KEEP_COMMIT_H
#define PONS_GRAPH_KEEP_COMMIT_H

#include "graph/core/task.h"
#include "graph/keep/record.h"

typedef struct pons__extra { // what a commit carries besides the state
    pons_sync sync;
    pons__rows *rows;
    const pons__change *effect;
    bool may_wait; // may be queued
} pons__extra;

// Commits the state when it is not stored yet, what has gathered, and x. Nothing changes on
// failure.
int pons__run_commit(pons_run *r, const pons__extra *x, pons_error *err);

#endif
