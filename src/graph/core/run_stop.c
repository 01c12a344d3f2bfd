// run_stop.c - a run that is to end before its graph does: canceled, or drained at the next step.
//
// Both set a mark on the root, on the run's own thread; run/superstep.c looks at it between steps.
#include "graph/core/run_accessors.h"

void pons_run_cancel(pons_run *r, pons_cancel_how how)
{
    pons_run *root = pons__run_root(r);
    root->cancel = root->cancel == PONS_CANCEL_NONE ? how : root->cancel;
    if (root->cancel != PONS_CANCEL_NONE &&
        (root->state == PONS_RUN_PARKED || root->state == PONS_RUN_INTERRUPTED)) {
        root->state = PONS_RUN_READY;
    }
}

void pons_run_drain(pons_run *r)
{
    pons__run_root(r)->drain = true;
}

bool pons_run_drained(const pons_run *r)
{
    if (r->drained && r->state == PONS_RUN_INTERRUPTED) {
        return true;
    }
    for (size_t i = 0; i < r->n_tasks && r->state == PONS_RUN_INTERRUPTED; i++) {
        if (r->tasks[i]->child && pons_run_drained(r->tasks[i]->child)) {
            return true;
        }
    }
    return false;
}
