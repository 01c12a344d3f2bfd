// stuck_wheels.h - a robot whose wheels stick, or that is carried away (stuck_wheels.c).
#pragma once

#include "pons/ext/robot.h"
#include "pons/geometry.h"

// A driver that passes everything on but what a stuck wheel does not do. A thread runs one at a time.
typedef struct pons__wheels {
    const pons_robot_ops *inner;
    void *self; // inner's
    double track_m;
    bool left_stuck, right_stuck;
    pons_twist2 reported; // the newest velocity
    pons_robot_ops ops;
} pons__wheels;
const pons_robot_ops *pons__wheels_wrap(pons__wheels *w, const pons_robot_ops *inner);
// Carries the robot elsewhere: its odometry does not notice. PONS_EUNSUPPORTED where a driver
// cannot save and restore.
int pons__wheels_teleport(pons__wheels *w, pons_pose2 to, pons_error *err);

// How often it has driven into something since it began; -1: the driver does not say.
int64_t pons__wheels_bumps(pons__wheels *w);
