// path_smoothing.c - cells become a path: straightened, resampled, rounded (planner.c, 3 and 4); and what a path costs.
#include "body/planner/planner_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    LOOK_MAX = 400, // cells that straightening looks ahead: more would take a square of time
    RELAXATIONS = 40
};
static const double EASY_M = 0.45; // clearance that rounding a corner may come down to
static const double SPACING_M = 0.05;
static const double SHORTCUT_SLACK = 1.02; // rounding of the lattice is no reason to keep a corner
static const double SPOT_COST = 20.0;

double pons__planner_spot_cost(const void *planner, double x, double y)
{
    const pons__planner *p = planner;
    for (int i = 0; i < p->n_spots; i++) {
        const double dx = x - p->spots[i].x, dy = y - p->spots[i].y;
        if (dx * dx + dy * dy < SPOT_M * SPOT_M) {
            return SPOT_COST;
        }
    }
    for (int i = 0; i < p->by.n_shut; i++) {
        const double dx = x - p->by.shut[i].x, dy = y - p->by.shut[i].y, r = p->by.shut[i].r;
        if (dx * dx + dy * dy < r * r) {
            return SPOT_COST;
        }
    }
    return 0.0;
}

bool pons__planner_grow(pons__planner *p, int more)
{
    const int need = p->n_lattice + more + 2;
    if (need <= p->cap_lattice) {
        return true;
    }
    double *x = realloc(p->px, sizeof *x * (size_t)need);
    p->px = x ? x : p->px;
    double *y = x ? realloc(p->py, sizeof *y * (size_t)need) : NULL;
    p->py = y ? y : p->py;
    p->cap_lattice = y ? need : p->cap_lattice;
    return y != NULL;
}

// Cost of a metre here; INFINITY where forbidden.
static inline double metre_cost(const pons__planner *p, double x, double y)
{
    return (double)p->metre[pons__costmap_level_at(p->grid, x, y)] +
           pons__planner_spot_cost(p, x, y);
}

// Cost of a straight line; INFINITY when it is forbidden anywhere, or when it passes `limit`.
static double line_cost(const pons__planner *p, double ax, double ay, double bx, double by,
                        double limit)
{
    const double len = hypot(bx - ax, by - ay);
    const int n = (int)ceil(len * p->grid->inv_res) + 1;
    const double step = len / n;
    double cost = 0.0;
    for (int i = 0; i < n; i++) {
        const double t = (i + 0.5) / n;
        cost += step * metre_cost(p, ax + t * (bx - ax), ay + t * (by - ay));
        if (cost > limit) {
            return INFINITY;
        }
    }
    return cost;
}

static int straighten(pons__planner *p, int n)
{
    int kept = 1;
    for (int from = 0; from < n - 1;) {
        int best = from + 1;
        double along = 0.0;
        const double ax = p->px[from], ay = p->py[from];
        for (int to = from + 1; to < n; to++) {
            along += line_cost(p, p->px[to - 1], p->py[to - 1], p->px[to], p->py[to], INFINITY);
            // Look a little past a miss: the lattice's zigzag makes single ones.
            if (to > best + 8 || to > from + LOOK_MAX) {
                break;
            }
            if (isfinite(
                    line_cost(p, ax, ay, p->px[to], p->py[to], along * SHORTCUT_SLACK + 0.01))) {
                best = to;
            }
        }
        // Writing behind the reading end: kept ≤ from + 1 ≤ best.
        p->px[kept] = p->px[best];
        p->py[kept] = p->py[best];
        kept++;
        from = best;
    }
    return kept;
}

static void resample(pons__planner *p, int n, pons__path *ret)
{
    double total = 0.0;
    for (int i = 1; i < n; i++) {
        total += hypot(p->px[i] - p->px[i - 1], p->py[i] - p->py[i - 1]);
    }
    const double spacing = fmax(SPACING_M, total / (PONS__PATH_MAX - 4));
    const int m = (int)ceil(total / spacing) + 1 < 2 ? 2 : (int)ceil(total / spacing) + 1;
    double leg_from = 0.0;
    int leg = 1;
    double leg_len = hypot(p->px[1] - p->px[0], p->py[1] - p->py[0]);
    for (int i = 0; i < m; i++) {
        const double s = total * i / (m - 1);
        while (leg < n - 1 && s > leg_from + leg_len) {
            leg_from += leg_len;
            leg++;
            leg_len = hypot(p->px[leg] - p->px[leg - 1], p->py[leg] - p->py[leg - 1]);
        }
        double t = leg_len > 1e-9 ? (s - leg_from) / leg_len : 0.0;
        t = t > 1.0 ? 1.0 : t;
        ret->x[i] = p->px[leg - 1] + t * (p->px[leg] - p->px[leg - 1]);
        ret->y[i] = p->py[leg - 1] + t * (p->py[leg] - p->py[leg - 1]);
    }
    ret->n = m;
}

void pons__planner_shape(pons__planner *p, pons__path *ret)
{
    int n = p->n_lattice;
    p->px[0] = p->from.x;
    p->py[0] = p->from.y;
    p->px[n - 1] = p->to.x;
    p->py[n - 1] = p->to.y;
    if (p->by.kind == PONS__PLAN_CELLS) {
        n = straighten(p, n);
    }
    // A start that had to be moved is walked to in a straight line.
    if (p->from.moved) {
        memmove(p->px + 1, p->px, sizeof *p->px * (size_t)n);
        memmove(p->py + 1, p->py, sizeof *p->py * (size_t)n);
        p->px[0] = p->start.x;
        p->py[0] = p->start.y;
        n++;
    }
    resample(p, n, ret);
    pons__planner_smooth(p, ret);
    pons__planner_measure(p, ret);
    ret->moved_goal = p->to.moved;
}

// Is the shape free at a point of a path, turned as the path leads there?
static bool headed_free(const pons__planner *p, const pons__path *path, int i, double margin_m)
{
    const int a = i > 0 ? i - 1 : 0, b = i + 1 < path->n ? i + 1 : path->n - 1;
    const double yaw = atan2(path->y[b] - path->y[a], path->x[b] - path->x[a]);
    return pons__shape_free(p->by.shape, p->grid, (pons_pose2){path->x[i], path->y[i], yaw},
                            margin_m);
}

// Cost of the way from point i − 1 to point i.
static double leg_cost(const pons__planner *p, const pons__path *path, int i)
{
    const float m = p->metre[pons__costmap_level_at(p->grid, path->x[i], path->y[i])];
    return (path->s[i] - path->s[i - 1]) * ((isinf(m) ? 1.0 + NEAR_COST : (double)m) +
                                            pons__planner_spot_cost(p, path->x[i], path->y[i]));
}

double pons__planner_cost_from(const pons__planner *p, const pons__path *path, double s,
                               double *ret_planned)
{
    double cost = 0.0;
    bool first = true;
    *ret_planned = 0.0;
    for (int i = 1; i < path->n; i++) {
        if (path->s[i] < s) {
            continue;
        }
        *ret_planned = first ? path->left[i - 1] : *ret_planned;
        first = false;
        // Planned with a margin, so a little nearer is no reason to leave the path. Its beginning
        // leads out of wherever the robot stands: only a thing right on it blocks it.
        const float d = pons__costmap_dist(p->grid, path->x[i], path->y[i]);
        const bool leaving = path->s[i] <= s + START_MOVE_M;
        if ((double)d < (leaving ? p->grid->res : p->radius) ||
            (!leaving && p->by.shape->n > 0 && !headed_free(p, path, i, 0.0))) {
            return INFINITY;
        }
        cost += leg_cost(p, path, i);
    }
    return cost;
}

void pons__planner_smooth(pons__planner *p, pons__path *path)
{
    const pons__costmap *g = p->grid;
    const float easy = (float)EASY_M;
    const bool turned = p->by.shape->n > 0;
    if (p->by.kind == PONS__PLAN_CURVES) {
        return; // as tight as it may be, and no tighter
    }
    for (int round = 0; round < RELAXATIONS; round++) {
        // From old points into new ones, so that the direction of travel makes no difference.
        memcpy(p->qx, path->x, sizeof *p->qx * (size_t)path->n);
        memcpy(p->qy, path->y, sizeof *p->qy * (size_t)path->n);
        for (int i = 1; i < path->n - 1; i++) {
            const double bend_x = p->qx[i - 1] + p->qx[i + 1] - 2.0 * p->qx[i];
            const double bend_y = p->qy[i - 1] + p->qy[i + 1] - 2.0 * p->qy[i];
            if (bend_x * bend_x + bend_y * bend_y < 1e-10) {
                continue;
            }
            const double x = p->qx[i] + 0.25 * bend_x, y = p->qy[i] + 0.25 * bend_y;
            const float before = pons__costmap_dist(g, p->qx[i], p->qy[i]);
            const float after = pons__costmap_dist(g, x, y);
            if (after >= before || after >= easy) {
                path->x[i] = x;
                path->y[i] = y;
                if (turned && !(headed_free(p, path, i - 1, p->margin_m) &&
                                headed_free(p, path, i, p->margin_m) &&
                                headed_free(p, path, i + 1, p->margin_m))) {
                    path->x[i] = p->qx[i];
                    path->y[i] = p->qy[i];
                }
            }
        }
    }
}

void pons__planner_measure(const pons__planner *p, pons__path *path)
{
    path->s[0] = 0.0;
    for (int i = 1; i < path->n; i++) {
        path->s[i] =
            path->s[i - 1] + hypot(path->x[i] - path->x[i - 1], path->y[i] - path->y[i - 1]);
    }
    path->left[path->n - 1] = 0.0;
    for (int i = path->n - 1; i > 0; i--) {
        path->left[i - 1] = path->left[i] + leg_cost(p, path, i);
    }
}
