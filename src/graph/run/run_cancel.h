// run_cancel.h - what ends a run from outside its nodes: a cancel, a superstep's time.
#pragma once

#include "graph/core/task.h"

// Whether a run is to end before its next superstep: it was canceled, or the time of a superstep
// around it is over. And its end: FAILED with PONS_ECANCELED, PONS_ETIMEOUT.
bool pons__cut_due(pons_run *r);
static inline bool pons__cut_possible(const pons_run *r) // else it is not due
{
    return r->parent || r->cancel != PONS_CANCEL_NONE || r->opts.cancel;
}
int pons__cut(pons_run *r, pons_error *err);
// When the superstep under way must have ended (host); INT64_MAX: there is no such time. Begins it.
int64_t pons__cut_step_ns(pons_run *r);
bool pons__cut_step_over_timed(pons_run *r);
static inline bool pons__cut_step_over(pons_run *r)
{
    return r->g->step_timeout_ms > 0 && pons__cut_step_over_timed(r);
}
// It is over: the tasks that had not finished before the one at `from`, and all that have not run
// from there on, have failed. late: the one at `from` came back too late.
void pons__cut_step(pons_run *r, size_t from);
