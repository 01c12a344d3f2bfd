// planner.c - a path over the grid: A*, then straightened and rounded.
//
// 1. Cost. A place nearer to an obstacle than radius + MARGIN is forbidden: the robot would touch
//    (Nav2's inscribed radius). The middle of a gap lies up to half a cell beside a cell's, so of cells
//    that much less is asked for. Further out a metre costs more the nearer the obstacle is, falling
//    off exponentially, so that paths keep to the middle of doors and away from corners:
//
//        cost of a metre   1 + NEAR_COST · exp(−(dist − radius − MARGIN) / NEAR_FALLOFF_M)
//
//    MARGIN is more than the gate before the wheels leaves, by what the controller strays from its
//    path: a gap that is planned through can be driven through. A metre within SPOT_M of a place
//    where progress failed costs SPOT_COST more for SPOT_S, so that another way is taken if there
//    is one.
//
// 2. Search. A* over the cells (astar.c). A house is searched whole. In a map of more than WHOLE
//    tiles, which parts hang together is looked at first (connected_regions.c): that says at once whether there
//    is a way at all, and through which tiles; only those and the ones beside them are searched, in
//    legs of at most LEG tiles, so that neither time nor memory grow with the map's area.
//
// 3. Straighten (path_smoothing.c). From each kept point, the furthest later one whose straight line costs no more
//    than the path between them: the same cost decides, so clearance is kept.
//
// 4. Round. Resampled evenly, then relaxed towards the middle of its neighbours wherever that does
//    not cost clearance that matters.
//
// 5. Headings (planner_headings.c). A robot that is not round, or cannot turn where it stands, or is asked for by a planner's name, is
// planned for by heading as well (hybrid_astar.c), along the way of the cells: all of a small map at once, a large
// one in stretches of STRETCH_M, of which the last metres are planned again with the next. Where there is no way
// for its shape, the cells' search is made to look elsewhere, DETOURS times, by what is dear around where it ended.
//
// A start or goal that is too near to something is moved to the nearest free place (0.4 m, 0.3 m).
//
//     begin -> REGIONS -> SEARCH, leg by leg -> HEADING -> SHAPE -> path   each step: so much, no more
//                 | no way                        straighten, round
//                 v
//                208
#include "body/planner/planner.h"

#include "body/planner/planner_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT = 16,   // cost of a metre in the open
    WHOLE = 256, // tiles of a map that is searched whole
    LEG = 400,   // tiles of the way that are searched at a time
    REGION = 8   // cells that a region counts as, in a step
};
static const double SPOT_S = 180.0;
static const double NEAR_FALLOFF_M = 0.15;
static const double GOAL_MOVE_M = 0.3;

// ---- start and goal -----------------------------------------------------------------------------

static bool is_free(const pons__planner *p, int cx, int cy)
{
    return p->cost[pons__costmap_level(p->grid, (size_t)cy * (size_t)p->grid->w + (size_t)cx)] != 0;
}

// Is there no occupied cell on the straight line? (Being too near to one is no matter here.)
static bool line_unoccupied(const pons__costmap *g, double ax, double ay, double bx, double by)
{
    const double len = hypot(bx - ax, by - ay);
    const int n = (int)ceil(len / (0.5 * g->res));
    for (int i = 1; i < n; i++) {
        const double t = (double)i / n;
        if (pons__costmap_dist(g, ax + t * (bx - ax), ay + t * (by - ay)) <= 0.0f) {
            return false;
        }
    }
    return true;
}

// The free cell nearest to a point within reach; with in_sight, only by an unoccupied line.
static bool nearest_free(const pons__planner *p, double x, double y, double reach, bool in_sight,
                         place *ret)
{
    const pons__costmap *g = p->grid;
    const int r = (int)ceil(reach / g->res), cx = pons__costmap_col(g, x),
              cy = pons__costmap_row(g, y);
    double best = reach * reach;
    bool found = false;
    for (int dy = -r; dy <= r; dy++) {
        for (int dx = -r; dx <= r; dx++) {
            const int nx = cx + dx, ny = cy + dy;
            if (!pons__costmap_inside(g, nx, ny) || !is_free(p, nx, ny)) {
                continue;
            }
            const double mx = pons__costmap_x(g, nx), my = pons__costmap_y(g, ny);
            const double d2 = (mx - x) * (mx - x) + (my - y) * (my - y);
            if (d2 < best && (!in_sight || line_unoccupied(g, x, y, mx, my))) {
                best = d2;
                *ret = (place){nx, ny, mx, my, true};
                found = true;
            }
        }
    }
    return found;
}

static int outside(const pons__costmap *g, const char *what, double x, double y, int code,
                   char *msg, size_t cap)
{
    snprintf(msg, cap, "%s (%.2f, %.2f) is outside the map [%.2f, %.2f, %.2f, %.2f]", what, x, y,
             g->x0, g->y0, g->x0 + g->w * g->res, g->y0 + g->h * g->res);
    return code;
}

static bool locate(const pons__costmap *g, double x, double y, place *ret)
{
    const double fx = (x - g->x0) * g->inv_res, fy = (y - g->y0) * g->inv_res;
    if (!(fx >= 0.0 && fy >= 0.0 && fx < g->w && fy < g->h)) {
        return false;
    }
    *ret = (place){(int)fx, (int)fy, x, y, false};
    return true;
}

// Why no plan can begin or end at a place. A wall and an unknown cell are permanent: they block a goal for good.
typedef enum cause { IN_AREA, NEAR_AREA, IN_WALL, IN_UNKNOWN, NEAR_OBSTACLE } cause;

// *ret_m: distance from the place to what is too near.
static cause cause_of(const pons__planner *p, pons_pose2 at, bool start, double *ret_m,
                      char area[PONS__AREA_NAME_MAX])
{
    const pons__costmap *g = p->grid;
    const int cx = pons__costmap_col(g, at.x), cy = pons__costmap_row(g, at.y);
    const double d = (double)pons__costmap_dist(g, at.x, at.y);
    const double out =
        pons__area_nearest(g->area, at.x, at.y, p->forbidden, area, PONS__AREA_NAME_MAX);
    *ret_m = out <= d + g->res ? out : d;
    if (out <= d + g->res) {
        return out == 0.0 ? IN_AREA : NEAR_AREA;
    }
    if (start || g->fixed[(size_t)cy * (size_t)g->w + (size_t)cx] != 0) {
        return NEAR_OBSTACLE;
    }
    return pons__costmap_is_static(g, cx, cy) ? IN_WALL : IN_UNKNOWN;
}

static int taken(pons__planner *p, int code, pons_pose2 at, double reach, char *msg, size_t cap)
{
    static const char *const words[2][2] = {{"goal", "choose a place outside"},
                                            {"start", "drive the robot out by hand"}};
    static const char *const where[] = {
        [IN_WALL] = "in a wall or a box of the map", [IN_UNKNOWN] = "in unknown space of the map"};
    const bool start = code == PONS_PLAN_START_OCCUPIED;
    const char *what = words[start][0], *then = words[start][1];
    char area[PONS__AREA_NAME_MAX];
    double m = 0.0;
    const cause by = cause_of(p, at, start, &m, area);
    p->shut_by_map = by == IN_WALL || by == IN_UNKNOWN;
    switch (by) {
    case IN_AREA:
        snprintf(msg, cap, "%s (%.2f, %.2f) lies in the keep-out area %s; %s", what, at.x, at.y,
                 area, then);
        return PONS_PLAN_KEEP_OUT;
    case NEAR_AREA:
        snprintf(msg, cap, "%s (%.2f, %.2f) is %.2f m from the keep-out area %s, %.2f m needed; %s",
                 what, at.x, at.y, m, area, p->forbidden, then);
        return PONS_PLAN_KEEP_OUT;
    case IN_WALL:
    case IN_UNKNOWN:
        snprintf(msg, cap, "%s (%.2f, %.2f) lies %s, and no place within %.2f m is free", what,
                 at.x, at.y, where[by], reach);
        return code;
    case NEAR_OBSTACLE:
        snprintf(msg, cap,
                 "%s (%.2f, %.2f) is %.2f m from an obstacle, %.2f m needed, and no place within "
                 "%.2f m is free",
                 what, at.x, at.y, m, p->forbidden, reach);
    }
    return code;
}

static int check_start(pons__planner *p, pons_pose2 start, place *ret, char *msg, size_t cap)
{
    if (!locate(p->grid, start.x, start.y, ret)) {
        return outside(p->grid, "start", start.x, start.y, PONS_PLAN_START_OUTSIDE_MAP, msg, cap);
    }
    if (is_free(p, ret->cx, ret->cy)) {
        return PONS_NAV_OK;
    }
    const double d = (double)pons__costmap_dist(p->grid, start.x, start.y);
    if (d <= 0.0 || !nearest_free(p, start.x, start.y, START_MOVE_M, true, ret)) {
        return taken(p, PONS_PLAN_START_OCCUPIED, start, START_MOVE_M, msg, cap);
    }
    return PONS_NAV_OK;
}

static int check_goal(pons__planner *p, pons_pose2 goal, place *ret, char *msg, size_t cap)
{
    if (!locate(p->grid, goal.x, goal.y, ret)) {
        return outside(p->grid, "goal", goal.x, goal.y, PONS_PLAN_GOAL_OUTSIDE_MAP, msg, cap);
    }
    if (is_free(p, ret->cx, ret->cy)) {
        return PONS_NAV_OK;
    }
    // In sight first: not the far side of the wall that it is too near to.
    if (!nearest_free(p, goal.x, goal.y, GOAL_MOVE_M, true, ret) &&
        !nearest_free(p, goal.x, goal.y, GOAL_MOVE_M, false, ret)) {
        return taken(p, PONS_PLAN_GOAL_OCCUPIED, goal, GOAL_MOVE_M, msg, cap);
    }
    return PONS_NAV_OK;
}

// ---- legs ---------------------------------------------------------------------------------------

// Begins the next leg: through the tiles of the regions' way, and those beside them.
static bool next_leg(pons__planner *p)
{
    const int way = pons__regions_way(p->regions);
    const int end = p->leg_from + LEG < way - 1 ? p->leg_from + LEG : way - 1;
    int ax = p->from.cx, ay = p->from.cy, bx = p->to.cx, by = p->to.cy;
    if (p->leg_from > 0) {
        pons__regions_cell(p->regions, p->leg_from, &ax, &ay);
    }
    if (end < way - 1) {
        pons__regions_cell(p->regions, end, &bx, &by);
    }
    pons__search_allow_none(p->search);
    for (int i = p->leg_from; i <= end; i++) {
        pons__search_allow(p->search, pons__regions_tile(p->regions, i));
    }
    p->leg_from = end;
    return pons__search_begin(p->search, ax, ay, bx, by,
                              p->n_spots > 0 || p->by.detours > 0 ? pons__planner_spot_cost : NULL,
                              p);
}

// The cells of the leg that was found, behind those that there are.
static bool take_leg(pons__planner *p)
{
    const pons__costmap *g = p->grid;
    int n = 0;
    int32_t *way = pons__search_way(p->search, &n);
    if (!way || !pons__planner_grow(p, n)) {
        free(way);
        return false;
    }
    p->expanded += pons__search_searched(p->search);
    pons__search_end(p->search);
    for (int i = p->n_lattice > 0 ? 1 : 0; i < n; i++) { // a later leg begins where the last ended
        p->px[p->n_lattice] = pons__costmap_x(g, way[i] % g->w);
        p->py[p->n_lattice++] = pons__costmap_y(g, way[i] / g->w);
    }
    free(way);
    if (p->n_lattice == 1) { // start and goal share a cell
        p->px[1] = p->px[0];
        p->py[1] = p->py[0];
        p->n_lattice = 2;
    }
    return true;
}

// ---- public functions ---------------------------------------------------------------------------

pons__planner *pons__planner_create(pons__costmap *grid, double radius_m)
{
    pons__planner *p = calloc(1, sizeof *p);
    if (!p) {
        return NULL;
    }
    p->grid = grid;
    p->radius = radius_m;
    const pons_footprint circle = pons_footprint_circle(radius_m);
    pons__shape_of(&circle, &p->by.round);
    p->by.shape = &p->by.round;
    p->margin_m = fmax(MARGIN_M - 0.5 * grid->res, GATE_M);
    p->forbidden = radius_m + p->margin_m;
    for (int k = 0; k < PONS__LEVELS; k++) {
        const double d = (double)grid->metres[k];
        const double near = exp(-(d - radius_m - MARGIN_M) / NEAR_FALLOFF_M);
        p->metre[k] = d < p->forbidden ? INFINITY : (float)(1.0 + NEAR_COST * near);
        p->cost[k] = d < p->forbidden ? 0 : (uint16_t)lround(UNIT * (1.0 + NEAR_COST * near));
    }
    const int tiles = ((grid->w - 1) / PONS__TILE + 1) * ((grid->h - 1) / PONS__TILE + 1);
    p->search = pons__search_create(grid, p->cost, UNIT);
    p->regions = tiles > WHOLE ? pons__regions_create(grid, p->cost, UNIT) : NULL;
    p->qx = calloc(PONS__PATH_MAX, sizeof *p->qx);
    p->qy = calloc(PONS__PATH_MAX, sizeof *p->qy);
    if (!p->search || (tiles > WHOLE && !p->regions) || !p->qx || !p->qy) {
        pons__planner_destroy(p);
        return NULL;
    }
    return p;
}

pons__planner *pons__planner_create_for(pons__costmap *grid, const pons__shape *shape,
                                        double turning_radius_m)
{
    pons__planner *p = pons__planner_create(grid, shape->inscribed_m);
    if (p) {
        p->by.shape = shape;
        p->by.turning_radius_m = turning_radius_m;
    }
    return p;
}

void pons__planner_use(pons__planner *p, pons__plan_kind kind)
{
    p->by.asked = kind;
}

void pons__planner_destroy(pons__planner *p)
{
    if (!p) {
        return;
    }
    pons__regions_destroy(p->regions);
    pons__search_destroy(p->search);
    pons__heading_destroy(p->by.search);
    free(p->by.rx);
    free(p->by.ry);
    free(p->px);
    free(p->py);
    free(p->qx);
    free(p->qy);
    free(p);
}

void pons__planner_now(pons__planner *p, int64_t now_ns)
{
    int kept = 0;
    for (int i = 0; i < p->n_spots; i++) {
        if (p->spots[i].until_ns > now_ns) {
            p->spots[kept++] = p->spots[i];
        }
    }
    p->n_spots = kept;
}

void pons__planner_avoid(pons__planner *p, double x, double y, int64_t now_ns)
{
    if (p->n_spots == SPOTS) {
        memmove(p->spots, p->spots + 1, sizeof p->spots - sizeof p->spots[0]);
        p->n_spots--;
    }
    p->spots[p->n_spots].x = x;
    p->spots[p->n_spots].y = y;
    p->spots[p->n_spots++].until_ns = now_ns + (int64_t)(SPOT_S * 1e9);
}

static int begin_cells(pons__planner *p, char *ret_msg, size_t msg_cap)
{
    pons__extra_cost *extra = p->n_spots > 0 || p->by.detours > 0 ? pons__planner_spot_cost : NULL;
    p->n_lattice = p->leg_from = 0;
    if (p->regions) {
        p->stage = REGIONS;
        return pons__regions_begin(p->regions, p->from.cx, p->from.cy, p->to.cx, p->to.cy, extra, p)
                   ? PONS__PLAN_GOES_ON
                   : pons__planner_no_memory(ret_msg, msg_cap);
    }
    p->stage = SEARCH;
    pons__search_allow_all(p->search);
    return pons__search_begin(p->search, p->from.cx, p->from.cy, p->to.cx, p->to.cy, extra, p)
               ? PONS__PLAN_GOES_ON
               : pons__planner_no_memory(ret_msg, msg_cap);
}

int pons__planner_begin(pons__planner *p, pons_pose2 start, pons_pose2 goal, char *ret_msg,
                        size_t msg_cap)
{
    pons__planner_drop(p);
    p->shut_by_map = false;
    pons__costmap_refresh(p->grid);
    int code = check_start(p, start, &p->from, ret_msg, msg_cap);
    if (code == PONS_NAV_OK) {
        code = check_goal(p, goal, &p->to, ret_msg, msg_cap);
    }
    if (code != PONS_NAV_OK) {
        return code;
    }
    p->start = start;
    p->goal = goal;
    p->expanded = p->by.searched = p->by.detours = p->by.n_shut = 0;
    p->by.kind = p->by.turning_radius_m > 0.0                            ? PONS__PLAN_CURVES
                 : p->by.asked == PONS__PLAN_CELLS && p->by.shape->n > 0 ? PONS__PLAN_TURNS
                                                                         : p->by.asked;
    return begin_cells(p, ret_msg, msg_cap);
}

void pons__planner_drop(pons__planner *p)
{
    if (p->stage != IDLE) {
        pons__search_end(p->search);
        if (p->regions) {
            pons__regions_end(p->regions);
        }
    }
    if (p->by.search) {
        pons__heading_end(p->by.search);
    }
    p->stage = IDLE;
    p->n_lattice = p->leg_from = 0;
}

int pons__planner_searched(const pons__planner *p)
{
    return p->expanded + (p->stage == SEARCH ? pons__search_searched(p->search) : 0) +
           p->by.searched;
}

bool pons__planner_is_large(const pons__planner *p)
{
    return p->regions != NULL || p->by.kind != PONS__PLAN_CELLS;
}

bool pons__planner_shut_by_map(const pons__planner *p)
{
    return p->shut_by_map;
}

static int no_way(pons__planner *p, char *msg, size_t cap)
{
    char where[64];
    if (p->stage == REGIONS) {
        snprintf(where, sizeof where, "%d regions", pons__regions_searched(p->regions));
    } else {
        snprintf(where, sizeof where, "%d cells", pons__planner_searched(p));
    }
    snprintf(msg, cap,
             "no way from (%.2f, %.2f) to (%.2f, %.2f) for a radius of %.2f m: %s searched, %d "
             "cells of obstacles",
             p->start.x, p->start.y, p->goal.x, p->goal.y, p->radius, where, p->grid->n_obstacles);
    if (pons__area_has_keep_out(p->grid->area)) {
        const size_t n = strlen(msg);
        char areas[PONS__AREA_NAME_MAX];
        pons__area_ids(p->grid->area, areas, sizeof areas);
        snprintf(msg + n, cap - n, "; keep-out areas: %s", areas);
    }
    pons__planner_drop(p);
    return PONS_PLAN_NO_VALID_PATH;
}

static int step_regions(pons__planner *p, int cells, char *ret_msg, size_t msg_cap)
{
    const int found = pons__regions_step(p->regions, cells / REGION > 1 ? cells / REGION : 1);
    if (found < 0) {
        return no_way(p, ret_msg, msg_cap);
    }
    if (found == 0) {
        return PONS__PLAN_GOES_ON;
    }
    p->stage = SEARCH;
    return next_leg(p) ? PONS__PLAN_GOES_ON : pons__planner_no_memory(ret_msg, msg_cap);
}

int pons__planner_step(pons__planner *p, int cells, pons__path *ret_path, char *ret_msg,
                       size_t msg_cap)
{
    if (p->stage == REGIONS) {
        return step_regions(p, cells, ret_msg, msg_cap);
    }
    if (p->stage == SEARCH) {
        const int before = pons__search_searched(p->search);
        const int found = pons__search_step(p->search, cells);
        if (found < 0) {
            return no_way(p, ret_msg, msg_cap);
        }
        if (found == 0) {
            return PONS__PLAN_GOES_ON;
        }
        const bool small = pons__search_searched(p->search) - before < cells / 2;
        if (!take_leg(p)) {
            return pons__planner_no_memory(ret_msg, msg_cap);
        }
        if (p->regions && p->leg_from < pons__regions_way(p->regions) - 1) {
            return next_leg(p) ? PONS__PLAN_GOES_ON : pons__planner_no_memory(ret_msg, msg_cap);
        }
        if (p->by.kind != PONS__PLAN_CELLS) {
            p->stage = HEADING;
            return pons__planner_take_route(p) && pons__planner_next_stretch(p)
                       ? PONS__PLAN_GOES_ON
                       : pons__planner_no_memory(ret_msg, msg_cap);
        }
        p->stage = SHAPE;
        if (p->regions && !small) {
            return PONS__PLAN_GOES_ON; // the rest is a slice of its own
        }
    }
    if (p->stage == HEADING) {
        const int code = pons__planner_step_heading(p, cells, ret_msg, msg_cap);
        if (code == PLANNER_ELSEWHERE) {
            return begin_cells(p, ret_msg, msg_cap);
        }
        if (code > PONS_NAV_OK) {
            pons__planner_drop(p);
        }
        if (code != PONS_NAV_OK) {
            return code;
        }
    }
    pons__planner_shape(p, ret_path);
    pons__planner_drop(p);
    return PONS_NAV_OK;
}

int pons__planner_plan(pons__planner *p, pons_pose2 start, pons_pose2 goal, pons__path *ret_path,
                       char *ret_msg, size_t msg_cap)
{
    int code = pons__planner_begin(p, start, goal, ret_msg, msg_cap);
    while (code == PONS__PLAN_GOES_ON) {
        code = pons__planner_step(p, 1000000, ret_path, ret_msg, msg_cap);
    }
    return code;
}
