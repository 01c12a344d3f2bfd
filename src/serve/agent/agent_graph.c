// agent_graph.c - the planning agent as a graph that clients run: each message of a person is a turn.
//
//     begin ----> agent --(done)--> END                begin     which session it is, and where its log
//                 ^    |  `-(failed)--> failure                  stood
//                 |    +--(it asks)                    agent     says the words, or the answer, and waits
//               approval <--+                                    (session_events.c): tokens and events come as they are
//                                                      approval  asks the client's person
//
// The turn itself is one of the desk's sessions, as the chat's (chat/session_threads.c): its own thread of the
// store, tools, walls and questions, and whoever answers first counts. The client's thread keeps what
// was said, and which session said it, up to which event. A thread that goes on from elsewhere (a copy,
// a fork, a session in which somebody else spoke) gets a session of its own, and that is told the past.
//
// Words are said once: where the session's log stood is recorded before, and after a crash a session
// that is at work or has events since has heard them.
#include "serve/agent/agent_graph.h"

#include "pons/buf.h"
#include "pons/messages.h"
#include "pons/out_of_memory.h"
#include "pons/yes_no.h"
#include "serve/agent/session_events.h"
#include "serve/chat/session_lookup.h"

#include <stdlib.h>
#include <string.h>

#define WHERE "agent"

enum { STEPS_MAX = 10000, WORDS_MAX = 64 * 1024, TOLD_LOOK = 4000 };

struct pons__agent_graph {
    pons_serve *s;
    pons_graph *graph, *inside,
        *drawn; // of its own; the session's; the first with the second in it
    pons_await_handler handlers[1];
};

// ---- begin --------------------------------------------------------------------------------------

// args: {session: {name, done}?, open, fresh, text, past}. *ret: {session, text, after, done}. A turn
// of this thread that was left before its end (open) may have ended since.
static int choose(void *user, const pons_value *args, pons_value **ret, pons_error *err)
{
    const pons__agent_graph *g = user;
    const pons_store store = g->s->o.store;
    const pons_value *was = pons_get(args, "session");
    const char *name = pons_get_str(was, "name", "");
    pons__ends ends = {0};
    int64_t last = 0;
    int rc =
        *name ? pons__chat_ends(store, name, pons_get_int(was, "done", 0), &ends, err) : PONS_OK;
    pons_error no = PONS_ERROR_INIT; // a client may have written here whatever it likes
    const bool same = *name && pons__chat_host_name(g->s->chat_host, name, &no) >= 0 &&
                      ends.n <= pons_get_bool(args, "open", false);
    name = same ? name : pons_get_str(args, "fresh", "");
    rc = rc < 0 ? rc : store.ops->event_last(store.self, name, &last, err);
    if (rc >= 0) {
        *ret = pons_object("session", json_string(name), "text",
                           json_sprintf("%s%s", same ? "" : pons_get_str(args, "past", ""),
                                        pons_get_str(args, "text", "")),
                           "after", json_integer(last), "done",
                           json_integer(same ? ends.newest : 0), NULL);
    }
    return rc;
}

// What was said in this thread before its newest message, for a session that was not there.
static pons_value *past_of(const pons_value *messages)
{
    pons_autovalue said = json_array();
    pons_autobuf b = PONS_BUF_INIT;
    for (size_t i = 0; i + 1 < json_array_size(messages); i++) {
        const pons_value *m = json_array_get(messages, i);
        const char *type = pons_message_role(m);
        const bool human = type && strcmp(type, "human") == 0;
        if (human || (type && strcmp(type, "ai") == 0)) {
            json_array_append_new(said,
                                  pons_object("role", json_string(human ? "user" : "assistant"),
                                              "content", pons_message_text(m), NULL));
        }
    }
    pons__chat_past(said, &b);
    return json_stringn(b.data ? b.data : "", b.len);
}

static int begin(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *messages = pons_cx_get(cx, "messages"), *turn = NULL;
    const size_t n = json_array_size(messages);
    const pons_value *last = n ? json_array_get(messages, n - 1) : NULL;
    const char *type = pons_message_role(last);
    pons_autovalue text = type && strcmp(type, "human") == 0 ? pons_message_text(last) : NULL;
    const char *words = text ? json_string_value(text) : "";
    if (words[strspn(words, " \t\r\n")] == '\0' || strlen(words) > WORDS_MAX) {
        return pons_error_set(err, PONS_EINVAL, WHERE,
                              "the last message has to be a person's, with 1 to %d bytes of text",
                              WORDS_MAX);
    }
    char id[PONS_ID_MAX];
    pons_cx_id(cx, id);
    pons_autovalue args = pons_object("session", pons_value_ref(pons_cx_get(cx, "session")), "open",
                                      json_boolean(json_is_object(pons_cx_get(cx, "turn"))),
                                      "fresh", json_sprintf("agent-%s", id), "text",
                                      pons_value_ref(text), "past", past_of(messages), NULL);
    const int rc = pons_task(cx, "session", args, choose, user, &turn, err);
    if (rc == PONS_OK) {
        pons_cx_put(cx, "turn", pons_value_ref(turn));
        pons_cx_put(cx, "session",
                    pons_object("name", pons_value_ref(pons_get(turn, "session")), "done",
                                pons_value_ref(pons_get(turn, "done")), NULL));
    }
    return rc;
}

// ---- agent --------------------------------------------------------------------------------------

typedef struct telling {
    const char *session;
    pons__reported *reported;
} telling;

static int agent(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *turn = pons_cx_get(cx, "turn"), *answer = NULL;
    const pons__agent_graph *g = user;
    if (!json_is_object(turn) ||
        pons__chat_host_name(g->s->chat_host, pons_get_str(turn, "session", ""), err) < 0) {
        return err->status < 0 ? err->status
                               : pons_error_set(err, PONS_EINVAL, WHERE,
                                                "there is no turn here: begin with a message");
    }
    pons_value *request = json_copy((pons_value *)(uintptr_t)turn);
    json_object_set_new(request, "thread", json_string(pons_thread_id(pons_cx_thread(cx))));
    const int rc = pons_await(cx, "turn", request, 0, &answer, err);
    if (rc != PONS_OK) {
        return rc;
    }
    const char *session = pons_get_str(turn, "session", "");
    const pons_value *question = pons_get(answer, "question"), *end = pons_get(answer, "end");
    const pons_value *fault = pons_get(answer, "error");
    const int status = (int)pons_get_int(fault, "status", 0);
    if (status == PONS_EINVAL && pons_get(turn, "question")) { // it is asked again
        pons_value *again = json_copy((pons_value *)(uintptr_t)pons_cx_get(cx, "question"));
        json_object_set_new(again, "refused", pons_value_ref(pons_get(fault, "message")));
        pons_cx_put(cx, "question", again);
        pons_cx_goto(cx, "approval");
        return PONS_OK;
    }
    if (fault) {
        return pons_error_set(err, status, WHERE, "%s", pons_get_str(fault, "message", ""));
    }
    pons_cx_put(cx, "messages", pons_value_ref(pons_get(answer, "messages")));
    if (question) {
        pons_cx_put(cx, "turn",
                    pons_object("session", json_string(session), "after",
                                pons_value_ref(pons_get(answer, "after")), NULL));
        pons_cx_put(cx, "question", pons_value_ref(question));
        pons_cx_goto(cx, "approval");
        return PONS_OK;
    }
    pons_cx_put(cx, "question", json_null());
    pons_cx_put(cx, "turn", json_null());
    pons_cx_put(cx, "outcome", pons_value_ref(end));
    pons_cx_put(cx, "session",
                pons_object("name", json_string(session), "done",
                            pons_value_ref(pons_get(answer, "after")), NULL));
    pons_cx_goto(cx, strcmp(pons_get_str(end, "status", ""), "failed") == 0 ? "failure" : PONS_END);
    return PONS_OK;
}

// A turn that failed is a run that failed; what was said in it is kept.
static int failure(pons_cx *cx, void *user, pons_error *err)
{
    return pons_error_set(err, PONS_EIO, WHERE, "%s",
                          pons_get_str(pons_cx_get(cx, "outcome"), "content", "the turn failed"));
}

static int see_reported(void *user, const pons_event_row *row)
{
    const telling *t = user;
    pons_autovalue payload = NULL;
    const bool custom = strcmp(row->type, "stream.custom") == 0;
    if ((!custom && strcmp(row->type, "stream.messages") != 0) ||
        pons_value_read(row->payload.data, row->payload.len, &payload, NULL) < 0) {
        return 0;
    }
    const pons_value *m = json_array_get(payload, 0);
    if (!custom && (pons_get(m, "tool_call_chunks") || pons_get(m, "tool_call_id"))) {
        json_object_set_new(t->reported->ids, pons_get_str(m, "id", ""), json_true());
    } else if (custom && strcmp(pons_get_str(payload, "session", ""), t->session) == 0) {
        const int64_t seq = pons_get_int(payload, "seq", 0);
        t->reported->seq = seq > t->reported->seq ? seq : t->reported->seq;
    }
    return 0;
}

// What the client's thread has been shown: its state says, and after a restart its log.
static pons__reported reported_before(const pons__agent_graph *g, const pons_run *run,
                                      const char *thread, const char *session, bool restarted)
{
    pons__reported reported = {.ids = json_object()};
    telling t = {.session = session, .reported = &reported};
    int64_t last = 0;
    pons_error none = PONS_ERROR_INIT;
    const pons_store store = g->s->o.store;
    pons_each(m, pons_run_get(run, "messages")) {
        json_object_set_new(reported.ids, pons_get_str(m, "id", ""), json_true());
    }
    if (restarted && store.ops->event_last(store.self, thread, &last, &none) >= 0) {
        store.ops->events(store.self, thread, last > TOLD_LOOK ? last - TOLD_LOOK : 0, 0,
                          see_reported, &t, &none);
    }
    return reported;
}

static void start(void *user, pons_run *run, const char *await_id, const pons_value *request,
                  bool restarted)
{
    const pons__agent_graph *g = user;
    const char *thread = pons_get_str(request, "thread", "");
    const char *session = pons_get_str(request, "session", "");
    const pons__turn t = {.text = pons_get_str(request, "text", NULL),
                          .again = restarted,
                          .after = pons_get_int(request, "after", 0),
                          .question = pons_get_str(request, "question", NULL),
                          .answer = pons_get(request, "answer")};
    pons__chat_host_turn(
        g->s->chat_host, session, &t,
        pons__event_listener_create(g->s, await_id, request,
                                    reported_before(g, run, thread, session, restarted)));
}

// Whoever cancels the run does not want the turn any more.
static void stop(void *user, const char *thread, pons_run *run)
{
    const pons__agent_graph *g = user;
    const char *session = pons_get_str(pons_run_get(run, "turn"), "session", NULL);
    if (session) {
        pons__chat_host_turn_halt(g->s->chat_host, session);
    }
}

static void let_go(void *user, const char *thread, pons_run *run)
{
    const pons__agent_graph *g = user;
    const char *session = pons_get_str(pons_run_get(run, "turn"), "session", NULL);
    if (session) {
        pons__chat_host_turn_leave(g->s->chat_host, session, thread);
    }
}

// ---- approval -----------------------------------------------------------------------------------

static bool is_plan(const pons_value *question)
{
    return pons_get(question, "plan_id") != NULL;
}

static bool is_tool(const pons_value *question, const char *name)
{
    return strcmp(pons_get_str(question, "tool", ""), name) == 0;
}

static pons_value *description_of(const pons_value *question)
{
    const char *why = pons_get_str(question, "why", NULL),
               *refused = pons_get_str(question, "refused", NULL);
    const char *words = is_plan(question)
                            ? pons_get_str(question, "title", "")
                            : pons_get_str(pons_get(question, "input"), "question",
                                           why ? why : pons_get_str(question, "risk_level", ""));
    return json_sprintf("%s%s%s", words, refused ? "\nNot taken: " : "", refused ? refused : "");
}

// As LangChain's chat pages show it.
static pons_value *shown(const pons_value *question)
{
    const bool words = is_tool(question, "ask_user");
    pons_value *args = is_plan(question)
                           ? pons_object("title", pons_value_ref(pons_get(question, "title")),
                                         "steps", pons_value_ref(pons_get(question, "steps")), NULL)
                           : json_copy((pons_value *)(uintptr_t)pons_get(question, "input"));
    if (words) { // room for an answer, on pages that can only edit
        json_object_set_new(args, "answer", json_string(""));
    }
    const char *name = is_plan(question) ? "plan" : pons_get_str(question, "tool", "");
    pons_value *allowed = words ? json_pack("[sss]", "respond", "edit", "reject")
                          : is_tool(question, "plan_step")
                              ? json_pack("[ss]", "approve", "reject")
                              : json_pack("[sss]", "approve", "edit", "reject");
    return json_pack("{s:[{s:s, s:o, s:o}], s:[{s:s, s:o}]}", "action_requests", "name", name,
                     "args", args, "description", description_of(question), "review_configs",
                     "action_name", name, "allowed_decisions", allowed);
}

static pons_value *edit_of(const pons_value *question, const pons_value *args)
{
    if (is_tool(question, "ask_user")) {
        return pons_object("action", json_string("answer"), "answer",
                           json_string(pons_get_str(args, "answer", "")), NULL);
    }
    if (!is_plan(question)) {
        return pons_object("action", json_string("edit"), "args", pons_value_ref(args), NULL);
    }
    pons_value *all = json_copy((pons_value *)(uintptr_t)args);
    json_object_set_new(all, "action", json_string("edit"));
    return all;
}

// A decision as the agent's answer: {decisions: [{type, edited_action?, message?}]}, one of them, or a
// plain yes or no.
static pons_value *answer_of(const pons_value *question, const pons_value *resume)
{
    const pons_value *decisions = pons_get(resume, "decisions");
    const pons_value *d = decisions ? json_array_get(decisions, 0) : resume;
    const char *word = json_is_string(d) ? json_string_value(d)
                       : json_is_true(d) ? "approve"
                                         : NULL;
    const char *type = pons_get_str(d, "type", "reject");
    const pons_value *args = pons_get(pons_get(d, "edited_action"), "args");
    const char *message = pons_get_str(d, "message", "");
    if (is_tool(question, "ask_user") && (word || strcmp(type, "respond") == 0)) {
        return pons_object("action", json_string("answer"), "answer",
                           json_string(word ? word : message), NULL);
    }
    const char *why = "";
    const pons_yes_no said = pons_yes_no_of(word, NULL, &why);
    if (word) { // what is neither is told as it is, and approves nothing
        message = said == PONS_SAID_NO ? why : word;
    }
    if (word ? said == PONS_SAID_YES : strcmp(type, "approve") == 0) {
        return pons_object("action", json_string("approve"), NULL);
    }
    if (strcmp(type, "edit") == 0 && json_is_object(args)) {
        return edit_of(question, args);
    }
    return pons_object("action", json_string("reject"), "reason", json_string(message), NULL);
}

static int approval(pons_cx *cx, void *user, pons_error *err)
{
    const pons_value *question = pons_cx_get(cx, "question"), *resume = NULL;
    if (!is_plan(question) && !json_is_object(pons_get(question, "input"))) {
        return pons_error_set(err, PONS_EINVAL, WHERE, "nothing is asked here");
    }
    const int rc = pons_interrupt(cx, shown(question), &resume, err);
    if (rc != PONS_OK) {
        return rc;
    }
    pons_value *turn = json_copy((pons_value *)(uintptr_t)pons_cx_get(cx, "turn"));
    json_object_set_new(
        turn, "question",
        pons_value_ref(pons_get(question, is_plan(question) ? "plan_id" : "request_id")));
    json_object_set_new(turn, "answer", answer_of(question, resume));
    return pons_cx_put(cx, "turn", turn);
}

// ---- public functions ---------------------------------------------------------------------------

static int never(pons_cx *cx, void *user, pons_error *err)
{
    return pons_error_set(err, PONS_EUNSUPPORTED, WHERE, "this graph is only a picture");
}

// drawn: as clients see it, with the session's own graph where it waits for it.
static int build(pons__agent_graph *g, bool drawn, pons_graph **ret, pons_error *err)
{
    static const char *const goes[] = {"approval", "failure", PONS_END, NULL};
    pons_graph_builder *b = pons_graph_builder_create("agent");
    pons_graph_channel(b, "messages",
                       &(pons_channel_options){.kind = PONS_CHANNEL_MESSAGES, .chat = true});
    pons_graph_channel(b, "session", NULL);
    pons_graph_channel(b, "turn", &(pons_channel_options){.internal = true});
    pons_graph_channel(b, "question", &(pons_channel_options){.internal = true});
    pons_graph_channel(b, "outcome", NULL);
    pons_graph_node(b, "begin", begin, g);
    pons_graph_node(b, "approval", approval, g);
    pons_graph_node(b, "failure", failure, g);
    if (drawn) {
        pons_graph_subgraph(b, "agent", g->inside, PONS_SUBGRAPH_INHERIT);
        pons_graph_router(b, "agent", never, NULL, goes);
    } else {
        pons_graph_node(b, "agent", agent, g);
        pons_graph_node_options(b, "agent", &(pons_node_options){.goes = goes});
    }
    pons_graph_edge(b, PONS_START, "begin");
    pons_graph_edge(b, "begin", "agent");
    pons_graph_edge(b, "approval", "agent");
    pons_graph_edge(b, "failure", PONS_END);
    const pons_graph_options o = {.recursion_limit = STEPS_MAX};
    const int rc = pons_graph_compile(b, &o, ret, err);
    pons_graph_builder_destroy(b);
    return rc;
}

// As the configuration in force has it; one that is at fault is told to who talks to the agent.
static int build_inside(pons__agent_graph *g, pons_error *err)
{
    const pons_serve_host *host = &g->s->o.host;
    pons_agent_config *config = NULL;
    pons_error none = PONS_ERROR_INIT;
    char *text = NULL;
    if (host->graph_config && host->graph_config(host->user, &text, &none) >= 0) {
        pons_agent_config_parse(text, strlen(text), "graph_config.yaml", &config, &none);
    }
    free(text);
    const int rc = pons_agent_graph(config, &g->inside, err);
    pons_agent_config_destroy(config);
    return rc;
}

int pons__agent_graph_open(pons_serve *s, pons__agent_graph **ret, pons_error *err)
{
    pons__agent_graph *g = pons_need_zeroed(1, sizeof *g);
    g->s = s;
    g->handlers[0] = (pons_await_handler){.kind = "turn", .start = start, .user = g};
    int rc = build(g, false, &g->graph, err);
    rc = rc < 0 ? rc : build_inside(g, err);
    rc = rc < 0 ? rc : build(g, true, &g->drawn, err);
    if (rc < 0) {
        pons__agent_graph_close(g);
        return rc;
    }
    *ret = g;
    return PONS_OK;
}

void pons__agent_graph_close(pons__agent_graph *g)
{
    if (g) {
        pons_graph_destroy(g->graph);
        pons_graph_destroy(g->drawn);
        pons_graph_destroy(g->inside);
        free(g);
    }
}

void pons__agent_graph_served(pons__agent_graph *g, pons_serve_graph *ret)
{
    *ret = (pons_serve_graph){.id = "agent",
                              .help = "the planning agent: each message of a person is a turn",
                              .graph = g->graph,
                              .ns = "",
                              .handlers = g->handlers,
                              .n_handlers = 1,
                              .stop = stop,
                              .let_go = let_go,
                              .drawn = g->drawn,
                              .user = g};
}
