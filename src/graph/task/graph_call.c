// graph_call.c - graphs that a node's function runs, and waits for.
//
// Such a call is recorded like a task (node/await.c), its value being the child's state at the end:
//
//   first time --> record without an answer, committed --> child begins --> ... --> ends
//                                                             |                      |
//   crash, or a wait: the node runs again from its top        |              record with the state
//     |                                                       |                      |
//     +--> no answer: the child goes on where the store has it                       |
//     +--> an answer: it is the call's value, nothing runs <-------------------------+
//
// The record is there before the child is, so that whoever resumes the run knows which graph to open
// before the node has run again: its questions are pending at once. The child is a subgraph's run in
// a namespace of its own ("node:CALL", or "node:#GRAPH" where it remembers), whose owner is the call.
#include "graph/task/graph_call.h"

#include "graph/core/faults.h"
#include "graph/core/task_calls.h"
#include "graph/engine.h"
#include "graph/node/await.h"
#include "graph/persist/commit.h"
#include "graph/task/subgraph_run.h"

#include <stdio.h>
#include <string.h>

// ---- the child ----------------------------------------------------------------------------------

static int open_child(pons_cx *cx, size_t call, const pons_graph *g, bool start, bool *ret_fresh,
                      pons_error *err)
{
    const pons__call *c = &cx->calls[call];
    const pons_subgraph_mode mode = (pons_subgraph_mode)json_integer_value(c->request);
    const size_t before = pons__child_before(cx);
    char place[PONS_NAME_MAX];
    if (mode != PONS_SUBGRAPH_OWN) {
        snprintf(place, sizeof place, ":%s", c->id);
    } else if (before == 0) {
        snprintf(place, sizeof place, ":#%s", g->name);
    } else {
        snprintf(place, sizeof place, ":#%s#%zu", g->name, before);
    }
    const pons__child o = {.g = g, .mode = mode, .place = place, .owner = c->id};
    int st = pons__child_open(cx, &o, start, ret_fresh, err);
    if (st != PONS_OK && cx->child) {
        pons_run_destroy(cx->child);
        cx->child = NULL;
    }
    return st;
}

static int record(pons_cx *cx, size_t call, pons_error *err)
{
    pons__rows rows = {0};
    int st = PONS_OK;
    if (cx->run->durable) {
        st = pons__rows_call(&rows, cx, call, err);
    }
    if (st == PONS_OK && cx->run->durable) {
        st = pons__run_commit(cx->run, &(pons__extra){.rows = &rows}, err);
    }
    pons__rows_fini(&rows);
    if (st == PONS_OK) {
        pons__rows_call_saved(cx, call);
    }
    return st;
}

static pons_value *state_of(const pons_run *child)
{
    pons_value *state = json_object();
    bool ok = state != NULL;
    for (size_t i = 0; i < child->g->n_channels && ok; i++) {
        const pons_value *v = child->ns->slots[i].v;
        ok = !v || json_object_set_new(state, child->g->channels[i].name, pons_value_ref(v)) == 0;
    }
    if (ok) {
        return state;
    }
    pons_value_unref(state);
    return NULL;
}

// What has become of the child: its state is recorded before the node sees it.
static int ended(pons_cx *cx, size_t call, pons_error *err)
{
    pons_run *child = cx->child;
    if (child->state == PONS_RUN_FAILED) {
        *err = child->error;
        return child->error.status;
    }
    if (child->state != PONS_RUN_DONE) {
        return PONS_EPARKED;
    }
    if (child->escaped) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "graph '%s' commands the graph around it, but node '%s' runs it",
                              child->g->name, cx->node->name);
    }
    pons__call *c = &cx->calls[call];
    int st = child->durable ? PONS_OK : pons__out_move(&cx->out, &child->out);
    c->answer = st == PONS_OK ? state_of(child) : NULL;
    if (!c->answer) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a graph's state");
    }
    st = record(cx, call, err);
    if (st != PONS_OK) {
        pons_value_unref(c->answer);
        c->answer = NULL;
        pons__cx_break(cx, st, err);
        return st;
    }
    pons_run_destroy(child);
    cx->child = NULL;
    return PONS_OK;
}

static int drive(pons_cx *cx, size_t call, const pons_graph *g, const pons_value *input,
                 pons_error *err)
{
    bool fresh = false;
    int st = cx->child ? PONS_OK : open_child(cx, call, g, true, &fresh, err);
    if (st == PONS_OK && fresh) {
        st = cx->child->loop->begin(cx->child, input, cx->calls[call].id, NULL, err);
    }
    if (st != PONS_OK) {
        if (fresh) {
            cx->child->state = PONS_RUN_DONE; // nothing was begun
            pons_run_destroy(cx->child);
            cx->child = NULL;
        }
        return st;
    }
    st = cx->child->loop->advance(cx->child, err);
    if (st != PONS_OK) {
        pons__cx_break(cx, st, err);
        return st;
    }
    return ended(cx, call, err);
}

// ---- the call -----------------------------------------------------------------------------------

// The call as it is recorded, or a new one, recorded before anything of it happens.
static int find_call(pons_cx *cx, const pons_graph *g, const pons_value *input,
                     pons_subgraph_mode mode, size_t *ret, pons_error *err)
{
    char hash[33];
    pons_autovalue what = pons_object_whole("mode", json_integer((json_int_t)mode), "input",
                                            input ? pons_value_ref(input) : json_null(), NULL);
    if (!what) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to run a graph");
    }
    pons_value_hash(what, hash);
    pons__call *c = NULL;
    *ret = cx->call_at;
    int st = pons__call_next(cx, PONS__CALL_GRAPH, g->name, hash, &c, err);
    if (st != PONS_OK || c) {
        return st;
    }
    if (pons__graph_call_waits(cx)) {
        cx->call_at--;
        return PONS_EPARKED; // the node did not return what the one before did
    }
    c = pons__call_add(cx, PONS__CALL_GRAPH, g->name, hash);
    if (!c) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to run a graph");
    }
    c->request = json_integer((json_int_t)mode);
    st = record(cx, *ret, err);
    if (st != PONS_OK) {
        pons__call_pop(cx);
        pons__cx_break(cx, st, err);
    }
    return st;
}

int pons_cx_run(pons_cx *cx, const pons_graph *g, const pons_value *input, pons_subgraph_mode mode,
                const pons_value **ret_state, pons_error *err)
{
    err = err ? err : &(pons_error)PONS_ERROR_INIT;
    if (pons__graph_given(g, err) != PONS_OK) {
        return PONS_EINVAL;
    }
    if (pons__graph_run_find(cx->node, g->name, strlen(g->name)) != g) {
        return pons_error_set(err, PONS_EINVAL, PONS__MODULE,
                              "node '%s' runs graph '%s', which its options do not name",
                              cx->node->name, g->name);
    }
    size_t call = 0;
    int st = find_call(cx, g, input, mode, &call, err);
    if (st == PONS_OK && !cx->calls[call].answer) {
        st = drive(cx, call, g, input, err);
    }
    const pons_value *failed =
        st == PONS_OK ? pons_get(cx->calls[call].answer, PONS__CALL_FAILED) : NULL;
    if (failed) { // as the node met it
        pons_error_set(err, (int)pons_get_int(failed, "status", PONS_EIO),
                       pons_get_str(failed, "module", PONS__MODULE), "%s",
                       pons_get_str(failed, "message", ""));
        pons_error_source(err, "%s", pons_get_str(failed, "source", ""));
        return err->status;
    }
    if (st == PONS_OK) {
        *ret_state = cx->calls[call].answer;
    }
    return st;
}

// ---- after a crash ------------------------------------------------------------------------------

bool pons__graph_call_waits(const pons_cx *cx)
{
    return cx->child && !cx->node->sub && cx->child->state != PONS_RUN_FAILED;
}

int pons__graph_call_open(pons_cx *cx, pons_error *err)
{
    for (size_t i = 0; i < cx->n_calls; i++) {
        const pons__call *c = &cx->calls[i];
        if (c->kind != PONS__CALL_GRAPH || c->answer ||
            json_integer_value(c->request) == PONS_SUBGRAPH_NONE) {
            continue;
        }
        bool fresh = false;
        const pons_graph *g = pons__graph_run_find(cx->node, c->name, strlen(c->name));
        return g ? open_child(cx, i, g, false, &fresh, err) : PONS_OK; // the node will say so
    }
    return PONS_OK;
}
