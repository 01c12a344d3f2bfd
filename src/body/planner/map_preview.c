// map_preview.c - the body's own costmap and planner for who only looks: `pons map show` and its like.
#include "pons/map_preview.h"

#include "body/planner/planner.h"

#include <stdlib.h>
#include <string.h>

#define MODULE "map"

enum { MESSAGE_MAX = 300 };

struct pons_ground {
    pons__costmap *grid;
    pons__shape shape;
    pons__planner *planner;
    double speed_max_mps;
};

int pons_ground_open(const pons_value *world, pons_ground **ret, pons_error *err)
{
    pons_ground *g = calloc(1, sizeof *g);
    if (!g) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the ground");
    }
    const pons_value *robot = pons_get(world, "robot");
    g->speed_max_mps = pons_get_num(robot, "speed_max_mps", 0.0);
    int rc = pons__costmap_from_world(world, &g->grid, err);
    if (rc == PONS_OK) {
        pons_footprint f = pons_footprint_circle(pons_get_num(robot, "radius_m", 0.0));
        const pons_value *given = pons_get(robot, "footprint");
        const char *bad = given ? pons_footprint_read(given, &f) : NULL;
        if (bad) {
            rc = pons_error_set(err, PONS_EINVAL, MODULE, "%s", bad);
        }
        pons__shape_of(&f, &g->shape);
        g->planner = pons__planner_create_for(g->grid, &g->shape,
                                              pons_get_num(robot, "turning_radius_m", 0.0));
    }
    if (rc == PONS_OK) {
        rc = g->planner ? PONS_OK
                        : pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the planner");
    }
    if (rc < 0) {
        pons_ground_close(g);
        return rc;
    }
    *ret = g;
    return PONS_OK;
}

void pons_ground_close(pons_ground *g)
{
    if (g) {
        pons__planner_destroy(g->planner);
        pons__costmap_destroy(g->grid);
        free(g);
    }
}

pons_ground_kind pons_ground_at(const pons_ground *g, double x, double y)
{
    const int cx = pons__costmap_col(g->grid, x), cy = pons__costmap_row(g->grid, y);
    if (!pons__costmap_inside(g->grid, cx, cy) || pons__costmap_is_static(g->grid, cx, cy)) {
        return PONS_GROUND_WALL;
    }
    if (pons__area_cell(g->grid->area, cx, cy)) {
        return PONS_GROUND_KEEP_OUT;
    }
    if (isfinite(pons__area_speed(g->grid->area, x, y))) {
        return PONS_GROUND_SLOW;
    }
    return pons__costmap_dist(g->grid, x, y) <= 0.0f ? PONS_GROUND_UNKNOWN : PONS_GROUND_FREE;
}

pons_ground_kind pons_ground_worst(const pons_ground *g, const double area[4])
{
    const double edge = 1e-6 * g->grid->res; // a cell that is only touched is not in it
    const int x0 = pons__costmap_col(g->grid, area[0] + edge),
              y0 = pons__costmap_row(g->grid, area[1] + edge),
              x1 = pons__costmap_col(g->grid, fmax(area[2] - edge, area[0] + edge)),
              y1 = pons__costmap_row(g->grid, fmax(area[3] - edge, area[1] + edge));
    pons_ground_kind worst = PONS_GROUND_FREE;
    for (int y = y0 < 0 ? 0 : y0; y <= y1 && y < g->grid->h; y++) {
        for (int x = x0 < 0 ? 0 : x0; x <= x1 && x < g->grid->w; x++) {
            const pons_ground_kind k =
                pons_ground_at(g, pons__costmap_x(g->grid, x), pons__costmap_y(g->grid, y));
            worst = k > worst ? k : worst;
        }
    }
    return worst;
}

double pons_ground_speed(const pons_ground *g, double x, double y)
{
    return pons__area_speed(g->grid->area, x, y);
}

double pons_ground_room(const pons_ground *g, double x, double y)
{
    return (double)pons__costmap_dist(g->grid, x, y);
}

double pons_ground_resolution(const pons_ground *g)
{
    return g->grid->res;
}

static int take(const pons_ground *g, const pons__path *path, pons_ground_way *ret, pons_error *err)
{
    const size_t n = (size_t)path->n;
    double *x = malloc(n * sizeof *x), *y = malloc(n * sizeof *y);
    if (!x || !y) {
        free(x);
        free(y);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a way");
    }
    memcpy(x, path->x, n * sizeof *x);
    memcpy(y, path->y, n * sizeof *y);
    *ret = (pons_ground_way){.length_m = pons__path_length(path),
                             .moved_goal = path->moved_goal,
                             .searched = pons__planner_searched(g->planner),
                             .n = path->n,
                             .x = x,
                             .y = y};
    for (int i = 1; i < path->n; i++) {
        const double v = fmin(g->speed_max_mps, pons_ground_speed(g, x[i], y[i]));
        ret->time_s += (path->s[i] - path->s[i - 1]) / v;
    }
    return PONS_OK;
}

int pons_ground_plan(pons_ground *g, pons_pose2 from, pons_pose2 to, pons_ground_way *ret,
                     pons_error *err)
{
    char why[MESSAGE_MAX] = "";
    pons__path *path = malloc(sizeof *path); // 128 kB
    if (!path) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a way");
    }
    const int code = pons__planner_plan(g->planner, from, to, path, why, sizeof why);
    const int rc = code == PONS_NAV_OK
                       ? take(g, path, ret, err)
                       : pons_error_set(err, PONS_ENOTFOUND, MODULE, "%d: %s", code, why);
    free(path);
    return rc;
}

void pons_ground_way_clear(pons_ground_way *w)
{
    free(w->x);
    free(w->y);
    *w = (pons_ground_way){0};
}
