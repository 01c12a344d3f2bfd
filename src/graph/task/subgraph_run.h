// subgraph_run.h - a run inside a task.
#pragma once

#include "graph/core/task.h"

typedef struct pons__child { // the run that a task opens inside itself
    const pons_graph *g;
    pons_subgraph_mode mode;
    const char *place; // of its namespace, behind the node's name
    const char *owner;
} pons__child;
// Makes cx->child: one that is the owner's goes on where the store has it; without start only such
// a one. *ret_fresh: it is still to begin. On failure a child that is there is the caller's.
int pons__child_open(pons_cx *cx, const pons__child *o, bool start, bool *ret_fresh,
                     pons_error *err);
size_t pons__child_before(const pons_cx *cx); // tasks before it in this step that are the same node

// Runs the child run of a subgraph node.
int pons__subgraph_run(pons_cx *cx, pons_error *err);
// Opens it; without start, only one that was left unfinished.
int pons__subgraph_open(pons_cx *cx, bool start, pons_error *err);
