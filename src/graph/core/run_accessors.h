// run_accessors.h - small verbs on a run: its ids, its outermost run, who waits for it.
#pragma once

#include "graph/core/task.h"

const char *pons__run_input_id(pons_run *r); // of the start's first checkpoint; mints
const char *pons__run_cp(pons_run *r);       // of the state in its namespace; mints
pons_run *pons__run_root(pons_run *r);
void pons__run_wake(pons_run *r); // READY, with its parents
pons_cancel_how pons__run_cancel_asked(const pons_run *r);
// What was asked of it, or of those around it.
static inline pons_cancel_how pons__run_cancel_how(const pons_run *r)
{
    const bool none = !r->parent && r->cancel == PONS_CANCEL_NONE && !r->opts.cancel;
    return none ? PONS_CANCEL_NONE : pons__run_cancel_asked(r);
}
bool pons__run_at_work(const pons_run *r);          // NULL-safe
bool pons__run_note(pons_run *r, const char *only); // fills `ran`; only: instead of the tasks
uint32_t pons__run_channel(pons_run *r, const char *name); // or PONS__NONE
// After a failure: a run whose queued commits were lost has FAILED.
void pons__run_lost(pons_run *r, const pons_error *err);
