// called_tasks.c - tasks of a superstep that another task has called.
//
// They stand behind the superstep's own in the list of tasks. One that has ended leaves its place,
// which the next call takes, so an entrypoint of a hundred thousand calls has a handful of tasks.
#include "graph/core/called_tasks.h"

#include "graph/core/alloc_runs.h"
#include "graph/core/run_accessors.h"
#include "graph/engine.h"
#include "graph/util/hash.h"

pons_cx *pons__called_find(const pons_cx *caller, size_t call)
{
    pons_run *r = caller->run;
    for (size_t i = r->n_tasks; i-- > 0;) {
        if (r->tasks[i]->caller == caller && r->tasks[i]->caller_call == call) {
            return r->tasks[i];
        }
    }
    return NULL;
}

pons_cx *pons__called_add(pons_cx *caller, size_t call, pons_error *err)
{
    pons_run *r = caller->run;
    const pons__call *c = &caller->calls[call];
    const uint32_t node = pons__graph_node_find(r->g, c->name);
    pons_cx *t = r->spare;
    if (node >= r->g->n_nodes || !r->g->nodes[node].called) {
        pons_error_set(err, PONS_EINVAL, PONS__MODULE, "node '%s' calls '%s', which is no task",
                       caller->node->name, c->name);
        return NULL;
    }
    if (t) {
        r->spare = t->caller;
        pons__task_clear(t);
        t->node_ix = node;
        t->node = &r->g->nodes[node];
        t->node_special = true;
    } else {
        t = pons__task_add(r, node, err);
    }
    if (!t) {
        return NULL;
    }
    t->caller = caller;
    t->caller_call = call;
    t->depth = caller->depth + 1;
    t->arg = c->request ? pons_value_ref(c->request) : json_null();
    pons__task_hash(r->ns->name, pons__run_cp(r), c->id, 0, t->id);
    return t;
}

void pons__called_retire(pons_cx *called)
{
    pons_run *r = called->run;
    pons__task_clear(called);
    called->state = PONS__TASK_DONE;
    called->done_saved = called->streamed = called->retired = called->node_special = true;
    called->caller = r->spare;
    r->spare = called;
}
