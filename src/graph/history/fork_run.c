// fork_run.c - runs that go on from an older checkpoint.
//
// A fork is a checkpoint of its own: a snapshot of the older one's state under a new id, with the
// older one as its parent. Records hang on checkpoint ids and task ids are made of them, so nothing
// that was answered or finished after the older checkpoint is found under the fork: interrupts fire
// again. Its run has a new run id, so its effects are new ones, and the mark `forked` makes each of
// them wait for a person.
//
// Subgraphs that keep their state go back with it (run/subgraph_namespaces.c).
//
// The checkpoint of an input holds the state before it, as LangGraph's does, and nothing to run: a
// fork of it that brings no input of its own goes on from what that input made, which is its child.
#include "graph/core/thread_lease.h"
#include "graph/engine.h"
#include "graph/persist/commit.h"
#include "graph/run/run_open.h"
#include "graph/run/subgraph_namespaces.h"
#include "graph/run/superstep.h"

#include <stdio.h>
#include <string.h>

typedef struct child_search {
    const char *parent;
    int64_t step; // the parent's
    char id[32];  // empty: none
} child_search;

static int is_child(void *user, const pons_checkpoint_row *row)
{
    child_search *s = user;
    if (row->step == s->step + 1 && strcmp(row->parent, s->parent) == 0) {
        snprintf(s->id, sizeof s->id, "%s", row->id); // the oldest of several is the last
    }
    return strcmp(row->id, s->parent) == 0;
}

// Takes the image of an input on to that of the step that applied it.
static int after_input(pons_run *r, pons__image *im, pons_error *err)
{
    pons_store s = r->t->store;
    child_search found = {.parent = im->id, .step = im->step};
    int st = s.ops->history(s.self, r->t->id, r->ns->name, "", 0, is_child, &found, err);
    if (st != PONS_OK) {
        return st;
    }
    if (!found.id[0]) {
        return pons_error_set(err, PONS_ENOTFOUND, PONS__MODULE,
                              "what input %s of thread %s made was not stored by itself", im->id,
                              r->t->id);
    }
    pons__image next = {0};
    st = pons__image_at(s, r->t->id, r->ns->name, found.id, &next, err);
    pons__image_fini(im);
    *im = next;
    return st;
}

static int fork_from(pons_run *r, const char *checkpoint, bool replay, pons_error *err)
{
    pons_thread *t = r->t;
    pons__ns *ns = r->ns;
    pons__image im = {0};
    int st = pons__thread_flush(t, err);
    if (st == PONS_OK) {
        st = pons__image_at(t->store, t->id, ns->name, checkpoint, &im, err);
    }
    const bool of_input = st == PONS_OK && replay && im.source == 'i';
    if (of_input) {
        st = after_input(r, &im, err);
    }
    if (st == PONS_OK) {
        st = pons__ns_restore(ns, r->g, &im, err);
    }
    pons__image_fini(&im);
    if (st != PONS_OK) {
        return st;
    }
    char from[32];
    snprintf(from, sizeof from, "%s", ns->head);
    ns->step++;
    ns->run_id = pons_rand_u64(&t->rand);
    ns->forked = true;
    if (r->opts.metadata) {
        pons_value_unref(ns->metadata);
        ns->metadata = pons_value_ref(r->opts.metadata);
    }
    r->source = 'f';
    pons__others below = {0};
    st = pons__below_rewind(r, from, &below, err);
    if (st == PONS_OK) {
        st = pons__run_commit(r, &(pons__extra){.with = below.v, .n_with = below.n}, err);
    }
    pons__others_end(&below, st != PONS_OK);
    r->source = 'l';
    if (st != PONS_OK) {
        pons__ns_forget(ns);
        return st;
    }
    r->stopped = of_input && pons__run_stop_due(r); // before the first nodes
    return PONS_OK;
}

int pons_run_fork(pons_thread *t, const pons_graph *g, const char *ns, const char *checkpoint,
                  const pons_value *input, const pons_run_options *opts, pons_run **ret,
                  pons_error *err)
{
    pons_run *r;
    int st = t->store.ops ? pons__run_open(t, g, ns, opts, &pons__supersteps, &r, err)
                          : pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                                           "a thread without a store has no older checkpoints");
    if (st != PONS_OK) {
        return st;
    }
    bool head = r->ns->exists && strcmp(r->ns->head, checkpoint ? checkpoint : "") == 0;
    if (head && !input) {
        st = pons__run_continue(r, err);
    } else {
        st = fork_from(r, checkpoint ? checkpoint : "", !input, err);
    }
    if (st == PONS_OK && input) {
        st = pons__run_begin(r, input, r->ns->owner, NULL, err);
        r->ns->forked = true;
    }
    if (st != PONS_OK) {
        r->state = PONS_RUN_DONE;
        pons_run_destroy(r);
        return st;
    }
    *ret = r;
    return PONS_OK;
}
