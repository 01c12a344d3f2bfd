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
