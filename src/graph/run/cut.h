// cut.h - what ends a run from outside its nodes: a cancel, a superstep's time.
#ifndef PONS_GRAPH_RUN_CUT_H
#define PONS_GRAPH_RUN_CUT_H

#include "graph/core/task.h"

// Whether a run is to end before its next superstep: it was canceled, or the time of a superstep
// around it is over. And its end: FAILED with PONS_ECANCELED, PONS_ETIMEOUT.
bool pons__cut_due(pons_run *r);
int pons__cut(pons_run *r, pons_error *err);
// When the superstep under way must have ended (host); INT64_MAX: there is no such time. Begins it.
int64_t pons__cut_step_ns(pons_run *r);
bool pons__cut_step_over(pons_run *r);
// It is over: the tasks that had not finished before the one at `from`, and all that have not run
// from there on, have failed. late: the one at `from` came back too late.
void pons__cut_step(pons_run *r, size_t from);

#endif
