// sensor_streams.c - what the robot senses, for software that makes odometry, transforms and scans of it
// (docs/reference/ros2.md): to clients whose hello asked for it, after each control step.
//
// A simulation that runs faster than the clock on the wall has more control steps than anybody reads:
// they are told no more often than EVERY_NS. Who is behind with reading misses one, but no scan: it
// comes with the next.
#include "body/core/body.h"
#include "body/core/link_clients.h"
#include "body/core/telemetry.h"

#include <math.h>

#define EVERY_NS (5 * PONS_NS_PER_MS) // host time

static bool wanted(const pons__client *c)
{
    return c->link && c->greeted && !c->gone && c->senses && !pons_link_wants_write(c->link);
}

static pons_value *covariance_value(const pons_robot_state *s)
{
    pons_value *list = json_array();
    for (int i = 0; list && i < 9; i++) {
        json_array_append_new(list, json_real(isfinite(s->cov[i]) ? s->cov[i] : 0.0));
    }
    return list;
}

// What is not known has no number, and nobody is told a pose that is none.
static pons_report_pose pose(pons_pose2 p)
{
    return (pons_report_pose){p.x, p.y, p.yaw};
}

void pons__body_tell_senses(pons_body *b)
{
    bool any = false;
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        any = any || wanted(&b->clients[i]);
    }
    if (!any || (b->threaded && b->host_ns < b->senses_due_ns)) {
        return;
    }
    b->senses_due_ns = b->host_ns + EVERY_NS;
    pons_autovalue covariance = covariance_value(&b->state);
    pons_autovalue scan = b->scans > 0 ? pons__laser_value(b) : NULL;
    if (scan) {
        json_object_set_new(scan, "stamp_ns", json_integer(b->scan.stamp_ns));
    }
    const pons__trust trust = pons__localizer_watch(b->localizer)->trust;
    pons_report r = {.type = PONS_REPORT_SENSES,
                     .as.senses = {.stamp_ns = b->state.stamp_ns,
                                   .odom_from_base = pose(b->state.odom_from_base),
                                   .twist = {.v = b->state.twist.v, .w = b->state.twist.w},
                                   .covariance = covariance,
                                   .map_from_odom = pose(pons_pose_compose(
                                       b->pose, pons_pose_inverse(b->state.odom_from_base))),
                                   .placed = trust <= PONS__POSE_DOUBTFUL,
                                   .pose_std_m = pons__localizer_std_m(b->localizer),
                                   .battery_pct = b->state.battery_pct,
                                   .battery_state = pons__battery_word(b->state.battery)}};
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        pons__client *c = &b->clients[i];
        if (wanted(c)) {
            r.as.senses.scan = c->scans_reported != b->scans ? scan : NULL;
            c->scans_reported = b->scans;
            pons__client_say(c, &r);
        }
    }
}
