// run_open.h - opens a run and brings it to its first superstep.
#pragma once

#include "graph/core/task.h"

// A run on a free namespace; nothing has begun.
int pons__run_open(pons_thread *t, const pons_graph *g, const char *name,
                   const pons_run_options *opts, const pons__loop *loop, pons_run **ret,
                   pons_error *err);
// cmd: instead of START's edges and routers; NULL: those.
int pons__run_begin(pons_run *r, const pons_value *input, const char *owner,
                    const pons_command *cmd, pons_error *err);
int pons__run_continue(pons_run *r, pons_error *err);
int pons__run_prepare(pons_run *r, pons_error *err); // the tasks of the next superstep
bool pons__run_stops_here(const pons_run *r);
// interrupt_before or interrupt_after holds it here
static inline bool pons__run_stop_due(const pons_run *r)
{
    return (r->g->stops || r->before || r->after) && pons__run_stops_here(r);
}
