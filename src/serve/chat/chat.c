// chat.c - the agent's chat: words in, events out, and a person's answers.
//
//     POST /api/chat {message, session_id?, stream?, debug?}
//         -> data: {"type":"token","content":"…"}            lines without event names, to `done`
//     GET  /api/chat?session_id=S                            the turn that is under way, from its start
//     POST /api/chat/stop {session_id?}                      ends it, and keeps what was said
//     POST /api/plan/approve {plan_id, approved, feedback?, steps?, title?}
//     POST /api/approve {request_id, approved, feedback?, args?, action?: approve|deny|instruct}
//
// A stream goes on over approvals: the turn waits, the stream stays, whoever answers does it by a
// request of its own. A page that was closed comes back with GET. Nothing depends on a stream being
// heard: a turn goes on without, and its events are in the store.
#include "serve/access/reply.h"
#include "serve/access/route.h"
#include "serve/chat/session_threads.h"
#include "serve/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#define SESSION "main_session"

// ---- a client that listens ----------------------------------------------------------------------

typedef struct ear {
    pons__listener l; // first: the desk's is ours
    const pons_serve *s;
    pons_http_stream *stream;
    bool debug;
    bool whole;         // one JSON object at the end, in place of events
    bool over;          // `done` was said
    pons_value *answer; // of `whole`
    char session[PONS_NAME_MAX];
} ear;

static bool is_ours(const char *type)
{
    static const char *const types[] = {"token",
                                        "tool_start",
                                        "tool_end",
                                        "llm_start",
                                        "llm_end",
                                        "plan_created",
                                        "plan_updated",
                                        "plan_revised",
                                        "plan_approval_request",
                                        "plan_approval_resolved",
                                        "approval_request",
                                        "phase",
                                        "error",
                                        "done"};
    return pons__word_at(types, sizeof types / sizeof types[0], type) >= 0;
}

// {type, …the payload}: in that order.
static pons_value *event_value(const ear *e, const pons_event *ev)
{
    pons_value *all = pons_object("type", json_string(ev->type), NULL);
    pons_each_member(key, value, ev->payload) {
        if (strcmp(key, "type") != 0) {
            json_object_set(all, key, value);
        }
    }
    if (e->debug && all) {
        json_object_set_new(all, "seq", json_integer(ev->seq));
        json_object_set_new(all, "ts_ms", json_integer(ev->ts_ms));
    }
    return all;
}

static void keep_answer(ear *e, const pons_event *ev)
{
    const bool asks =
        strcmp(ev->type, "plan_approval_request") == 0 || strcmp(ev->type, "approval_request") == 0;
    if (asks || e->over) {
        pons_value_unref(e->answer);
        e->answer =
            pons_object("session_id", json_string(e->session), "status",
                        json_string(asks ? "waiting" : pons_get_str(ev->payload, "status", "")),
                        "content", json_string(pons_get_str(ev->payload, "content", "")), "request",
                        asks ? event_value(e, ev) : NULL, NULL);
    }
}

static bool hear(pons__listener *l, const pons_event *ev)
{
    ear *e = (ear *)l;
    if (!is_ours(ev->type)) {
        return true;
    }
    e->over = strcmp(ev->type, "done") == 0;
    if (e->whole) { // who does not stream is told of a question, and asks again
        keep_answer(e, ev);
        return !e->answer;
    }
    return pons__stream_value(e->s, e->stream, "data: ", event_value(e, ev), "\n\n");
}

static bool beat(pons__listener *l)
{
    const ear *e = (const ear *)l;
    const char *nothing = e->whole ? "\n" : ": \n\n";
    return e->s->http->stream_write(e->stream, nothing, strlen(nothing)) >= 0;
}

// A stream always ends with `done`, also of a turn that the engine could not go on with.
static void end(pons__listener *l, int rc, const pons_error *err)
{
    ear *e = (ear *)l;
    char line[512] = "";
    const char *why = rc < 0 ? pons_error_line(err, line, sizeof line) : "";
    if (e->whole) {
        pons__stream_value(e->s, e->stream, "",
                           e->answer ? pons_value_ref(e->answer)
                                     : pons_object("session_id", json_string(e->session), "status",
                                                   json_string("failed"), "content",
                                                   json_string(why), NULL),
                           "");
    } else if (!e->over && rc < 0) {
        pons__stream_value(
            e->s, e->stream,
            "data: ", pons_object("type", json_string("error"), "content", json_string(why), NULL),
            "\n\n");
        pons__stream_value(e->s, e->stream, "data: ",
                           pons_object("type", json_string("done"), "status", json_string("failed"),
                                       "content", json_string(""), NULL),
                           "\n\n");
    }
    pons__metrics_stream(e->s->metrics, "chat", -1);
    e->s->http->stream_end(e->stream);
    pons_value_unref(e->answer);
    free(e);
}

// ---- chat: workers ------------------------------------------------------------------------------

// The session that is meant; NULL: there is none, and it is answered or r->err says why.
static const char *session_of(pons__request *r, const char *name)
{
    name = name ? name : SESSION;
    if (!r->s->chat_host) {
        pons__reply_error(r, 404, "there is no agent here");
        return NULL;
    }
    return pons__chat_host_name(r->s->chat_host, name, &r->err) < 0 ? NULL : name;
}

// The stream begins before the turn does, so that nothing of it is missed: what is wrong with the
// turn is said in it, as `error` and `done`.
static ear *listen_in(pons__request *r, const char *session, bool whole, bool debug)
{
    ear *e = calloc(1, sizeof *e);
    if (!e) {
        pons__reply_error(r, 503, "no memory");
        return NULL;
    }
    e->l.hear = hear;
    e->l.beat = beat;
    e->l.end = end;
    e->s = r->s;
    e->whole = whole;
    e->debug = debug;
    snprintf(e->session, sizeof e->session, "%s", session);
    e->stream =
        whole ? pons__reply_stream(r, "application/json", NULL) : pons__reply_events(r, NULL);
    if (!e->stream) { // there was no memory for it, and that was said
        free(e);
        return NULL;
    }
    pons__metrics_stream(r->s->metrics, "chat", 1);
    return e;
}

bool pons__chat_stops(const pons_serve *s, const char *text, int *ret, const char **ret_says,
                      pons_error *err)
{
    const pons_serve_host *h = &s->o.host;
    if (!h->stops || !h->stops(h->user, text)) {
        return false;
    }
    *ret_says = "stopped; the latch holds until a reset";
    *ret = h->stop(h->user, "a person said stop to the agent", err);
    if (*ret == PONS_ENOTFOUND || *ret == PONS_ECLOSED) { // it may be about to start
        *err = (pons_error)PONS_ERROR_INIT;
        *ret_says = "no body answers; the stop is kept, and sent to it as soon as one does";
        *ret = h->control(h->user, NULL, "stop", NULL, err);
    }
    return true;
}

// In place of a turn; the one that is under way ends after it is told.
static void tell_stop(const pons__request *r, ear *e, const char *session, int rc, const char *says,
                      const pons_error *why)
{
    pons_error none = PONS_ERROR_INIT;
    pons_autovalue token = pons_object("content", json_string(says), NULL);
    pons_autovalue done =
        pons_object("status", json_string("stopped"), "content", json_string(says), NULL);
    if (rc >= 0) {
        hear(&e->l, &(pons_event){.type = "token", .payload = token});
        hear(&e->l, &(pons_event){.type = "done", .payload = done});
    }
    end(&e->l, rc, why);
    (void)pons__chat_host_halt(r->s->chat_host, session, &none);
}

static int chat(pons__request *r)
{
    const char *message = pons_get_str(r->body, "message", "");
    const char *session = session_of(r, pons_get_str(r->body, "session_id", NULL));
    const char *says = NULL;
    int rc = PONS_OK;
    pons_autovalue pictures = NULL;
    const bool stopped = session && pons__chat_stops(r->s, message, &rc, &says, &r->err);
    if (session && !stopped &&
        pons__chat_pictures(r->s, pons_get(r->body, "pictures"), &pictures, &r->err) < 0) {
        return r->err.status;
    }
    ear *e = session ? listen_in(r, session, !pons_get_bool(r->body, "stream", true),
                                 pons_get_bool(r->body, "debug", false))
                     : NULL;
    if (e && stopped) {
        tell_stop(r, e, session, rc, says, &r->err);
    } else if (e) {
        pons__chat_host_say(r->s->chat_host, session, message, pictures, true, &e->l, &r->err);
    }
    return r->err.status;
}

static int come_back(pons__request *r)
{
    const char *session = session_of(r, pons_get_str(r->query, "session_id", NULL));
    int64_t last = 0;
    const pons_store store = r->s->o.store;
    if (!session) {
        return r->err.status;
    }
    if (store.ops->event_last(store.self, session, &last, &r->err) < 0 || last == 0) {
        return pons__reply_error(r, 404, "there is no session %s", session);
    }
    ear *e = listen_in(r, session, false, pons_get_bool(r->query, "debug", false));
    if (e) {
        pons__chat_host_join(r->s->chat_host, session, &e->l, &r->err);
    }
    return PONS_OK;
}

static int halt(pons__request *r)
{
    const char *session = session_of(r, pons_get_str(r->body, "session_id", NULL));
    if (!session || pons__chat_host_halt(r->s->chat_host, session, &r->err) < 0) {
        return r->err.status;
    }
    return pons__reply_json(
        r, 200, pons_object("status", json_string("ok"), "session_id", json_string(session), NULL));
}

// ---- answers ------------------------------------------------------------------------------------

static pons_value *kept(const pons_value *v)
{
    return v ? pons_value_ref(v) : NULL;
}

// A yes with other arguments, steps or another title is an edit. Whether what a yes says is a note, or the
// answer to a question in words, the session knows (chat_session.c).
static pons_value *answer_value(const pons_value *body, bool yes)
{
    const char *feedback = pons_get_str(body, "feedback", "");
    const pons_value *args = pons_get(body, "args"), *steps = pons_get(body, "steps"),
                     *title = pons_get(body, "title");
    const bool edits = yes && (args || steps || title);
    return pons_object("action",
                       json_string(edits ? "edit"
                                   : yes ? "approve"
                                         : "reject"),
                       "reason", *feedback ? json_string(feedback) : NULL, "args",
                       edits ? kept(args) : NULL, "steps", edits ? kept(steps) : NULL, "title",
                       edits ? kept(title) : NULL, NULL);
}

static int answer(pons__request *r, const char *key, bool yes)
{
    const char *id = pons_get_str(r->body, key, "");
    pons_autovalue value = answer_value(r->body, yes);
    const char *session = pons_get_str(r->body, "session_id", NULL);
    if (!r->s->chat_host) {
        return pons__reply_error(r, 404, "there is no agent here");
    }
    if (session && !session_of(r, session)) {
        return r->err.status;
    }
    const int rc = pons__chat_host_answer(r->s->chat_host, session, id, value, &r->err);
    if (rc == PONS_ENOTPENDING || rc == PONS_ENOTFOUND) {
        return pons__reply_error(r, 404, "nobody asks %.100s (any more)", id);
    }
    return pons__reply_result(r, rc,
                              pons_object("status", json_string("ok"), key, json_string(id),
                                          "approved", json_boolean(yes), NULL));
}

static int approve_plan(pons__request *r)
{
    return answer(r, "plan_id", pons_get_bool(r->body, "approved", false));
}

// The word says more than the flag, and must not say something else.
static int approve(pons__request *r)
{
    const char *action = pons_get_str(r->body, "action", NULL);
    const bool approved = pons_get_bool(r->body, "approved", false);
    const bool yes = action ? strcmp(action, "approve") == 0 : approved;
    if (pons_get_bool(r->body, "approved", yes) != yes) {
        return pons__reply_wrong(r, "/action", "it says the opposite of approved");
    }
    return answer(r, "request_id", yes);
}

const pons__route pons__chat_routes[] = {
    {"POST", "/api/chat", PONS__OPERATOR, chat},
    {"GET", "/api/chat", PONS__OPERATOR, come_back},
    {"POST", "/api/chat/stop", PONS__OPERATOR, halt},
    {"POST", "/api/plan/approve", PONS__OPERATOR, approve_plan},
    {"POST", "/api/approve", PONS__OPERATOR, approve},
    {NULL, NULL, PONS__NOBODY, NULL},
};
