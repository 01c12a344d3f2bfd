// words.c - what is, and what a person says to it.
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
#include "pons/buf.h"
#include "serve/door/reply.h"
#include "serve/robot/robot.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX_BYTES   4096
#define EVENTS_MAX       1000
#define SENDER_MAX_BYTES 200

static const char *thread_of(const pons__request *r)
{
    const char *asked = r->s->http->query(r->x, "thread");
    return asked && *asked ? asked : r->s->o.thread;
}

static void state(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *status = NULL;
    if (r->s->o.host.status(r->s->o.host.user, thread_of(r), &status, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_json(r, 200, status);
}

static void say(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *said = NULL;
    const char *text = pons_get_str(r->body, "text", "");
    if (text[strspn(text, " \t\r\n")] == '\0' || strlen(text) > TEXT_MAX_BYTES) {
        pons__reply_error(r, 422, "text: something to say, at most %d bytes", TEXT_MAX_BYTES);
        return;
    }
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

// What a person may say to a question, and no more: an answer has members that are the kernel's own.
static const char *said_wrong(const pons_value *body)
{
    static const char *const members[] = {"action", "answer", "args", "op", "ops", "reason"};
    const char *action = pons_get_str(body, "action", ""), *name;
    const pons_value *words = pons_get(body, "answer"), *reason = pons_get(body, "reason");
    json_t *unused;
    const bool edit = strcmp(action, "edit") == 0, answer = strcmp(action, "answer") == 0;
    if (!answer && !edit && strcmp(action, "approve") != 0 && strcmp(action, "reject") != 0) {
        return "action: approve, answer, edit or reject";
    }
    json_object_foreach((json_t *)body, name, unused)
    {
        bool known = false;
        for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
            known = known || strcmp(name, members[i]) == 0;
        }
        if (!known) {
            return "an answer has action, answer, args, op, ops and reason";
        }
    }
    if (answer ? !json_is_string(words) || !*json_string_value(words) : words != NULL) {
        return "answer: the words of action answer";
    }
    if (edit && !json_is_object(pons_get(body, "args")) && !json_is_array(pons_get(body, "ops"))) {
        return "edit: args, an object, or ops, a list";
    }
    return reason && !json_is_string(reason) ? "reason: a text" : NULL;
}

static void answer(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    pons_value *became = NULL;
    char by[128];
    const char *wrong = said_wrong(r->body);
    if (wrong) {
        pons__reply_error(r, 422, "%s", wrong);
        return;
    }
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

static void message(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    const char *text = pons_get_str(r->body, "text", "");
    const char *from = pons_get_str(r->body, "from", NULL);
    if (text[strspn(text, " \t\r\n")] == '\0' || strlen(text) > TEXT_MAX_BYTES ||
        (from && strlen(from) > SENDER_MAX_BYTES)) {
        pons__reply_error(r, 422, "text: what to tell it, at most %d bytes; from: %d",
                          TEXT_MAX_BYTES, SENDER_MAX_BYTES);
    } else if (!r->s->o.host.message) {
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
    if (r->s->o.host.reset(r->s->o.host.user, &err) < 0) {
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_json(r, 200, pons_object("latched", json_false(), NULL));
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
    (void)user;
    (void)row;
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
    size_t i;
    json_t *one;
    json_array_foreach(list, i, one)
    {
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

static int64_t number(const pons__request *r, const char *name, int64_t fallback)
{
    const char *text = r->s->http->query(r->x, name);
    return text ? strtoll(text, NULL, 10) : fallback;
}

static void past(pons__request *r)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_store store = r->s->o.store;
    pons_value *list = json_array();
    int64_t limit = number(r, "limit", EVENTS_MAX);
    limit = limit < 1 || limit > EVENTS_MAX ? EVENTS_MAX : limit;
    if (store.ops->events(store.self, r->args[0], number(r, "after", 0), limit, list_event, list,
                          &err) < 0) {
        pons_value_unref(list);
        pons__reply_fault(r, &err);
        return;
    }
    pons__reply_json(r, 200, list);
}

const pons__route pons__words_routes[] = {
    {"GET", "/v1/state", PONS__VIEWER, state},
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
