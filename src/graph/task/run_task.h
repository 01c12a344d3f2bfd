// run_task.h - runs a task.
#pragma once

#include "graph/core/task.h"

void pons__task_run(pons_cx *cx); // a TODO task to done, parked or failed
// Opens the pass of a TODO task whose node has something to begin, and has it begun.
void pons__task_keep(pons_cx *cx); // what a begun one has made, before its step ends
void pons__task_begin(pons_cx *cx);
void pons__task_start(pons_cx *cx, const pons_value *input); // the pass of START
// A pass whose function somebody else runs: its begin, and what becomes of it. False: there is nothing
// to run.
bool pons__task_open(pons_cx *cx);
void pons__task_conclude(pons_cx *cx, int st, pons_error *said, bool input);
