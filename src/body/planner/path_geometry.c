// path_geometry.c - where things are along a path: the point so far along it, and how far along a pose is.
#include "body/planner/path.h"

void pons__path_at(const pons__path *p, double s, double *ret_x, double *ret_y)
{
    if (p->n == 0) {
        *ret_x = *ret_y = 0.0;
        return;
    }
    int lo = 0, hi = p->n - 1;
    while (hi - lo > 1) {
        const int mid = (lo + hi) / 2;
        if (p->s[mid] <= s) {
            lo = mid;
        } else {
            hi = mid;
        }
    }
    const double len = p->s[hi] - p->s[lo];
    double t = len > 1e-9 ? (s - p->s[lo]) / len : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    *ret_x = p->x[lo] + t * (p->x[hi] - p->x[lo]);
    *ret_y = p->y[lo] + t * (p->y[hi] - p->y[lo]);
}

double pons__path_project(const pons__path *path, double from_s, double ahead_m, pons_pose2 pose,
                          double *ret_off)
{
    double best = INFINITY, best_s = from_s;
    for (int i = 0; i + 1 < path->n; i++) {
        if (path->s[i + 1] < from_s) {
            continue;
        }
        if (path->s[i] > from_s + ahead_m) {
            break;
        }
        const double ex = path->x[i + 1] - path->x[i], ey = path->y[i + 1] - path->y[i];
        const double len2 = ex * ex + ey * ey;
        double t =
            len2 > 1e-12 ? ((pose.x - path->x[i]) * ex + (pose.y - path->y[i]) * ey) / len2 : 0.0;
        t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
        const double dx = path->x[i] + t * ex - pose.x, dy = path->y[i] + t * ey - pose.y;
        const double d2 = dx * dx + dy * dy;
        if (d2 < best) {
            best = d2;
            best_s = path->s[i] + t * (path->s[i + 1] - path->s[i]);
        }
    }
    *ret_off = isfinite(best) ? sqrt(best) : 0.0;
    return fmax(from_s, best_s);
}
