// joint_trajectory.c - joint velocities that follow a way.
//
// A leg takes the joints to a configuration, all of them arriving at once, or the tool along a
// straight line, whose configurations are found from one step to the next. Either goes along
//
//     s(τ) = 10 τ³ − 15 τ⁴ + 6 τ⁵,   τ = t / T
//
// with T so long that neither speeds nor accelerations pass their limits. What is asked for is the
// way's own velocity and a little of what the arm lags behind. An arm that does not follow (the gate
// slows it, something is in the way) is waited for; for too long, and it is blocked.
#include "body/arm/arm_state.h"

#include <math.h>
#include <string.h>

#define SPEED_SHARE 0.45 // of a joint's
#define ACCEL_SHARE 0.6
#define PEAK        1.875 // s' at its highest
#define PEAK2       5.7735
#define FOLLOW      3.0  // [1/s]
#define LAG_RAD     0.12 // behind the way by more: it waits
#define BLOCKED_S   2.5
#define ARRIVED_RAD 0.008
#define SETTLE_S    1.5  // for the last of it
#define TURN_RADPS  0.8  // of the tool, along a line
#define LINE_M      2e-3 // off the line by more: there is no configuration

static double smooth(double t)
{
    t = fmin(fmax(t, 0.0), 1.0);
    return t * t * t * (10.0 + t * (-15.0 + 6.0 * t));
}

void pons__way_clear(pons__way3 *w)
{
    *w = (pons__way3){0};
}

bool pons__way_joints(pons__way3 *w, const double *q)
{
    if (w->n == PONS__LEGS) {
        return false;
    }
    w->legs[w->n] = (pons__leg){.line = false};
    memcpy(w->legs[w->n++].q, q, sizeof w->legs[0].q);
    return true;
}

bool pons__way_line(pons__way3 *w, const pons_pose3 *to, double mps)
{
    if (w->n == PONS__LEGS) {
        return false;
    }
    w->legs[w->n++] = (pons__leg){.line = true, .to = *to, .mps = mps};
    return true;
}

void pons__way_again(pons__way3 *w)
{
    w->begun = false;
    w->blocked_s = 0.0;
}

static void begin(pons__way3 *w, const pons__limb *h)
{
    const pons__leg *leg = &w->legs[w->at];
    const int n = h->model->n;
    memcpy(w->from, h->state.q, sizeof w->from);
    memcpy(w->want, h->state.q, sizeof w->want);
    w->from_tool = h->tool;
    w->gone_s = 0.0;
    w->needs_s = 0.1;
    w->begun = true;
    if (leg->line) {
        double turn[3];
        const double *a = h->tool.p, *b = leg->to.p;
        pons_pose3_turn(&h->tool, &leg->to, turn);
        const double far = sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                                (a[2] - b[2]) * (a[2] - b[2]));
        const double angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
        w->needs_s = fmax(w->needs_s, PEAK * fmax(far / leg->mps, angle / TURN_RADPS));
        return;
    }
    for (int i = 0; i < n; i++) {
        const double d = fabs(leg->q[i] - w->from[i]);
        const double v = SPEED_SHARE * pons_arm_joint_of(h->model, i)->speed_max;
        w->needs_s = fmax(w->needs_s, PEAK * d / v);
        w->needs_s = fmax(w->needs_s, sqrt(PEAK2 * d / (ACCEL_SHARE * h->caps.accel_max_radps2)));
    }
}

// The configuration at a time of the leg. false: a line has none.
static bool at_time(const pons__way3 *w, const pons__limb *h, double t, double *q)
{
    const pons__leg *leg = &w->legs[w->at];
    const double s = smooth(t / w->needs_s);
    if (!leg->line) {
        for (int i = 0; i < h->model->n; i++) {
            q[i] = w->from[i] + s * (leg->q[i] - w->from[i]);
        }
        return true;
    }
    pons_arm_ik_options o = PONS_ARM_IK_OPTIONS_INIT;
    double turn[3], rpy_of_turn;
    o.rest = w->from; // a line keeps its posture
    pons_pose3 target = leg->to;
    pons_pose3_turn(&w->from_tool, &leg->to, turn);
    rpy_of_turn = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    for (int i = 0; i < 3; i++) {
        target.p[i] = w->from_tool.p[i] + s * (leg->to.p[i] - w->from_tool.p[i]);
    }
    if (rpy_of_turn > 1e-6) { // the share of the turn, by Rodrigues
        const double c = cos(s * rpy_of_turn), k = sin(s * rpy_of_turn), u = 1.0 - c;
        const double x = turn[0] / rpy_of_turn, y = turn[1] / rpy_of_turn,
                     z = turn[2] / rpy_of_turn;
        const pons_pose3 part = {.r = {u * x * x + c, u * x * y - k * z, u * x * z + k * y,
                                       u * x * y + k * z, u * y * y + c, u * y * z - k * x,
                                       u * x * z - k * y, u * y * z + k * x, u * z * z + c}};
        const pons_pose3 from = {.r = {w->from_tool.r[0], w->from_tool.r[1], w->from_tool.r[2],
                                       w->from_tool.r[3], w->from_tool.r[4], w->from_tool.r[5],
                                       w->from_tool.r[6], w->from_tool.r[7], w->from_tool.r[8]}};
        const pons_pose3 now = pons_pose3_compose(&part, &from);
        memcpy(target.r, now.r, sizeof target.r);
    }
    memcpy(q, w->want, (size_t)h->model->n * sizeof *q);
    double left = INFINITY;
    for (int i = 0; i < 25 && left > 1e-4; i++) {
        left = pons_arm_towards(h->model, &target, &o, 0.1, q);
    }
    return left < LINE_M;
}

pons__motion3_status pons__way_step(pons__way3 *w, const pons__limb *h, double dt_s, double *ret_qd)
{
    const int n = h->model->n;
    memset(ret_qd, 0, (size_t)n * sizeof *ret_qd);
    if (w->at >= w->n) {
        return PONS__MOVED;
    }
    if (!w->begun) {
        begin(w, h);
    }
    double lag = 0.0;
    for (int i = 0; i < n; i++) {
        lag = fmax(lag, fabs(w->want[i] - h->state.q[i]));
    }
    const double t = fmin(w->gone_s + dt_s, w->needs_s);
    double next[PONS_ARM_JOINTS];
    memcpy(next, w->want, sizeof next);
    if (lag < LAG_RAD && t > w->gone_s) {
        if (!at_time(w, h, t, next)) {
            return PONS__NO_REACH;
        }
        w->blocked_s = 0.0;
        w->gone_s = t;
    } else if (w->gone_s < w->needs_s) {
        w->blocked_s += dt_s;
        if (w->blocked_s > BLOCKED_S) {
            return PONS__BLOCKED;
        }
    }
    for (int i = 0; i < n; i++) {
        ret_qd[i] = (next[i] - w->want[i]) / dt_s + FOLLOW * (w->want[i] - h->state.q[i]);
    }
    memcpy(w->want, next, sizeof next);
    if (w->gone_s >= w->needs_s) {
        w->blocked_s += dt_s;
        if (lag < ARRIVED_RAD || w->blocked_s > SETTLE_S) {
            if (lag > 0.5 * LAG_RAD) {
                return PONS__BLOCKED;
            }
            w->at++;
            pons__way_again(w);
        }
    }
    return w->at >= w->n ? PONS__MOVED : PONS__MOVING;
}
