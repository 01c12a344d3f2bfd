// faults.c - failures of functions that cannot return one (a router's, a read's), and values that
// are lent to a node: the pass ends with the first fault.
#include "graph/core/faults.h"

#include "graph/engine.h"
#include "pons/growing_list.h"

void pons__cx_fault(pons_cx *cx, int st, const pons_error *err)
{
    if (cx->fault != PONS_OK) {
        return; // the first one says most
    }
    cx->fault = st;
    if (err && err->status != PONS_OK) {
        cx->fault_error = *err;
    } else {
        pons_error_set(&cx->fault_error, st, PONS__MODULE, "node '%s': %s", cx->node->name,
                       pons_status_word(st));
    }
}

int pons__too_deep(const pons_cx *cx, const char *does, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                          "node '%s' %s a value that is nested deeper than %d", cx->node->name,
                          does, PONS_VALUE_DEPTH_MAX);
}

void pons__cx_break(pons_cx *cx, int st, const pons_error *err)
{
    pons__cx_fault(cx, st, err);
    cx->broken = true;
}
int pons__task_fault(const pons_cx *cx, pons_error *err)
{
    if (err) {
        *err = cx->broken ? cx->fault_error : cx->error;
    }
    return cx->broken ? cx->fault : cx->error.status;
}

void pons__task_hold(pons_cx *cx, pons_value *v)
{
    if (!v) {
        return;
    }
    if (!pons_list_reserve(&cx->held, &cx->cap_held, cx->n_held + 1, sizeof *cx->held)) {
        pons_value_unref(v);
        pons__cx_fault(cx, PONS_ENOMEM, NULL);
        return;
    }
    cx->held[cx->n_held++] = v;
}
