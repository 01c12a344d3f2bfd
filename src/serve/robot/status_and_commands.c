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

static void state(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *status = NULL;
    const int rc = r->s->o.host.status(r->s->o.host.user, thread_of(r), &status, &err);
    pons__reply_result(r, rc, status, &err);
}

static void say(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *said = NULL;
    const char *text = pons_get_str(r->body, "text", "");
    if (r->s->o.host.say(r->s->o.host.user, thread_of(r), text, &said, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_json(r, 202, said);
}

static void control(pons__request *r, const char *word, const char *task)
{
    pons_error err = PONS_ERROR_INIT;
    if (r->s->o.host.control(r->s->o.host.user, thread_of(r), word, task, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_json(r, 202, pons_object("word", json_string(word), NULL));
}

static void do_pause(pons__request *r)
{
    control(r, "pause", NULL);
}

static void do_continue(pons__request *r)
{
    control(r, "continue", NULL);
}

static void do_cancel(pons__request *r)
{
    control(r, "cancel", pons_get_str(r->body, "task", NULL));
}

static void answer(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *became = NULL;
    char by[128];
    snprintf(by, sizeof by, "%s at the page (%s)", pons__role_name(r->role),
             r->s->http->peer(r->x));
    if (r->s->o.host.answer(r->s->o.host.user, thread_of(r), r->args[0], r->body, by, &became,
                            &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    const char *verdict = pons_get_str(became, "verdict", "");
    const bool counts = strcmp(verdict, "bound") == 0 || strcmp(verdict, "overrides") == 0;
    pons__reply_json(r, counts ? 200 : 409, became);
}

static void companion(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *is = NULL;
    if (!r->s->o.host.life) {
        pons__reply_error(r, 404, "there is no companion here");
    } else if (r->s->o.host.life(r->s->o.host.user, &is, &err) < 0) {
        pons__reply_fault(r, &err);
    } else {
        pons__reply_json(r, 200, is);
    }
}

static void objects(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *seen = NULL;
    if (!r->s->o.host.objects) {
        pons__reply_error(r, 404, "nobody remembers here what was seen");
    } else if (r->s->o.host.objects(r->s->o.host.user, pons_get_str(r->query, "what", NULL),
                                    pons_get_str(r->query, "zone", NULL),
                                    pons_get_int(r->query, "since_ms", 0),
                                    pons_get_int(r->query, "limit", 100), &seen, &err) < 0) {
        pons__reply_fault(r, &err);
    } else {
        pons__reply_json(r, 200, pons_object("objects", seen, NULL));
    }
}

static void message(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    const char *text = pons_get_str(r->body, "text", "");
    const char *from = pons_get_str(r->body, "from", NULL);
    if (!r->s->o.host.message) {
        pons__reply_error(r, 404, "there is no companion here");
    } else if (r->s->o.host.message(r->s->o.host.user, text, from,
                                    pons_get_bool(r->body, "urgent", false), &err) < 0) {
        pons__reply_fault(r, &err);
    } else {
        pons__reply_json(r, 202, pons_object("said", json_string(text), NULL));
    }
}

static void reset(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    const int rc = r->s->o.host.reset(r->s->o.host.user, &err);
    pons__reply_result(r, rc, pons_object("latched", json_false(), NULL), &err);
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

static void threads(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_store store = r->s->o.store;
    pons_value *list = json_array();
    if (store.ops->threads(store.self, list_thread, list, &err) < 0) {
        pons_value_unref(list);
        pons__reply_fault(r, &err);
        return;
    }
    pons_each(one, list) {
        json_object_set_new(one, "spaces", spaces(store, pons_get_str(one, "thread", "")));
    }
    pons__reply_json(r, 200, list);
}

static int list_event(void *user, const pons_event_row *row)
{
    pons_value *payload = NULL;
    pons_error none = PONS_ERROR_INIT;
    if (pons_value_read(row->payload.data, row->payload.len, &payload, &none) < 0) {
        payload = json_null();
    }
    json_array_append_new(user, pons_object("seq", json_integer(row->seq), "ns",
                                            json_string(row->ns ? row->ns : ""), "ts_ms",
                                            json_integer(row->ts_ms), "type",
                                            json_string(row->type), "payload", payload, NULL));
    return 0;
}

static void past(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_store store = r->s->o.store;
    pons_value *list = json_array();
    if (store.ops->events(store.self, r->args[0], pons_get_int(r->query, "after", 0),
                          pons_get_int(r->query, "limit", EVENTS_MAX), list_event, list,
                          &err) < 0) {
        pons_value_unref(list);
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_json(r, 200, list);
}

const pons__route pons__words_routes[] = {
    {"GET", "/v1/state", PONS__VIEWER, state},
    {"GET", "/v1/objects", PONS__VIEWER, objects},
    {"POST", "/v1/say", PONS__OPERATOR, say},
    {"POST", "/v1/pause", PONS__OPERATOR, do_pause},
    {"POST", "/v1/continue", PONS__OPERATOR, do_continue},
    {"POST", "/v1/cancel", PONS__OPERATOR, do_cancel},
    {"POST", "/v1/approvals/*", PONS__OPERATOR, answer},
    {"GET", "/v1/companion", PONS__VIEWER, companion},
    {"POST", "/v1/companion/message", PONS__OPERATOR, message},
    {"POST", "/v1/reset", PONS__OPERATOR, reset},
    {"GET", "/v1/threads", PONS__VIEWER, threads},
    {"GET", "/v1/threads/*/events", PONS__VIEWER, past},
    {NULL, NULL, PONS__NOBODY, NULL},
};
