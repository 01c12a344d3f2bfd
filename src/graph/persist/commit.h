// commit.h - what goes into the store at once.
#pragma once

#include "graph/core/task.h"
#include "graph/persist/pending_writes.h"

// The state of another namespace, which goes into the same commit: both are stored, or neither.
typedef struct pons__with {
    pons_run *run; // made for it
    pons_run *was; // that had the namespace
} pons__with;

typedef struct pons__extra { // what a commit carries besides the state
    pons_sync sync;
    pons__rows *rows;
    const pons__change *effect;
    const pons__with *with;
    size_t n_with;
    bool may_wait; // may be queued
} pons__extra;

// Commits the state when it is not stored yet, what has gathered, and x. Nothing changes on
// failure.
int pons__run_commit(pons_run *r, const pons__extra *x, pons_error *err);
