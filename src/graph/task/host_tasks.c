// host_tasks.c - tasks that were called and that a host runs itself, on threads of its own.
//
//   call --> lend: the pass is begun (time-out, schema, cache) --> the host works --> give back: the pass
//                                                                                     is concluded
//
// Nothing else runs a task that is lent; all of it but the work is on the loop thread.
#include "graph/core/called_tasks.h"
#include "graph/engine.h"
#include "graph/persist/stream.h"
#include "graph/task/future.h"
#include "graph/task/run_task.h"

int pons_future_lend(pons_cx *cx, pons_future f, pons_cx **ret, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    const pons__call *c = pons__future_call(cx, f);
    if (!c) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "node '%s' has no future %zu",
                              cx->node->name, f.call);
    }
    pons_cx *t = c->answer ? NULL : pons__called_find(cx, f.call);
    *ret = NULL;
    if (!t || t->lent || t->state != PONS__TASK_TODO) {
        return PONS_OK;
    }
    if (cx->run->opts.stream) {
        pons__stream_task(t, true);
    }
    t->lent = pons__task_open(t);
    *ret = t->lent ? t : NULL;
    if (!t->lent) {
        pons__future_settle(t);
    }
    return t->broken ? pons__future_broken(cx, t, err) : PONS_OK;
}

int pons_future_give_back(pons_cx *lent, int st, const pons_error *said, pons_value *result,
                          pons_error *err)
{
    pons_error e = PONS_ERROR_INIT, own = PONS_ERROR_INIT;
    pons_cx *caller = lent->caller;
    err = err ? err : &own;
    if (said) {
        e = *said;
    }
    st = pons__step_take(lent, st, result, &e);
    lent->lent = false;
    pons__task_conclude(lent, st, &e, false);
    if (!lent->broken) {
        pons__future_settle(lent);
    }
    return lent->broken ? pons__future_broken(caller, lent, err) : PONS_OK;
}
