// openai.c - the agent for programs that speak OpenAI's chat protocol.
//
//     GET  /v1/models               one model, "agent"
//     POST /v1/chat/completions     a turn of the agent: whole, or as a stream of chunks to [DONE]
//
// Chat programs ask on their own, too: for titles, tags, the next question, with the conversation in
// the request, at the same address and with the same key. None of that may move a robot. So a turn may
// look (read, search, ask the world) and nothing else, unless the user's words begin with the mark,
// "/do ": that no program's request begins with; and the same marked words in the same place act
// once (conversation_match.c). Which tools a turn has is settled where tools are offered, not by a prompt.
#include "serve/access/reply.h"
#include "serve/access/route.h"
#include "serve/chat/session_threads.h"
#include "serve/metrics/metrics.h"
#include "serve/openai/conversation_match.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MODEL "agent"

typedef struct ear {
    pons__listener l; // first: the desk's is ours
    const pons_serve *s;
    pons_http_stream *stream;
    pons__conversation c;
    pons_buf said; // the answer so far
    int64_t created, prompt, completion;
    char id[48];
    bool chunks, usage, over, asks;
} ear;

// {"error": …} as this protocol's clients read it; returns as pons__reply_error.
static int reply_error(pons__request *r, int status, const char *type, const char *param,
                       const char *text)
{
    pons__reply_json(
        r, status,
        pons_object("error",
                    pons_object("message", pons_string(text), "type", json_string(type), "param",
                                param ? pons_string(param) : json_null(), "code", json_null(),
                                NULL),
                    NULL));
    return PONS_EREFUSED;
}

__attribute__((format(printf, 4, 5))) static int refuse(pons__request *r, int status,
                                                        const char *type, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return reply_error(r, status, type, NULL, text);
}

static int refuse_member(pons__request *r, const char *where, const char *message)
{
    char text[1024];
    snprintf(text, sizeof text, "%s: %s", where, message);
    return reply_error(r, 422, "invalid_request_error", where + (*where == '/'), text);
}

// ---- what is said -------------------------------------------------------------------------------

static pons_value *usage_of(const ear *e)
{
    return pons_object("prompt_tokens", json_integer(e->prompt), "completion_tokens",
                       json_integer(e->completion), "total_tokens",
                       json_integer(e->prompt + e->completion), NULL);
}

static pons_value *envelope(const ear *e, const char *object, pons_value *choices)
{
    return pons_object("id", json_string(e->id), "object", json_string(object), "created",
                       json_integer(e->created), "model", json_string(MODEL), "choices", choices,
                       NULL);
}

static bool write_delta(const ear *e, pons_value *delta, bool last)
{
    pons_value *choice = pons_object("index", json_integer(0), "delta", delta, "finish_reason",
                                     last ? json_string("stop") : json_null(), NULL);
    return pons__stream_value(
        e->s, e->stream, "data: ", envelope(e, "chat.completion.chunk", json_pack("[o]", choice)),
        "\n\n");
}

static bool say(ear *e, const char *text)
{
    pons_buf_str(&e->said, text);
    return !e->chunks || write_delta(e, pons_object("content", json_string(text), NULL), false);
}

static bool say_question(ear *e, const pons_event *ev)
{
    char *shown = NULL;
    pons_autobuf b = PONS_BUF_INIT;
    const bool plan = strcmp(ev->type, "plan_approval_request") == 0;
    pons_value_line(pons_get(ev->payload, plan ? "steps" : "input"), &shown);
    pons_buf_printf(&b,
                    "%s(A person is asked about %s %s: %.1500s\nAnswer it on the page, or by %s.)",
                    e->said.len > 0 ? "\n\n" : "", plan ? "the plan" : "the call",
                    pons_get_str(ev->payload, plan ? "title" : "tool", ""), shown ? shown : "",
                    plan ? "POST /api/plan/approve" : "POST /api/approve");
    pons_buf_byte(&b, 0);
    free(shown);
    e->asks = true;
    // The text may have been cut inside a character.
    pons_autovalue whole = json_stringn(b.data, b.len - 1);
    say(e, whole ? json_string_value(whole) : "(A person is asked: look at the page.)");
    return false;
}

static bool hear(pons__listener *l, const pons_event *ev)
{
    ear *e = (ear *)l;
    const char *type = ev->type;
    if (strcmp(type, "token") == 0) {
        return say(e, pons_get_str(ev->payload, "content", ""));
    }
    if (strcmp(type, "llm_end") == 0) {
        const pons_value *tokens = pons_get(ev->payload, "tokens");
        e->prompt += pons_get_int(tokens, "prompt", 0);
        e->completion += pons_get_int(tokens, "completion", 0);
    } else if (strcmp(type, "plan_approval_request") == 0 ||
               strcmp(type, "approval_request") == 0) {
        return say_question(e, ev);
    } else if (strcmp(type, "done") == 0) {
        const char *content = pons_get_str(ev->payload, "content", "");
        e->over = true;
        return e->said.len > 0 || !*content || say(e, content);
    }
    return true;
}

static bool beat(pons__listener *l)
{
    const ear *e = (const ear *)l;
    const char *nothing = e->chunks ? ": \n\n" : "\n";
    return e->s->http->stream_write(e->stream, nothing, strlen(nothing)) >= 0;
}

static void write_whole(const ear *e, const char *content)
{
    pons_value *choice = pons_object(
        "index", json_integer(0), "message",
        pons_object("role", json_string("assistant"), "content", json_string(content), NULL),
        "finish_reason", json_string("stop"), NULL);
    pons_value *all = envelope(e, "chat.completion", json_pack("[o]", choice));
    json_object_set_new(all, "usage", usage_of(e));
    pons__stream_value(e->s, e->stream, "", all, "");
}

static void write_end(const ear *e)
{
    static const char done[] = "data: [DONE]\n\n";
    write_delta(e, json_object(), true);
    if (e->usage) {
        pons_value *all = envelope(e, "chat.completion.chunk", json_array());
        json_object_set_new(all, "usage", usage_of(e));
        pons__stream_value(e->s, e->stream, "data: ", all, "\n\n");
    }
    e->s->http->stream_write(e->stream, done, sizeof done - 1);
}

static void end(pons__listener *l, int rc, const pons_error *err)
{
    ear *e = (ear *)l;
    char line[512];
    if (rc < 0) {
        say(e, pons_error_line(err, line, sizeof line));
    }
    pons_buf_byte(&e->said, 0);
    const char *content = e->said.failed ? "" : e->said.data;
    if (e->over || e->asks) {
        pons__conversation_end(e->s, &e->c, content);
    }
    if (e->chunks) {
        write_end(e);
    } else {
        write_whole(e, content);
    }
    pons__metrics_stream(e->s->metrics, "openai", -1);
    e->s->http->stream_end(e->stream);
    pons__conversation_fini(&e->c);
    pons_buf_fini(&e->said);
    free(e);
}

// ---- the routes ---------------------------------------------------------------------------------

static pons_value *model(void)
{
    return pons_object("id", json_string(MODEL), "object", json_string("model"), "created",
                       json_integer(0), "owned_by", json_string("pons"), NULL);
}

static int models(pons__request *r)
{
    pons_value *list = json_array();
    if (r->s->chat_host) {
        json_array_append_new(list, model());
    }
    return pons__reply_json(r, 200, pons_object("object", json_string("list"), "data", list, NULL));
}

static int one_model(pons__request *r)
{
    if (!r->s->chat_host || strcmp(r->args[0], MODEL) != 0) {
        return refuse(r, 404, "invalid_request_error", "there is no model %.100s", r->args[0]);
    }
    return pons__reply_json(r, 200, model());
}

static ear *listen_in(pons__request *r, pons__conversation *c)
{
    ear *e = calloc(1, sizeof *e);
    if (e) {
        e->l.hear = hear;
        e->l.beat = beat;
        e->l.end = end;
        e->s = r->s;
        e->chunks = pons_get_bool(r->body, "stream", false);
        e->usage = pons_get_bool(pons_get(r->body, "stream_options"), "include_usage", false);
        e->created = pons_wall_ms(&r->s->o.clock) / 1000;
        snprintf(e->id, sizeof e->id, "chatcmpl-%s", r->id);
        e->stream = e->chunks ? pons__reply_events(r, NULL)
                              : pons__reply_stream(r, "application/json", NULL);
    }
    if (!e || !e->stream) {
        if (!e) {
            refuse(r, 503, "server_error", "no memory");
        }
        free(e);
        pons__conversation_fini(c);
        return NULL;
    }
    e->c = *c; // taken
    *c = (pons__conversation){.said = NULL};
    pons__metrics_stream(r->s->metrics, "openai", 1);
    return e;
}

static int completions(pons__request *r)
{
    pons__conversation c;
    if (!r->s->chat_host) {
        return refuse(r, 404, "invalid_request_error", "there is no agent here");
    }
    if (strcmp(pons_get_str(r->body, "model", ""), MODEL) != 0) {
        return refuse(r, 404, "invalid_request_error", "there is no model %.100s; there is " MODEL,
                      pons_get_str(r->body, "model", ""));
    }
    int rc = pons__conversation_read(r->s, r->body, &c, &r->err);
    if (rc < 0) {
        return refuse(r, rc == PONS_EINVAL ? 400 : 500, "invalid_request_error", "%s",
                      r->err.message);
    }
    rc = pons__conversation_begin(r->s, &c, &r->err);
    if (rc < 0) {
        pons__conversation_fini(&c);
        return refuse(r, rc == PONS_EEXIST ? 409 : 503, "invalid_request_error", "%s",
                      r->err.message);
    }
    ear *e = listen_in(r, &c);
    if (e && e->chunks) {
        write_delta(e,
                    pons_object("role", json_string("assistant"), "content", json_string(""), NULL),
                    false);
    }
    if (e) {
        // e is the desk's from here on, and may be gone before this returns.
        char session[PONS_NAME_MAX];
        pons_autobuf words = e->c.words;
        pons_autovalue pictures = pons_value_ref(e->c.pictures);
        const bool acts = e->c.acts;
        e->c.words = (pons_buf)PONS_BUF_INIT;
        snprintf(session, sizeof session, "%s", e->c.session);
        pons__chat_host_say(r->s->chat_host, session, words.data, pictures, acts, &e->l, &r->err);
    }
    return PONS_OK;
}

const pons__route pons__openai_routes[] = {
    {"GET", "/v1/models", PONS__VIEWER, models},
    {"GET", "/v1/models/*", PONS__VIEWER, one_model},
    {"POST", "/v1/chat/completions", PONS__OPERATOR, completions, refuse_member},
    {NULL, NULL, PONS__NOBODY, NULL},
};
