// invoke.c - a whole run in one call: the thread is opened, the run driven to where it can go no
// further by itself, the state taken, the thread closed.
#include "graph/core/task_calls.h"
#include "graph/definition/io_schema.h"
#include "graph/engine.h"
#include "pons/graph.h"

#include <string.h>

static int begin(pons_thread *t, const pons_graph *g, const pons_value *input,
                 const pons_value *answer, const pons_run_options *opts, pons_run **ret,
                 pons_error *err)
{
    if (input) {
        return pons_run_start(t, g, "", input, opts, ret, err);
    }
    return answer ? pons_run_command(t, g, "", &(pons_command){.resume = answer}, opts, ret, err)
                  : pons_run_resume(t, g, "", opts, ret, err);
}

// Whether a channel is of the graph's output.
static bool shown(const pons_graph *g, size_t channel)
{
    const pons__channel *c = &g->channels[channel];
    const pons_value *names = pons__contract_names(&g->output);
    return names ? json_object_get(names, c->name) != NULL : !c->internal;
}

static int state_of(const pons_run *r, pons_value **ret, pons_error *err)
{
    pons_value *state = json_object();
    pons_autovalue pending = pons_run_pending(r);
    pons_value *asked = json_array();
    bool ok = state && pending && asked;
    for (size_t k = 0; k < r->g->n_channels && ok; k++) {
        const pons_value *v = shown(r->g, k) ? r->ns->slots[k].v : NULL;
        ok = !v || json_object_set_new(state, r->g->channels[k].name, pons_value_ref(v)) == 0;
    }
    pons_each(p, pending) {
        if (ok && strcmp(pons_get_str(p, "kind", ""), PONS__HUMAN) == 0) {
            ok = json_array_append_new(
                     asked, pons_object_whole("id", pons_value_ref(pons_get(p, "id")), "value",
                                              pons_value_ref(pons_get(p, "request")), NULL)) == 0;
        }
    }
    if (ok && r->state == PONS_RUN_INTERRUPTED) {
        ok = json_object_set(state, "__interrupt__", asked) == 0;
    }
    pons_value_unref(asked);
    if (!ok) {
        pons_value_unref(state);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a state");
    }
    *ret = state;
    return PONS_OK;
}

int pons_graph_invoke(const pons_graph *g, pons_store store, const char *thread,
                      const pons_value *input, const pons_value *answer,
                      const pons_run_options *opts, pons_value **ret_state, pons_error *err)
{
    pons_thread_options o = {.clock = pons_clock_real()};
    pons_thread *t = NULL;
    pons_run *r = NULL;
    if (input && answer) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "an answer goes on with a run, an input begins another");
    }
    int st = pons_thread_open(store, thread, &o, &t, err);
    if (st != PONS_OK) {
        return st;
    }
    st = begin(t, g, input, answer, opts, &r, err);
    if (st == PONS_OK) {
        st = pons_run_wait(r, err);
    }
    if (st == PONS_OK && r->state == PONS_RUN_FAILED) {
        st = r->error.status;
        if (err) {
            *err = r->error;
        }
    }
    if (st == PONS_OK) {
        st = state_of(r, ret_state, err);
    }
    pons_run_destroy(r);
    pons_thread_close(t);
    return st;
}
