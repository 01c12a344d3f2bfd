// pose_estimate.c - where the body takes itself to be: the localizer's pose, and what follows when it jumps.
//
// A jump is no motion: the robot was carried, has found itself elsewhere, or was told where it is. The
// navigator's plan was made for another place, and is made again. The body's loop.
#include "body/core/pose_estimate.h"

void pons__place_watch(pons_body *b)
{
    const uint32_t jumps = pons__localizer_watch(b->localizer)->jumps;
    b->pose = pons__localizer_pose(b->localizer);
    if (jumps != b->jumps_seen) {
        b->jumps_seen = jumps;
        pons__nav_displaced(b->nav);
    }
}

void pons__place_reported(pons_body *b, pons_pose2 pose_in_map)
{
    const pons_robot_outside_ops *o = pons_robot_outside(b->robot);
    if (pons__localizer_is_given(
            b->localizer)) { // it is for the robot's own software to look there
        if (o && o->reported) {
            o->reported(b->self, pose_in_map);
        }
        return;
    }
    pons__localizer_reported(b->localizer, pose_in_map, b->state.odom_from_base);
    pons__place_watch(b);
}

// Odometry at a stamp, between the two samples around it.
pons_pose2 pons__odom_at(const pons_body *b, int64_t stamp_ns)
{
    const pons__odom_sample *after = NULL;
    for (int i = 1; i <= b->odom_n; i++) {
        const pons__odom_sample *s =
            &b->odom[(b->odom_head - i + PONS__ODOM_RING) % PONS__ODOM_RING];
        if (s->stamp_ns > stamp_ns) {
            after = s;
            continue;
        }
        if (!after || after->stamp_ns == s->stamp_ns) {
            return s->pose;
        }
        const double t = (double)(stamp_ns - s->stamp_ns) / (double)(after->stamp_ns - s->stamp_ns);
        const double turn = pons_wrap_angle(after->pose.yaw - s->pose.yaw);
        return (pons_pose2){s->pose.x + t * (after->pose.x - s->pose.x),
                            s->pose.y + t * (after->pose.y - s->pose.y),
                            pons_wrap_angle(s->pose.yaw + t * turn)};
    }
    return after ? after->pose : b->state.odom_from_base;
}
