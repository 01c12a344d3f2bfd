// telemetry.c - what the body tells: its greeting, twenty times a second its state, and the
// navigator's tree at work. Each is a report (link_report.h). A number that is not known (no scan
// yet, nothing in reach) is NAN.
#include "body/core/telemetry.h"

#include "body/core/body.h"
#include "body/core/gate_command.h"
#include "body/core/goal_reports.h"
#include "body/core/link_clients.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define MILLI 1e-3 // coordinates of what is only shown are rounded to this [m]

#define TREE_NODES 128 // of a tree, in one message

void pons__body_greet(const pons_body *b, pons__client *c, int64_t epoch)
{
    static const char *const keys[] = {"name",    "bounds",   "zones",      "charger",
                                       "objects", "keep_out", "speed_zones"};
    pons_autovalue world = json_object(); // without what only the body needs
    for (size_t i = 0; world && i < sizeof keys / sizeof keys[0]; i++) {
        if (pons_get(b->world, keys[i])) {
            json_object_set_new(world, keys[i], pons_value_ref(pons_get(b->world, keys[i])));
        }
    }
    pons_autovalue embodiment =
        b->hand.ops ? pons__limb_embodiment(&b->hand, b->caps.robot_id, b->caps.radius_m) : NULL;
    pons_autovalue footprint =
        b->caps.footprint.n > 0 ? pons_footprint_value(&b->caps.footprint) : NULL;
    const pons_report_hello hello = {.protocol = PONS_LINK_PROTOCOL,
                                     .boot_id = b->boot_id,
                                     .robot_id = b->caps.robot_id,
                                     .epoch = epoch,
                                     .driver = b->robot->name,
                                     .world_id = b->world_id,
                                     .started_ms = b->started_ms,
                                     .speed = b->speed,
                                     .simulated = b->caps.simulated,
                                     .world = world,
                                     .skills = b->registry,
                                     .embodiment = embodiment,
                                     .resources = pons__body_resources(b),
                                     .limits = {.radius_m = b->caps.radius_m,
                                                .footprint = footprint,
                                                .turning_radius_m = b->caps.turning_radius_m > 0.0
                                                                        ? b->caps.turning_radius_m
                                                                        : NAN,
                                                .speed_max_mps = b->caps.speed_max_mps,
                                                .reverse_max_mps = b->caps.reverse_max_mps,
                                                .yaw_rate_max_radps = b->caps.yaw_rate_max_radps,
                                                .brake_max_mps2 = b->caps.brake_max_mps2,
                                                .heartbeat_ms = PONS__HEARTBEAT_NS / PONS_NS_PER_MS,
                                                .held_s = PONS__BRAIN_LOST_NS / PONS_NS_PER_S,
                                                .line_max = PONS_LINK_LINE_MAX},
                                     .pid = b->threaded ? getpid() : 0};
    pons__client_say(c, &(pons_report){.type = PONS_REPORT_HELLO, .as.hello = hello});
}

static pons_value *counted_value(const pons_body *b)
{
    const pons_value *all = pons__body_resources(b);
    pons_value *counted = json_object_size(all) > 0 ? json_object() : NULL;
    pons_each_member(name, amount, all) {
        json_object_set_new(counted, name, json_integer(pons__goals_counted(b, name, NULL)));
    }
    return counted;
}

static pons_report_stop stop_now(const pons_body *b)
{
    const bool latched = pons__body_latched(b);
    const bool by_gate = b->safety.latched; // else it is on its way there
    const pons__origin origin = !latched  ? PONS__ORIGIN_NONE
                                : by_gate ? b->safety.origin
                                          : b->cmd.stop_origin;
    return (pons_report_stop){.latched = latched,
                              .reason = !latched  ? *b->lacks ? b->lacks : b->note
                                        : by_gate ? b->safety.reason
                                                  : b->cmd.reason,
                              .origin = pons__origin_word(origin),
                              .number = (int64_t)pons__body_latch_number(b),
                              .unsaved = b->safety.unsaved};
}

static pons_value *blobs_value(const pons_body *b)
{
    pons_value *all = json_array();
    for (int i = 0; all && i < b->n_blobs; i++) {
        const pons__blob *o = &b->blobs[i];
        const pons_report_obstacle shown = {.x = round(o->x / MILLI) * MILLI,
                                            .y = round(o->y / MILLI) * MILLI,
                                            .r = round(o->r / MILLI) * MILLI};
        json_array_append_new(all, pons_report_obstacle_value(&shown));
    }
    return all;
}

const char *pons__battery_word(pons_battery_state s)
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

void pons__body_tell(pons_body *b, pons__client *c)
{
    const pons__goal *shown = pons__goal_shown(b);
    const pons__safety_status *s = &b->safety;
    pons_autovalue obstacles = blobs_value(b);
    pons_autovalue counted = counted_value(b);
    const pons__pose_watch *where = pons__localizer_watch(b->localizer);
    pons_autovalue arm =
        b->hand.ops ? pons__limb_value(&b->hand, pons__arm_zone_word(s->arm.zone), s->arm.out)
                    : NULL;
    pons_autovalue scene = b->hand.ops ? pons__scene_value(&b->hand, b->pose) : NULL;
    pons_report r = {.type = PONS_REPORT_TELEMETRY};
    r.as.telemetry = (pons_report_telemetry){
        .robot_ms = b->robot_ns / PONS_NS_PER_MS,
        .pose = pons__pose_shown(b->pose),
        .pose_std_m = pons__localizer_std_m(b->localizer),
        .localization = {.state = pons__trust_word(where->trust),
                         .agreement = where->agreement,
                         .why = where->why},
        .twist = {.v = b->state.twist.v, .w = b->state.twist.w},
        .battery_pct = b->state.battery_pct,
        .battery_state = pons__battery_word(b->state.battery),
        .docked = b->state.on_charger,
        .distance_remaining_m = shown ? shown->out.distance_m : NAN,
        .base_busy = pons__goal_base(b) != NULL,
        .counted = counted,
        .stop = stop_now(b),
        .held = pons__goals_held(b),
        .nearest_m = s->nearest_m,
        .zone_of_safety = pons__zone_word(s->zone),
        .realtime = pons__body_rate(b),
        .scan_age_ms = s->scan_age_ns == INT64_MAX ? -1 : s->scan_age_ns / PONS_NS_PER_MS,
        .fifo = s->fifo,
        .boot_id = b->boot_id,
        .odometer_m = b->odometer_m,
        .gaps = (int64_t)s->gaps,
        .obstacles = obstacles,
        .collision_risk = s->collision_risk,
        .pace_percent = 100 - s->taken_pct,
        .latch_durable = s->saved_gen == s->gen,
        .has_arm = b->hand.ops != NULL,
        .holding = b->hand.held >= 0 ? b->hand.objects[b->hand.held].id : NULL,
        .arm = arm,
        .scene = scene};
    if (shown) {
        r.as.telemetry.goal.active = true;
        r.as.telemetry.goal.goal_id = shown->msg.as.goal.goal_id;
        r.as.telemetry.goal.skill = shown->skill->name;
        r.as.telemetry.goal.state = shown->state;
        r.as.telemetry.goal.started_ms = shown->started_wall_ms;
        r.as.telemetry.goal.timeout_s = shown->run.timeout_s;
    }
    if (c) {
        pons__client_say(c, &r);
    } else {
        pons__clients_say(b, &r);
    }
}

static pons_report tree_report(const pons_body *b)
{
    const pons__goal *g = pons__goal_base(b);
    return (pons_report){.type = PONS_REPORT_TREE,
                         .as.tree = {.tree = (int64_t)pons__nav_tree_id(b->nav),
                                     .goal_id = g ? g->msg.as.goal.goal_id : NULL,
                                     .robot_ms = b->robot_ns / PONS_NS_PER_MS}};
}

static void tell_changes(pons_body *b, const pons__nav_change *changes, int n, uint64_t lost)
{
    pons_autovalue list = json_array();
    for (int i = 0; list && i < n; i++) {
        const pons__nav_change *x = &changes[i];
        char path[512];
        const pons_report_change change = {
            .node = x->node,
            .path = pons__nav_tree_path(b->nav, x->node, path, sizeof path),
            .from = pons_bt_status_word(PONS_BT_XML, x->from),
            .to = pons_bt_status_word(PONS_BT_XML, x->to),
            .robot_ms = x->robot_ns / PONS_NS_PER_MS};
        json_array_append_new(list, pons_report_change_value(&change));
    }
    pons_report r = tree_report(b);
    r.as.tree.changes = list;
    r.as.tree.lost = (int64_t)lost;
    pons__clients_say_tree(b, &r);
}

static void tell_outline(pons_body *b, pons__client *c)
{
    const uint32_t all = pons__nav_tree_nodes(b->nav);
    uint8_t *states = malloc(all + 1); // those that the changes which come next begin with
    if (states) {
        pons__nav_tree_states(b->nav, states);
    }
    for (uint32_t from = 0; states && from < all; from += TREE_NODES) {
        pons_autovalue list = json_array();
        for (uint32_t i = from; list && i < all && i < from + TREE_NODES; i++) {
            char path[512];
            const pons_report_node node = {
                .node = i,
                .path = pons__nav_tree_path(b->nav, i, path, sizeof path),
                .state = pons_bt_status_word(PONS_BT_XML, (pons_bt_status)states[i])};
            json_array_append_new(list, pons_report_node_value(&node));
        }
        pons_report r = tree_report(b);
        r.as.tree.nodes = list;
        r.as.tree.file = pons__nav_tree_file(b->nav);
        r.as.tree.of = all;
        pons__client_say(c, &r);
    }
    free(states);
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
