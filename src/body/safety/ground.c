// ground.c - what the gate knows of the ground: keep-out and speed zones, which no lidar sees.
//
// The pose is the loop's map → odom with the newest odometry behind it, so it is as fresh as the
// gate's own. Along the arc that is asked for, the footprint's rim is looked up in the world's areas, a
// few centimetres apart, as far as it takes to stop:
//
//     keep-out   the first place where more of the rim would be inside than now: v ≤ √(2·a·free)
//     slow       a limit d metres ahead: v ≤ √(limit² + 2·a·d)
//
// A polygon's corners get somewhere when it turns where it stands too: that is looked at the same way.
//
// A robot that is inside a keep-out zone already, for it was put there or the pose was wrong, may move
// where no more of it gets inside, slowly: that is the way out.
#include "body/safety/safety.h"

#include <math.h>

enum { RIM = 16, STEPS_MAX = 256 };
static const double STEP_M = 0.05, STEP_RAD = 0.05;
static const double RIM_STEP_M = 0.08; // between the places of an edge that are looked at
static const double RIM_X[RIM] = {1,  0.9239,  0.7071,  0.3827,  0, -0.3827, -0.7071, -0.9239,
                                  -1, -0.9239, -0.7071, -0.3827, 0, 0.3827,  0.7071,  0.9239};

static int inside_disc(const pons__area *a, pons_pose2 at, double radius_m)
{
    int n = pons__area_keep_out(a, at.x, at.y);
    for (int i = 0; i < RIM; i++) {
        n += pons__area_keep_out(a, at.x + radius_m * RIM_X[i],
                                 at.y + radius_m * RIM_X[(i + RIM - RIM / 4) % RIM]);
    }
    return n;
}

// How many places of the footprint's rim, and its middle, are where nobody may be.
static int inside(const pons__safety_params *p, pons_pose2 at)
{
    const pons_footprint *f = &p->footprint;
    if (f->n == 0) {
        return inside_disc(p->area, at, p->radius_m);
    }
    const double c = cos(at.yaw), s = sin(at.yaw);
    int n = pons__area_keep_out(p->area, at.x, at.y);
    for (int i = 0; i < f->n; i++) {
        const int k = i + 1 < f->n ? i + 1 : 0;
        const double ex = f->x[k] - f->x[i], ey = f->y[k] - f->y[i];
        const int parts = 1 + (int)(sqrt(ex * ex + ey * ey) / RIM_STEP_M);
        for (int j = 0; j < parts; j++) {
            const double x = f->x[i] + ex * j / parts, y = f->y[i] + ey * j / parts;
            n += pons__area_keep_out(p->area, at.x + c * x - s * y, at.y + s * x + c * y);
        }
    }
    return n;
}

// What is left of a turn where it stands.
static pons_twist2 turn_in_place(pons__safety *s, pons_twist2 want, pons_pose2 at)
{
    const pons__safety_params *p = &s->p;
    const double a = 0.5 * p->yaw_accel_radps2, asked = fabs(want.w);
    const double reach = asked * asked / (2.0 * a) + 2.0 * STEP_RAD;
    const int steps = fmin(reach / STEP_RAD, STEPS_MAX), here = inside(p, at);
    for (int i = 1; i <= steps; i++) {
        const pons_pose2 there = {at.x, at.y, at.yaw + copysign(i * STEP_RAD, want.w)};
        if (inside(p, there) > here) {
            const double most = sqrt(2.0 * a * (i - 1) * STEP_RAD);
            if (most < asked) {
                s->status.zone = i == 1 ? PONS__ZONE_STOP : PONS__ZONE_APPROACH;
                want.w = copysign(most, want.w);
            }
            break;
        }
    }
    return want;
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
    if (!area || !isfinite(at.x + at.y + at.yaw) || (want.v == 0.0 && want.w == 0.0)) {
        return want;
    }
    if (want.v == 0.0) { // a disc that turns gets nowhere
        return s->p.footprint.n > 0 ? turn_in_place(s, want, at) : want;
    }
    const double a = s->p.approach_mps2, asked = fabs(want.v), turn = want.w / asked;
    const double reach = asked * asked / (2.0 * a) + s->p.stop_margin_m + STEP_M;
    const int steps = reach / STEP_M < STEPS_MAX ? (int)(reach / STEP_M) + 1 : STEPS_MAX;
    const int here = inside(&s->p, at);
    double cap = fmin(asked, pons__area_speed(area, at.x, at.y)), free_m = INFINITY;
    for (int i = 1; i <= steps && isinf(free_m); i++) {
        const double d = i * STEP_M;
        const pons_pose2 there = along(at, copysign(d, want.v), turn * d);
        const double limit = pons__area_speed(area, there.x, there.y);
        cap = fmin(cap, sqrt(limit * limit + 2.0 * a * (d - STEP_M)));
        if (inside(&s->p, there) > here) {
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
        const pons_twist2 rest = {0.0, want.w};
        const pons_twist2 left = s->p.footprint.n > 0 ? turn_in_place(s, rest, at) : rest;
        s->status.zone = PONS__ZONE_STOP;
        return left;
    }
    s->status.zone = zone > s->status.zone ? zone : s->status.zone;
    return (pons_twist2){want.v * cap / asked, want.w * cap / asked};
}
