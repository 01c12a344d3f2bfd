// clients.c - who is connected, what they say, and who is in control.
//
//   observer      hears telemetry and speech; may ask for a goal's status, stop, and reset
//   controller    one at a time, with an epoch of its own; only it sends goals, cancels, adopts
//
// A controller is *lost* when its link closes or when no heartbeat came for 300 ms of host time.
// Then the robot brakes and its goals are held. The place is free at once: the next controller's
// hello is answered with a higher epoch, which fences whatever the old one still says. A controller
// that comes back after a lapse keeps its epoch and may adopt its own goals.
//
// A bad line is answered with error{code:"protocol", message} and does no other harm.
#include "body/body_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGES_MAX 64 // of one client in one poll, so that no client starves the others

typedef void handler(pons_body *b, pons__client *c, const pons_value *msg);

static void pump(pons_body *b, pons__client *c);
static void dispatch(pons_body *b, pons__client *c, const pons_value *msg);
static handler on_hello, on_heartbeat, on_stop, on_reset, on_bye, on_spawn, on_battery;
static bool may_control(pons_body *b, pons__client *c);
static bool issue_epoch(pons_body *b, pons__client *c);
static bool lapsed(const pons_body *b);
static void lost(pons_body *b);
static void ok(pons__client *c, const char *re);

static const struct {
    const char *type;
    handler *fn;
    bool greeted; // only after hello
} handlers[] = {
    {"hello", on_hello, false},
    {"heartbeat", on_heartbeat, true},
    {"goal", pons__goal_request, true},
    {"cancel", pons__goal_cancel, true},
    {"adopt", pons__goal_adopt, true},
    {"status", pons__goal_status, true},
    {"stop", on_stop, false},
    {"reset", on_reset, false},
    {"bye", on_bye, true},
    {"world.spawn", on_spawn, true},
    {"world.battery", on_battery, true},
};

void pons__clients_pump(pons_body *b)
{
    // The controller first: whether it has gone decides what the others may.
    pons__client *first = b->controller;
    if (first && !first->gone)
        pump(b, first);
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        if (b->clients[i].link && !b->clients[i].gone && &b->clients[i] != first)
            pump(b, &b->clients[i]);
    }
}

void pons__clients_watch(pons_body *b)
{
    if (b->controller && b->controller->gone) {
        b->controller = NULL;
        b->epoch = 0;
    }
    if (!b->controller || lapsed(b))
        lost(b);
}

void pons__clients_flush(pons_body *b)
{
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        if (!c->link)
            continue;
        if (pons_link_flush(c->link, NULL) < 0)
            c->gone = true;
        if (!c->gone)
            continue;
        if (b->controller == c) {
            b->controller = NULL;
            b->epoch = 0;
            lost(b);
        }
        pons_link_close(c->link);
        *c = (pons__client){0};
    }
}

void pons__client_send(pons__client *c, pons_value *msg)
{
    if (!c || !c->link || c->gone) {
        pons_value_unref(msg);
        return;
    }
    // A client that does not read is a client that is gone.
    const int rc = pons_link_send(c->link, msg, NULL);
    if (rc == PONS_ECLOSED || rc == PONS_EBUSY)
        c->gone = true;
}

void pons__clients_send(pons_body *b, pons_value *msg)
{
    for (size_t i = 0; msg && i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        // Telemetry is of the moment: who is behind gets the next one.
        const bool behind = c->link && pons_link_wants_write(c->link) &&
                            strcmp(pons_get_str(msg, "type", ""), "telemetry") == 0;
        if (c->link && c->greeted && !c->gone && !behind)
            pons__client_send(c, pons_value_ref(msg));
    }
    pons_value_unref(msg);
}

void pons__client_error(pons__client *c, const char *re, const char *code, const char *fmt, ...)
{
    char text[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pons__client_send(c, pons_object("type", json_string("error"), "code", json_string(code),
                                     "message", pons__text(text), "re", re ? json_string(re) : NULL,
                                     NULL));
}

size_t pons__clients_count(const pons_body *b)
{
    size_t n = 0;
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++)
        n += b->clients[i].link != NULL;
    return n;
}

// -------------------------------------------------------------------------------- messages

static void pump(pons_body *b, pons__client *c)
{
    for (int i = 0; i < MESSAGES_MAX && c->link && !c->gone; i++) {
        pons_value *msg = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_link_recv(c->link, &msg, &err);
        if (rc == 0)
            return;
        if (rc == 1)
            dispatch(b, c, msg);
        else if (rc == PONS_EPROTOCOL)
            pons__client_error(c, NULL, "protocol", "%s", err.message);
        else
            c->gone = true;
        pons_value_unref(msg);
    }
}

static void dispatch(pons_body *b, pons__client *c, const pons_value *msg)
{
    const char *type = pons_get_str(msg, "type", "");
    for (size_t i = 0; i < sizeof handlers / sizeof handlers[0]; i++) {
        if (strcmp(handlers[i].type, type) != 0)
            continue;
        if (handlers[i].greeted && !c->greeted)
            pons__client_error(c, type, "no_hello", "say hello first");
        else
            handlers[i].fn(b, c, msg);
        return;
    }
    pons__client_error(c, type, "unknown_type", "there is no message %.60s", type);
}

static void on_hello(pons_body *b, pons__client *c, const pons_value *msg)
{
    const int64_t protocol = pons_get_int(msg, "protocol", 0);
    const char *role = pons_get_str(msg, "role", "observer");
    if (protocol != PONS_LINK_PROTOCOL) {
        pons__client_error(c, "hello", "protocol", "this body speaks protocol %d, not %lld",
                           PONS_LINK_PROTOCOL, (long long)protocol);
        return;
    }
    if (strcmp(role, "controller") != 0 && strcmp(role, "observer") != 0) {
        pons__client_error(c, "hello", "bad_args", "role is controller or observer");
        return;
    }
    if (c->pid == 0)
        c->pid = pons_get_int(msg, "pid", 0);
    snprintf(c->name, sizeof c->name, "%s", pons_get_str(msg, "name", ""));
    c->tree = pons_get_bool(msg, "tree", false);
    c->tree_id = 0;
    int64_t epoch = 0;
    if (strcmp(role, "controller") == 0) {
        if (!may_control(b, c) || !issue_epoch(b, c))
            return;
        epoch = b->epoch;
    }
    c->greeted = true;
    pons__client_send(c, pons__body_hello(b, epoch));
    pons__client_send(c, pons__body_telemetry(b));
}

static bool may_control(pons_body *b, pons__client *c)
{
    if (!b->controller || b->controller == c || b->controller->gone || lapsed(b))
        return true;
    pons__client_error(c, "hello", "busy", "process %lld (%s) is in control",
                       (long long)b->controller->pid, b->controller->name);
    return false;
}

// The new epoch is durable before anybody hears of it, and what the last controller had is held.
static bool issue_epoch(pons_body *b, pons__client *c)
{
    lost(b);
    pons__durable next = b->durable;
    next.epoch++;
    pons_error err = PONS_ERROR_INIT;
    if (b->durable_path && pons__durable_save(b->durable_path, &next, &err) < 0) {
        pons__client_error(c, "hello", "ledger", "%s: %s", err.message, err.cause);
        return false;
    }
    b->durable = next;
    b->controller = c;
    b->epoch = next.epoch;
    b->beat_host_ns = b->host_ns;
    return true;
}

static void on_heartbeat(pons_body *b, pons__client *c, const pons_value *msg)
{
    (void)msg;
    if (b->controller == c)
        b->beat_host_ns = b->host_ns;
}

static void on_stop(pons_body *b, pons__client *c, const pons_value *msg)
{
    pons__body_stop_request(b, pons_get_str(msg, "reason", "stop"));
    ok(c, "stop");
}

static void on_reset(pons_body *b, pons__client *c, const pons_value *msg)
{
    (void)msg;
    pons__body_reset_request(b);
    ok(c, "reset");
}

// A good end is no loss: what is still active was wanted by nobody any more.
static void on_bye(pons_body *b, pons__client *c, const pons_value *msg)
{
    if (b->controller == c) {
        pons__goals_end(b, "the controller has left");
        b->controller = NULL;
        b->epoch = 0;
    }
    if (b->for_run && pons_get_bool(msg, "stop_body", false))
        b->quit = true;
    ok(c, "bye");
    pons_link_flush(c->link, NULL);
    c->gone = true;
}

static void on_spawn(pons_body *b, pons__client *c, const pons_value *msg)
{
    pons_error err = PONS_ERROR_INIT;
    if (!b->caps.simulated || !b->robot->spawn) {
        pons__client_error(c, "world.spawn", "unsupported",
                           "only a simulated world can be changed");
        return;
    }
    pons_autovalue what = json_copy((pons_value *)(uintptr_t)msg);
    if (what)
        json_object_del(what, "type");
    if (b->robot->spawn(b->self, what, &err) < 0)
        pons__client_error(c, "world.spawn", "bad_args", "%s", err.message);
    else
        ok(c, "world.spawn");
}

static void on_battery(pons_body *b, pons__client *c, const pons_value *msg)
{
    const pons_value *pct = pons_get(msg, "pct");
    if (!b->caps.simulated || !b->robot->set_battery) {
        pons__client_error(c, "world.battery", "unsupported",
                           "only a simulated battery can be set");
    } else if (!json_is_number(pct) || json_number_value(pct) < 0.0 ||
               json_number_value(pct) > 100.0) {
        pons__client_error(c, "world.battery", "bad_args", "pct is a number from 0 to 100");
    } else {
        b->robot->set_battery(b->self, json_number_value(pct));
        ok(c, "world.battery");
    }
}

// --------------------------------------------------------------------------------- control

static bool lapsed(const pons_body *b)
{
    return b->host_ns - b->beat_host_ns > PONS__HEARTBEAT_NS;
}

static void lost(pons_body *b)
{
    pons__goals_hold(b);
}

static void ok(pons__client *c, const char *re)
{
    pons__client_send(c, pons_object("type", json_string("ok"), "re", json_string(re), NULL));
}
