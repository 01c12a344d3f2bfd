// status_and_commands.c - what is, and what a person says to it.
//
//     GET  /v1/state                    as `pons status --json`
//     POST /v1/say        {text}        goals, and words of control, in any language that the rules know
//     POST /v1/pause      POST /v1/continue      POST /v1/cancel {task?}
//     POST /v1/approvals/ID  {action: approve|answer|edit|reject, …}
//     GET  /v1/companion                the companion's life, as it was last committed
//     POST /v1/companion/message {text, from?, urgent?}    to the companion's phone
//     POST /v1/reset                    lifts the stop's latch
//     GET  /v1/threads                  GET /v1/threads/T/events?after=N&limit=N
//
// `?thread=T` names a thread; without it the server's own is meant. Everything is durable in the
// thread's inbox before it is answered.
#include "serve/access/reply.h"
#include "serve/robot/robot.h"

#include <string.h>

#define EVENTS_MAX 1000

static const char *thread_of(const pons__request *r)
{
    const char *asked = pons_get_str(r->query, "thread", "");
    return *asked ? asked : r->s->o.thread;
}

static int state(pons__request *r)
{
    pons_value *status = NULL;
    const int rc = r->s->o.host.status(r->s->o.host.user, thread_of(r), &status, &r->err);
    return pons__reply_result(r, rc, status);
}

static int say(pons__request *r)
{
    pons_value *said = NULL;
    const char *text = pons_get_str(r->body, "text", "");
    const pons_serve_host *h = &r->s->o.host;
    const int rc = h->say(h->user, thread_of(r), text, &said, &r->err);
    return rc < 0 ? rc : pons__reply_json(r, 202, said);
}

static int control(pons__request *r)
{
    const char *task = pons_get_str(r->body, "task", NULL);
    const pons_serve_host *h = &r->s->o.host;
    const int rc = h->control(h->user, thread_of(r), r->word, task, &r->err);
    return rc < 0 ? rc : pons__reply_json(r, 202, pons_object("word", json_string(r->word), NULL));
}

static int answer(pons__request *r)
{
    pons_value *became = NULL;
    char by[128];
    const pons_serve_host *h = &r->s->o.host;
    snprintf(by, sizeof by, "%s at the page (%s)", pons__role_name(r->role),
             r->s->http->peer(r->x));
    const int rc = h->answer(h->user, thread_of(r), r->args[0], r->body, by, &became, &r->err);
    const char *verdict = pons_get_str(became, "verdict", "");
    const bool counts = strcmp(verdict, "bound") == 0 || strcmp(verdict, "overrides") == 0;
    return rc < 0 ? rc : pons__reply_json(r, counts ? 200 : 409, became);
}

static int companion(pons__request *r)
{
    pons_value *is = NULL;
    const pons_serve_host *h = &r->s->o.host;
    if (!h->life) {
        return pons__reply_error(r, 404, "there is no companion here");
    }
    const int rc = h->life(h->user, &is, &r->err);
    return pons__reply_result(r, rc, is);
}

static int objects(pons__request *r)
{
    pons_value *seen = NULL;
    const pons_serve_host *h = &r->s->o.host;
    if (!h->objects) {
        return pons__reply_error(r, 404, "nobody remembers here what was seen");
    }
    const int rc =
        h->objects(h->user, pons_get_str(r->query, "what", NULL),
                   pons_get_str(r->query, "zone", NULL), pons_get_int(r->query, "since_ms", 0),
                   pons_get_int(r->query, "limit", 100), &seen, &r->err);
    return pons__reply_result(r, rc, pons_object("objects", seen, NULL));
}

static int message(pons__request *r)
{
    const char *text = pons_get_str(r->body, "text", "");
    const char *from = pons_get_str(r->body, "from", NULL);
    const bool urgent = pons_get_bool(r->body, "urgent", false);
    const pons_serve_host *h = &r->s->o.host;
    if (!h->message) {
        return pons__reply_error(r, 404, "there is no companion here");
    }
    const int rc = h->message(h->user, text, from, urgent, &r->err);
    return rc < 0 ? rc : pons__reply_json(r, 202, pons_object("said", json_string(text), NULL));
}

static int reset(pons__request *r)
{
    const int rc = r->s->o.host.reset(r->s->o.host.user, &r->err);
    return pons__reply_result(r, rc, pons_object("latched", json_false(), NULL));
}

// ---- threads ------------------------------------------------------------------------------------

static int list_thread(void *user, const pons_thread_info *info)
{
    json_array_append_new(user, pons_object("thread", json_string(info->thread), "checkpoints",
                                            json_integer(info->checkpoints), "events",
                                            json_integer(info->events), "bytes",
                                            json_integer(info->bytes), NULL));
    return 0;
}

static int any_row(void *user, const pons_checkpoint_row *row)
{
    return 1;
}

// Of the known namespaces those that a thread has a state in.
static pons_value *spaces(pons_store store, const char *thread)
{
    static const char *const known[] = {"react", "kernel", "agent", "companion", ""};
    pons_value *list = json_array();
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        pons_error none = PONS_ERROR_INIT;
        if (store.ops->head(store.self, thread, known[i], any_row, NULL, &none) >= 0) {
            json_array_append_new(list, json_string(known[i]));
        }
    }
    return list;
}

static int threads(pons__request *r)
{
    const pons_store store = r->s->o.store;
    pons_value *list = json_array();
    const int rc = store.ops->threads(store.self, list_thread, list, &r->err);
    pons_each(one, list) {
        json_object_set_new(one, "spaces", spaces(store, pons_get_str(one, "thread", "")));
    }
    return pons__reply_result(r, rc, list);
}

static int list_event(void *user, const pons_event_row *row)
{
    pons_value *payload = NULL;
    if (pons_value_read(row->payload.data, row->payload.len, &payload, NULL) < 0) {
        payload = json_null();
    }
    json_array_append_new(user, pons_object("seq", json_integer(row->seq), "ns",
                                            json_string(row->ns ? row->ns : ""), "ts_ms",
                                            json_integer(row->ts_ms), "type",
                                            json_string(row->type), "payload", payload, NULL));
    return 0;
}

static int past(pons__request *r)
{
    const pons_store store = r->s->o.store;
    pons_value *list = json_array();
    const int rc =
        store.ops->events(store.self, r->args[0], pons_get_int(r->query, "after", 0),
                          pons_get_int(r->query, "limit", EVENTS_MAX), list_event, list, &r->err);
    return pons__reply_result(r, rc, list);
}

const pons__route pons__words_routes[] = {
    {"GET", "/v1/state", PONS__VIEWER, state},
    {"GET", "/v1/objects", PONS__VIEWER, objects},
    {"POST", "/v1/say", PONS__OPERATOR, say},
    {"POST", "/v1/pause", PONS__OPERATOR, control, .word = "pause"},
    {"POST", "/v1/continue", PONS__OPERATOR, control, .word = "continue"},
    {"POST", "/v1/cancel", PONS__OPERATOR, control, .word = "cancel"},
    {"POST", "/v1/approvals/*", PONS__OPERATOR, answer},
    {"GET", "/v1/companion", PONS__VIEWER, companion},
    {"POST", "/v1/companion/message", PONS__OPERATOR, message},
    {"POST", "/v1/reset", PONS__OPERATOR, reset},
    {"GET", "/v1/threads", PONS__VIEWER, threads},
    {"GET", "/v1/threads/*/events", PONS__VIEWER, past},
    {NULL, NULL, PONS__NOBODY, NULL},
};
