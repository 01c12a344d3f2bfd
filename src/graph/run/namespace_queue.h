// namespace_queue.h - runs that wait for a namespace, and runs that leave it.
#pragma once

#include "graph/core/task.h"

int pons__queue_begin(pons_run *r, pons_error *err); // it is its turn, perhaps
// Ends the run of a namespace for another one; roll_back: its state goes back to where it began.
int pons__run_give_way(pons_run *old, bool roll_back, pons_error *err);
