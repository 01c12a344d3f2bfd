// scan_score.c - does a scan agree with the map at a pose?
//
// A beam that ends on a mapped face agrees. One that ends before any says nothing: somebody stands
// there. One that goes through a mapped wall contradicts, for nothing that comes into a house makes
// a wall transparent. So the measure is
//
//     share = hits / (hits + through)
//
// and a robot among boxes and people, whose every beam ends early, is not thought to be lost, while
// one that was carried into another room sees through the walls of the first. A scan that ends early
// all around does not contradict, but it is weak: whether it fits elsewhere is worth a look.
#include "body/localization/scan_score.h"

#include <math.h>

enum { SAYING_MIN = 8 };                // beams, for a share
static const double SAYING_SHARE = 0.1; // and of all
static const double ENOUGH = 0.85;      // hits of all: no need to look for walls in between
static const double SHARE_MIN = 0.85;   // less contradicts
static const double WEAK = 0.8;         // fit below this: some of what is seen is not the map
static const double HIT_M = 0.12, HIT_PER_M = 0.02;
static const double BEFORE_END_M = 0.25; // the last of a beam is not looked at
static const double INSIDE_M = 0.07;     // of wall, that a beam has gone through

static bool on_face(const pons__costmap *g, double x, double y, double range)
{
    const int cx = pons__costmap_col(g, x), cy = pons__costmap_row(g, y);
    return pons__costmap_inside(g, cx, cy) &&
           fabs((double)pons__costmap_surface(g, cx, cy)) <= HIT_M + HIT_PER_M * range;
}

// From the lidar along a unit vector, as far as `reach`: is there a wall in between?
static bool goes_through(const pons__costmap *g, pons_pose2 from, double ux, double uy,
                         double reach)
{
    double inside = 0.0;
    for (double s = 0.0; s < reach;) {
        const int cx = pons__costmap_col(g, from.x + s * ux);
        const int cy = pons__costmap_row(g, from.y + s * uy);
        if (!pons__costmap_inside(g, cx, cy)) {
            return true; // out of the map, and nothing stands there
        }
        const double free = (double)pons__costmap_static_m(g, cx, cy);
        const double step = fmax(free - 0.5 * g->res, 0.5 * g->res);
        inside = free > 0.0 ? 0.0 : inside + step;
        if (inside >= INSIDE_M) {
            return true;
        }
        s += step;
    }
    return false;
}

pons__agreement pons__agreement_of(const pons__costmap *g, pons_pose2 pose, pons_pose2 from,
                                   const float *px, const float *py, int n)
{
    pons__agreement a = {.n = n, .share = NAN};
    const double c = cos(pose.yaw), s = sin(pose.yaw);
    const pons_pose2 eye = pons_pose_compose(pose, from);
    bool hit[PONS_SCAN_MAX];
    for (int i = 0; i < n; i++) {
        const double x = (double)px[i], y = (double)py[i];
        hit[i] = on_face(g, pose.x + c * x - s * y, pose.y + s * x + c * y,
                         hypot(x - from.x, y - from.y));
        a.hits += hit[i];
    }
    for (int i = 0; i < n && a.hits < ENOUGH * n; i++) {
        const double x = (double)px[i] - from.x, y = (double)py[i] - from.y, r = hypot(x, y);
        if (!hit[i] && r > BEFORE_END_M) {
            a.through +=
                goes_through(g, eye, (c * x - s * y) / r, (s * x + c * y) / r, r - BEFORE_END_M);
        }
    }
    const int saying = a.hits + a.through;
    if (saying >= SAYING_MIN && saying >= SAYING_SHARE * n) {
        a.share = (double)a.hits / saying;
        a.contradicts = a.share < SHARE_MIN;
    }
    a.fit = n > 0 ? (double)(a.hits - a.through) / n : 0.0;
    a.weak = a.fit < WEAK;
    return a;
}
