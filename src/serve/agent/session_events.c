// session_events.c - what a session with the agent does, told to the run that waits for it.
//
//     the session's thread            the run's worker
//     token        ---------------->  messages: a chunk with the id that the message will have; calls
//                                     of tools, and what tools said
//     tool_start … ---------------->  custom {type, name?, session, seq, …}
//     a question, done ------------>  the await's answer {after, messages, question | end | error}
//
// After a restart the turn is heard from its beginning. What was shown then is not shown again: events
// have their numbers in the session's log, and the run's own log says how far they were told. A
// model's call that was under way is made again, from its first token on; its tokens are left out, and
// its message comes whole, with the values.
#include "serve/agent/session_events.h"

#include "pons/out_of_memory.h"
#include "serve/runs/run_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct event_listener {
    pons__listener l; // first
    pons_serve *s;
    char thread[PONS_NAME_MAX], session[PONS_NAME_MAX], await[64];
    int64_t after; // events up to this one are of the past
    pons__reported reported;
    int64_t newest; // when it began
    char call[PONS_ID_MAX],
        silent[PONS_ID_MAX]; // the agent's call of the model; one that is not shown
    pons_value *question, *end;
} event_listener;

// ---- messages -----------------------------------------------------------------------------------

static pons_value *call_of(const pons_value *c)
{
    const pons_value *args = pons_get(c, "arguments");
    return pons_object("name", pons_value_ref(pons_get(c, "name")), "args",
                       json_is_object(args) ? pons_value_ref(args) : json_object(), "id",
                       pons_value_ref(pons_get(c, "id")), "type", json_string("tool_call"), NULL);
}

static pons_value *message_of(const pons_value *m)
{
    const char *role = pons_get_str(m, "role", "");
    const bool tool = strcmp(role, "tool") == 0;
    pons_value *calls = json_array();
    pons_each(one, pons_get(m, "tool_calls")) {
        json_array_append_new(calls, call_of(one));
    }
    pons_value *all = pons_object("type", json_string(tool ? "tool" : "ai"), "id",
                                  pons_value_ref(pons_get(m, "id")), "content",
                                  json_string(pons_get_str(m, "content", "")), NULL);
    if (tool) {
        json_object_set_new(all, "tool_call_id", json_string(pons_get_str(m, "tool_call_id", "")));
        json_object_set_new(all, "name", json_string(pons_get_str(m, "name", "")));
        pons_value_unref(calls);
    } else {
        json_object_set_new(all, "tool_calls", calls);
    }
    return all;
}

static bool is_from(const pons_value *m, const char *role)
{
    return strcmp(pons_get_str(m, "role", ""), role) == 0;
}

static void add_all(pons_value *to, const pons_value *list, size_t from)
{
    for (size_t i = from; i < json_array_size(list); i++) {
        const pons_value *m = json_array_get(list, i);
        if (is_from(m, "assistant") || is_from(m, "tool")) {
            json_array_append_new(to, message_of(m));
        }
    }
}

static bool has_call(const pons_value *messages, const pons_value *question)
{
    pons_each(m, messages) {
        pons_each(c, pons_get(m, "tool_calls")) {
            if (strcmp(pons_get_str(c, "name", ""), pons_get_str(question, "tool", "-")) == 0 &&
                json_equal(pons_get(c, "args"), pons_get(question, "input"))) {
                return true;
            }
        }
    }
    return false;
}

// What was said in a session since a person's last words there, as LangChain has messages; question:
// whose call is shown as well (NULL: none).
static pons_value *messages_of(const pons_serve *s, const char *session, const pons_value *question)
{
    pons_autovalue now = NULL;
    pons_error none = PONS_ERROR_INIT;
    pons_value *all = json_array();
    const pons_snapshot_options o = {.subgraphs = true};
    if (pons_state_snapshot(s->o.store, session, PONS_AGENT_NS, &o, &now, &none) < 0) {
        return all;
    }
    const pons_value *list = pons_get(pons_get(now, "values"), "messages");
    size_t from = json_array_size(list);
    while (from > 0 && !is_from(json_array_get(list, from - 1), "user")) {
        from--;
    }
    add_all(all, list, from);
    pons_each(task, pons_get(now, "tasks")) {
        if (strcmp(pons_get_str(task, "name", ""), "agent") == 0) { // the loop that is at work
            add_all(all, pons_get(pons_get(pons_get(task, "state"), "values"), "turn"), 0);
        }
    }
    if (pons_get(question, "tool") && !has_call(all, question)) { // of a step of a plan
        pons_value *call =
            pons_object("id", pons_value_ref(pons_get(question, "request_id")), "name",
                        pons_value_ref(pons_get(question, "tool")), "arguments",
                        pons_value_ref(pons_get(question, "input")), NULL);
        pons_autovalue said =
            pons_object("role", json_string("assistant"), "id",
                        json_sprintf("ask-%s", pons_get_str(question, "request_id", "")), "content",
                        json_string(""), "tool_calls", json_pack("[o]", call), NULL);
        json_array_append_new(all, message_of(said));
    }
    return all;
}

// ---- hearing: the session's thread --------------------------------------------------------------

static bool is_shown(const char *type)
{
    static const char *const types[] = {"llm_end",
                                        "tool_start",
                                        "tool_end",
                                        "plan_created",
                                        "plan_updated",
                                        "plan_revised",
                                        "plan_approval_resolved",
                                        "phase",
                                        "error"};
    return pons__word_at(types, sizeof types / sizeof types[0], type) >= 0;
}

// {type, name?, session, seq, …the payload}
static void show(const event_listener *e, const pons_event *ev)
{
    const char *tool = pons_get_str(ev->payload, "tool", NULL);
    pons_value *all =
        pons_object("type", json_string(ev->type), "name", tool ? json_string(tool) : NULL,
                    "session", json_string(e->session), "seq", json_integer(ev->seq), NULL);
    json_object_update_missing(all, (json_t *)(uintptr_t)ev->payload);
    pons__runhost_tell(e->s->host, e->thread, e->await, PONS__TELL_CUSTOM, all);
}

static void show_token(const event_listener *e, const char *text)
{
    if (*e->call && *text && strcmp(e->call, e->silent) != 0) {
        pons__runhost_tell(e->s->host, e->thread, e->await, PONS__TELL_MESSAGE,
                           pons_object("type", json_string("AIMessageChunk"), "id",
                                       json_string(e->call), "content", json_string(text), NULL));
    }
}

// As chunks, which join what was said of the same message.
static pons_value *chunk_of(const pons_value *m)
{
    pons_value *chunks = json_array();
    pons_each(c, pons_get(m, "tool_calls")) {
        char *args = NULL;
        pons_value_line(pons_get(c, "args"), &args);
        json_array_append_new(chunks, pons_object("name", pons_value_ref(pons_get(c, "name")),
                                                  "args", json_string(args ? args : "{}"), "id",
                                                  pons_value_ref(pons_get(c, "id")), "index",
                                                  json_integer((json_int_t)c_at), "type",
                                                  json_string("tool_call_chunk"), NULL));
        free(args);
    }
    return pons_object("type", json_string("AIMessageChunk"), "id",
                       pons_value_ref(pons_get(m, "id")), "content", json_string(""), "tool_calls",
                       pons_value_ref(pons_get(m, "tool_calls")), "tool_call_chunks", chunks, NULL);
}

// Calls of tools and what tools said, each once. Texts were shown as they came.
static void show_messages(const event_listener *e, const pons_value *messages)
{
    pons_each(m, messages) {
        const char *id = pons_get_str(m, "id", "");
        const bool tool = strcmp(pons_get_str(m, "type", ""), "tool") == 0;
        if (json_object_get(e->reported.ids, id) ||
            (!tool && json_array_size(pons_get(m, "tool_calls")) == 0)) {
            continue;
        }
        json_object_set_new(e->reported.ids, id, json_true());
        pons__runhost_tell(e->s->host, e->thread, e->await, PONS__TELL_MESSAGE,
                           tool ? pons_value_ref(m) : chunk_of(m));
    }
}

static int see(void *user, const pons_event_row *row)
{
    static const char *const moves[] = {
        "llm_start", "tool_start", "tool_end", "plan_updated", "plan_approval_resolved", "done"};
    bool *went_on = user;
    *went_on |= pons__word_at(moves, sizeof moves / sizeof moves[0], row->type) >= 0;
    return *went_on;
}

// Whether what was asked then has been answered: the turn went on.
static bool went_on(const event_listener *e, int64_t seq)
{
    bool on = false;
    pons_error none = PONS_ERROR_INIT;
    const pons_store store = e->s->o.store;
    store.ops->events(store.self, e->session, seq, 0, see, &on, &none);
    return on;
}

static bool hear(pons__listener *l, const pons_event *ev)
{
    event_listener *e = (event_listener *)l;
    const char *type = ev->type;
    if (strcmp(type, "token") == 0) {
        show_token(e, pons_get_str(ev->payload, "content", ""));
        return true;
    }
    if (strcmp(type, "llm_start") == 0) {
        const bool own = strcmp(pons_get_str(ev->payload, "node", ""), "agent") == 0;
        snprintf(e->call, sizeof e->call, "%s",
                 own ? pons_get_str(ev->payload, "call_id", "") : "");
        if (ev->seq <= e->newest) {
            memcpy(e->silent, e->call, sizeof e->silent);
        }
    }
    if (ev->seq <= e->after) {
        return true;
    }
    e->after = ev->seq;
    const bool asks =
        strcmp(type, "plan_approval_request") == 0 || strcmp(type, "approval_request") == 0;
    if (asks && !went_on(e, ev->seq)) {
        e->question = pons_value_ref(ev->payload);
        return false;
    }
    if (strcmp(type, "done") == 0) {
        e->end = pons_value_ref(ev->payload);
        return false;
    }
    if (strncmp(type, "tool_", strlen("tool_")) == 0) {
        pons_autovalue messages = messages_of(e->s, e->session, NULL);
        show_messages(e, messages);
    }
    if (ev->seq > e->reported.seq && is_shown(type)) {
        show(e, ev);
    }
    return true;
}

static void end(pons__listener *l, int rc, const pons_error *err)
{
    event_listener *e = (event_listener *)l;
    pons_value *fault = NULL;
    if (rc < 0) {
        fault = pons_object("status", json_integer(rc), "message", pons_string(err->message), NULL);
    } else if (!e->question && !e->end) { // a turn without an end: nothing is under way
        e->end = pons_object("status", json_string("stopped"), "content", json_string(""), NULL);
    }
    pons_value *messages = messages_of(e->s, e->session, e->question);
    show_messages(e, messages);
    pons__runhost_tell(e->s->host, e->thread, e->await, PONS__TELL_ANSWER,
                       pons_object("after", json_integer(e->after), "messages", messages,
                                   "question", e->question, "end", e->end, "error", fault, NULL));
    pons_value_unref(e->reported.ids);
    free(e);
}

static bool leaves(pons__listener *l, const char *thread)
{
    event_listener *e = (event_listener *)l;
    if (strcmp(e->thread, thread) != 0) {
        return false;
    }
    pons_value_unref(e->question);
    pons_value_unref(e->end);
    pons_value_unref(e->reported.ids);
    free(e);
    return true;
}

pons__listener *pons__event_listener_create(pons_serve *s, const char *await,
                                            const pons_value *request, pons__reported reported)
{
    pons_error none = PONS_ERROR_INIT;
    event_listener *e = pons_need_zeroed(1, sizeof *e);
    e->l = (pons__listener){.hear = hear, .end = end, .leaves = leaves};
    e->s = s;
    snprintf(e->thread, sizeof e->thread, "%s", pons_get_str(request, "thread", ""));
    snprintf(e->session, sizeof e->session, "%s", pons_get_str(request, "session", ""));
    snprintf(e->await, sizeof e->await, "%s", await);
    e->after = pons_get_int(request, "after", 0);
    e->reported = reported;
    s->o.store.ops->event_last(s->o.store.self, e->session, &e->newest, &none);
    return &e->l;
}
