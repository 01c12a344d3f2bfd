// zone_limits.c - what the gate knows of the ground: keep-out and speed zones, which no lidar sees.
//
// The pose is the loop's map → odom with the newest odometry behind it, so it is as fresh as the
// gate's own. Along the arc that is asked for, the footprint's rim is looked up in the world's areas, as far as it
// takes to stop:
//
//     keep-out   the first place where more of the rim would be inside than now: v ≤ √(2·a·free)
//     slow       a limit d metres ahead: v ≤ √(limit² + 2·a·d)
//
// Places of the rim are half a cell apart, and from one look to the next none of them moves by more than a cell (5 cm
// at most): a line of single cells is neither stepped over nor let in between.
//
// A polygon's corners get somewhere when it turns where it stands too: that is looked at the same way. It stops
// turning later than it stops driving, so on an arc its turn is held to what it may turn where it is.
//
// A robot that is inside a keep-out zone already, for it was put there or the pose was wrong, may move
// where no more of it gets inside, slowly: that is the way out.
#include "body/safety/velocity_filter.h"

#include <math.h>

enum { STEPS_MAX = 256 };
static const double STEP_M = 0.05;   // from one look to the next, at most
static const double TURN_RAD = 0.05; // the same of a turn

// ---- the rim ------------------------------------------------------------------------------------

static void add(pons__safety *s, double x, double y)
{
    if (s->rim.n < PONS__RIM_MAX) {
        s->rim.x[s->rim.n] = x;
        s->rim.y[s->rim.n++] = y;
    }
}

static void add_edge(pons__safety *s, double x, double y, double ex, double ey, double apart)
{
    const int parts = 1 + (int)(hypot(ex, ey) / apart);
    for (int j = 0; j < parts; j++) {
        add(s, x + ex * j / parts, y + ey * j / parts);
    }
}

void pons__safety_set_area(pons__safety *s, const pons__area *area)
{
    const pons_footprint *f = &s->p.footprint;
    const double cell = area ? pons__area_cell_m(area) : STEP_M;
    double round = 2.0 * M_PI * s->p.radius_m;
    for (int i = 0; i < f->n; i++) {
        const int k = i + 1 < f->n ? i + 1 : 0;
        round = (i > 0 ? round : 0.0) + hypot(f->x[k] - f->x[i], f->y[k] - f->y[i]);
    }
    const double apart = fmax(0.5 * cell, round / (PONS__RIM_MAX - PONS_FOOTPRINT_MAX - 2));
    s->p.area = area;
    s->rim.n = 0;
    s->rim.step_m = fmin(STEP_M, cell);
    add(s, 0.0, 0.0);
    for (int i = 0; i < f->n; i++) {
        const int k = i + 1 < f->n ? i + 1 : 0;
        add_edge(s, f->x[i], f->y[i], f->x[k] - f->x[i], f->y[k] - f->y[i], apart);
    }
    const int around = f->n > 0 ? 0 : 1 + (int)(round / apart);
    for (int i = 0; i < around; i++) {
        const double a = 2.0 * M_PI * i / around;
        add(s, s->p.radius_m * cos(a), s->p.radius_m * sin(a));
    }
}

// How many places of the rim, and the middle, are where nobody may be. Most of a map has no such place near.
static int inside(const pons__safety *s, pons_pose2 at)
{
    if (!pons__area_near(s->p.area, at.x, at.y, s->p.radius_m)) {
        return 0;
    }
    const double c = cos(at.yaw), sn = sin(at.yaw);
    int n = 0;
    for (int i = 0; i < s->rim.n; i++) {
        n += pons__area_keep_out(s->p.area, at.x + c * s->rim.x[i] - sn * s->rim.y[i],
                                 at.y + sn * s->rim.x[i] + c * s->rim.y[i]);
    }
    return n;
}

// ---- turning ------------------------------------------------------------------------------------

// How fast it may turn where it stands, up to w. A disc gets nowhere by that.
static double turn_limit(const pons__safety *s, pons_pose2 at, double w, int here)
{
    const pons__safety_params *p = &s->p;
    const double a = 0.5 * p->yaw_accel_radps2, asked = fabs(w);
    if (p->footprint.n == 0 || w == 0.0) {
        return asked;
    }
    const double step = fmin(TURN_RAD, s->rim.step_m / p->footprint.circumscribed_m);
    const double reach = fmin(asked * asked / (2.0 * a) + 2.0 * step, 2.0 * M_PI);
    for (int i = 1; i <= STEPS_MAX && i * step <= reach + step; i++) {
        if (inside(s, (pons_pose2){at.x, at.y, at.yaw + copysign(i * step, w)}) > here) {
            return fmin(asked, sqrt(2.0 * a * (i - 1) * step));
        }
    }
    return asked;
}

static pons_twist2 turn_in_place(pons__safety *s, double w, pons_pose2 at, int here)
{
    const double most = turn_limit(s, at, w, here);
    if (most < fabs(w)) {
        s->status.zone = most > 0.0 ? PONS__ZONE_APPROACH : PONS__ZONE_STOP;
    }
    return (pons_twist2){0.0, copysign(most, w)};
}

// ---- along an arc -------------------------------------------------------------------------------

static pons_pose2 along(pons_pose2 from, double arc_m, double turn_rad)
{
    const double half = 0.5 * turn_rad;
    const double chord = fabs(half) < 1e-6 ? arc_m : arc_m * sin(half) / half;
    return (pons_pose2){from.x + chord * cos(from.yaw + half),
                        from.y + chord * sin(from.yaw + half), from.yaw + turn_rad};
}

// The speed that slow zones allow on the way, and how far it is free. `bend`: of the way, to the left.
static double look_along(const pons__safety *s, pons_twist2 want, double bend, pons_pose2 at,
                         int here, double *ret_free_m)
{
    const pons__safety_params *p = &s->p;
    const double a = p->approach_mps2, asked = fabs(want.v);
    const double sweep = 1.0 + (p->footprint.n > 0 ? fabs(bend) * p->radius_m : 0.0);
    const double step = s->rim.step_m / sweep;
    const double reach = asked * asked / (2.0 * a) + p->stop_margin_m + s->rim.step_m;
    double cap = fmin(asked, pons__area_speed(p->area, at.x, at.y));
    *ret_free_m = INFINITY;
    for (int i = 1; i <= STEPS_MAX && (i - 1) * step < reach; i++) {
        const double d = i * step;
        const pons_pose2 there = along(at, copysign(d, want.v), bend * d);
        const double limit = pons__area_speed(p->area, there.x, there.y);
        cap = fmin(cap, sqrt(limit * limit + 2.0 * a * (d - step)));
        if (inside(s, there) > here) {
            *ret_free_m = d - step;
            break;
        }
    }
    return cap;
}

pons_twist2 pons__safety_ground(pons__safety *s, pons_twist2 want, pons_pose2 at)
{
    const pons__safety_params *p = &s->p;
    if (!p->area || !isfinite(at.x + at.y + at.yaw) || (want.v == 0.0 && want.w == 0.0)) {
        return want;
    }
    const int here = inside(s, at);
    if (want.v == 0.0) {
        return turn_in_place(s, want.w, at, here);
    }
    const double asked = fabs(want.v), bend = want.w / asked;
    double free_m, cap = look_along(s, want, bend, at, here, &free_m);
    pons__zone zone = PONS__ZONE_LIMIT;
    if (here > 0 && cap > p->leave_mps) {
        cap = p->leave_mps;
    }
    const double usable = fmax(free_m - p->stop_margin_m, 0.0);
    double approach = sqrt(2.0 * p->approach_mps2 * usable);
    if (p->footprint.n > 0 && want.w != 0.0) {
        const double arc = sqrt(p->yaw_accel_radps2 * usable * fabs(bend));
        approach = fmin(approach, fmin(arc, turn_limit(s, at, want.w, here)) / fabs(bend));
    }
    if (approach < cap) {
        cap = approach;
        zone = PONS__ZONE_APPROACH;
    }
    s->status.free_m = fmin(s->status.free_m, free_m);
    if (cap >= asked) {
        return want;
    }
    if (cap < 1e-3) {
        const pons_twist2 left = turn_in_place(s, want.w, at, here);
        s->status.zone = PONS__ZONE_STOP;
        return left;
    }
    s->status.zone = zone > s->status.zone ? zone : s->status.zone;
    return (pons_twist2){want.v * cap / asked, want.w * cap / asked};
}
