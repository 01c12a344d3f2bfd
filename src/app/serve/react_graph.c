// react_graph.c - the robot as a graph that clients run: each message of a person is a goal.
//
//     begin ----> follow --(task.done)--> END           begin     says the words to the brain's inbox
//                 ^    |  ^                              follow    waits for what the brain's events say
//                 |    +--+ (something happened)                   of the task; each is a custom event
//               approval <--(approval.requested)         approval  asks the client's person
//
// The brain that `pons serve` runs decides and drives, as for `pons say`: its kernel, its critic, its
// approvals. This graph has a thread of its own per conversation, in which it keeps what was said; it
// follows the brain by the log of the brain's thread, and answers a question as the page does, so
// whoever answers first counts.
//
// Words are said once (served_words.c).
#include "app/serve/react_graph.h"

#include "pons/brain.h"
#include "pons/out_of_memory.h"
#include "pons/yes_no.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE  "robot"
#define KERNEL "kernel" // the brain's two graphs, by their names
#define INNER  "react"

enum { BATCH = 256, STEPS_MAX = 100000 };

struct app_react {
    app_react_options o;
    char thread[PONS_NAME_MAX];
    pons_graph *graph;
    pons_graph *brain[3],
        *drawn; // kernel, inner loop, and both; the graph with them where it waits
    pons_await_handler handlers[1];
};

// ---- the brain's log ----------------------------------------------------------------------------

typedef struct looking {
    app_followed *f;
    pons_value *seen;     // [{type, text, …}]
    pons_value *question; // of the task
    pons_value *end;      // {status, reason}
} looking;

static void note(looking *l, const char *type, const char *name, const char *text)
{
    json_array_append_new(l->seen, pons_object("type", json_string(type), "name",
                                               name ? json_string(name) : NULL, "text",
                                               json_string(text), NULL));
}

static void look_at_task(looking *l, const char *type, const pons_value *p)
{
    const pons_value *d = pons_get(p, "decision");
    if (strcmp(type, "decision") == 0) {
        note(l, "decision", pons_get_str(json_array_get(pons_get(d, "ops"), 0), "skill", NULL),
             pons_get_str(d, "reason", ""));
    } else if (strcmp(type, "effect") == 0) {
        note(l, "skill", pons_get_str(p, "skill", ""), pons_get_str(p, "state", ""));
    } else if (strcmp(type, "approval.requested") == 0) {
        const pons_value *op = json_array_get(pons_get(p, "ops"), 0);
        if (strcmp(pons_get_str(op, "skill", ""), PONS_SEND_PICTURES) != 0) {
            pons_value_unref(l->question);
            l->question = pons_value_ref(p);
        }
    } else if (strcmp(type, "approval.resolved") == 0 &&
               strcmp(pons_get_str(p, "id", ""), pons_get_str(l->question, "id", "-")) == 0) {
        pons_value_unref(l->question);
        l->question = NULL;
    } else if (strcmp(type, "task.done") == 0 &&
               strcmp(pons_get_str(p, "task_id", ""), l->f->task) == 0) {
        l->end = pons_object("status", json_string(pons_get_str(p, "status", "failed")), "reason",
                             json_string(pons_get_str(p, "reason", "")), NULL);
    }
}

static int look_at(void *user, const pons_event_row *row)
{
    looking *l = user;
    pons_autovalue p = NULL;
    l->f->after = row->seq;
    if (strcmp(row->type, "observation") == 0 ||
        pons_value_read(row->payload.data, row->payload.len, &p, NULL) < 0) {
        return 0;
    }
    const pons_value *task = pons_get(p, "task");
    if (l->f->task[0]) {
        look_at_task(l, row->type, p);
    } else if (strcmp(row->type, "task.queued") == 0 &&
               strcmp(pons_get_str(task, "text", ""), l->f->text) == 0) {
        snprintf(l->f->task, sizeof l->f->task, "%s", pons_get_str(task, "id", ""));
        note(l, "task", l->f->task, "queued");
    } else if (strcmp(row->type, "task.merged") == 0) { // it was said already
        snprintf(l->f->task, sizeof l->f->task, "%s", pons_get_str(p, "task_id", ""));
    } else if (strcmp(row->type, "control") == 0) { // a word, no goal
        l->end = pons_object("status", json_string("heard"), "reason",
                             json_string(pons_get_str(p, "word", "")), NULL);
    }
    return l->end || l->question;
}

// What the log says since: an answer to the await, or NULL when nothing was said.
static pons_value *look(void *user, app_followed *f)
{
    const app_react *r = user;
    looking l = {.f = f, .seen = json_array()};
    pons_error none = PONS_ERROR_INIT;
    const int64_t was = f->after;
    r->o.store.ops->events(r->o.store.self, r->thread, f->after, BATCH, look_at, &l, &none);
    if (f->after == was || (!l.end && !l.question && json_array_size(l.seen) == 0)) {
        pons_value_unref(l.seen);
        return NULL;
    }
    return pons_object("after", json_integer(f->after), "task", json_string(f->task), "seen",
                       l.seen, "question", l.question, "end", l.end, NULL);
}

// ---- the await ----------------------------------------------------------------------------------

static void start(void *user, pons_run *run, const char *await_id, const pons_value *request,
                  bool restarted)
{
    app_react *r = user;
    (void)restarted; // the log is read again from where the request says
    app_follower_start(r->o.follower, await_id, request, look, r);
}

// Whoever cancels the run does not want the goal any more.
static void stop(void *user, const char *thread, pons_run *run)
{
    app_react *r = user;
    pons_error none = PONS_ERROR_INIT;
    const pons_value *goal = pons_run_get(run, "goal");
    app_followed f = {.after = pons_get_int(goal, "after", 0)};
    snprintf(f.text, sizeof f.text, "%s", pons_get_str(goal, "text", ""));
    snprintf(f.task, sizeof f.task, "%s", pons_get_str(goal, "task", ""));
    app_follower_forget(r->o.follower, thread);
    pons_value_unref(look(r, &f)); // which task it is, if that is known by now
    if (f.task[0]) {
        r->o.host.control(r->o.host.user, r->thread, "cancel", f.task, &none);
    }
}

static void let_go(void *user, const char *thread, pons_run *run)
{
    const app_react *r = user;
    app_follower_forget(r->o.follower, thread);
}

// ---- begin --------------------------------------------------------------------------------------

static int mark(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    const app_react *r = user;
    return app_log_mark(r->o.store, r->thread, ret, err);
}

typedef struct said_before {
    const char *text;
    bool is;
} said_before;

static int see_task(void *user, const pons_event_row *row)
{
    said_before *b = user;
    pons_autovalue v = NULL;
    if (strncmp(row->type, "task.", strlen("task.")) == 0 &&
        pons_value_read(row->payload.data, row->payload.len, &v, NULL) >= 0) {
        b->is |= strcmp(pons_get_str(pons_get(v, "task"), "text", ""), b->text) == 0;
    }
    return b->is;
}

static int say(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    const app_react *r = user;
    const pons_store *s = &r->o.store;
    said_before b = {.text = pons_get_str(args, "text", "")};
    pons_autovalue said = NULL;
    int rc = app_inbox_has(*s, r->thread, "kernel", "say", b.text, &b.is, err);
    rc = rc < 0 ? rc
                : s->ops->events(s->self, r->thread, pons_get_int(args, "after", 0), 0, see_task,
                                 &b, err);
    if (rc >= 0 && !b.is) {
        rc = r->o.host.say(r->o.host.user, r->thread, b.text, &said, err);
    }
    *ret = json_true();
    return rc;
}

static int begin(pons_cx *cx, void *user, pons_error *err)
{
    app_react *r = user;
    const pons_value *after = NULL, *done = NULL;
    pons_autovalue text = NULL;
    int rc = app_served_words(cx, WHERE, &text, err);
    rc = rc < 0 ? rc : pons_task(cx, "mark", NULL, mark, r, &after, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons_autovalue what =
        pons_object("text", pons_value_ref(text), "after", pons_value_ref(after), NULL);
    rc = pons_task(cx, "say", what, say, r, &done, err);
    if (rc == PONS_OK) {
        pons_cx_put(cx, "goal", pons_value_ref(what));
    }
    return rc;
}

// ---- follow -------------------------------------------------------------------------------------

static void put_message(pons_cx *cx, pons_value *m)
{
    char id[PONS_ID_MAX];
    pons_cx_id(cx, id);
    json_object_set_new(m, "id", json_string(id));
    pons_cx_message(cx, pons_value_ref(m), NULL);
    pons_cx_put(cx, "messages", m);
}

// The question as a call of a tool that waits, so that chat pages show what it is about.
static pons_value *call_of(const pons_value *question, size_t nth, const pons_value *args)
{
    const pons_value *op = json_array_get(pons_get(question, "ops"), nth);
    const pons_value *given = args ? args : pons_get(op, "args");
    return pons_object(
        "type", json_string("ai"), "id", json_sprintf("ask-%s", pons_get_str(question, "id", "")),
        "content", json_string(pons_get_str(question, "question", "")), "tool_calls",
        json_pack("[{s:O?, s:s, s:O?, s:s}]", "id", pons_get(question, "id"), "name",
                  pons_get_str(op, "skill", "question"), "args", given, "type", "tool_call"),
        NULL);
}

static int follow(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *goal = pons_cx_get(cx, "goal"), *answer = NULL;
    if (!json_is_object(goal)) { // a client may begin wherever it likes
        return pons_error_set(err, PONS_EINVAL, WHERE, "there is no goal: begin with a message");
    }
    if (json_is_object(pons_cx_get(cx, "question"))) { // what was said to it was no answer
        pons_cx_goto(cx, "approval");
        return PONS_OK;
    }
    pons_value *request = json_copy((pons_value *)(uintptr_t)goal);
    json_object_set_new(request, "thread", json_string(pons_thread_id(pons_cx_thread(cx))));
    const int rc = pons_await(cx, "goal", request, 0, &answer, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons_each(one, pons_get(answer, "seen")) {
        pons_cx_custom(cx, pons_value_ref(one));
    }
    const pons_value *end = pons_get(answer, "end"), *question = pons_get(answer, "question");
    pons_value *now = json_copy((pons_value *)(uintptr_t)goal);
    json_object_set_new(now, "after", pons_value_ref(pons_get(answer, "after")));
    json_object_set_new(now, "task", pons_value_ref(pons_get(answer, "task")));
    pons_cx_put(cx, "goal", now);
    if (question) {
        pons_cx_put(cx, "question", pons_value_ref(question));
        pons_cx_put(cx, "messages", call_of(question, 0, NULL));
        pons_cx_goto(cx, "approval");
    } else if (end) {
        const char *status = pons_get_str(end, "status", ""),
                   *why = pons_get_str(end, "reason", "");
        pons_cx_put(cx, "outcome", pons_value_ref(end));
        put_message(cx, pons_object("type", json_string("ai"), "content",
                                    json_sprintf(*why ? "%s: %s" : "%s", status, why), NULL));
        pons_cx_goto(cx, PONS_END);
    } else {
        pons_cx_goto(cx, "follow");
    }
    return PONS_OK;
}

// ---- approval -----------------------------------------------------------------------------------

// As LangChain's chat pages show it.
static pons_value *shown(const pons_value *question)
{
    pons_value *requests = json_array(), *configs = json_array();
    pons_each(op, pons_get(question, "ops")) {
        const pons_value *name = pons_get(op, "skill");
        json_array_append_new(requests,
                              pons_object("name", pons_value_ref(name), "args",
                                          pons_value_ref(pons_get(op, "args")), "description",
                                          pons_value_ref(pons_get(question, "question")), NULL));
        json_array_append_new(configs, json_pack("{s:O, s:[sss]}", "action_name", name,
                                                 "allowed_decisions", "approve", "edit", "reject"));
    }
    if (json_array_size(requests) == 0) { // it wants words
        json_array_append_new(requests,
                              pons_object("name", json_string("question"), "args", json_object(),
                                          "description",
                                          pons_value_ref(pons_get(question, "question")), NULL));
        json_array_append_new(configs,
                              json_pack("{s:s, s:[sss]}", "action_name", "question",
                                        "allowed_decisions", "approve", "respond", "reject"));
    }
    return pons_object("action_requests", requests, "review_configs", configs, NULL);
}

static int answer_once(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    const app_react *r = user;
    pons_autovalue answer = json_deep_copy(pons_get(args, "answer"));
    const int rc = r->o.host.answer(r->o.host.user, r->thread, pons_get_str(args, "question", ""),
                                    answer, "operator by the API", ret, err);
    if (rc != PONS_EINVAL) {
        return rc;
    }
    *ret = pons_object("verdict", json_string("wrong"), "why", json_string(err->message), NULL);
    *err = (pons_error)PONS_ERROR_INIT; // it is asked again
    return PONS_OK;
}

static pons_value *no(const char *why)
{
    return pons_object("action", json_string("reject"), "reason", json_string(why), NULL);
}

static pons_value *yes(void)
{
    return pons_object("action", json_string("approve"), NULL);
}

// The edit of the operation at this place, which stays the skill's that it was.
static pons_value *edit_of(const pons_value *question, const pons_value *decision, size_t at)
{
    const pons_value *action = pons_get(decision, "edited_action"),
                     *args = pons_get(action, "args");
    const char *skill = pons_get_str(json_array_get(pons_get(question, "ops"), at), "skill", "");
    if (!args || strcmp(pons_get_str(action, "name", skill), skill) != 0) {
        return no("an edit has the skill's name and its args");
    }
    return pons_object("action", json_string("edit"), "op", json_integer((json_int_t)at + 1),
                       "args", pons_value_ref(args), NULL);
}

// One decision an operation, in their order. They are sent together or not at all: one that is refused refuses them
// all, and so does what is no decision for each of them.
static pons_value *answer_of(const pons_value *question, const pons_value *resume)
{
    const pons_value *list = pons_get(resume, "decisions");
    const size_t ops = json_array_size(pons_get(question, "ops")), wants = ops ? ops : 1;
    const char *word = json_is_string(resume) ? json_string_value(resume) : NULL;
    size_t edit_at = 0, edits = 0;
    if (word) {
        const char *why = "";
        const pons_yes_no said = pons_yes_no_of(word, NULL, &why);
        if (said == PONS_SAID_NEITHER && ops == 0) {
            return pons_object("action", json_string("answer"), "answer", json_string(word), NULL);
        }
        return said == PONS_SAID_YES ? yes() : no(said == PONS_SAID_NO ? why : word);
    }
    if (json_array_size(list) != wants) {
        pons_autovalue why =
            json_sprintf("%zu decisions came for %zu", json_array_size(list), wants);
        return no(json_string_value(why));
    }
    pons_each(d, list) {
        const char *type = pons_get_str(d, "type", "");
        if (strcmp(type, "respond") == 0 && wants == 1) {
            return pons_object("action", json_string("answer"), "answer",
                               json_string(pons_get_str(d, "message", "")), NULL);
        }
        if (strcmp(type, "edit") == 0) {
            edit_at = d_at;
            edits++;
        } else if (strcmp(type, "approve") != 0) {
            return no(pons_get_str(d, "message", ""));
        }
    }
    return edits == 0   ? yes()
           : edits == 1 ? edit_of(question, json_array_get(list, edit_at), edit_at)
                        : no("one operation can be edited at a time");
}

static int approval(pons_cx *cx, void *user, pons_error *err)
{
    app_react *r = user;
    const pons_value *question = pons_cx_get(cx, "question"), *resume = NULL, *became = NULL;
    if (!json_is_object(question)) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "nothing is asked here");
    }
    int rc = pons_interrupt(cx, shown(question), &resume, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons_autovalue answer = answer_of(question, resume);
    pons_autovalue what = pons_object("question", pons_value_ref(pons_get(question, "id")),
                                      "answer", pons_value_ref(answer), NULL);
    rc = pons_task(cx, "answer", what, answer_once, r, &became, err);
    if (rc != PONS_OK) {
        return rc;
    }
    const char *action = pons_get_str(answer, "action", ""),
               *why = pons_get_str(answer, "reason", "");
    const char *verdict = pons_get_str(became, "verdict", "bound");
    const bool counts = strcmp(verdict, "bound") == 0 || strcmp(verdict, "overrides") == 0;
    const char *wrong = pons_get_str(became, "why", NULL);
    const pons_value *op = json_array_get(pons_get(question, "ops"), 0);
    pons_autovalue list = json_array();
    if (pons_get(answer, "args") && counts) { // shown as it was edited
        json_array_append_new(list, call_of(question, (size_t)pons_get_int(answer, "op", 1) - 1,
                                            pons_get(answer, "args")));
    }
    json_array_append_new(
        list, pons_object("type", json_string("tool"), "id",
                          json_sprintf("answer-%s", pons_get_str(question, "id", "")),
                          "tool_call_id", pons_value_ref(pons_get(question, "id")), "name",
                          json_string(pons_get_str(op, "skill", "question")), "content",
                          counts  ? json_string(*why ? why : action)
                          : wrong ? json_string(wrong)
                                  : json_sprintf("somebody else was first (%s)", verdict),
                          "status",
                          json_string(wrong || strcmp(action, "reject") == 0 ? "error" : "success"),
                          NULL));
    pons_cx_put(cx, "messages", pons_value_ref(list));
    pons_cx_put(cx, "question", wrong ? pons_value_ref(question) : json_null());
    return PONS_OK;
}

// ---- the graph, and the brain inside ------------------------------------------------------------

static int never(pons_cx *cx, void *user, pons_error *err)
{
    return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "this graph is only a picture");
}

// The kernel, which starts the inner loop on a task and hears how it went.
static int build_brain(app_react *r, pons_error *err)
{
    static const char *const from_kernel[] = {INNER, PONS_END, NULL};
    int rc = pons_brain_graph(KERNEL, &r->brain[0], err);
    rc = rc < 0 ? rc : pons_brain_graph(INNER, &r->brain[1], err);
    if (rc < 0) {
        return rc;
    }
    pons_graph_builder *b = pons_graph_builder_create("brain");
    pons_graph_subgraph(b, KERNEL, r->brain[0], PONS_SUBGRAPH_INHERIT);
    pons_graph_subgraph(b, INNER, r->brain[1], PONS_SUBGRAPH_INHERIT);
    pons_graph_edge(b, PONS_START, KERNEL);
    pons_graph_router(b, KERNEL, never, NULL, from_kernel);
    pons_graph_edge(b, INNER, KERNEL);
    rc = pons_graph_compile(b, &(pons_graph_options){0}, &r->brain[2], err);
    pons_graph_builder_destroy(b);
    return rc;
}

// drawn: as clients see it, with the brain where it waits for it.
static int build(app_react *r, bool drawn, pons_graph **ret, pons_error *err)
{
    static const char *const goes[] = {"follow", "approval", PONS_END, NULL};
    pons_graph_builder *b = pons_graph_builder_create("react");
    pons_graph_channel(b, "messages", &(pons_channel_options){PONS_CHANNEL_MESSAGES});
    pons_graph_channel(b, "goal", NULL);
    pons_graph_channel(b, "question", NULL);
    pons_graph_channel(b, "outcome", NULL);
    pons_graph_node(b, "begin", begin, r);
    pons_graph_node(b, "approval", approval, r);
    if (drawn) {
        pons_graph_subgraph(b, "follow", r->brain[2], PONS_SUBGRAPH_INHERIT);
        pons_graph_router(b, "follow", never, NULL, goes);
    } else {
        pons_graph_node(b, "follow", follow, r);
        pons_graph_node_options(b, "follow", &(pons_node_options){.goes = goes});
    }
    pons_graph_edge(b, PONS_START, "begin");
    pons_graph_edge(b, "begin", "follow");
    pons_graph_edge(b, "approval", "follow");
    const pons_graph_options o = {.recursion_limit = STEPS_MAX};
    const int rc = pons_graph_compile(b, &o, ret, err);
    pons_graph_builder_destroy(b);
    return rc;
}

// Channels of the brain's two graphs, as they are now; the conversation's own come first.
static int add_state(void *user, const char *thread, pons_value *values, pons_error *err)
{
    static const char *const spaces[] = {KERNEL, INNER};
    const app_react *r = user;
    if (!json_object_get(values, "goal") && strcmp(thread, r->thread) != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, WHERE, "%s has no goal", thread);
    }
    for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
        pons_autovalue state = NULL;
        pons_error none = PONS_ERROR_INIT; // before its first commit it has none
        if (pons_state_read(r->o.store, r->thread, spaces[i], &state, &none) >= 0) {
            json_object_update_missing(values, state);
        }
    }
    return PONS_OK;
}

int app_react_open(const app_react_options *o, app_react **ret, pons_error *err)
{
    app_react *r = pons_need_zeroed(1, sizeof *r);
    r->o = *o;
    snprintf(r->thread, sizeof r->thread, "%s", o->thread);
    r->handlers[0] = (pons_await_handler){.kind = "goal", .start = start, .user = r};
    int rc = build_brain(r, err);
    rc = rc < 0 ? rc : build(r, false, &r->graph, err);
    rc = rc < 0 ? rc : build(r, true, &r->drawn, err);
    if (rc < 0) {
        app_react_close(r);
        return rc;
    }
    *ret = r;
    return PONS_OK;
}

void app_react_close(app_react *r)
{
    if (r) {
        pons_graph_destroy(r->graph);
        pons_graph_destroy(r->drawn);
        for (size_t i = 3; i > 0; i--) {
            pons_graph_destroy(r->brain[i - 1]);
        }
        free(r);
    }
}

void app_react_graph(app_react *r, pons_serve_graph *ret)
{
    *ret = (pons_serve_graph){.id = "react",
                              .help = "the robot: each message of a person is a goal",
                              .graph = r->graph,
                              .ns = "",
                              .handlers = r->handlers,
                              .n_handlers = 1,
                              .stop = stop,
                              .let_go = let_go,
                              .drawn = r->drawn,
                              .state = add_state,
                              .user = r};
}
