// state_update.c - changes of the state from outside.
//
// An update is a superstep in which the named nodes did not run but wrote what they are told to
// have written. When it speaks for a node of an unfinished step, what else had not run goes to
// itself again: a task without writes whose only route is its own node. When it speaks for another,
// which had its turn, its routers decide anew: what had not run is given up, but for deferred nodes
// and those that a join has triggered.
//
// As END it only ends: what had finished counts, where it would have gone does not.
#include "graph/core/alloc_runs.h"
#include "graph/core/faults.h"
#include "graph/core/task_writes.h"
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/persist/commit.h"
#include "graph/run/apply_writes.h"
#include "graph/run/run_open.h"
#include "graph/run/superstep.h"
#include "graph/task/run_task.h"
#include "graph/util/bits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AS_END (PONS__NONE - 1) // no node, and nothing is next

// ---- the step it is in --------------------------------------------------------------------------

static bool speaks_for(const pons_state_step *step, const uint32_t *as, uint32_t node)
{
    for (size_t k = 0; k < step->n; k++) {
        if (as[k] == node) {
            return true;
        }
    }
    return false;
}

static bool kept_anyway(const pons_run *r, const pons_cx *cx)
{
    return !cx->send_ix &&
           (cx->node->deferred || (r->ns->fired && pons__bit_get(r->ns->fired, cx->node_ix)));
}

// The tasks of the step that the checkpoint is in: finished ones bring what they wrote, the others
// stay next, unless the changes speak for them, or for no task of the step at all. (Deferred ones
// and a join's stay in any case: apply_step.)
static int load_unfinished(pons_run *r, const pons_state_step *step, const uint32_t *as,
                           pons_error *err)
{
    r->n_tasks = 0;
    if (as[0] == PONS__END) {
        return PONS_OK;
    }
    if (r->ns->step == PONS__STEP_NONE || !pons__ns_more(r->ns)) {
        return PONS_OK;
    }
    snprintf(r->cp_id, sizeof r->cp_id, "%s", r->ns->head);
    r->cp_stored = true;
    int st = pons__run_prepare(r, err);
    r->prepared = false;
    if (st == PONS_OK && r->durable) {
        st = pons__records_load(r, err);
    }
    bool within = false;
    for (size_t i = 0; i < r->n_tasks; i++) {
        within = within || speaks_for(step, as, r->tasks[i]->node_ix);
    }
    for (size_t i = 0; i < r->n_tasks && st == PONS_OK; i++) {
        pons_cx *cx = r->tasks[i];
        const bool spoken = speaks_for(step, as, cx->node_ix);
        if (cx->state == PONS__TASK_DONE && !spoken) {
            if (as[0] == AS_END) {
                pons__task_drop_routes(cx);
            }
            continue;
        }
        pons__task_drop(cx);
        cx->bare = true;
        if (!spoken && within && (!kept_anyway(r, cx))) {
            st = pons__cx_route(cx, cx->node_ix, pons_value_ref(cx->arg));
        }
    }
    return st;
}

static int write_as(pons_run *r, uint32_t node, const pons_value *values, pons_error *err)
{
    pons_cx *cx = pons__task_add(r, node, err);
    pons_autovalue nothing = json_object();
    if (!cx || !nothing) {
        return PONS_ENOMEM;
    }
    cx->outside = true;
    pons__task_start(cx, values ? values : nothing);
    if (cx->state == PONS__TASK_DONE) {
        return PONS_OK;
    }
    if (cx->state == PONS__TASK_PARKED) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "a router of '%s' waits, which an update can't", cx->node->name);
    }
    return pons__task_fault(cx, err);
}

// ---- as which node ------------------------------------------------------------------------------

static int last_writer(pons_run *r, uint32_t *ret, pons_error *err);

static int resolve(pons_run *r, const char *as_node, uint32_t *ret, pons_error *err)
{
    if (!as_node) {
        return last_writer(r, ret, err);
    }
    uint32_t ix = strcmp(as_node, PONS_START) == 0 ? PONS__END
                  : strcmp(as_node, PONS_END) == 0 ? AS_END
                                                   : pons__graph_node_find(r->g, as_node);
    if (ix == PONS__NONE) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "graph %s has no node '%s'",
                              r->g->name, as_node);
    }
    *ret = ix;
    return PONS_OK;
}

static int tie(pons_run *r, pons_error *err)
{
    return pons_error_set(err, PONS_EAMBIGUOUS, PONS__MODULE,
                          "several nodes of thread %s may have written last: say as which one the "
                          "state is updated",
                          r->t->id);
}

static pons_value *next_names(const pons__image *im)
{
    pons_value *names = json_array();
    json_array_extend(names, im->next);
    for (size_t i = 0; i < json_array_size(im->sends); i++) {
        json_array_append(names, json_array_get(json_array_get(im->sends, i), 0));
    }
    return names;
}

// Who ran in the newest step is what was next in the checkpoint before it.
static int last_writer(pons_run *r, uint32_t *ret, pons_error *err)
{
    pons_thread *t = r->t;
    *ret = PONS__END;
    if (r->ns->step == PONS__STEP_NONE) {
        return PONS_OK; // nobody yet: it is an input
    }
    if (!r->durable) {
        return tie(r, err);
    }
    pons_autovalue names = NULL;
    pons__image im = {0};
    int st = pons__thread_flush(t, err);
    if (st == PONS_OK) {
        st = pons__image_at(t->store, t->id, r->ns->name, r->ns->head, &im, err);
    }
    while (st == PONS_OK && !names && im.source != 'i') {
        char parent[32];
        bool moved = im.source == 'f' || im.source == 'b';
        int64_t step = im.step;
        if (im.source == 'u' || im.wrote || !im.parent[0]) {
            names = im.wrote ? pons_value_ref(im.wrote) : json_array();
            break;
        }
        snprintf(parent, sizeof parent, "%s", im.parent);
        pons__image_fini(&im);
        st = pons__image_at(t->store, t->id, r->ns->name, parent, &im, err);
        if (st != PONS_OK || moved) {
            continue; // a fork has what its origin had
        }
        names = im.step == step - 1 ? next_names(&im) : json_array();
        if (json_array_size(names) == 0) {
            st = tie(r, err);
        }
    }
    pons__image_fini(&im);
    const char *name = json_string_value(json_array_get(names, 0));
    if (st != PONS_OK || !name) {
        return st;
    }
    for (size_t i = 1; i < json_array_size(names); i++) {
        if (strcmp(json_string_value(json_array_get(names, i)), name) != 0) {
            return tie(r, err);
        }
    }
    return resolve(r, name, ret, err);
}

// ---- public functions ---------------------------------------------------------------------------

int pons_state_update(pons_thread *t, const pons_graph *g, const char *ns, const pons_value *values,
                      const char *as_node, char ret_checkpoint[32], pons_error *err)
{
    pons_state_change change = {values, as_node};
    return pons_state_update_bulk(t, g, ns, &(pons_state_step){&change, 1}, 1, ret_checkpoint, err);
}

// What can be told without the state, before anything is changed.
static int check_step(const pons_state_step *step, size_t i, pons_error *err)
{
    if (step->n == 0) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE, "superstep %zu has no changes", i);
    }
    for (size_t k = 0; k < step->n; k++) {
        const char *as = step->changes[k].as_node;
        const bool end = as && strcmp(as, PONS_END) == 0;
        if (step->n > 1 && as && (end || strcmp(as, PONS_START) == 0)) {
            return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                  "superstep %zu has a change as %s beside others", i,
                                  end ? "END" : "START");
        }
        if (end && step->changes[k].values) {
            return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                  "END writes no values: an update as END only ends what is next");
        }
    }
    return PONS_OK;
}

// Nodes that a join has triggered, or that were deferred and are released, and that had no turn
// yet: what led to them is over, so that no router can decide it anew. They keep their turn, but for
// deferred ones that are triggered again.
static int apply_step(pons_run *r, const uint32_t *as, pons_error *err)
{
    pons__ns *ns = r->ns;
    const pons_graph *g = r->g;
    if (!g->deferred && g->n_joins == 0) {
        return pons__apply(r, err);
    }
    uint64_t *keep = calloc(2 * g->n_words, sizeof *keep), *fired = keep + g->n_words;
    if (!keep) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to update the state");
    }
    for (size_t w = 0; w < g->n_words && as[0] != AS_END && as[0] != PONS__END; w++) {
        fired[w] = ns->fired ? ns->next[w] & ns->fired[w] : 0;
        keep[w] = fired[w] | (g->deferred ? ns->next[w] & g->deferred[w] : 0);
    }
    for (size_t w = 0; ns->waiting && as[0] == AS_END && w < g->n_words; w++) {
        ns->waiting[w] = 0;
    }
    for (size_t i = 0; i < r->n_tasks; i++) { // those that have been spoken for, or had run
        if (r->tasks[i]->state == PONS__TASK_DONE && r->tasks[i]->node_ix < g->n_nodes &&
            !r->tasks[i]->send_ix) {
            pons__bit_clear(keep, r->tasks[i]->node_ix);
        }
    }
    int st = pons__apply(r, err);
    for (size_t w = 0; st == PONS_OK && w < g->n_words; w++) {
        ns->next[w] |= keep[w] & ~(ns->waiting ? ns->waiting[w] : 0);
        if (ns->fired) {
            ns->fired[w] |= fired[w] & keep[w];
        }
    }
    free(keep);
    return st;
}

static int update_step(pons_run *r, const pons_state_step *step, pons_error *err)
{
    pons__ns *ns = r->ns;
    uint32_t *as = calloc(step->n + 1, sizeof *as);
    pons_autovalue names = json_array();
    int st = as && names ? PONS_OK : PONS_ENOMEM;
    for (size_t i = 0; i < step->n && st == PONS_OK; i++) {
        st = resolve(r, step->changes[i].as_node, &as[i], err);
        if (st == PONS_OK && as[i] != AS_END) {
            json_array_append_new(
                names, json_string(as[i] == PONS__END ? PONS_START : r->g->nodes[as[i]].name));
        }
    }
    if (st == PONS_OK) {
        st = load_unfinished(r, step, as, err);
    }
    for (size_t i = 0; i < step->n && st == PONS_OK; i++) {
        st = as[i] == AS_END ? PONS_OK : write_as(r, as[i], step->changes[i].values, err);
    }
    const bool input = st == PONS_OK && as[0] == PONS__END;
    if (st == PONS_OK) {
        st = apply_step(r, as, err);
    }
    free(as);
    for (size_t i = 0; i < r->n_pool; i++) {
        pons__task_clear(r->tasks[i]);
    }
    r->n_tasks = 0;
    if (st != PONS_OK) {
        return st;
    }
    ns->step += input || ns->step == PONS__STEP_NONE ? 2 : 1; // an input and START's step count
    r->cp_id[0] = '\0';
    r->cp_stored = false;
    r->source = 'u';
    ns->wrote = names;
    st = pons__run_commit(r, &(pons__extra){0}, err);
    ns->wrote = NULL;
    r->spoiled = r->spoiled || st != PONS_OK; // memory is ahead: it is read again
    return st;
}

int pons_state_update_bulk(pons_thread *t, const pons_graph *g, const char *ns,
                           const pons_state_step *steps, size_t n, char ret_checkpoint[32],
                           pons_error *err)
{
    pons_run *r;
    int st = n > 0 ? PONS_OK
                   : pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                                    "an update of several supersteps has none");
    for (size_t i = 0; i < n && st == PONS_OK; i++) {
        st = check_step(&steps[i], i, err);
    }
    if (st == PONS_OK) {
        st = pons__run_open(t, g, ns, NULL, &pons__supersteps, &r, err);
    }
    if (st != PONS_OK) {
        return st;
    }
    for (size_t i = 0; i < n && st == PONS_OK; i++) {
        st = update_step(r, &steps[i], err);
    }
    if (st == PONS_OK && ret_checkpoint) {
        snprintf(ret_checkpoint, sizeof r->cp_id, "%s", r->durable ? r->ns->head : "");
    }
    r->state = PONS_RUN_DONE;
    pons_run_destroy(r);
    return st;
}
