// ground.c - what the gate knows of the ground: keep-out and speed zones, which no lidar sees.
//
// The pose is the loop's map → odom with the newest odometry behind it, so it is as fresh as the
// gate's own. Along the arc that is asked for, the footprint's rim is looked up in the world's areas, a
// few centimetres apart, as far as it takes to stop:
//
//     keep-out   the first place where more of the rim would be inside than now: v ≤ √(2·a·free)
//     slow       a limit d metres ahead: v ≤ √(limit² + 2·a·d)
//
// A robot that is inside a keep-out zone already, for it was put there or the pose was wrong, may move
// where no more of it gets inside, slowly: that is the way out.
#include "body/safety/safety.h"

#include <math.h>

enum { RIM = 16, STEPS_MAX = 256 };
static const double STEP_M = 0.05;
static const double RIM_X[RIM] = {1,  0.9239,  0.7071,  0.3827,  0, -0.3827, -0.7071, -0.9239,
                                  -1, -0.9239, -0.7071, -0.3827, 0, 0.3827,  0.7071,  0.9239};

static int inside(const pons__area *a, pons_pose2 at, double radius_m)
{
    int n = pons__area_keep_out(a, at.x, at.y);
    for (int i = 0; i < RIM; i++) {
        n += pons__area_keep_out(a, at.x + radius_m * RIM_X[i],
                                 at.y + radius_m * RIM_X[(i + RIM - RIM / 4) % RIM]);
    }
    return n;
}

static pons_pose2 along(pons_pose2 from, double arc_m, double turn_rad)
{
    const double half = 0.5 * turn_rad;
    const double chord = fabs(half) < 1e-6 ? arc_m : arc_m * sin(half) / half;
    return (pons_pose2){from.x + chord * cos(from.yaw + half),
                        from.y + chord * sin(from.yaw + half), from.yaw + turn_rad};
}

pons_twist2 pons__safety_ground(pons__safety *s, pons_twist2 want, pons_pose2 at)
{
    const pons__area *area = s->p.area;
    if (!area || want.v == 0.0 || !isfinite(at.x + at.y + at.yaw)) {
        return want; // a disc that turns gets nowhere
    }
    const double a = s->p.approach_mps2, asked = fabs(want.v), turn = want.w / asked;
    const double reach = asked * asked / (2.0 * a) + s->p.stop_margin_m + STEP_M;
    const int steps = reach / STEP_M < STEPS_MAX ? (int)(reach / STEP_M) + 1 : STEPS_MAX;
    const int here = inside(area, at, s->p.radius_m);
    double cap = fmin(asked, pons__area_speed(area, at.x, at.y)), free_m = INFINITY;
    for (int i = 1; i <= steps && isinf(free_m); i++) {
        const double d = i * STEP_M;
        const pons_pose2 there = along(at, copysign(d, want.v), turn * d);
        const double limit = pons__area_speed(area, there.x, there.y);
        cap = fmin(cap, sqrt(limit * limit + 2.0 * a * (d - STEP_M)));
        if (inside(area, there, s->p.radius_m) > here) {
            free_m = d - STEP_M;
        }
    }
    pons__zone zone = PONS__ZONE_LIMIT;
    if (here > 0 && cap > s->p.leave_mps) {
        cap = s->p.leave_mps;
    }
    const double approach = sqrt(2.0 * a * fmax(free_m - s->p.stop_margin_m, 0.0));
    if (approach < cap) {
        cap = approach;
        zone = PONS__ZONE_APPROACH;
    }
    s->status.free_m = fmin(s->status.free_m, free_m);
    if (cap >= asked) {
        return want;
    }
    if (cap < 1e-3) {
        s->status.zone = PONS__ZONE_STOP;
        return (pons_twist2){0.0, want.w};
    }
    s->status.zone = zone > s->status.zone ? zone : s->status.zone;
    return (pons_twist2){want.v * cap / asked, want.w * cap / asked};
}
