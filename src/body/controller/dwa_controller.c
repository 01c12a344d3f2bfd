// dwa_controller.c - follows a path by trying velocities: the dynamic window approach (Fox, Burgard, Thrun, "The
// Dynamic Window Approach to Collision Avoidance", 1997), as Nav2's DWB has it.
//
// Of the velocities that the base can have within WINDOW_S some hundred are tried. Each is driven ahead in
// mind for AHEAD_S; one whose shape comes too near to something is none. Of the others the one is taken that
// scores best by where it ends: beside the path, on the way along it, in its direction, away from things.
// Unlike pure pursuit it leaves the path for a while where something stands on it.
#include "body/controller/controller.h"

enum { SPEEDS = 8, TURNS = 21, POSES = 8 };
static const double WINDOW_S = 0.4, AHEAD_S = 1.5;
static const double MARGIN_M = 0.06; // the gate's 0.05, and a little
static const double OFF_COST = 0.7, LEFT_COST = 1.0, YAW_COST = 0.08, NEAR_COST = 0.15;
static const double CHANGE_COST = 0.03; // of a turn that is not the last one: no swinging
static const double SEARCH_AHEAD_M = 1.6;
static const double YAW_ACCEL_RADPS2 = 3.0;

static pons_pose2 after(pons_pose2 from, pons_twist2 go, double s)
{
    const double turn = go.w * s, half = 0.5 * turn;
    const double chord = go.v * s * (fabs(half) < 1e-9 ? 1.0 : sin(half) / half);
    return (pons_pose2){from.x + chord * cos(from.yaw + half),
                        from.y + chord * sin(from.yaw + half), pons_wrap_angle(from.yaw + turn)};
}

static bool is_free(const pons__nav_params *p, const pons__costmap *g, pons_pose2 at)
{
    return p->shape ? pons__shape_free(p->shape, g, at, MARGIN_M)
                    : (double)pons__costmap_dist(g, at.x, at.y) >= p->radius_m + MARGIN_M;
}

// INFINITY when something is touched.
static double score(const pons__nav_params *p, const pons__costmap *g, const pons__path *path,
                    double from_s, pons_pose2 pose, pons_twist2 go, double ahead_s)
{
    const bool stands = !is_free(p, g, pose); // it must get out of where it is
    const double here = (double)pons__costmap_dist(g, pose.x, pose.y);
    double nearest = INFINITY;
    pons_pose2 at = pose;
    for (int i = 1; i <= POSES; i++) {
        at = after(pose, go, ahead_s * i / POSES);
        const double d = (double)pons__costmap_dist(g, at.x, at.y);
        if (!is_free(p, g, at) && !(stands && d > here)) {
            return INFINITY;
        }
        nearest = fmin(nearest, d - p->radius_m);
    }
    double off, ax, ay, bx, by;
    const double s = pons__path_project(path, from_s, SEARCH_AHEAD_M, at, &off);
    pons__path_at(path, s, &ax, &ay);
    pons__path_at(path, s + 0.1, &bx, &by);
    const double along = hypot(bx - ax, by - ay) > 1e-6 ? atan2(by - ay, bx - ax) : at.yaw;
    return OFF_COST * off + LEFT_COST * (pons__path_length(path) - s) +
           YAW_COST * fabs(pons_wrap_angle(at.yaw - along)) +
           NEAR_COST * exp(-nearest / PONS__INFLATION_M);
}

pons_twist2 pons__sample(const pons__nav_params *p, const pons__costmap *g, const pons__path *path,
                         double s, pons_pose2 pose, pons_twist2 now, double speed_max_mps)
{
    const double low = fmax(now.v - p->accel_mps2 * WINDOW_S, 0.0),
                 high = fmin(fmax(now.v + p->accel_mps2 * WINDOW_S, 0.05), speed_max_mps);
    const double left = fmax(pons__path_length(path) - s, 0.05);
    pons_twist2 best = {0.0, 0.0};
    double best_score = INFINITY;
    for (int i = 0; i < SPEEDS; i++) {
        const double v = fmin(low, high) + (high - fmin(low, high)) * i / (SPEEDS - 1);
        const double w_max = p->turning_radius_m > 0.0
                                 ? fmin(p->yaw_rate_max_radps, v / p->turning_radius_m)
                                 : p->yaw_rate_max_radps;
        for (int k = 0; k < TURNS; k++) {
            const double w = w_max * (2.0 * k / (TURNS - 1) - 1.0);
            if (fabs(w - now.w) > YAW_ACCEL_RADPS2 * WINDOW_S) {
                continue;
            }
            const pons_twist2 go = {v, w};
            const double ahead_s = v > 1e-3 ? fmin(AHEAD_S, left / v) : AHEAD_S;
            const double total =
                score(p, g, path, s, pose, go, ahead_s) + CHANGE_COST * fabs(w - now.w);
            if (total < best_score) {
                best_score = total;
                best = go;
            }
        }
    }
    return best;
}
