// faults.h - failures of functions that cannot return one, and values lent to a node.
#pragma once

#include "graph/core/task.h"

void pons__cx_fault(pons_cx *cx, int st, const pons_error *err); // the node has failed
void pons__cx_break(pons_cx *cx, int st, const pons_error *err); // the store has: the pass is void
int pons__task_fault(const pons_cx *cx, pons_error *err);        // why a task failed: its status
// PONS_EINVAL of a value that could not be read again from a store. does: "writes", "sends", ….
int pons__too_deep(const pons_cx *cx, const char *does, pons_error *err);
void pons__task_hold(pons_cx *cx, pons_value *v); // takes v, until the node returns
