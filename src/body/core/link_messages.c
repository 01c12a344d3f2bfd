// link_messages.c - what clients say, and who is in control.
//
//   observer      hears telemetry and speech; may ask for a goal's status, and stop
//   controller    one at a time, with an epoch of its own; only it sends goals, cancels, adopts
//   who resets    the controller, or a process of the same user; as who sets the pose or steers (stop_reset.c)
//
// There are PONS__CLIENTS_MAX places. Observers that said hello take PONS__OBSERVERS_MAX of them at
// the most; who has said nothing for PONS__HELLO_NS is closed, and earlier when a place is needed.
// So a controller always finds one, however many others are connected.
//
// A controller is *lost* when its link closes or when no heartbeat came for 300 ms of host time.
// Then the robot brakes and its goals are held. The place is free at once: the next controller's
// hello is answered with a higher epoch, which fences whatever the old one still says. A controller
// that comes back after a lapse keeps its epoch and may adopt its own goals.
//
// A bad line is answered with error{code:"protocol", message} and does no other harm, but one that
// seems to ask for a stop is a stop. A message is
// decoded here, once, into its struct (link_message.h); one with a wrong field is answered with
// error{code, message}, which names it. Of those that are handled all the same, a stop is
// obeyed, and what needs control is fenced first (goals.c).
#include "body/core/link_messages.h"

#include "body/core/body.h"
#include "body/core/gate_command.h"
#include "body/core/goals.h"
#include "body/core/link_clients.h"
#include "body/core/stop_reset.h"
#include "body/core/telemetry.h"
#include "body/world/world_places.h"

#include <stdio.h>
#include <string.h>

#define MESSAGES_MAX 64 // of one client in one poll, so that no client starves the others

typedef void handler(pons_body *b, pons__client *c, const pons_message *msg);

// ---- control ------------------------------------------------------------------------------------

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
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_OK, .as.ok = {.re = re}});
}

// ---- messages -----------------------------------------------------------------------------------

// Who sends a stop and closes his half, as a line of a shell does, still hears what became of it. He
// is in control no more.
static void says_no_more(pons_body *b, pons__client *c)
{
    if (!pons__requests_owed(c)) {
        c->gone = true;
        return;
    }
    c->ended_ns = b->host_ns;
    if (b->controller == c) {
        b->controller = NULL;
        b->epoch = 0;
    }
}

// A robot that stops for nothing is a nuisance; one that does not stop is a danger.
static void stop_of_a_bad_line(pons_body *b, pons__client *c)
{
    const pons_message stop = {.type = PONS_MESSAGE_STOP,
                               .as.stop = {.reason = "stop, in a line that cannot be read"}};
    pons__stop_asked(b, c, &stop);
}

static bool may_control(pons_body *b, pons__client *c)
{
    if (!b->controller || b->controller == c || b->controller->gone || lapsed(b)) {
        return true;
    }
    pons__client_error(c, "hello", "busy", "process %lld (%s) is in control",
                       (long long)b->controller->pid, b->controller->name);
    return false;
}

static bool may_observe(pons_body *b, pons__client *c)
{
    size_t n = 0;
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        const pons__client *o = &b->clients[i];
        n += o->link && o->greeted && o != b->controller && o != c;
    }
    if (n < PONS__OBSERVERS_MAX) {
        return true;
    }
    pons__client_error(c, "hello", "busy", "%d observers are the most", PONS__OBSERVERS_MAX);
    pons_link_flush(c->link, NULL);
    c->gone = true;
    return false;
}

// The new epoch is durable before anybody hears of it, and what the last controller had is held.
static bool issue_epoch(pons_body *b, pons__client *c)
{
    lost(b);
    const int64_t next = b->last_epoch + 1;
    pons_error err = PONS_ERROR_INIT;
    if (next > PONS__EPOCH_MAX) {
        pons__client_error(c, "hello", "epoch", "all control epochs are used up");
        return false;
    }
    if (pons__keeper_epoch(&b->keeper, next, &err) < 0) {
        pons__client_error(c, "hello", "ledger", "%s: %s", err.message, err.cause);
        return false;
    }
    b->last_epoch = next;
    b->controller = c;
    b->lacked[0] = '\0'; // it has not been told yet
    b->epoch = next;
    b->left = false;
    b->beat_host_ns = b->host_ns;
    return true;
}

static void on_hello(pons_body *b, pons__client *c, const pons_message *msg)
{
    const pons_message_hello *hello = &msg->as.hello;
    if (hello->protocol != PONS_LINK_PROTOCOL) {
        pons__client_error(c, "hello", "protocol", "this body speaks protocol %d, not %lld",
                           PONS_LINK_PROTOCOL, (long long)hello->protocol);
        return;
    }
    const bool controls = strcmp(hello->role, "controller") == 0;
    if (!controls && strcmp(hello->role, "observer") != 0) {
        pons__client_error(c, "hello", "bad_args", "role is controller or observer");
        return;
    }
    if (c->pid == 0) {
        c->pid = hello->pid;
    }
    snprintf(c->name, sizeof c->name, "%s", hello->name);
    c->reported_no_control = false;
    c->tree = hello->tree;
    c->view = hello->view;
    c->laser = hello->laser;
    c->senses = hello->senses;
    c->sees = hello->sees;
    c->tree_id = 0;
    int64_t epoch = 0;
    if (controls) {
        if (!may_control(b, c) || !issue_epoch(b, c)) {
            return;
        }
        epoch = b->epoch;
    } else if (!may_observe(b, c)) {
        return;
    }
    c->greeted = true;
    pons__body_greet(b, c, epoch);
    pons__body_tell(b, c);
}

static void on_heartbeat(pons_body *b, pons__client *c, const pons_message *msg)
{
    if (b->controller == c) {
        b->beat_host_ns = b->host_ns;
    } else if (!c->reported_no_control) { // once: it comes ten times a second
        c->reported_no_control = true;
        pons__client_error(c, "heartbeat", "not_controller",
                           "this client is not the controller: its heartbeats keep nothing alive");
    }
}

// A good end is no loss: what is still active was wanted by nobody any more.
static void on_bye(pons_body *b, pons__client *c, const pons_message *msg)
{
    if (b->controller == c) {
        pons__goals_end(b, "the controller has left");
        b->controller = NULL;
        b->epoch = 0;
        b->left = true;
        b->quit = b->quit || (b->for_run && msg->as.bye.stop_body);
    }
    ok(c, "bye");
    pons_link_flush(c->link, NULL);
    c->gone = true;
}

static void on_spawn(pons_body *b, pons__client *c, const pons_message *msg)
{
    pons_error err = PONS_ERROR_INIT;
    if (!b->caps.simulated || !b->robot->spawn) {
        pons__client_error(c, "world.spawn", "unsupported",
                           "only a simulated world can be changed");
        return;
    }
    pons_autovalue what = pons_message_encode(msg);
    if (what) {
        json_object_del(what, "type");
    }
    if (b->robot->spawn(b->self, what, &err) < 0) {
        pons__client_error(c, "world.spawn", "bad_args", "%s", err.message);
    } else {
        ok(c, "world.spawn");
    }
}

static void on_battery(pons_body *b, pons__client *c, const pons_message *msg)
{
    if (!b->caps.simulated || !b->robot->set_battery) {
        pons__client_error(c, "world.battery", "unsupported",
                           "only a simulated battery can be set");
    } else {
        b->robot->set_battery(b->self, msg->as.battery.pct);
        b->battery_filter.known = false; // a set charge is accepted at once
        ok(c, "world.battery");
    }
}

// ---- zones and the charger ----------------------------------------------------------------------
//
//     world.places{zones, charger} -> checked as the world's file is -> the body's world -> hello, to all clients
//
// The sender has already written the world's file. A running goal continues with the zones that it started with. The velocity
// gate keeps the walls, keep-out and slow areas that it read at the body's start.

static int take_places(pons_body *b, pons_value *world, pons_error *err)
{
    char id[PONS_WORLD_ID_MAX];
    unsigned has = b->caps.speed_max_mps > 0.0 ? PONS__WITH_WHEELS : 0u;
    has |= pons_get(world, "charger") ? PONS__WITH_CHARGER : 0u;
    int rc = pons_world_id(world, id, err);
    rc = rc < 0 ? rc : pons__skills_dock(&b->skills, has, err);
    if (rc < 0) {
        return rc;
    }
    pons_value *registry = pons__skills_registry(&b->skills);
    if (!registry) {
        return pons_error_set(err, PONS_ENOMEM, "body", "no memory for places");
    }
    pons_value_unref(b->registry);
    pons_value_unref(b->world);
    b->registry = registry;
    b->world = pons_value_ref(world);
    memcpy(b->world_id, id, sizeof id);
    if (b->world_changed) {
        b->world_changed(b->kick_user);
    }
    return PONS_OK;
}

static void on_places(pons_body *b, pons__client *c, const pons_message *msg)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue world = NULL;
    if (!pons__client_may_reset(b, c)) {
        pons__client_error(c, "world.places", "not_permitted",
                           "world.places needs the controller, or the user that the body runs as");
        return;
    }
    int rc = pons__world_with_places(b->world, msg->as.places.zones, msg->as.places.charger, &world,
                                     &err);
    rc = rc < 0 ? rc : take_places(b, world, &err);
    if (rc < 0) {
        pons__client_error(c, "world.places", "bad_args", "%s", err.message);
        return;
    }
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *each = &b->clients[i];
        if (each->link && each->greeted && !each->gone) {
            pons__body_greet(b, each, each == b->controller ? b->epoch : 0);
        }
    }
    ok(c, "world.places");
}

static const struct {
    handler *fn;
    bool greeted; // only after hello
    bool faulty;  // is also called with a message of which fields are wrong
} handlers[PONS_MESSAGE_TYPES] = {
    [PONS_MESSAGE_HELLO] = {on_hello, false, false},
    [PONS_MESSAGE_HEARTBEAT] = {on_heartbeat, true, false},
    [PONS_MESSAGE_GOAL] = {pons__goal_request, true, true},
    [PONS_MESSAGE_CANCEL] = {pons__goal_cancel, true, true},
    [PONS_MESSAGE_ADOPT] = {pons__goal_adopt, true, true},
    [PONS_MESSAGE_STATUS] = {pons__goal_status, true, false},
    [PONS_MESSAGE_PACE] = {pons__pace_asked, false, false},
    [PONS_MESSAGE_STOP] = {pons__stop_asked, false, true},
    [PONS_MESSAGE_RESET] = {pons__reset_asked, false, false},
    [PONS_MESSAGE_BYE] = {on_bye, true, false},
    [PONS_MESSAGE_SPAWN] = {on_spawn, true, false},
    [PONS_MESSAGE_BATTERY] = {on_battery, true, false},
    [PONS_MESSAGE_SET_POSE] = {pons__pose_reported, false, false},
    [PONS_MESSAGE_STEER] = {pons__steered, true, false},
    [PONS_MESSAGE_PLACES] = {on_places, false, false},
};

static void dispatch(pons_body *b, pons__client *c, const pons_value *json)
{
    pons_message msg;
    pons_error err = PONS_ERROR_INIT;
    const int rc = pons_message_decode(json, &msg, &err);
    const char *type = pons_message_word(msg.type);
    if (rc == PONS_ENOTFOUND) {
        pons__client_error(c, pons_get_str(json, "type", ""), "unknown_type", "%s", err.message);
    } else if (handlers[msg.type].greeted && !c->greeted) {
        pons__client_error(c, type, "no_hello", "say hello first");
    } else if (rc < 0 && !handlers[msg.type].faulty) {
        pons__client_error(c, type, msg.fault.code, "%s", msg.fault.text);
    } else {
        handlers[msg.type].fn(b, c, &msg);
    }
    pons_message_clear(&msg);
}

static void pump(pons_body *b, pons__client *c)
{
    for (int i = 0; i < MESSAGES_MAX && c->link && !c->gone && !c->ended_ns; i++) {
        pons_value *msg = NULL;
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons_link_recv(c->link, &msg, &err);
        if (rc == 0) { // what it says from now on, it says after all the stops that were heard
            c->seen_latch = pons__body_latch_number(b);
            c->own_stops = 0;
            return;
        }
        if (rc < 0 && pons_link_asks_stop(c->link)) {
            stop_of_a_bad_line(b, c);
        }
        if (rc == 1) {
            dispatch(b, c, msg);
        } else if (rc == PONS_EPROTOCOL) {
            pons__client_error(c, NULL, "protocol", "%s", err.message);
        } else {
            says_no_more(b, c);
        }
        pons_value_unref(msg);
    }
    b->unread = b->unread || (c->link && !c->gone && !c->ended_ns);
}

// ---- public functions ---------------------------------------------------------------------------

void pons__clients_pump(pons_body *b)
{
    b->unread = false;
    b->pump_latch = pons__body_latch_number(b);
    // The controller first: whether it has gone decides what the others may.
    pons__client *first = b->controller;
    if (first && !first->gone) {
        pump(b, first);
    }
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        if (b->clients[i].link && !b->clients[i].gone && &b->clients[i] != first) {
            pump(b, &b->clients[i]);
        }
    }
}

void pons__clients_watch(pons_body *b)
{
    if (b->controller && b->controller->gone) {
        b->controller = NULL;
        b->epoch = 0;
    }
    if (!b->controller || lapsed(b)) {
        lost(b);
    }
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        if (c->link && !c->greeted && b->host_ns - c->since_host_ns > PONS__HELLO_NS) {
            pons__client_error(c, "hello", "no_hello", "no hello came in %lld s",
                               (long long)(PONS__HELLO_NS / PONS_NS_PER_S));
            c->gone = true;
        }
    }
}

void pons__clients_flush(pons_body *b)
{
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        if (!c->link) {
            continue;
        }
        pons_link_flush(c->link, NULL); // that it has gone is seen where its words end
        if (c->ended_ns && (!pons__requests_owed(c) || b->host_ns - c->ended_ns > PONS__ENDED_NS)) {
            c->gone = true;
        }
        if (!c->gone) {
            continue;
        }
        if (b->controller == c) {
            b->controller = NULL;
            b->epoch = 0;
            lost(b);
        }
        pons_link_close(c->link);
        *c = (pons__client){0};
    }
}
