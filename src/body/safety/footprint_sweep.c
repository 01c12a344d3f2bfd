// footprint_sweep.c - how far a convex polygon may go along an arc, or turn, before it comes too near to a point.
//
// Seen from the robot it is the points that move: along a line, or around the centre of the turn, the other
// way round. What they must not enter is the polygon, wider by r: its edges moved out by r, and a disc of r
// at each corner. Of all places where a point's way crosses that outline inwards the first one counts. A
// point that is inside already allows only what brings it further from the polygon.
#include "body/safety/footprint_sweep.h"

#include <math.h>

static const double SLACK = 1e-9, SLACK_M = 1e-6;

// Where the polygon turns about, and which way the points go: around (0, y), or straight along x.
typedef struct way {
    const pons_footprint *f;
    double r;
    bool straight;
    double y, sense;          // of the points' turn, +1 counter-clockwise
    double toward;            // straight: -1 when points come from ahead, +1 from behind
    double nearest, furthest; // of the polygon, from the centre of the turn
    bool within;              // the point is within r as it is
} way;

// Distance from the polygon and the direction in which it grows.
static double distance(const pons_footprint *f, double x, double y, double *ret_gx, double *ret_gy)
{
    double inside = -INFINITY, best2 = INFINITY, bx = 0.0, by = 0.0;
    for (int i = 0; i < f->n; i++) {
        const int k = i + 1 < f->n ? i + 1 : 0;
        const double ex = f->x[k] - f->x[i], ey = f->y[k] - f->y[i], len = sqrt(ex * ex + ey * ey);
        const double px = x - f->x[i], py = y - f->y[i], out = (px * ey - py * ex) / len;
        if (out > inside) {
            inside = out;
            *ret_gx = ey / len;
            *ret_gy = -ex / len;
        }
        const double t = fmin(fmax((px * ex + py * ey) / (len * len), 0.0), 1.0);
        const double dx = px - t * ex, dy = py - t * ey;
        if (dx * dx + dy * dy < best2) {
            best2 = dx * dx + dy * dy;
            bx = dx;
            by = dy;
        }
    }
    if (inside <= 0.0) {
        return inside;
    }
    const double d = sqrt(best2);
    *ret_gx = bx / d;
    *ret_gy = by / d;
    return d;
}

bool pons__sweep_nearer(const pons_footprint *f, double x, double y, double r, pons_twist2 go)
{
    double gx, gy;
    return distance(f, x, y, &gx, &gy) < r && (go.w * y - go.v) * gx - go.w * x * gy < -SLACK;
}

// ---- one point ----------------------------------------------------------------------------------

static double first_straight(const way *w, double x, double y)
{
    const pons_footprint *f = w->f;
    double best = INFINITY;
    for (int i = 0; i < f->n; i++) {
        const double vy = y - f->y[i];
        if (fabs(vy) < w->r) { // of the two crossings of a disc the earlier one leads in
            const double at = f->x[i] - w->toward * sqrt(w->r * w->r - vy * vy);
            const double s = w->toward * (at - x);
            best = s >= 0.0 ? fmin(best, s) : best;
        }
        const int k = i + 1 < f->n ? i + 1 : 0;
        const double ex = f->x[k] - f->x[i], ey = f->y[k] - f->y[i], len = sqrt(ex * ex + ey * ey);
        const double nx = ey / len, ny = -ex / len;
        const double t = fabs(ey) > SLACK ? (y - f->y[i] - w->r * ny) / ey : -1.0;
        if (t >= 0.0 && t <= 1.0 && w->toward * nx < 0.0) {
            const double s = w->toward * (f->x[i] + w->r * nx + t * ex - x);
            best = s >= 0.0 ? fmin(best, s) : best;
        }
    }
    return best;
}

// The angle from the point to (hx, hy) by way of its turn, when it crosses inwards there. For a point that is
// within r at the start a crossing counts only on the outline: inside, an edge's and a corner's overlap.
static void hit(const way *w, double x, double y, double hx, double hy, double gx, double gy,
                double *best)
{
    const double inward = w->sense * (hx * gy - hy * gx); // (-hy, hx) · (gx, gy)
    double ox, oy;
    if (inward < 0.0 && (!w->within || distance(w->f, hx, hy + w->y, &ox, &oy) >= w->r - SLACK_M)) {
        double a = w->sense * atan2(x * hy - y * hx, x * hx + y * hy);
        a = a < 0.0 ? a + 2.0 * M_PI : a;
        *best = fmin(*best, a);
    }
}

static double first_turning(const way *w, double x, double y)
{
    const pons_footprint *f = w->f;
    const double rho2 = x * x + (y - w->y) * (y - w->y), rho = sqrt(rho2), py = y - w->y;
    double best = INFINITY;
    if (rho < w->nearest - w->r || rho > w->furthest + w->r || rho < SLACK) {
        return best;
    }
    for (int i = 0; i < f->n; i++) {
        const double ax = f->x[i], ay = f->y[i] - w->y, d2 = ax * ax + ay * ay, d = sqrt(d2);
        // Around a corner: where two circles meet.
        const double along = d > SLACK ? (rho2 - w->r * w->r + d2) / (2.0 * d) : INFINITY;
        if (fabs(along) < rho) {
            const double across = sqrt(rho2 - along * along);
            for (int side = -1; side <= 1; side += 2) {
                const double hx = (along * ax - side * across * ay) / d;
                const double hy = (along * ay + side * across * ax) / d;
                hit(w, x, py, hx, hy, hx - ax, hy - ay, &best);
            }
        }
        // Along an edge that is moved out: where a line meets a circle.
        const int k = i + 1 < f->n ? i + 1 : 0;
        const double ex = f->x[k] - f->x[i], ey = f->y[k] - f->y[i], len = sqrt(ex * ex + ey * ey);
        const double nx = ey / len, ny = -ex / len, bx = ax + w->r * nx, by = ay + w->r * ny;
        const double foot = -(bx * ex + by * ey) / len, h = bx * nx + by * ny;
        if (rho2 <= h * h) {
            continue;
        }
        const double half = sqrt(rho2 - h * h);
        for (int side = -1; side <= 1; side += 2) {
            const double t = foot + side * half;
            if (t >= 0.0 && t <= len) {
                hit(w, x, py, bx + t * ex / len, by + t * ey / len, nx, ny, &best);
            }
        }
    }
    return best;
}

// ---- all of them --------------------------------------------------------------------------------

static void span(way *w)
{
    double gx, gy;
    w->nearest = fmax(distance(w->f, 0.0, w->y, &gx, &gy), 0.0);
    w->furthest = 0.0;
    for (int i = 0; i < w->f->n; i++) {
        w->furthest = fmax(w->furthest, hypot(w->f->x[i], w->f->y[i] - w->y));
    }
}

double pons__sweep_free(const pons_footprint *f, const double *x, const double *y, int n, double r,
                        int dir, double curvature, double reach)
{
    way w = {.f = f, .r = r, .straight = fabs(curvature) < PONS__SWEEP_STRAIGHT, .toward = -dir};
    const pons_twist2 go = {dir, dir * curvature};
    double best = reach;
    if (!w.straight) {
        w.y = 1.0 / curvature;
        w.sense = -dir * copysign(1.0, curvature);
        span(&w);
    }
    for (int i = 0; i < n; i++) {
        const double far = best + f->circumscribed_m + r;
        if (x[i] * x[i] + y[i] * y[i] >= far * far) {
            continue; // no arc to it is shorter than the best one
        }
        w.within = pons_footprint_distance(f, x[i], y[i]) < r;
        if (w.within && pons__sweep_nearer(f, x[i], y[i], r, go)) {
            return 0.0;
        }
        if (w.within && w.straight) {
            continue; // what a convex outline has left, it leaves
        }
        const double s =
            w.straight ? first_straight(&w, x[i], y[i]) : first_turning(&w, x[i], y[i]) * fabs(w.y);
        best = fmin(best, s);
    }
    return best;
}

double pons__sweep_turn(const pons_footprint *f, const double *x, const double *y, int n, double r,
                        int dir)
{
    way w = {.f = f, .r = r, .sense = -dir};
    const pons_twist2 go = {0.0, dir};
    double best = 2.0 * M_PI;
    span(&w);
    for (int i = 0; i < n; i++) {
        const double far = f->circumscribed_m + r;
        if (x[i] * x[i] + y[i] * y[i] >= far * far) {
            continue;
        }
        w.within = pons_footprint_distance(f, x[i], y[i]) < r;
        if (w.within && pons__sweep_nearer(f, x[i], y[i], r, go)) {
            return 0.0;
        }
        best = fmin(best, first_turning(&w, x[i], y[i]));
    }
    return best;
}
