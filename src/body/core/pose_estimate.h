// pose_estimate.h - where the body takes itself to be.
#pragma once

#include "body/core/body.h"

void pons__place_reported(pons_body *b, pons_pose2 pose_in_map); // a person says where it is
pons_pose2 pons__odom_at(const pons_body *b, int64_t stamp_ns);  // odometry then (body.c)
void pons__place_watch(pons_body *b);                            // takes the localizer's pose over
