// controller.h - velocities that follow a path (pure_pursuit.c, dwa_controller.c), and the limits that hold for them.
#pragma once

#include "body/planner/nav_errors.h"
#include "body/planner/path.h"

typedef struct pons__nav_params {
    pons_footprint footprint;        // without corners: the circle of radius_m
    const struct pons__shape *shape; // the navigator's own; NULL: that circle
    double turning_radius_m;         // of the tightest arc; 0: it turns where it stands
    double radius_m, speed_max_mps, yaw_rate_max_radps, accel_mps2;
    double reverse_max_mps;
    double xy_tolerance_m, yaw_tolerance_rad;
    double progress_m, progress_s; // less than this far in this long: FAILED_TO_MAKE_PROGRESS
} pons__nav_params;
#define PONS_NAV_PARAMS_INIT                                                                       \
    {                                                                                              \
        .radius_m = 0.22, .speed_max_mps = 0.6, .yaw_rate_max_radps = 1.5, .accel_mps2 = 1.0,      \
        .reverse_max_mps = 0.3, .xy_tolerance_m = 0.15, .yaw_tolerance_rad = 0.25,                 \
        .progress_m = 0.5, .progress_s = 10.0                                                      \
    }

// ---- following ----------------------------------------------------------------------------------

typedef enum pons__follow_phase {
    PONS__FOLLOW_DRIVE,
    PONS__FOLLOW_TURN,  // in place, towards the path
    PONS__FOLLOW_ALIGN, // in place, to the goal's yaw
    PONS__FOLLOW_DONE
} pons__follow_phase;

typedef struct pons__follower {
    pons__follow_phase phase;
    double s;        // [m] along the path: the robot's projection, never falls
    double off_path; // [m] distance to the path
    bool samples;    // by trying velocities (dwa_controller.c), else by pure pursuit
    pons_twist2 cmd; // the last one
} pons__follower;

void pons__follower_begin(pons__follower *f, pons_twist2 twist);
// A new path, same journey: the speed is kept. The robot is from_s along it, or a little further.
void pons__follower_new_path(pons__follower *f, double from_s);
// One control step of dt_s. final_yaw: NULL for any.
pons_twist2 pons__follower_step(pons__follower *f, const pons__nav_params *p,
                                const pons__costmap *g, const pons__path *path,
                                const double *final_yaw, pons_pose2 pose, pons_twist2 twist,
                                double dt_s);
// dwa_controller.c: of the velocities near `now` the one that follows best from s on; zero when none is free.
pons_twist2 pons__sample(const pons__nav_params *p, const pons__costmap *g, const pons__path *path,
                         double s, pons_pose2 pose, pons_twist2 now, double speed_max_mps);
// Speed towards turning by err radians, and the limit of acceleration; used by recoveries too.
double pons__turn_rate(const pons__nav_params *p, double err_rad);
pons_twist2 pons__limit_accel(const pons__nav_params *p, pons_twist2 last, pons_twist2 measured,
                              pons_twist2 want, double dt_s);
