// stream.c - what a run shows of itself, in LangGraph's modes.
//
// Everything streamed is a durable event: it is gathered with what the run brings out and goes with
// the next commit (a step's, a park's), or at once for what a node says while it works. So its
// numbers rise in the order in which it happened, and a client that comes back reads on from its
// last number. A run that streams nothing pays one test a step and a task.
#include "graph/keep/stream.h"

#include "graph/base/bits.h"
#include "graph/core/chance.h"
#include "graph/core/faults.h"
#include "graph/core/runs.h"
#include "graph/engine.h"
#include "graph/keep/commit.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "stream."

static const char *const words[] = {"values", "updates", "messages",   "custom",
                                    "tasks",  "debug",   "checkpoints"};
static const uint32_t bits[] = {PONS_STREAM_VALUES,     PONS_STREAM_UPDATES, PONS_STREAM_MESSAGES,
                                PONS_STREAM_CUSTOM,     PONS_STREAM_TASKS,   PONS_STREAM_DEBUG,
                                PONS_STREAM_CHECKPOINTS};
enum { MODES = sizeof bits / sizeof *bits };

static void show_checkpoint(pons_run *r, pons_value *cp);
static pons_value *parents_of(const pons__ns *ns);
static void say_now(pons_cx *cx, uint32_t mode, pons_value *payload);
static pons_value *whole(pons_value *v, bool ok);
static void put(pons_run *r, uint32_t mode, pons_value *payload);
static void put_debug(pons_run *r, const char *type, const pons_value *payload);
static pons_value *state_of(const pons_run *r);
static pons_value *update_of(const pons_cx *cx);
static pons_value *triggers_of(const pons_cx *cx);
static pons_value *namespace_of(const char *ns);

// ---- what the engine shows ----------------------------------------------------------------------

void pons__stream_state(pons_run *r, bool wrote, bool stored)
{
    uint32_t want = r->opts.stream;
    if (wrote && (want & PONS_STREAM_VALUES)) {
        put(r, PONS_STREAM_VALUES, state_of(r));
    }
    if (!stored || !(want & (PONS_STREAM_CHECKPOINTS | PONS_STREAM_DEBUG))) {
        return;
    }
    pons__ns *ns = r->ns;
    pons_value *next = json_array();
    bool ok = next != NULL;
    for (size_t i = 0; i < r->g->n_nodes && ok; i++) {
        if (pons__bit_get(ns->next, i)) {
            ok = json_array_append_new(next, json_string(r->g->nodes[i].name)) == 0;
        }
    }
    for (size_t i = 0; i < ns->n_sends && ok; i++) {
        ok = json_array_append_new(next, json_string(r->g->nodes[ns->sends[i].node].name)) == 0;
    }
    pons_value *cp =
        pons_object_whole("checkpoint_id", json_string(pons__run_cp(r)), "parent_id",
                          r->input_row ? json_string(pons__run_input_id(r))
                          : ns->exists ? json_string(ns->head)
                                       : json_null(),
                          "step", json_integer(ns->step), "source",
                          json_string(pons__source_word(r->source ? r->source : 'l')), "next",
                          whole(next, ok), "parents", parents_of(ns), "values", state_of(r), NULL);
    show_checkpoint(r, cp);
}

static void show_checkpoint(pons_run *r, pons_value *cp)
{
    if (r->opts.stream & PONS_STREAM_DEBUG) {
        put_debug(r, "checkpoint", cp);
    }
    if (r->opts.stream & PONS_STREAM_CHECKPOINTS) {
        put(r, PONS_STREAM_CHECKPOINTS, cp);
    } else {
        pons_value_unref(cp);
    }
}

static pons_value *parents_of(const pons__ns *ns)
{
    return ns->parents ? pons_value_ref(ns->parents) : json_object();
}

pons_value *pons__stream_snapshot(const pons_run *r)
{
    return r->opts.stream & (PONS_STREAM_CHECKPOINTS | PONS_STREAM_DEBUG) ? state_of(r) : NULL;
}

void pons__stream_input(pons_run *r, pons_value *before)
{
    pons__ns *ns = r->ns;
    ns->step--; // the input's own
    show_checkpoint(r,
                    pons_object_whole("checkpoint_id", json_string(pons__run_input_id(r)),
                                      "parent_id", ns->exists ? json_string(ns->head) : json_null(),
                                      "step", json_integer(ns->step), "source",
                                      json_string("input"), "next", json_pack("[s]", PONS_START),
                                      "parents", parents_of(ns), "values", before, NULL));
    ns->step++;
}

static void show_task(pons_run *r, const char *type, pons_value *payload)
{
    if (r->opts.stream & PONS_STREAM_DEBUG) {
        put_debug(r, type, payload);
    }
    if (r->opts.stream & PONS_STREAM_TASKS) {
        put(r, PONS_STREAM_TASKS, payload);
    } else {
        pons_value_unref(payload);
    }
}

void pons__stream_task(pons_cx *cx, bool start)
{
    pons_run *r = cx->run;
    bool tasks = r->opts.stream & (PONS_STREAM_TASKS | PONS_STREAM_DEBUG);
    if (start) {
        if (tasks && !cx->begun) {
            show_task(r, "task",
                      pons_object_whole("id", json_string(pons__task_id(cx)), "name",
                                        json_string(cx->node->name), "input",
                                        cx->arg ? pons_value_ref(cx->arg) : state_of(r), "triggers",
                                        triggers_of(cx), NULL));
        }
        cx->begun = true;
        return;
    }
    if (cx->state != PONS__TASK_DONE && cx->state != PONS__TASK_FAILED) {
        return;
    }
    cx->streamed = true;
    bool failed = cx->state == PONS__TASK_FAILED;
    pons_autovalue update = failed ? json_null() : update_of(cx);
    if (!failed && (r->opts.stream & PONS_STREAM_UPDATES)) {
        put(r, PONS_STREAM_UPDATES,
            pons_object_whole(
                cx->node->name, pons_value_ref(update), "__metadata__",
                cx->cached ? pons_object_whole("cached", json_true(), NULL) : PONS_ABSENT, NULL));
    }
    if (tasks) {
        show_task(r, "task_result",
                  pons_object_whole("id", json_string(pons__task_id(cx)), "name",
                                    json_string(cx->node->name), "result", pons_value_ref(update),
                                    "error", failed ? json_string(cx->error.message) : json_null(),
                                    "cached", json_boolean(cx->cached), "interrupts", json_array(),
                                    NULL));
    }
}

// As what a task was triggered: LangGraph's words, but that a join is called one.
static pons_value *triggers_of(const pons_cx *cx)
{
    const pons__ns *ns = cx->run->ns;
    char text[PONS_NAME_MAX + sizeof "branch:to:"];
    const bool joined = ns->fired && pons__bit_get(ns->fired, cx->node_ix);
    snprintf(text, sizeof text, "%s%s", joined ? "join:" : "branch:to:", cx->node->name);
    return json_pack("[s]", cx->send_ix ? "__send__" : text);
}

// A task that waits for people tells its questions, once each.
static void show_waiting(pons_run *r, uint8_t bit)
{
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        pons_value *asked = cx->state == PONS__TASK_PARKED ? json_array() : NULL;
        for (size_t k = 0; asked && k < cx->n_calls; k++) {
            const pons__call *c = &cx->calls[k];
            if (c->kind == PONS__CALL_AWAIT && !c->answer && !(c->shown & bit) &&
                strcmp(c->name, PONS__HUMAN) == 0) {
                json_array_append_new(asked, pons_object_whole("id", json_string(c->id), "value",
                                                               pons_value_ref(c->request), NULL));
            }
        }
        if (json_array_size(asked) > 0) {
            show_task(r, "task_result",
                      pons_object_whole("id", json_string(pons__task_id(cx)), "name",
                                        json_string(cx->node->name), "result", json_null(), "error",
                                        json_null(), "cached", json_false(), "interrupts", asked,
                                        NULL));
        } else {
            pons_value_unref(asked);
        }
    }
}

static bool collect_interrupts(pons_run *r, uint8_t bit, pons_value *list)
{
    bool ok = true;
    for (size_t i = 0; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        if (cx->state != PONS__TASK_PARKED) {
            continue;
        }
        for (size_t k = 0; k < cx->n_calls; k++) {
            pons__call *c = &cx->calls[k];
            if ((c->shown & bit) || c->answer || c->kind != PONS__CALL_AWAIT ||
                strcmp(c->name, PONS__HUMAN) != 0) {
                continue;
            }
            ok = json_array_append_new(list, pons_object_whole("id", json_string(c->id), "value",
                                                               pons_value_ref(c->request), NULL)) ==
                     0 &&
                 ok;
            c->shown |= bit;
        }
        if (cx->child) {
            ok = collect_interrupts(cx->child, bit, list) && ok;
        }
    }
    return ok;
}

// Each run shows those of its own tasks and of the subgraphs inside them, once.
void pons__stream_interrupts(pons_run *r)
{
    enum { DEPTH_MAX = 7 };
    if (!(r->opts.stream & (PONS_STREAM_UPDATES | PONS_STREAM_TASKS | PONS_STREAM_DEBUG))) {
        return;
    }
    int depth = 0;
    for (const pons_run *p = r->parent; p && depth < DEPTH_MAX; p = p->parent) {
        depth++;
    }
    if (r->opts.stream & (PONS_STREAM_TASKS | PONS_STREAM_DEBUG)) {
        show_waiting(r, (uint8_t)(1u << depth));
    }
    pons_value *list = json_array();
    if (!collect_interrupts(r, (uint8_t)(1u << depth), list)) {
        pons_value_unref(list);
        put(r, PONS_STREAM_UPDATES, NULL);
    } else if (json_array_size(list) > 0 && (r->opts.stream & PONS_STREAM_UPDATES)) {
        put(r, PONS_STREAM_UPDATES, pons_object_whole("__interrupt__", list, NULL));
    } else {
        pons_value_unref(list);
    }
}

void pons__stream_stop(pons_run *r)
{
    if (r->opts.stream & PONS_STREAM_UPDATES) {
        put(r, PONS_STREAM_UPDATES, pons_object_whole("__interrupt__", json_array(), NULL));
    }
}

// ---- what a node says ---------------------------------------------------------------------------

void pons_cx_message(pons_cx *cx, pons_value *chunk, pons_value *metadata)
{
    pons_autovalue given = metadata;
    pons_value *meta =
        pons_object_whole("langgraph_step", json_integer(cx->run->ns->step + 1), "node",
                          json_string(cx->node->name), "ns", namespace_of(cx->run->ns->name), NULL);
    bool ok = meta && (!given || json_object_update(meta, given) == 0);
    pons_value *pair = json_array();
    ok = json_array_append_new(pair, chunk) == 0 && ok;
    ok = json_array_append_new(pair, meta) == 0 && ok;
    say_now(cx, PONS_STREAM_MESSAGES, whole(pair, ok));
}

void pons_cx_custom(pons_cx *cx, pons_value *payload)
{
    say_now(cx, PONS_STREAM_CUSTOM, payload);
}

// Also in a subgraph whose other events nobody asked for: a node's words are never lost on the way.
static void say_now(pons_cx *cx, uint32_t mode, pons_value *payload)
{
    pons_error e = PONS_ERROR_INIT;
    cx->moved_ns = 0; // progress
    if (!(pons__run_root(cx->run)->opts.stream & mode)) {
        pons_value_unref(payload);
        return;
    }
    put(cx->run, mode, payload);
    int st = pons__run_commit(cx->run, &(pons__extra){0}, &e);
    if (st != PONS_OK) {
        pons__cx_break(cx, st, &e);
    }
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct stream_read {
    pons_value *list;
    uint32_t modes;
    size_t limit;
} stream_read;

static int read_event(void *user, const pons_event_row *row)
{
    stream_read *s = user;
    pons_value *payload = NULL;
    if (strncmp(row->type, PREFIX, strlen(PREFIX)) != 0 ||
        !(pons_stream_mode(row->type + strlen(PREFIX)) & s->modes) ||
        pons_value_parse(row->payload.data, row->payload.len, &payload, NULL) != PONS_OK) {
        return 0;
    }
    int bad = json_array_append_new(
        s->list,
        pons_object_whole("seq", json_integer(row->seq), "ns", json_string(row->ns), "ts_ms",
                          json_integer(row->ts_ms), "mode", json_string(row->type + strlen(PREFIX)),
                          "payload", payload, NULL));
    return bad || (s->limit && json_array_size(s->list) >= s->limit);
}

int pons_stream_read(pons_store store, const char *thread, uint32_t modes, int64_t after,
                     int64_t limit, pons_value **ret_list, pons_error *err)
{
    if (!store.ops) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "without a store, what was streamed is not kept");
    }
    stream_read s = {json_array(), modes, limit > 0 ? (size_t)limit : 0};
    int st = store.ops->events(store.self, thread, after, 0, read_event, &s, err);
    if (st != PONS_OK) {
        pons_value_unref(s.list);
    } else {
        *ret_list = s.list;
    }
    return st;
}

pons_value *pons_stream_shape(const pons_event *ev, uint32_t modes, bool subgraphs)
{
    if (strncmp(ev->type, PREFIX, strlen(PREFIX)) != 0) {
        return NULL;
    }
    const char *word = ev->type + strlen(PREFIX);
    if (!(pons_stream_mode(word) & modes)) {
        return NULL;
    }
    bool several = modes & (modes - 1);
    if (!several && !subgraphs) {
        return pons_value_ref(ev->payload);
    }
    pons_value *list = json_array();
    bool ok = list != NULL;
    ok = ok && (!subgraphs || json_array_append_new(list, namespace_of(ev->ns)) == 0);
    ok = ok && json_array_append_new(list, json_string(word)) == 0;
    ok = ok && json_array_append_new(list, pons_value_ref(ev->payload)) == 0;
    return whole(list, ok);
}

uint32_t pons_stream_mode(const char *word)
{
    for (size_t i = 0; i < MODES; i++) {
        if (strcmp(words[i], word) == 0) {
            return bits[i];
        }
    }
    return 0;
}

// ---- helpers ------------------------------------------------------------------------------------

// v when nothing of it was lost, else nothing: what is streamed has no holes.
static pons_value *whole(pons_value *v, bool ok)
{
    if (ok) {
        return v;
    }
    pons_value_unref(v);
    return NULL;
}

static void put(pons_run *r, uint32_t mode, pons_value *payload)
{
    char type[32] = PREFIX;
    for (size_t i = 0; i < MODES; i++) {
        if (bits[i] == mode) {
            snprintf(type, sizeof type, PREFIX "%s", words[i]);
        }
    }
    if (pons__out_emit(&r->out, type, payload, pons_wall_ms(&r->t->clock)) != PONS_OK) {
        r->spoiled = true; // something is missing: the next commit must not pretend
    }
}

static void put_debug(pons_run *r, const char *type, const pons_value *payload)
{
    put(r, PONS_STREAM_DEBUG,
        pons_object_whole(
            "step", json_integer(strcmp(type, "checkpoint") == 0 ? r->ns->step : r->ns->step + 1),
            "timestamp", json_integer(pons_wall_ms(&r->t->clock)), "type", json_string(type),
            "payload", pons_value_ref(payload), NULL));
}

static pons_value *state_of(const pons_run *r)
{
    pons_value *state = json_object();
    bool ok = state != NULL;
    for (size_t i = 0; i < r->g->n_channels && ok; i++) {
        const pons_value *v = r->ns->slots[i].v;
        ok = !v || json_object_set_new(state, r->g->channels[i].name, pons_value_ref(v)) == 0;
    }
    return whole(state, ok);
}

static pons_value *update_of(const pons_cx *cx)
{
    if (cx->n_writes == 0) {
        return json_null();
    }
    pons_value *one = json_object();
    bool twice = false, ok = one != NULL;
    for (size_t i = 0; i < cx->n_writes && ok; i++) {
        const char *name = cx->run->g->channels[cx->writes[i].ch].name;
        twice = twice || json_object_get(one, name);
        ok = json_object_set_new(one, name, pons_value_ref(cx->writes[i].v)) == 0;
    }
    if (!twice || !ok) {
        return whole(one, ok);
    }
    pons_value_unref(one);
    pons_value *list = json_array();
    ok = list != NULL;
    for (size_t i = 0; i < cx->n_writes && ok; i++) {
        ok = json_array_append_new(list,
                                   pons_object_whole(cx->run->g->channels[cx->writes[i].ch].name,
                                                     pons_value_ref(cx->writes[i].v), NULL)) == 0;
    }
    return list;
}

// "a:1|b:2" as a list; the root is the empty one.
static pons_value *namespace_of(const char *ns)
{
    pons_value *list = json_array();
    bool ok = list != NULL;
    while (*ns && ok) {
        size_t n = strcspn(ns, "|");
        ok = json_array_append_new(list, json_stringn(ns, n)) == 0;
        ns += n + (ns[n] == '|');
    }
    return whole(list, ok);
}
