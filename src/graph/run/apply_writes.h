// apply_writes.h - from the writes of a superstep to the next state.
#pragma once

#include "graph/core/task.h"

int pons__apply(pons_run *r, pons_error *err); // on failure nothing has changed, or r is spoiled
