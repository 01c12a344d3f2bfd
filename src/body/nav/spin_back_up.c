// spin_back_up.c - turn in place, drive straight: Nav2's Spin, BackUp and DriveOnHeading.
//
// Measured by odometry: a map that shifts under the robot's feet is no motion. Each step looks at
// what could end it, in this order:
//
//   INVALID    a number that is none, a speed of zero                     713 724
//   DONE       within the accuracy of what was asked
//   TIMEOUT    longer than the allowance                                  701 711 721
//   COLLISION  straight: within the next AHEAD_S something would touch,   714 723
//              and is nearer there than it is here, so that a robot may
//              always drive away from what it stands beside
//              either: the safety gate lets nothing through for BLOCKED_S 703
//
// The look ahead asks the local costmap; the gate looks for itself and cannot be told not to.
#include "body/nav/spin_back_up.h"

#include "body/controller/controller.h"

#include <stdio.h>

static const double AHEAD_S = 2.0, AHEAD_MIN_M = 0.10; // how far the look ahead goes
static const double NEARER_M = 0.01;
static const double BLOCKED_S = 1.5;
static const double STILL = 1e-3;    // a velocity below this is none
static const double TURN_GAIN = 1.5; // [1/s] towards the end
static const double TURN_MIN_RADPS = 0.2, DRIVE_MIN_MPS = 0.02;
static const double BRAKE_MPS2 =
    0.3; // of the way's end: short, so that the allowance is for the way

void pons__motion_start(pons__motion *m, const pons__motion_goal *goal, int64_t now_ns,
                        pons_pose2 odom)
{
    *m = (pons__motion){
        .goal = *goal, .start_ns = now_ns, .blocked_ns = -1, .from = odom, .last_yaw = odom.yaw};
}

void pons__motion_track(pons__motion *m, pons_pose2 odom)
{
    m->done = m->goal.turn ? m->done + pons_wrap_angle(odom.yaw - m->last_yaw)
                           : copysign(hypot(odom.x - m->from.x, odom.y - m->from.y), m->goal.by);
    m->last_yaw = odom.yaw;
}

double pons__motion_left(const pons__motion *m)
{
    return fmax((m->goal.by - m->done) * (m->goal.by < 0.0 ? -1.0 : 1.0), 0.0);
}

static bool blocked_by_gate(pons__motion *m, const pons__motion_input *in)
{
    const bool wants = fabs(in->cmd.v) > STILL || fabs(in->cmd.w) > STILL;
    const bool moves = fabs(in->gate.v) > STILL || fabs(in->gate.w) > STILL;
    if (!in->gate_known || !wants || moves) {
        m->blocked_ns = -1;
        return false;
    }
    if (m->blocked_ns < 0) {
        m->blocked_ns = in->now_ns;
    }
    return (double)(in->now_ns - m->blocked_ns) / (double)PONS_NS_PER_S > BLOCKED_S;
}

// How far it is free, straight on [m], as far as the look ahead goes.
static double free_ahead(const pons__motion *m, const pons__motion_input *in)
{
    const pons__motion_goal *g = &m->goal;
    const double reach = fmin(fmax(AHEAD_S * g->rate, AHEAD_MIN_M), fabs(g->by) - fabs(m->done));
    if (!in->grid) {
        return reach;
    }
    const double dir = g->by < 0.0 ? -1.0 : 1.0;
    const double cx = dir * cos(in->pose.yaw), cy = dir * sin(in->pose.yaw);
    const double here = (double)pons__costmap_dist(in->grid, in->pose.x, in->pose.y);
    const double step = 0.5 * in->grid->res;
    for (double s = step; s < reach + step; s += step) {
        const double at = fmin(s, reach);
        const double d =
            (double)pons__costmap_dist(in->grid, in->pose.x + at * cx, in->pose.y + at * cy);
        if (d < in->radius_m && d < here - NEARER_M) {
            return at - step > 0.0 ? at - step : 0.0;
        }
    }
    return reach;
}

pons__motion_status pons__motion_step(pons__motion *m, const pons__motion_input *in,
                                      pons_twist2 *ret_want, char *ret_why, size_t cap)
{
    const pons__motion_goal *g = &m->goal;
    const char *unit = g->turn ? "rad" : "m";
    *ret_want = (pons_twist2){0.0, 0.0};
    if (!isfinite(g->by + g->rate + g->allowance_s) || g->rate <= 0.0) {
        snprintf(ret_why, cap, "%g %s at %g %s/s is no motion", g->by, unit, g->rate, unit);
        return PONS__MOTION_INVALID;
    }
    pons__motion_track(m, in->odom);
    const double left =
        g->turn ? (g->by - m->done) * (g->by < 0.0 ? -1.0 : 1.0) : fabs(g->by) - fabs(m->done);
    if (left <= g->accuracy) {
        return PONS__MOTION_DONE;
    }
    const double took_s = (double)(in->now_ns - m->start_ns) / (double)PONS_NS_PER_S;
    if (took_s > g->allowance_s) {
        snprintf(ret_why, cap, "%.2f %s to go after %.1f s", left, unit, took_s);
        return PONS__MOTION_TIMEOUT;
    }
    if (blocked_by_gate(m, in)) {
        snprintf(ret_why, cap, "the safety gate lets nothing through with %.2f %s to go", left,
                 unit);
        return PONS__MOTION_COLLISION;
    }
    if (g->turn) {
        const double rate = fmin(fmax(TURN_GAIN * left, TURN_MIN_RADPS), g->rate);
        ret_want->w = copysign(rate, g->by);
        return PONS__MOTION_RUNNING;
    }
    const double reach = fmin(fmax(AHEAD_S * g->rate, AHEAD_MIN_M), left);
    const double room = g->unchecked ? reach : free_ahead(m, in);
    if (room < reach) {
        snprintf(ret_why, cap, "something is %.2f m %s with %.2f m to go", room,
                 g->by < 0.0 ? "behind" : "ahead", left);
        return PONS__MOTION_COLLISION;
    }
    const double speed = fmin(fmax(sqrt(2.0 * BRAKE_MPS2 * left), DRIVE_MIN_MPS), g->rate);
    ret_want->v = copysign(speed, g->by);
    return PONS__MOTION_RUNNING;
}
