// stream.c - what a run shows of itself, in LangGraph's modes. stream_payloads.c has the shapes, stream_replay.c reads
// it again.
//
// Everything streamed is a durable event: it is gathered with what the run brings out and goes with
// the next commit (a step's, a park's), or at once for what a node says while it works. So its
// numbers rise in the order in which it happened, and a client that comes back reads on from its
// last number. A run that streams nothing pays one test a step and a task.
#include "graph/persist/stream.h"

#include "graph/core/faults.h"
#include "graph/core/run_accessors.h"
#include "graph/persist/commit.h"
#include "graph/persist/stream_payloads.h"

#include <stdio.h>
#include <string.h>

// ---- helpers ------------------------------------------------------------------------------------

// Whether anybody wants to see what this task does: its node's name, or that of a subgraph that it is
// in, is among those that the run was given.
static bool wanted(pons_cx *cx)
{
    const pons_value *only = pons__run_root(cx->run)->only;
    for (const pons_cx *at = cx; only && at; at = at->run->parent_task) {
        for (size_t i = 0; i < json_array_size(only); i++) {
            if (strcmp(json_string_value(json_array_get(only, i)), at->node->name) == 0) {
                return true;
            }
        }
    }
    return !only;
}

static void put(pons_run *r, uint32_t mode, pons_value *payload)
{
    char type[32];
    snprintf(type, sizeof type, PONS__STREAM_PREFIX "%s", pons__stream_word(mode));
    if (pons__out_emit(&r->out, type, payload, pons_wall_ms(&r->t->clock)) != PONS_OK) {
        r->spoiled = true; // something is missing: the next commit must not pretend
    }
}

static void put_debug(pons_run *r, int64_t step, const char *type, const pons_value *payload)
{
    put(r, PONS_STREAM_DEBUG,
        pons_object_whole("step", json_integer(step), "timestamp",
                          pons__shown_time(pons_wall_ms(&r->t->clock)), "type", json_string(type),
                          "payload", pons_value_ref(payload), NULL));
}

static void show_checkpoint(pons_run *r, int64_t step, pons_value *cp)
{
    if (r->opts.stream & PONS_STREAM_DEBUG) {
        put_debug(r, step, "checkpoint", cp);
    }
    if (r->opts.stream & PONS_STREAM_CHECKPOINTS) {
        put(r, PONS_STREAM_CHECKPOINTS, cp);
    } else {
        pons_value_unref(cp);
    }
}

static void show_task(pons_run *r, const char *type, pons_value *payload)
{
    if (r->opts.stream & PONS_STREAM_DEBUG) {
        put_debug(r, r->ns->step + 1, type, payload);
    }
    if (r->opts.stream & PONS_STREAM_TASKS) {
        put(r, PONS_STREAM_TASKS, payload);
    } else {
        pons_value_unref(payload);
    }
}

// ---- states and checkpoints ---------------------------------------------------------------------

void pons__stream_state(pons_run *r, bool wrote, bool stored)
{
    uint32_t want = r->opts.stream;
    if (wrote && (want & PONS_STREAM_VALUES)) {
        put(r, PONS_STREAM_VALUES, pons__shown_state(r));
    }
    if (stored && (want & (PONS_STREAM_CHECKPOINTS | PONS_STREAM_DEBUG))) {
        show_checkpoint(r, r->ns->step, pons__shown_checkpoint(r, false, pons__shown_state(r)));
    }
}

pons_value *pons__stream_snapshot(const pons_run *r)
{
    return r->opts.stream & (PONS_STREAM_CHECKPOINTS | PONS_STREAM_DEBUG) ? pons__shown_state(r)
                                                                          : NULL;
}

void pons__stream_input(pons_run *r, pons_value *before)
{
    show_checkpoint(r, r->ns->step - 1, pons__shown_checkpoint(r, true, before));
}

// ---- tasks --------------------------------------------------------------------------------------

void pons__stream_task(pons_cx *cx, bool start)
{
    pons_run *r = cx->run;
    bool tasks = (r->opts.stream & (PONS_STREAM_TASKS | PONS_STREAM_DEBUG)) && wanted(cx);
    if (start) {
        if (tasks && !cx->begun) {
            show_task(r, "task", pons__shown_task(cx));
        }
        cx->begun = true;
        return;
    }
    if (cx->state != PONS__TASK_DONE && cx->state != PONS__TASK_FAILED) {
        return;
    }
    cx->streamed = true;
    if (cx->state == PONS__TASK_DONE && (r->opts.stream & PONS_STREAM_UPDATES) && wanted(cx)) {
        put(r, PONS_STREAM_UPDATES,
            pons_object_whole(
                cx->node->name, pons__shown_update(cx), "__metadata__",
                cx->cached ? pons_object_whole("cached", json_true(), NULL) : PONS_ABSENT, NULL));
    }
    if (tasks) {
        show_task(r, "task_result", pons__shown_result(cx, NULL));
    }
}

// ---- questions ----------------------------------------------------------------------------------

static bool is_new(const pons__call *c, uint8_t bit)
{
    return c->kind == PONS__CALL_AWAIT && !c->answer && !(c->shown & bit) &&
           strcmp(c->name, PONS__HUMAN) == 0;
}

// What has not been shown yet of what a task, and the subgraph that it is, asks people.
static bool questions(const pons_cx *cx, uint8_t bit, pons_value *list)
{
    bool ok = true;
    for (size_t k = 0; k < cx->n_calls && ok && cx->state == PONS__TASK_PARKED; k++) {
        const pons__call *c = &cx->calls[k];
        ok = !is_new(c, bit) ||
             json_array_append_new(list, pons_object_whole("id", json_string(c->id), "value",
                                                           pons_value_ref(c->request), NULL)) == 0;
    }
    for (size_t i = 0; cx->child && i < cx->child->n_tasks && ok; i++) {
        ok = questions(cx->child->tasks[i], bit, list);
    }
    return ok;
}

static void mark_shown(pons_cx *cx, uint8_t bit)
{
    for (size_t k = 0; k < cx->n_calls && cx->state == PONS__TASK_PARKED; k++) {
        cx->calls[k].shown |= is_new(&cx->calls[k], bit) ? bit : 0;
    }
    for (size_t i = 0; cx->child && i < cx->child->n_tasks; i++) {
        mark_shown(cx->child->tasks[i], bit);
    }
}

// A task that waits for people tells its questions, once each.
static bool show_waiting(pons_run *r, uint8_t bit)
{
    bool ok = true;
    for (size_t i = 0; i < r->n_tasks && ok; i++) {
        pons_value *asked = json_array();
        ok = asked && questions(r->tasks[i], bit, asked);
        if (json_array_size(asked) > 0 && wanted(r->tasks[i])) {
            show_task(r, "task_result", pons__shown_result(r->tasks[i], asked));
        } else {
            pons_value_unref(asked);
        }
    }
    return ok;
}

// Each run shows those of its own tasks and of the subgraphs inside them, once.
void pons__stream_interrupts(pons_run *r)
{
    enum { DEPTH_MAX = 7 };
    const uint32_t want = r->opts.stream;
    int depth = 0;
    for (const pons_run *p = r->parent; p && depth < DEPTH_MAX; p = p->parent) {
        depth++;
    }
    const uint8_t bit = (uint8_t)(1u << depth);
    pons_autovalue list = json_array();
    bool ok = list != NULL;
    for (size_t i = 0; i < r->n_tasks && ok; i++) {
        ok = questions(r->tasks[i], bit, list);
    }
    if (ok && json_array_size(list) == 0) {
        return;
    }
    if (!ok) {
        put(r, PONS_STREAM_UPDATES, NULL); // something is missing
        return;
    }
    if (want & PONS_STREAM_UPDATES) {
        put(r, PONS_STREAM_UPDATES, pons_object_whole("__interrupt__", pons_value_ref(list), NULL));
    }
    if (want & PONS_STREAM_VALUES) {
        pons_value *state = pons__shown_state(r);
        ok = state && json_object_set_new(state, "__interrupt__", pons_value_ref(list)) == 0;
        put(r, PONS_STREAM_VALUES, pons__whole(state, ok));
    }
    if ((want & (PONS_STREAM_TASKS | PONS_STREAM_DEBUG)) && !show_waiting(r, bit)) {
        put(r, PONS_STREAM_TASKS, NULL);
    }
    for (size_t i = 0; i < r->n_tasks; i++) {
        mark_shown(r->tasks[i], bit);
    }
    if (want & (PONS_STREAM_CHECKPOINTS | PONS_STREAM_DEBUG)) {
        show_checkpoint(r, r->ns->step, pons__shown_checkpoint(r, false, pons__shown_state(r)));
    }
}

void pons__stream_stop(pons_run *r)
{
    if (r->opts.stream & PONS_STREAM_UPDATES) {
        put(r, PONS_STREAM_UPDATES, pons_object_whole("__interrupt__", json_array(), NULL));
    }
}

// ---- what a node says ---------------------------------------------------------------------------

static pons_value *pair_of(pons_cx *cx, pons_value *chunk, pons_value *metadata)
{
    pons_autovalue given = metadata;
    pons_value *meta = pons__shown_origin(cx, given);
    pons_value *pair = json_array();
    bool ok = json_array_append_new(pair, chunk) == 0;
    ok = json_array_append_new(pair, meta) == 0 && ok;
    return pons__whole(pair, ok);
}

static void say_now(pons_cx *cx, uint32_t mode, pons_value *payload)
{
    pons_error e = PONS_ERROR_INIT;
    const bool good = pons_value_fits(payload);
    const int st = pons__stream_say(cx, mode, payload, true, &e);
    if (st != PONS_OK && !good) {
        pons__cx_fault(cx, st, &e);
    } else if (st != PONS_OK) {
        pons__cx_break(cx, st, &e);
    }
}

void pons_cx_message(pons_cx *cx, pons_value *chunk, pons_value *metadata)
{
    say_now(cx, PONS_STREAM_MESSAGES, pair_of(cx, chunk, metadata));
}

void pons_cx_custom(pons_cx *cx, pons_value *payload)
{
    say_now(cx, PONS_STREAM_CUSTOM, payload);
}

int pons__stream_message(pons_cx *cx, pons_value *chunk, pons_value *metadata, pons_error *err)
{
    return pons__stream_say(cx, PONS_STREAM_MESSAGES, pair_of(cx, chunk, metadata), false, err);
}

// Also in a subgraph whose other events nobody asked for: a node's words are never lost on the way.
int pons__stream_say(pons_cx *cx, uint32_t mode, pons_value *payload, bool may_wait,
                     pons_error *err)
{
    cx->moved_ns = 0; // progress
    if (!(pons__run_root(cx->run)->opts.stream & mode) || !wanted(cx)) {
        pons_value_unref(payload);
        return PONS_OK;
    }
    if (!pons_value_fits(payload)) {
        pons_value_unref(payload);
        return pons__too_deep(cx, "says", err);
    }
    put(cx->run, mode, payload);
    return pons__run_commit(cx->run, &(pons__extra){.may_wait = may_wait}, err);
}
