// apply_writes.h - from the writes of a superstep to the next state.
#ifndef PONS_GRAPH_RUN_APPLY_WRITES_H
#define PONS_GRAPH_RUN_APPLY_WRITES_H

#include "graph/core/task.h"

int pons__apply(pons_run *r, pons_error *err); // on failure nothing has changed, or r is spoiled

#endif
