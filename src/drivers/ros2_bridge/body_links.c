// body_links.c - the bridge's two links to the body: the observer's, which is kept, and the controller's, which
// is there while somebody over ROS wants the robot to move.
//
//   nobody --wanted--> connected --hello--> in control --nothing wanted for a moment: bye--> nobody
//                         |                    |
//                         | busy: refused      +- broken: connected again, goals are adopted
//
// When the observer's link ends the body has gone, and with it what anybody knows of goals that ran.
#include "drivers/ros2_bridge/body_links.h"

#include "drivers/ros2_bridge/action_server.h"
#include "drivers/ros2_bridge/body_commands.h"
#include "drivers/ros2_bridge/bridge_common.h"
#include "drivers/ros2_bridge/cmd_vel.h"
#include "drivers/ros2_bridge/published_senses.h"

#include <stdio.h>
#include <string.h>

#define AGAIN_NS  (200 * PONS_NS_PER_MS) // between two looks for a body
#define IDLE_NS   (300 * PONS_NS_PER_MS) // of control that nobody wants any more
#define ANSWER_NS (3 * PONS_NS_PER_S)    // in which a body answers a hello
#define MESSAGES  256                    // of one round

// ---- what the body says -------------------------------------------------------------------------

static void hear_hello(bridge *b, const pons_report_hello *h, bool by_hand)
{
    if (by_hand) {
        b->hand.epoch = h->epoch;
        pthread_mutex_lock(&b->hand_mtx);
        b->beating = b->hand.link;
        pthread_mutex_unlock(&b->hand_mtx);
        bridge_goals_adopt(b);
        return;
    }
    b->greeted = true;
    snprintf(b->robot_id, sizeof b->robot_id, "%s", h->robot_id);
    snprintf(b->driver, sizeof b->driver, "%s", h->driver);
    snprintf(b->boot_id, sizeof b->boot_id, "%s", h->boot_id);
    b->speed = h->speed;
    b->simulated = h->simulated;
    b->radius_m = h->limits.radius_m;
    b->speed_max_mps = h->limits.speed_max_mps;
    b->yaw_rate_max_radps = h->limits.yaw_rate_max_radps;
    pons_autovalue world = NULL;
    pons_error err = PONS_ERROR_INIT;
    if (b->o->world(b->o->user, pons_get_str(h->world, "name", ""), &world, &err) >= 0) {
        bridge_show_map(b, world);
    } else {
        bridge_say(b, BRIDGE_WARN, "there is no map to show: %.160s", err.message);
    }
}

static void hear_telemetry(bridge *b, const pons_report_telemetry *t)
{
    b->latched = t->stop.latched;
    snprintf(b->latch_reason, sizeof b->latch_reason, "%s", t->stop.reason);
    b->base_busy = t->base_busy;
    snprintf(b->busy_goal, sizeof b->busy_goal, "%s", t->goal.active ? t->goal.goal_id : "");
    if (t->goal.active && t->goal.state == PONS_GOAL_HELD && bridge_in_control(b)) {
        bridge_goals_adopt(b);
    }
}

static void lose_hand(bridge *b)
{
    pthread_mutex_lock(&b->hand_mtx);
    b->beating = NULL;
    pthread_mutex_unlock(&b->hand_mtx);
    pons_link_close(b->hand.link);
    b->hand = (bridge_manual){0};
}

static void hear_error(bridge *b, const pons_report *r, bool by_hand)
{
    const char *why = r->as.error.message, *re = r->as.error.re;
    if (by_hand && strcmp(re, "hello") == 0) {
        bridge_say(b, BRIDGE_WARN, "ROS cannot move the robot: %.180s", why);
        bridge_goals_refuse(b, why);
        bridge_goals_lost(b, why);
        bridge_drive_answered(b, false, why);
        lose_hand(b);
    } else if (strcmp(re, "set_pose") == 0) {
        bridge_say(b, BRIDGE_WARN, "initialpose: %.180s", why);
    } else if (strcmp(r->as.error.code, "lacks") == 0) {
        bridge_say(b, BRIDGE_WARN, "the robot lacks: %.180s", why);
    }
}

static void hear(bridge *b, const pons_value *json, bool by_hand)
{
    pons_report r;
    if (pons_report_decode(json, &r, NULL) < 0) {
        pons_report_clear(&r);
        return; // a body of another version says more
    }
    switch (r.type) {
    case PONS_REPORT_HELLO:
        hear_hello(b, &r.as.hello, by_hand);
        break;
    case PONS_REPORT_TELEMETRY:
        if (!by_hand) {
            hear_telemetry(b, &r.as.telemetry);
        }
        break;
    case PONS_REPORT_SENSES:
        bridge_show(b, &r.as.senses);
        break;
    case PONS_REPORT_OK:
        if (strcmp(r.as.ok.re, "set_pose") == 0) {
            bridge_say(b, BRIDGE_INFO, "the robot takes itself to be where it was told");
        }
        break;
    case PONS_REPORT_ERROR:
        hear_error(b, &r, by_hand);
        break;
    case PONS_REPORT_ACCEPTED:
    case PONS_REPORT_REJECTED:
    case PONS_REPORT_RESULT:
        if (bridge_drive_owns(b, pons_report_goal_id(&r))) {
            if (r.type == PONS_REPORT_RESULT) {
                bridge_drive_over(b);
            } else {
                bridge_drive_answered(b, r.type == PONS_REPORT_ACCEPTED,
                                      r.type == PONS_REPORT_REJECTED ? r.as.rejected.message : "");
            }
            break;
        }
        bridge_goals_received(b, &r);
        break;
    case PONS_REPORT_ADOPTED:
    case PONS_REPORT_STATUS:
    case PONS_REPORT_FEEDBACK:
        bridge_goals_received(b, &r);
        break;
    default:
        break;
    }
    pons_report_clear(&r);
}

// ---- public functions ---------------------------------------------------------------------------

// All that is there; false: the link has ended.
static bool drain(bridge *b, pons_link *l, bool by_hand)
{
    for (int i = 0; i < MESSAGES; i++) {
        pons_autovalue json = NULL;
        const int rc = pons_link_recv(l, &json, NULL);
        if (rc == 0) {
            break;
        }
        if (rc == 1) {
            hear(b, json, by_hand);
            if ((by_hand ? b->hand.link : b->eye) != l) {
                return true; // it was closed meanwhile
            }
        } else if (rc != PONS_EPROTOCOL) {
            return false;
        }
    }
    return pons_link_flush(l, NULL) >= 0;
}

static void connect_eye(bridge *b)
{
    char path[4096];
    const pons_message hello = {
        .type = PONS_MESSAGE_HELLO,
        .as.hello = {
            .protocol = PONS_LINK_PROTOCOL, .role = "observer", .name = "ROS 2", .senses = true}};
    snprintf(path, sizeof path, "%s/body.sock", b->o->run_dir);
    if (pons_link_connect(path, &b->eye, NULL) < 0) {
        b->eye = NULL;
    } else if (!bridge_send(b->eye, &hello)) {
        pons_link_close(b->eye);
        b->eye = NULL;
    }
}

static void lose_eye(bridge *b)
{
    const bool known = b->greeted;
    const bool moved = bridge_goals_active(b) || bridge_drive_wants(b);
    pons_link_close(b->eye);
    b->eye = NULL;
    b->greeted = b->seen = b->placed = b->has_offset = b->latched = b->base_busy = false;
    if (b->hand.link) {
        lose_hand(b);
    }
    bridge_drive_over(b);
    bridge_goals_refuse(b, "the body has gone");
    bridge_goals_lost(b, "the body has gone; what became of the goal is not known");
    if (known) {
        bridge_say(b, moved ? BRIDGE_ERROR : BRIDGE_INFO, "the body has gone");
        b->dead = b->o->once;
        b->moved = b->dead && moved;
    }
}

void bridge_body_poll(bridge *b)
{
    if (!b->eye && b->host_ns >= b->eye_due_ns) {
        b->eye_due_ns = b->host_ns + AGAIN_NS;
        connect_eye(b);
    }
    if (b->hand.link && !drain(b, b->hand.link, true)) {
        lose_hand(b);
    }
    if (b->eye && !drain(b, b->eye, false)) {
        lose_eye(b);
    }
}

void bridge_body_close(bridge *b)
{
    const pons_message bye = {.type = PONS_MESSAGE_BYE};
    if (b->hand.link) {
        bridge_send(b->hand.link, &bye);
        lose_hand(b);
    }
    pons_link_close(b->eye);
    b->eye = NULL;
}

// ---- control ------------------------------------------------------------------------------------

static void want_control(bridge *b)
{
    char path[4096];
    const pons_message hello = {
        .type = PONS_MESSAGE_HELLO,
        .as.hello = {.protocol = PONS_LINK_PROTOCOL, .role = "controller", .name = "ROS 2"}};
    b->hand.idle_host_ns = 0;
    if (b->hand.link || !b->greeted) {
        return;
    }
    snprintf(path, sizeof path, "%s/body.sock", b->o->run_dir);
    if (pons_link_connect(path, &b->hand.link, NULL) < 0) {
        b->hand.link = NULL;
        return;
    }
    b->hand.since_host_ns = b->host_ns;
    if (!bridge_send(b->hand.link, &hello)) {
        lose_hand(b);
    }
}

void bridge_control_step(bridge *b)
{
    const pons_message bye = {.type = PONS_MESSAGE_BYE};
    if (!b->greeted && (bridge_goals_want(b) || bridge_drive_wants(b))) {
        bridge_goals_refuse(b, "there is no body");
        bridge_drive_answered(b, false, "there is no body");
    }
    if (bridge_goals_want(b) || bridge_drive_wants(b)) {
        want_control(b);
    } else if (b->hand.link) {
        if (!b->hand.idle_host_ns) {
            b->hand.idle_host_ns = b->host_ns;
        } else if (b->host_ns - b->hand.idle_host_ns > IDLE_NS) {
            bridge_send(b->hand.link, &bye);
            lose_hand(b);
        }
    }
    if (b->hand.link && !b->hand.epoch && b->host_ns - b->hand.since_host_ns > ANSWER_NS) {
        bridge_goals_refuse(b, "the body does not answer");
        bridge_drive_answered(b, false, "the body does not answer");
        lose_hand(b);
    }
}
