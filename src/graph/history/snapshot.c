// snapshot.c - what a graph is at a checkpoint, from outside: no lease is taken, and whoever holds
// the thread goes on writing. It is made of what the store has, without the graph itself:
//
//   the checkpoint's row     values, what is next, the run's metadata
//   the records under it     of each task that is next: its answers asked for, its error, or, when
//                            it has finished, what it wrote
//   namespaces below         of a task that is a subgraph, known by the task's id as their owner
//
// These are several reads, between which others may commit: a record may be newer than the row, and a
// subgraph that has just ended is missing. A head that is pruned between two reads is looked for
// again.
#include "graph/history/snapshot.h"

#include "graph/engine.h"
#include "graph/state/checkpoint_read.h"
#include "graph/util/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDX_HEADER, IDX_RESULT, IDX_CALLS, TRIES = 5, DEPTH_MAX = 32 };

typedef struct looker { // one reading
    pons_store store;
    const char *thread;
    pons_value *spaces; // names of all namespaces
    bool subgraphs, past;
    pons_error *err;
} looker;

// ---- its tasks ----------------------------------------------------------------------------------

typedef struct task_rows { // what is recorded of a checkpoint's tasks: {task: {"idx": record}}
    pons_value *tasks;
    int st;
} task_rows;

typedef struct place { // whose records are read
    const pons_value *records;
    const char *ns, *checkpoint;
} place;

typedef struct owner_search {
    const char *owner;
    char newest[32]; // of the run that is being passed
    char found[32];
} owner_search;

typedef struct seen_task {
    const char *node;
    const pons_value *arg; // of a Send
    char id[24];
    pons_value *asked, *awaits; // the caller's
    bool finished;
} seen_task;

static int see_record(void *user, const pons_record_row *row)
{
    task_rows *t = user;
    pons_value *v = NULL;
    char idx[16];
    t->st = pons_value_read(row->data.data, row->data.len, &v, NULL);
    if (t->st) {
        return t->st;
    }
    pons_value *task = json_object_get(t->tasks, row->task);
    if (!task) {
        task = json_object();
        json_object_set_new(t->tasks, row->task, task);
    }
    snprintf(idx, sizeof idx, "%d", (int)row->idx);
    t->st = json_object_set_new(task, idx, v) ? PONS_ENOMEM : PONS_OK;
    return t->st;
}

static const pons_value *record_at(const pons_value *rows, size_t idx)
{
    char name[16];
    snprintf(name, sizeof name, "%zu", idx);
    return pons_get(rows, name);
}

// What a finished task wrote: {channel: value}, or a list of them when a channel was written twice.
static pons_value *result_of(const pons_value *record)
{
    pons_value *list = json_array();
    if (json_array_append_new(list, json_object())) {
        pons_value_unref(list);
        return NULL;
    }
    pons_each(pair, pons_get(record, "w")) {
        const char *channel = json_string_value(json_array_get(pair, 0));
        size_t at = 0;
        while (at < json_array_size(list) && json_object_get(json_array_get(list, at), channel)) {
            at++;
        }
        if (at == json_array_size(list)) {
            json_array_append_new(list, json_object());
        }
        json_object_set(json_array_get(list, at), channel, json_array_get(pair, 1));
    }
    pons_value *one = json_array_size(list) == 1 ? pons_value_ref(json_array_get(list, 0)) : NULL;
    if (one) {
        pons_value_unref(list);
    }
    return one ? one : list;
}

// The calls without an answer: of people into one list, all others into another; those of a task that
// it has called are its own, too.
static int pending_of(const place *at, const char *id, pons_value *asked, pons_value *awaits,
                      int depth)
{
    const pons_value *rows = pons_get(at->records, id), *header = record_at(rows, IDX_HEADER);
    const int64_t round = pons_get_int(header, "t", 0), keep = pons_get_int(header, "c", 0);
    int bad = 0;
    for (size_t n = 0; record_at(rows, IDX_CALLS + n); n++) {
        const pons_value *call = record_at(rows, IDX_CALLS + n);
        const int64_t of = pons_get_int(call, "t", 0);
        const bool step = strcmp(pons_get_str(call, "k", ""), "step") == 0;
        if (pons_get(call, "ans") || (!step && strcmp(pons_get_str(call, "k", ""), "await") != 0) ||
            ((int64_t)n >= keep && of < round)) {
            continue;
        }
        char name[64];
        if (of) {
            snprintf(name, sizeof name, "%s.%zu.%" PRId64, id, n, of);
        } else {
            snprintf(name, sizeof name, "%s.%zu", id, n);
        }
        if (step) {
            char called[24];
            pons__task_hash(at->ns, at->checkpoint, name, 0, called);
            bad |= depth < DEPTH_MAX && pending_of(at, called, asked, awaits, depth + 1);
            continue;
        }
        const pons_value *request = pons_get(call, "req");
        pons_value *req = request ? pons_value_ref(request) : json_null();
        if (strcmp(pons_get_str(call, "name", ""), "human") == 0) {
            bad |= json_array_append_new(
                asked, pons_object_whole("id", json_string(name), "value", req, NULL));
        } else {
            bad |= json_array_append_new(
                awaits,
                pons_object_whole("id", json_string(name), "kind",
                                  json_string(pons_get_str(call, "name", "")), "request", req,
                                  "deadline_ms", pons_optional(pons_get(call, "dl")), NULL));
        }
    }
    return bad;
}

// Which call of a task an owner is: 0 for the task itself, 1, 2, … for the graphs that it runs; < 0:
// none of its.
static long call_of(const char *owner, const char *task)
{
    const size_t n = strlen(task);
    if (strncmp(owner, task, n) != 0 || (owner[n] && owner[n] != '.')) {
        return -1;
    }
    return owner[n] ? strtol(owner + n + 1, NULL, 10) + 1 : 0;
}

// Newest first: the row that names a run comes after those of that run.
static int is_owned(void *user, const pons_checkpoint_row *row)
{
    owner_search *s = user;
    pons_autovalue data = NULL;
    if (!s->newest[0]) {
        snprintf(s->newest, sizeof s->newest, "%s", row->id);
    }
    if (pons_value_read(row->data.data, row->data.len, &data, NULL) != PONS_OK ||
        !pons_get(data, "r")) {
        return 0;
    }
    if (call_of(pons_get_str(data, "o", ""), s->owner) >= 0) {
        snprintf(s->found, sizeof s->found, "%s", s->newest);
        return 1;
    }
    s->newest[0] = '\0';
    return 0;
}

// The namespace below, of a node, whose run this task owns; "" when there is none. *ret_at: its
// newest checkpoint of that run.
static int find_child(looker *l, const char *ns, const char *node, const char *id,
                      char ret_ns[PONS_NAME_MAX], char ret_at[32])
{
    const size_t outer = strlen(ns), name = strlen(node);
    long newest = -1;
    ret_ns[0] = '\0';
    pons_each(space, l->spaces) {
        const char *text = json_string_value(space), *at = text + outer + (outer > 0);
        if (strlen(text) <= outer || strncmp(text, ns, outer) != 0 ||
            (outer && text[outer] != '|') || strncmp(at, node, name) != 0 ||
            (at[name] && at[name] != ':') || strchr(at, '|')) {
            continue;
        }
        owner_search s = {.owner = id};
        pons__image head = {0};
        int st = pons__image_head(l->store, l->thread, text, &head, l->err);
        const long call = st == PONS_OK ? call_of(head.owner, id) : -1;
        if (call >= 0) {
            snprintf(s.found, sizeof s.found, "%s", head.id);
        } else if (st == PONS_OK && l->past) {
            st = l->store.ops->history(l->store.self, l->thread, text, "", 0, is_owned, &s, l->err);
        }
        pons__image_fini(&head);
        if (st && st != PONS_ENOTFOUND) {
            return st;
        }
        if (s.found[0] && call >= newest) { // of several, the one that it runs now
            newest = call;
            snprintf(ret_ns, PONS_NAME_MAX, "%s", text);
            snprintf(ret_at, 32, "%s", s.found);
        }
    }
    return PONS_OK;
}

static int no_memory(looker *l)
{
    return pons_error_set(l->err, PONS_ENOMEM, PONS__MODULE, "no memory to read thread %s",
                          l->thread);
}

static int look(looker *l, const char *ns, const char *checkpoint, bool bare, int depth,
                pons_value **ret);

// A subgraph's questions are its task's, too.
static int look_below(looker *l, const char *ns, seen_task *t, int depth, pons_value *task)
{
    char below[PONS_NAME_MAX], at[32];
    pons_value *state = NULL;
    int st = depth < DEPTH_MAX ? find_child(l, ns, t->node, t->id, below, at) : PONS_OK;
    if (st || depth >= DEPTH_MAX || !below[0]) {
        return st;
    }
    if (l->subgraphs || !t->finished) {
        st = look(l, below, at, !l->subgraphs, depth + 1, &state);
    }
    if (st == PONS_ENOTFOUND) { // pruned meanwhile
        return PONS_OK;
    }
    int bad = st == PONS_OK && json_object_set_new(task, "ns", json_string(below));
    if (state && !t->finished) {
        bad = bad || json_array_extend(t->asked, json_object_get(state, "interrupts"));
    }
    if (state && l->subgraphs) {
        bad = bad || json_object_set(task, "state", state);
    }
    pons_value_unref(state);
    return bad ? no_memory(l) : st;
}

static int add_task(looker *l, const place *at, seen_task *t, int depth, pons_value *tasks,
                    pons_value *next)
{
    const pons_value *rows = pons_get(at->records, t->id), *result = record_at(rows, IDX_RESULT);
    const pons_value *error = pons_get(result, "error");
    pons_autovalue asked = json_array();
    pons_autovalue awaits = json_array();
    t->finished = result && !error;
    t->asked = asked;
    t->awaits = awaits;
    if (!asked || !awaits || (!t->finished && pending_of(at, t->id, asked, awaits, 0))) {
        return no_memory(l);
    }
    pons_value *task = pons_object_whole(
        "id", json_string(t->id), "name", json_string(t->node), "error",
        error ? pons_value_ref(error) : json_null(), "interrupts", pons_value_ref(asked), "awaits",
        pons_value_ref(awaits), "result", t->finished ? result_of(result) : json_null(), "arg",
        pons_optional(t->arg), NULL);
    int st = task ? look_below(l, at->ns, t, depth, task) : no_memory(l);
    if (st || json_array_append(tasks, task) ||
        (!t->finished && json_array_append_new(next, json_string(t->node)))) {
        st = st ? st : no_memory(l);
    }
    pons_value_unref(task);
    return st;
}

static int tasks_of(looker *l, const char *ns, const pons__image *im, int depth, pons_value *tasks,
                    pons_value *next)
{
    task_rows rows = {.tasks = json_object()};
    int st = rows.tasks ? l->store.ops->records(l->store.self, l->thread, ns, im->id, see_record,
                                                &rows, l->err)
                        : no_memory(l);
    if (st == PONS_OK && rows.st) {
        st = pons_error_set(l->err, rows.st == PONS_ENOMEM ? PONS_ENOMEM : PONS_ECORRUPT,
                            PONS__MODULE, "the records of checkpoint %s can't be read", im->id);
    }
    const place at = {rows.tasks, ns, im->id};
    pons_each(v, im->next) {
        seen_task t = {.node = json_string_value(v)};
        pons__task_hash(ns, im->id, t.node, 0, t.id);
        st = st ? st : add_task(l, &at, &t, depth, tasks, next);
    }
    pons_each(v, im->sends) {
        seen_task t = {.node = json_string_value(json_array_get(v, 0)),
                       .arg = json_array_get(v, 1)};
        pons__task_hash(ns, im->id, t.node, (uint32_t)v_at + 1, t.id);
        st = st ? st : add_task(l, &at, &t, depth, tasks, next);
    }
    pons_value_unref(rows.tasks);
    return st;
}

// ---- one namespace ------------------------------------------------------------------------------

typedef struct child_search {
    const char *parent;
    char id[32]; // empty: none
} child_search;

static int image_of(looker *l, const char *ns, const char *checkpoint, pons__image *ret)
{
    int st = PONS_ENOTFOUND;
    for (int i = 0; i < (checkpoint ? 1 : TRIES) && st == PONS_ENOTFOUND; i++) {
        st = checkpoint ? pons__image_at(l->store, l->thread, ns, checkpoint, ret, l->err)
                        : pons__image_head(l->store, l->thread, ns, ret, l->err);
    }
    return st;
}

static int is_child(void *user, const pons_checkpoint_row *row)
{
    child_search *s = user;
    if (strcmp(row->parent, s->parent) == 0) {
        snprintf(s->id, sizeof s->id, "%s", row->id);
    }
    return strcmp(row->id, s->parent) == 0;
}

// An input's row stands before the one that names its run.
static int run_of_input(looker *l, const char *ns, pons__image *im)
{
    child_search s = {.parent = im->id};
    int st = l->store.ops->history(l->store.self, l->thread, ns, "", 0, is_child, &s, l->err);
    if (st || !s.id[0]) {
        return st;
    }
    pons__image next = {0};
    st = pons__image_at(l->store, l->thread, ns, s.id, &next, l->err);
    if (st == PONS_OK) {
        pons_value_unref(im->parents);
        pons_value_unref(im->metadata);
        im->parents = pons_value_ref(next.parents);
        im->metadata = pons_value_ref(next.metadata);
        im->run_id = next.run_id;
    }
    pons__image_fini(&next);
    return st;
}

pons_value *pons__metadata_of(const pons__image *im)
{
    char run[20];
    snprintf(run, sizeof run, "%016" PRIx64, im->run_id);
    pons_value *m = im->metadata ? json_copy(im->metadata) : json_object();
    const pons_value *parents = im->parents;
    int bad = !m || json_object_set_new(m, "source", json_string(pons__source_word(im->source)));
    bad = bad || json_object_set_new(m, "step", json_integer(im->step));
    bad = bad || json_object_set_new(m, "run_id", json_string(run));
    bad =
        bad || json_object_set_new(m, "parents", parents ? pons_value_ref(parents) : json_object());
    if (bad) {
        pons_value_unref(m);
        return NULL;
    }
    return m;
}

// All open questions of the tasks in one list.
static pons_value *questions_of(const pons_value *tasks)
{
    pons_value *all = json_array();
    pons_each(task, tasks) {
        if (json_array_extend(all, (pons_value *)(uintptr_t)pons_get(task, "interrupts"))) {
            pons_value_unref(all);
            return NULL;
        }
    }
    return all;
}

static int look(looker *l, const char *ns, const char *checkpoint, bool bare, int depth,
                pons_value **ret)
{
    pons__image im = {0};
    pons_autovalue tasks = json_array();
    pons_autovalue next = json_array();
    int st = image_of(l, ns, checkpoint, &im);
    if (st == PONS_OK && im.source == 'i') {
        st = run_of_input(l, ns, &im);
    }
    if (st == PONS_OK) {
        st = tasks && next ? tasks_of(l, ns, &im, depth, tasks, next) : no_memory(l);
    }
    if (st == PONS_OK) {
        *ret = pons_object_whole("thread", json_string(l->thread), "ns", json_string(ns),
                                 "checkpoint_id", json_string(im.id), "parent_id",
                                 im.parent[0] ? json_string(im.parent) : json_null(), "ts_ms",
                                 json_integer(pons__id_ms(im.id)), "values",
                                 bare ? PONS_ABSENT : pons_value_ref(im.state), "next",
                                 pons_value_ref(next), "tasks", pons_value_ref(tasks), "interrupts",
                                 questions_of(tasks), "metadata", pons__metadata_of(&im), NULL);
        st = *ret ? PONS_OK : no_memory(l);
    }
    pons__image_fini(&im);
    return st;
}

// ---- public functions ---------------------------------------------------------------------------

int pons_state_snapshot(pons_store store, const char *thread, const char *ns,
                        const pons_snapshot_options *opts, pons_value **ret, pons_error *err)
{
    static const pons_snapshot_options plain = {0};
    opts = opts ? opts : &plain;
    if (!store.ops) {
        return pons_error_set(err, PONS_EUNSUPPORTED, PONS__MODULE,
                              "a thread without a store can't be read from outside");
    }
    looker l = {.store = store, .thread = thread, .subgraphs = opts->subgraphs, .err = err};
    int st = pons__look_open(store, thread, &l.spaces, err);
    l.past = opts->checkpoint && opts->checkpoint[0];
    st = st ? st : look(&l, ns, l.past ? opts->checkpoint : NULL, opts->bare, 0, ret);
    pons_value_unref(l.spaces);
    return st;
}

static int add_space(void *user, const char *ns)
{
    return json_array_append_new(user, json_string(ns)); // what did not fit is told by its absence
}

int pons__look_open(pons_store store, const char *thread, pons_value **ret, pons_error *err)
{
    *ret = json_array();
    if (!*ret) {
        return pons_error_set(err, PONS_ENOMEM, PONS__MODULE, "no memory to read thread %s",
                              thread);
    }
    return store.ops->namespaces(store.self, thread, add_space, *ret, err);
}

int pons__look(pons_store store, const char *thread, pons_value *spaces, const char *ns,
               const char *checkpoint, bool bare, pons_value **ret, pons_error *err)
{
    looker l = {
        .store = store, .thread = thread, .spaces = spaces, .past = checkpoint != NULL, .err = err};
    return look(&l, ns, checkpoint, bare, 0, ret);
}
