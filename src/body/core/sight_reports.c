// sight_reports.c - what a simulated detector finds, to observers whose hello asked for it: each picture once, with the
// pose of its stamp. Who is behind with reading misses one.
#include "body/core/body.h"
#include "body/core/link_clients.h"
#include "body/core/pose_estimate.h"
#include "body/core/telemetry.h"

#include <math.h>

static bool wanted(const pons__client *c)
{
    return c->link && c->greeted && !c->gone && c->sees && !pons_link_wants_write(c->link);
}

static double millimetre(double v)
{
    return round(v * 1000.0) / 1000.0;
}

static pons_value *detections_value(const pons_robot_sight *s)
{
    pons_value *list = json_array();
    for (int i = 0; list && i < s->n; i++) {
        const pons_robot_detection *d = &s->found[i];
        const pons_report_detection r = {.label = d->label,
                                         .identity = d->identity,
                                         .score = millimetre(d->score),
                                         .x = millimetre(d->position[0]),
                                         .y = millimetre(d->position[1]),
                                         .z = millimetre(d->position[2]),
                                         .sd_m = d->sd_m};
        json_array_append_new(list, pons_report_detection_value(&r));
    }
    return list;
}

void pons__body_tell_sees(pons_body *b)
{
    bool any = false;
    pons_robot_sight s;
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        any = any || wanted(&b->clients[i]);
    }
    if (!any || !pons_robot_see(b->robot, b->self, &s) || s.stamp_ns <= b->sight_ns) {
        return;
    }
    b->sight_ns = s.stamp_ns;
    // Where the robot was when it looked: now, less the motion since then.
    const pons_pose2 since =
        pons_pose_between(b->state.odom_from_base, pons__odom_at(b, s.stamp_ns));
    const pons_pose2 then = pons_pose_compose(pons__localizer_pose(b->localizer), since);
    pons_autovalue detections = detections_value(&s);
    const pons_report r = {
        .type = PONS_REPORT_SEES,
        .as.sees = {.stamp_ns = s.stamp_ns,
                    .camera = s.camera,
                    .pose = {then.x, then.y, then.yaw},
                    .pose_std_m = pons__localizer_std_m(b->localizer),
                    .placed = pons__localizer_watch(b->localizer)->trust == PONS__POSE_SURE,
                    .eye_x = s.eye[0],
                    .eye_y = s.eye[1],
                    .eye_z = s.eye[2],
                    .eye_yaw = s.yaw,
                    .fov_rad = s.fov_rad,
                    .near_m = s.near_m,
                    .far_m = s.far_m,
                    .miss = s.miss,
                    .detections = detections}};
    for (size_t i = 0; i < PONS__CLIENTS_MAX; i++) {
        if (wanted(&b->clients[i])) {
            pons__client_say(&b->clients[i], &r);
        }
    }
}
