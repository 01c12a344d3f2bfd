// future.h - tasks that a node calls (pons/functional.h), and the node that is an entrypoint.
#pragma once

#include "graph/core/task.h"

int pons__step_run(pons_cx *cx, pons_error *err); // an entrypoint's or a task's function, once
// Runs what cx has called before it ends. PONS_EPARKED: some of it waits.
int pons__futures_end(pons_cx *cx, pons_error *err);
// The store failed under a task: the caller's pass counts for nothing, either.
int pons__future_broken(pons_cx *cx, const pons_cx *called, pons_error *err);
pons__call *pons__future_call(const pons_cx *cx, pons_future f); // NULL: it has made no such call
int pons__step_take(pons_cx *cx, int st, pons_value *result,
                    pons_error *err); // what a function returned; takes it
// Of a task that was called and has come to an end: gives its caller the result.
void pons__future_settle(pons_cx *called);
