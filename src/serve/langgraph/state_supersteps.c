// state_supersteps.c - changes of a thread's state from outside, as if its nodes had made them.
//
// They take the thread's lease for the moment, so they wait until the run host has let go of it, and
// are refused while a run is under way.
#include "serve/langgraph/state_supersteps.h"

#include "pons/out_of_memory.h"
#include "serve/langgraph/run_request.h"

#include <stdlib.h>
#include <string.h>

typedef struct holding {
    const pons_serve_graph *g;
    pons_thread *t;
} holding;

static int hold(pons_serve *s, const char *thread, holding *h, pons_error *err)
{
    pons__runhost_settle(s->host, thread);
    h->g = pons__lg_graph_of(s, thread);
    if (pons__runhost_busy(s->host, thread)) {
        return pons_error_set(
            err, PONS_EBUSY, PONS__SERVE,
            "thread %s is busy: its state can be changed when its runs have ended", thread);
    }
    if (!h->g) {
        return pons_error_set(err, PONS_EINVAL, PONS__SERVE,
                              "thread %s has no graph yet (metadata.graph_id)", thread);
    }
    return pons_thread_open(s->o.store, thread,
                            &(pons_thread_options){.clock = s->o.clock,
                                                   .handlers = h->g->handlers,
                                                   .n_handlers = h->g->n_handlers},
                            &h->t, err);
}

// Values of a client: null is nothing; a list of {channel: value} is one after the other, folded into
// an object of its members.
static pons_value *values_of(const pons_value *v)
{
    if (!json_is_array(v)) {
        return json_is_object(v) ? pons_value_ref(v) : NULL;
    }
    pons_value *all = json_object();
    pons_each(one, v) {
        if (json_is_object(one)) {
            json_object_update(all, one);
        }
    }
    return all;
}

static const pons_value *updates_of(const pons_value *step)
{
    return json_is_array(step) ? step : pons_get(step, "updates");
}

int pons__lg_supersteps(pons_serve *s, const char *thread, const pons_value *steps, pons_error *err)
{
    holding h = {0};
    const size_t n = json_array_size(steps);
    size_t i, used = 0;
    json_t *step;
    int rc = hold(s, thread, &h, err);
    if (rc < 0) {
        return rc;
    }
    size_t all = 0;
    json_array_foreach(steps, i, step) {
        all += json_array_size(updates_of(step));
    }
    pons_state_step *list = pons_need_zeroed(n + 1, sizeof *list);
    pons_state_change *changes = pons_need_zeroed(all + 1, sizeof *changes);
    pons_value **kept = pons_need_zeroed(all + 1, sizeof *kept);
    json_array_foreach(steps, i, step) {
        list[i].changes = changes + used;
        pons_each(one, updates_of(step)) {
            const pons_value *command = pons_get(one, "command");
            const pons_value *values = pons_get(one, "values");
            kept[used] = values_of(values ? values : pons_get(command, "update"));
            changes[used] = (pons_state_change){kept[used], pons_get_str(one, "as_node", NULL)};
            if (changes[used].as_node && strcmp(changes[used].as_node, "__input__") == 0) {
                changes[used].as_node = PONS_START;
            }
            used++;
            list[i].n++;
        }
    }
    char id[32];
    rc = pons_state_update_bulk(h.t, h.g->graph, h.g->ns, list, n, id, err);
    for (i = 0; i < used; i++) {
        pons_value_unref(kept[i]);
    }
    free(kept);
    free(changes);
    free(list);
    pons_thread_close(h.t);
    return rc;
}

int pons__lg_update(pons_serve *s, const char *thread, const char *ns, const char *checkpoint,
                    const pons_value *values, const char *as_node, char ret[32], pons_error *err)
{
    holding h = {0};
    pons_autovalue head = NULL;
    pons_autovalue what = values_of(values);
    pons_error none = PONS_ERROR_INIT;
    pons_run *fork = NULL;
    int rc = hold(s, thread, &h, err);
    if (rc < 0) {
        return rc;
    }
    ns = ns && *ns ? ns : h.g->ns;
    pons_state_snapshot(s->o.store, thread, ns, &(pons_snapshot_options){.bare = true}, &head,
                        &none);
    if (checkpoint && strcmp(checkpoint, pons_get_str(head, "checkpoint_id", "")) != 0) {
        rc = pons_run_fork(h.t, h.g->graph, ns, checkpoint, NULL, NULL, &fork, err);
        pons_run_destroy(fork); // the state is as it was there; nothing runs
    }
    rc = rc < 0 ? rc : pons_state_update(h.t, h.g->graph, ns, what, as_node, ret, err);
    pons_thread_close(h.t);
    return rc;
}
