// alloc_runs.h - how runs and tasks are made and freed. A task may hold a run, which holds tasks.
#pragma once

#include "graph/core/task.h"

pons_run *pons__run_create(pons_thread *t, const pons_graph *g, pons__ns *ns,
                           const pons_run_options *opts, const pons__loop *loop);
void pons__run_release(pons_run *r); // gives the namespace back
pons_cx *pons__task_add(pons_run *r, uint32_t node_ix, pons_error *err);
void pons__task_clear(pons_cx *cx);  // for another node
void pons__task_rewind(pons_cx *cx); // for another pass
// Tells who has begun them (pons_graph_begin) that the functions of these are not called any more.
void pons__task_give_up(pons_cx *cx);
void pons__tasks_give_up(pons_run *r);
// A run that waits for its namespace.
void pons__queue_wake(pons__ns *ns); // the first one is READY when nothing is at work
void pons__queue_leave(pons_run *r);
