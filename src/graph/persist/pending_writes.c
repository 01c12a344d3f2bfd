// pending_writes.c - what is kept of a superstep's tasks under its checkpoint while the superstep is not
// finished.
//
// Rows of JSON under (checkpoint, task id), by index:
//
//   0      {"node","seed","wall","inbox"?,"seen"}
//          fixed at the first run; answers seen when parked
//   1      {"w":[[channel,value]...], "g":[node...], "p":[[ns,kind,value]...],
//           "e":[[type,payload,ts]...], "f":[effect...], "i":[seq...], "m":[item...]}
//          a finished task: all that it brings out; also "s":[[node,arg]...] sends, "b":true when
//          its edges are not followed; {"error":"..."} of a failed one
//   2 + n  {"k":"await"|"task"|"graph"|"step","name","hash","req"?,"ans"?,"dl"?,"ln"?,"t"?,"bad"?}
//          its n-th call; "bad": the answer is the failure of a task that was called
//
// A task that had another attempt has in its header also "t" how many rounds of calls there were,
// "c" how many calls the newest one began with (a later call of an older round counts for nothing),
// "y" failed attempts, "d" when the next one is due. "ln" is the whole length of
// such a wait, which a wall clock that went back does not make longer.
//
// The task "command" has, by index, [[channel,value]...]: updates that came together with a resume;
// or {"early": value}, an answer to the first question that this step asks ("early":true there).
//
// A task's id is a hash of namespace, checkpoint id and node, so a reader finds whose they are; that of
// one that was called, of the call's id instead of the node.
#include "graph/persist/pending_writes.h"

#include "graph/core/called_tasks.h"
#include "graph/core/run_accessors.h"
#include "graph/core/task_calls.h"
#include "graph/core/task_random.h"
#include "graph/core/task_writes.h"
#include "graph/engine.h"
#include "pons/growing_list.h"
#include "pons/items.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDX_HEADER, IDX_RESULT, IDX_CALLS };

// ---- writing ------------------------------------------------------------------------------------

void pons__rows_fini(pons__rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free((void *)(uintptr_t)r->rows[i].data.data);
    }
    free(r->rows);
    *r = (pons__rows){0};
}

// Whether a task was called by a call that is not recorded.
static bool unknown(const pons_cx *cx)
{
    return cx->caller && cx->caller_call < cx->caller->n_calls &&
           !cx->caller->calls[cx->caller_call].saved;
}

static int add(pons__rows *r, pons_cx *cx, int32_t idx, pons_value *v, pons_error *err)
{
    return pons__rows_add(r, cx->run, pons__task_id(cx), idx, v, err);
}

static pons_value *header_of(pons_cx *cx)
{
    char seed[20];
    bool again = cx->round > 0 || cx->attempt > 0;
    pons__task_fix(cx);
    snprintf(seed, sizeof seed, "%016" PRIx64, cx->seed);
    cx->answers_seen = pons__task_answered(cx);
    return pons_object_whole(
        "node", json_string(cx->node->name), "seed", json_string(seed), "wall",
        json_integer(cx->wall_ms), "seen", json_integer((json_int_t)cx->answers_seen), "inbox",
        cx->inbox_fixed ? json_integer(cx->inbox_bound) : PONS_ABSENT, "t",
        again ? json_integer(cx->round) : PONS_ABSENT, "c",
        again ? json_integer((json_int_t)cx->keep) : PONS_ABSENT, "y",
        again ? json_integer(cx->attempt) : PONS_ABSENT, "d",
        again ? json_integer(cx->wake_wall_ms) : PONS_ABSENT, "ln",
        again && cx->wake_span_ms ? json_integer(cx->wake_span_ms) : PONS_ABSENT, NULL);
}

static pons_value *call_of(const pons__call *c)
{
    return pons_object_whole(
        "k", json_string(pons__call_words[c->kind]), "name", json_string(c->name), "hash",
        json_string(c->hash), "req", pons_optional(c->request), "ans",
        pons_optional(c->failed && !c->accepted ? NULL : c->answer), "bad",
        c->failed && c->accepted ? json_true() : PONS_ABSENT, "dl",
        c->deadline_wall_ms ? json_integer(c->deadline_wall_ms) : PONS_ABSENT, "ln",
        c->deadline_span_ms ? json_integer(c->deadline_span_ms) : PONS_ABSENT, "t",
        c->round ? json_integer(c->round) : PONS_ABSENT, "early",
        c->early ? json_true() : PONS_ABSENT, NULL);
}

int pons__rows_call(pons__rows *r, pons_cx *cx, size_t call, pons_error *err)
{
    int st = PONS_OK;
    if (!cx->header_saved) {
        st = add(r, cx, IDX_HEADER, header_of(cx), err);
    }
    for (size_t i = 0; i < call && st == PONS_OK;
         i++) { // failures that it went on from, open calls
        const pons__call *c = &cx->calls[i];
        if (!c->saved && (c->answer || c->kind == PONS__CALL_STEP)) {
            st = add(r, cx, (int32_t)(IDX_CALLS + i), call_of(&cx->calls[i]), err);
        }
    }
    if (st == PONS_OK) {
        st = add(r, cx, (int32_t)(IDX_CALLS + call), call_of(&cx->calls[call]), err);
    }
    if (st == PONS_OK && unknown(cx)) { // else nobody would know of this task
        st = pons__rows_call(r, cx->caller, cx->caller_call, err);
    }
    return st;
}

void pons__rows_call_saved(pons_cx *cx, size_t call)
{
    for (size_t i = 0; i < call; i++) {
        cx->calls[i].saved =
            cx->calls[i].saved || cx->calls[i].answer || cx->calls[i].kind == PONS__CALL_STEP;
    }
    cx->calls[call].saved = cx->header_saved = true;
    if (unknown(cx)) {
        pons__rows_call_saved(cx->caller, cx->caller_call);
    }
}

static pons_value *result_of(const pons_cx *cx)
{
    const pons_graph *g = cx->run->g;
    const pons__out *o = &cx->out;
    pons_value *w = json_array(), *gotos = json_array(), *posts = json_array(),
               *emits = json_array(), *effects = json_array(), *taken = json_array();
    int bad = 0; // what found no memory
    for (size_t i = 0; i < cx->n_writes; i++) {
        bad |= json_array_append_new(
            w, json_pack("[sO]", g->channels[cx->writes[i].ch].name, cx->writes[i].v));
    }
    for (size_t i = 0; i < cx->n_gotos; i++) {
        bad |= json_array_append_new(gotos, json_string(g->nodes[cx->gotos[i]].name));
    }
    for (size_t i = 0; i < o->n_posts; i++) {
        bad |= json_array_append_new(
            posts, json_pack("[ssO]", o->posts[i].ns, o->posts[i].kind, o->posts[i].value));
    }
    for (size_t i = 0; i < o->n_emits; i++) {
        bad |=
            json_array_append_new(emits, json_pack("[sOI]", o->emits[i].type, o->emits[i].payload,
                                                   (json_int_t)o->emits[i].ts_ms));
    }
    for (size_t i = 0; i < o->n_changes; i++) {
        const pons__change *c = &o->changes[i];
        bad |= json_array_append_new(effects, json_pack("[ssiIIO]", c->id, c->ns, (int)c->state,
                                                        (json_int_t)c->created,
                                                        (json_int_t)c->updated, c->data));
    }
    for (size_t i = 0; i < o->n_taken; i++) {
        bad |= json_array_append_new(taken, json_integer(o->taken[i]));
    }
    pons_value *items = o->n_items > 0 ? json_array() : NULL;
    for (size_t i = 0; i < o->n_items; i++) {
        bad |= json_array_append_new(items, pons_items_write_json(o->items[i]));
    }
    pons_value *sends = cx->n_sends > 0 ? json_array() : NULL;
    for (size_t i = 0; i < cx->n_sends; i++) {
        bad |= json_array_append_new(
            sends, json_pack("[sO]", g->nodes[cx->sends[i].node].name, cx->sends[i].arg));
    }
    pons_value *v = pons_object_whole("w", w, "g", gotos, "p", posts, "e", emits, "f", effects, "i",
                                      taken, "m", o->n_items > 0 ? items : PONS_ABSENT, "s",
                                      cx->n_sends > 0 ? sends : PONS_ABSENT, "b",
                                      cx->bare ? json_true() : PONS_ABSENT, NULL);
    if (bad) { // a record with a hole must not be stored
        pons_value_unref(v);
        return NULL;
    }
    return v;
}

int pons__rows_task(pons__rows *r, pons_cx *cx, pons_error *err)
{
    if (cx->state == PONS__TASK_DONE) {
        return cx->done_saved ? PONS_OK : add(r, cx, IDX_RESULT, result_of(cx), err);
    }
    if (cx->retired || (cx->caller && cx->state == PONS__TASK_FAILED)) {
        return PONS_OK; // its caller's record has what became of it
    }
    if (cx->state == PONS__TASK_FAILED) {
        char line[PONS_ERROR_MESSAGE_MAX + PONS_ERROR_SOURCE_MAX + PONS_ERROR_CAUSE_MAX];
        pons_error_line(&cx->error, line, sizeof line);
        return add(r, cx, IDX_RESULT, pons_object_whole("error", json_string(line), NULL), err);
    }
    if (cx->n_calls == 0 && !cx->header_due) {
        return PONS_OK; // a subgraph's: its child keeps its own
    }
    int st = PONS_OK;
    if (!cx->header_saved || cx->header_due || cx->answers_seen != pons__task_answered(cx)) {
        st = add(r, cx, IDX_HEADER, header_of(cx), err);
    }
    for (size_t i = 0; i < cx->n_calls && st == PONS_OK; i++) {
        if (!cx->calls[i].saved) {
            st = add(r, cx, (int32_t)(IDX_CALLS + i), call_of(&cx->calls[i]), err);
        }
    }
    return st;
}

void pons__rows_saved(pons_cx *cx)
{
    cx->done_saved = cx->state == PONS__TASK_DONE;
    cx->header_saved = cx->header_saved || cx->n_calls > 0 || cx->header_due;
    cx->header_due = false;
    for (size_t i = 0; i < cx->n_calls; i++) {
        cx->calls[i].saved = true;
    }
}

int pons__rows_add(pons__rows *r, pons_run *run, const char *task, int32_t idx, pons_value *v,
                   pons_error *err)
{
    char *text = NULL;
    long n = v ? pons_value_dump(v, &text) : PONS_ENOMEM;
    pons_value_unref(v);
    if (n < 0 || !pons_list_reserve(&r->rows, &r->cap, r->n + 1, sizeof *r->rows)) {
        free(text);
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory for a task's record");
    }
    pons_record_row *row = &r->rows[r->n++];
    *row = (pons_record_row){.idx = idx, .data = {text, (size_t)n}};
    snprintf(row->checkpoint, sizeof row->checkpoint, "%s", pons__run_cp(run));
    snprintf(row->task, sizeof row->task, "%s", task);
    return PONS_OK;
}

// ---- reading ------------------------------------------------------------------------------------

typedef struct load_state {
    pons_run *r;
    size_t from; // tasks before have been read
    int st;
} load_state;

// A task that was called and not answered is there again.
static int open_called(pons_run *r, size_t from, pons_error *err)
{
    for (size_t i = from; i < r->n_tasks; i++) {
        pons_cx *cx = r->tasks[i];
        for (size_t k = 0; k < cx->n_calls && cx->state != PONS__TASK_DONE; k++) {
            pons_error e = PONS_ERROR_INIT;
            if (cx->calls[k].kind == PONS__CALL_STEP && !cx->calls[k].answer &&
                !pons__called_add(cx, k, &e) && e.status == PONS_ENOMEM) {
                return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "%s", e.message);
            }
        }
    }
    return PONS_OK;
}

// When something is due by the host's clock that was written by the wall's: never later than the whole
// of it from now, as a machine may come up with its wall clock years behind.
static int64_t due_ns(const pons_cx *cx, int64_t wall_ms, int64_t span_ms)
{
    const pons_clock *clock = &cx->run->t->clock;
    int64_t left_ms;
    if (__builtin_sub_overflow(wall_ms, pons_wall_ms(clock), &left_ms)) {
        left_ms = INT64_MAX;
    }
    return pons_later_ns(pons_now_ns(clock), span_ms > 0 && left_ms > span_ms ? span_ms : left_ms);
}

static void load_retry(pons_cx *cx, const pons_value *v)
{
    cx->round = (int)pons_get_int(v, "t", 0);
    cx->keep = (size_t)pons_get_int(v, "c", 0);
    cx->attempt = (int)pons_get_int(v, "y", 0);
    cx->wake_wall_ms = pons_get_int(v, "d", 0);
    cx->wake_span_ms = pons_get_int(v, "ln", 0);
    if (cx->wake_wall_ms) {
        cx->wake_ns = due_ns(cx, cx->wake_wall_ms, cx->wake_span_ms);
    }
}

static int load_call(pons_cx *cx, size_t n, const pons_value *v)
{
    int round = (int)pons_get_int(v, "t", 0);
    if (n >= cx->keep && round < cx->round) {
        return PONS_OK; // of an attempt that is over
    }
    if (!pons_list_reserve(&cx->calls, &cx->cap_calls, n + 1, sizeof *cx->calls)) {
        return PONS_ENOMEM;
    }
    if (n != cx->n_calls) {
        return PONS_ECORRUPT;
    }
    pons__call *c = &cx->calls[cx->n_calls++];
    *c = (pons__call){
        .kind = pons__call_kind_of(pons_get_str(v, "k", "")),
        .round = round,
        .name = strdup(pons_get_str(v, "name", "")),
        .request = pons_value_ref(pons_get(v, "req")),
        .answer = pons_value_ref(pons_get(v, "ans")),
        .deadline_wall_ms = pons_get_int(v, "dl", 0),
        .deadline_span_ms = pons_get_int(v, "ln", 0),
        .saved = true,
        .early = pons_get_bool(v, "early", false),
        .failed = pons_get_bool(v, "bad", false),
        .taken = true,
        .accepted = true,
        .restarted = true,
        .shown = UINT8_MAX, // by who asked
    };
    snprintf(c->hash, sizeof c->hash, "%s", pons_get_str(v, "hash", ""));
    pons__call_id(cx, c, n);
    if (c->early) {
        pons_run *root = pons__run_root(cx->run);
        pons_value_unref(root->early);
        root->early = NULL;
        root->early_used = true;
    }
    c->start_due = c->kind == PONS__CALL_AWAIT && !c->answer;
    if (c->deadline_wall_ms) {
        c->deadline_ns = due_ns(cx, c->deadline_wall_ms, c->deadline_span_ms);
    }
    return c->name ? PONS_OK : PONS_ENOMEM;
}

static int load_out(pons_cx *cx, const pons_value *v)
{
    int st = PONS_OK;
    pons_each(p, pons_get(v, "p")) {
        st = st ? st
                : pons__out_post(&cx->out, json_string_value(json_array_get(p, 0)),
                                 json_string_value(json_array_get(p, 1)),
                                 pons_value_ref(json_array_get(p, 2)));
    }
    pons_each(p, pons_get(v, "e")) {
        st = st ? st
                : pons__out_emit(&cx->out, json_string_value(json_array_get(p, 0)),
                                 pons_value_ref(json_array_get(p, 1)),
                                 json_integer_value(json_array_get(p, 2)));
    }
    pons_each(p, pons_get(v, "f")) {
        pons__change c = {
            .state = (pons_effect_state)json_integer_value(json_array_get(p, 2)),
            .created = json_integer_value(json_array_get(p, 3)),
            .updated = json_integer_value(json_array_get(p, 4)),
            .data = pons_value_ref(json_array_get(p, 5)),
        };
        snprintf(c.id, sizeof c.id, "%s", json_string_value(json_array_get(p, 0)));
        snprintf(c.ns, sizeof c.ns, "%s", json_string_value(json_array_get(p, 1)));
        st = st ? st : pons__out_change_put(&cx->out, &c);
    }
    pons_each(p, pons_get(v, "i")) {
        st = st ? st : pons__out_take(&cx->out, json_integer_value(p));
    }
    pons_each(p, pons_get(v, "m")) {
        pons_item_write *w = NULL;
        st = st ? st : pons_items_write_parse(p, &w, NULL);
        st = st ? st : pons__out_item(&cx->out, w);
    }
    return st;
}

static int load_result(pons_cx *cx, const pons_value *v)
{
    if (pons_get(v, "error")) { // it failed: it is to be run again, with all its attempts
        cx->attempt = 0;
        cx->wake_ns = 0;
        cx->error.status = PONS_EINVAL; // that it did is known: no answer is kept for it
        return PONS_OK;
    }
    pons_each(p, pons_get(v, "w")) {
        uint32_t ch = pons__graph_channel_find(cx->run->g, json_string_value(json_array_get(p, 0)));
        if (ch == PONS__NONE) {
            continue;
        }
        int st = pons__cx_write(cx, ch, pons_value_ref(json_array_get(p, 1)), NULL);
        if (st != PONS_OK) {
            return st;
        }
    }
    pons_each(p, pons_get(v, "g")) {
        uint32_t to = pons__graph_node_find(cx->run->g, json_string_value(p));
        if (to >= cx->run->g->n_nodes) {
            continue;
        }
        if (!pons_list_reserve(&cx->gotos, &cx->cap_gotos, cx->n_gotos + 1, sizeof *cx->gotos)) {
            return PONS_ENOMEM;
        }
        cx->gotos[cx->n_gotos++] = to;
    }
    pons_each(p, pons_get(v, "s")) {
        const char *name = json_string_value(json_array_get(p, 0));
        uint32_t to = pons__graph_node_find(cx->run->g, name ? name : "");
        int st = to < cx->run->g->n_nodes
                     ? pons__cx_route(cx, to, pons_value_ref(json_array_get(p, 1)))
                     : PONS_OK;
        if (st != PONS_OK) {
            return st;
        }
    }
    cx->bare = pons_get_bool(v, "b", false);
    cx->state = PONS__TASK_DONE;
    cx->done_saved = cx->streamed = true; // with this record
    return load_out(cx, v);
}

static int load_row(void *user, const pons_record_row *row)
{
    load_state *l = user;
    pons_cx *cx = NULL;
    if (strcmp(row->task, PONS__COMMAND_TASK) == 0 && l->from > 0) {
        return 0;
    }
    if (strcmp(row->task, PONS__COMMAND_TASK) == 0) {
        pons_autovalue writes = NULL;
        l->st = pons_value_read(row->data.data, row->data.len, &writes, NULL);
        l->r->commands = row->idx + 1;
        if (l->st == PONS_OK && json_is_object(writes)) {
            l->r->early = l->r->early_used ? NULL : pons_value_ref(pons_get(writes, "early"));
            return PONS_OK;
        }
        return l->st = l->st == PONS_OK ? pons__ns_patch(l->r->ns, writes, NULL) : l->st;
    }
    for (size_t i = l->from; i < l->r->n_tasks && !cx; i++) {
        if (strcmp(pons__task_id(l->r->tasks[i]), row->task) == 0) {
            cx = l->r->tasks[i];
        }
    }
    if (!cx) {
        return 0; // of a node that the graph has no more
    }
    pons_autovalue v = NULL;
    l->st = pons_value_read(row->data.data, row->data.len, &v, NULL);
    if (l->st != PONS_OK) {
        return l->st;
    }
    if (row->idx == IDX_HEADER) {
        cx->seed = strtoull(pons_get_str(v, "seed", "0"), NULL, 16);
        cx->wall_ms = pons_get_int(v, "wall", 0);
        cx->seeded = cx->wall_fixed = cx->header_saved = true;
        cx->inbox_fixed = pons_get(v, "inbox") != NULL;
        cx->inbox_bound = pons_get_int(v, "inbox", 0);
        cx->answers_seen = (size_t)pons_get_int(v, "seen", 0);
        load_retry(cx, v);
    } else if (row->idx == IDX_RESULT) {
        l->st = load_result(cx, v);
    } else if (row->idx >= IDX_CALLS) {
        l->st = load_call(cx, (size_t)(row->idx - IDX_CALLS), v);
    }
    return l->st;
}

int pons__records_load(pons_run *r, pons_error *err)
{
    load_state l = {.r = r};
    pons_thread *t = r->t;
    int st = PONS_OK;
    do { // with every pass those that the tasks of the last one had called
        const size_t n = r->n_tasks;
        st = t->store.ops->records(t->store.self, t->id, r->ns->name, r->cp_id, load_row, &l, err);
        if (st == PONS_OK && l.st != PONS_OK) {
            st = pons_error_set(err, PONS_ECORRUPT, PONS__MODULE,
                                "the records of checkpoint %s can't be read", r->cp_id);
        }
        st = st == PONS_OK ? open_called(r, l.from, err) : st;
        l.from = n;
    } while (st == PONS_OK && l.from < r->n_tasks);
    return st;
}
