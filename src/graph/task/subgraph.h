// subgraph.h - a run inside a task.
#ifndef PONS_GRAPH_TASK_SUBGRAPH_H
#define PONS_GRAPH_TASK_SUBGRAPH_H

#include "graph/core/task.h"

// Runs the child run of a subgraph node.
int pons__subgraph_run(pons_cx *cx, pons_error *err);
// Opens it; without start, only one that was left unfinished.
int pons__subgraph_open(pons_cx *cx, bool start, pons_error *err);

#endif
