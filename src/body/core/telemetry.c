// telemetry.c - what the body tells: its greeting, and twenty times a second its state. Shapes as
// link.h has them. A number that is not known (no scan yet, nothing in reach) is null.
#include "body/core/telemetry.h"

#include "body/core/body.h"
#include "body/core/clients.h"
#include "body/core/command.h"
#include "body/core/shown.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MILLI 1e-3 // coordinates of what is only shown are rounded to this [m]

#define TREE_NODES 128 // of a tree, in one message

static pons_value *stop_value(const pons_body *b);
static pons_value *tree_message(const pons_body *b, const char *list, pons_value *taken);
static void tell_outline(pons_body *b, pons__client *c);
static void tell_changes(pons_body *b, const pons__nav_change *changes, int n, uint64_t lost);
static pons_value *goal_value(const pons__goal *g);
static pons_value *blobs_value(const pons_body *b);
static pons_value *where_value(const pons_body *b);
static const char *battery_word(pons_battery_state s);

pons_value *pons__body_hello(const pons_body *b, int64_t epoch)
{
    const pons_value *w = b->world;
    static const char *const keys[] = {"name", "bounds", "zones", "charger", "objects", "keep_out"};
    pons_value *world = json_object();
    for (size_t i = 0; world && i < sizeof keys / sizeof keys[0]; i++) {
        if (pons_get(w, keys[i])) {
            json_object_set_new(world, keys[i], pons_value_ref(pons_get(w, keys[i])));
        }
    }
    pons_value *limits = pons_object(
        "radius_m", json_real(b->caps.radius_m), "speed_max_mps", json_real(b->caps.speed_max_mps),
        "reverse_max_mps", json_real(b->caps.reverse_max_mps), "yaw_rate_max_radps",
        json_real(b->caps.yaw_rate_max_radps), "brake_max_mps2", json_real(b->caps.brake_max_mps2),
        "heartbeat_ms", json_integer(PONS__HEARTBEAT_NS / PONS_NS_PER_MS), "held_s",
        json_integer(PONS__BRAIN_LOST_NS / PONS_NS_PER_S), "line_max",
        json_integer(PONS_LINK_LINE_MAX), NULL);
    return pons_object("type", json_string("hello"), "protocol", json_integer(PONS_LINK_PROTOCOL),
                       "boot_id", json_string(b->boot_id), "robot_id",
                       json_string(b->caps.robot_id), "epoch", json_integer(epoch), "driver",
                       json_string(b->robot->name), "speed", json_real(b->speed), "simulated",
                       json_boolean(b->caps.simulated), "world", world, "skills",
                       pons_value_ref(b->registry), "limits", limits, "pid",
                       json_integer(b->threaded ? getpid() : 0), NULL);
}

pons_value *pons__body_telemetry(pons_body *b)
{
    const pons__goal *shown = pons__goal_shown(b);
    const pons__safety_status *s = &b->safety;
    const bool base_busy = pons__goal_base(b) != NULL;
    return pons_object(
        "type", json_string("telemetry"), "robot_ms", json_integer(b->robot_ns / PONS_NS_PER_MS),
        "pose", pons__pose_value(b->pose), "pose_std_m",
        pons__real(pons__localizer_std_m(b->localizer)), "localization", where_value(b), "twist",
        pons_object("v", pons__real(b->state.twist.v), "w", pons__real(b->state.twist.w), NULL),
        "battery_pct", pons__real(b->state.battery_pct), "battery_state",
        json_string(battery_word(b->state.battery)), "docked", json_boolean(b->state.on_charger),
        "distance_remaining_m", shown ? pons__real(shown->out.distance_m) : json_null(), "goal",
        shown ? goal_value(shown) : json_null(), "resources",
        pons_object("base_busy", json_boolean(base_busy), NULL), "stop", stop_value(b), "held",
        json_boolean(pons__goals_held(b)), "nearest_m", pons__real(s->nearest_m), "zone_of_safety",
        json_string(pons__zone_word(s->zone)), "realtime", pons__real(pons__body_rate(b)),
        "scan_age_ms",
        s->scan_age_ns == INT64_MAX ? json_null() : json_integer(s->scan_age_ns / PONS_NS_PER_MS),
        "fifo", json_boolean(s->fifo), "boot_id", json_string(b->boot_id), "odometer_m",
        pons__real(b->odometer_m), "gaps", json_integer((json_int_t)s->gaps), "obstacles",
        blobs_value(b), "collision_risk", json_boolean(s->collision_risk), "latch_durable",
        json_boolean(s->saved_gen == s->gen), NULL);
}

// Who has not seen this tree yet gets its outline first; then what has changed. What nobody watches
// is forgotten at once.
void pons__body_tell_tree(pons_body *b)
{
    pons__nav_change changes[TREE_NODES];
    uint64_t lost = 0;
    bool watched = false;
    const uint64_t id = pons__nav_tree_id(b->nav);
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        if (!c->link || !c->greeted || !c->tree) {
            continue;
        }
        watched = true;
        if (c->tree_id != id) {
            c->tree_id = id;
            tell_outline(b, c);
        }
    }
    for (int n; (n = pons__nav_changes(b->nav, changes, TREE_NODES, &lost)) > 0;) {
        if (watched) {
            tell_changes(b, changes, n, lost);
        }
    }
}

static void tell_changes(pons_body *b, const pons__nav_change *changes, int n, uint64_t lost)
{
    pons_value *list = json_array();
    for (int i = 0; list && i < n; i++) {
        const pons__nav_change *x = &changes[i];
        char path[512];
        json_array_append_new(
            list, pons_object("node", json_integer(x->node), "path",
                              pons__text(pons__nav_tree_path(b->nav, x->node, path, sizeof path)),
                              "from", json_string(pons_bt_status_word(PONS_BT_XML, x->from)), "to",
                              json_string(pons_bt_status_word(PONS_BT_XML, x->to)), "robot_ms",
                              json_integer(x->robot_ns / PONS_NS_PER_MS), NULL));
    }
    pons_value *msg = tree_message(b, "changes", list);
    if (msg && lost > 0) {
        json_object_set_new(msg, "lost", json_integer((json_int_t)lost));
    }
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        if (c->link && c->tree && c->greeted) {
            pons__client_send(c, pons_value_ref(msg));
        }
    }
    pons_value_unref(msg);
}

static void tell_outline(pons_body *b, pons__client *c)
{
    const uint32_t all = pons__nav_tree_nodes(b->nav);
    uint8_t *states = malloc(all + 1); // those that the changes which come next begin with
    if (states) {
        pons__nav_tree_states(b->nav, states);
    }
    for (uint32_t from = 0; states && from < all; from += TREE_NODES) {
        pons_value *list = json_array();
        for (uint32_t i = from; list && i < all && i < from + TREE_NODES; i++) {
            char path[512];
            const pons_bt_status s = (pons_bt_status)states[i];
            json_array_append_new(
                list, pons_object("node", json_integer(i), "path",
                                  pons__text(pons__nav_tree_path(b->nav, i, path, sizeof path)),
                                  "state", json_string(pons_bt_status_word(PONS_BT_XML, s)), NULL));
        }
        pons_value *msg = tree_message(b, "nodes", list);
        if (msg) {
            json_object_set_new(msg, "file", pons__text(pons__nav_tree_file(b->nav)));
            json_object_set_new(msg, "of", json_integer(all));
        }
        pons__client_send(c, msg);
    }
    free(states);
}

static pons_value *tree_message(const pons_body *b, const char *list, pons_value *taken)
{
    const pons__goal *g = pons__goal_base(b);
    return pons_object("type", json_string("tree"), "tree",
                       json_integer((json_int_t)pons__nav_tree_id(b->nav)), "goal_id",
                       g ? json_string(g->msg.as.goal.goal_id) : json_null(), "robot_ms",
                       json_integer(b->robot_ns / PONS_NS_PER_MS), list, taken, NULL);
}

static pons_value *stop_value(const pons_body *b)
{
    const bool latched = pons__body_latched(b);
    const char *reason = !latched ? b->note : b->safety.latched ? b->safety.reason : b->cmd.reason;
    const pons__origin origin = !latched            ? PONS__ORIGIN_NONE
                                : b->safety.latched ? b->safety.origin
                                                    : b->cmd.stop_origin;
    return pons_object("latched", json_boolean(latched), "reason", pons__text(reason), "origin",
                       json_string(pons__origin_word(origin)), "unsaved",
                       b->safety.unsaved[0] ? pons__text(b->safety.unsaved) : NULL, NULL);
}

static pons_value *where_value(const pons_body *b)
{
    const pons__pose_watch *w = pons__localizer_watch(b->localizer);
    return pons_object("state", json_string(pons__trust_word(w->trust)), "agreement",
                       pons__real(w->agreement), "why", w->why[0] ? json_string(w->why) : NULL,
                       NULL);
}

static pons_value *goal_value(const pons__goal *g)
{
    return pons_object("goal_id", json_string(g->msg.as.goal.goal_id), "skill",
                       json_string(g->skill->name), "state", json_string(g->state), "started_ms",
                       json_integer(g->started_wall_ms), "timeout_s",
                       json_real(g->skill->timeout_s), NULL);
}

static pons_value *blobs_value(const pons_body *b)
{
    pons_value *all = json_array();
    for (int i = 0; all && i < b->n_blobs; i++) {
        const pons__blob *o = &b->blobs[i];
        json_array_append_new(all, pons_object("x", json_real(round(o->x / MILLI) * MILLI), "y",
                                               json_real(round(o->y / MILLI) * MILLI), "r",
                                               json_real(round(o->r / MILLI) * MILLI), NULL));
    }
    return all;
}

static const char *battery_word(pons_battery_state s)
{
    switch (s) {
    case PONS_BATTERY_CHARGING:
        return "charging";
    case PONS_BATTERY_DISCHARGING:
        return "discharging";
    case PONS_BATTERY_NOT_CHARGING:
        return "not_charging";
    case PONS_BATTERY_FULL:
        return "full";
    case PONS_BATTERY_UNKNOWN:
        break;
    }
    return "unknown";
}
