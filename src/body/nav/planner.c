// planner.c - a path over the grid: A*, then straightened and rounded.
//
// 1. Cost. A place nearer to an obstacle than radius + MARGIN is forbidden: the robot would touch
//    (Nav2's inscribed radius). Further out a metre costs more the nearer the obstacle is, falling
//    off exponentially, so that paths keep to the middle of doors and away from corners:
//
//        cost of a metre   1 + NEAR_COST · exp(−(dist − forbidden) / NEAR_FALLOFF_M)
//
//    MARGIN is more than the gate before the wheels leaves, by what the controller strays from its
//    path: a gap that is planned through can be driven through. A metre within SPOT_M of a place
//    where progress failed costs SPOT_COST more for SPOT_S, so that another way is taken if there
//    is one.
//
// 2. Search. A* over the cells (search.c). A house is searched whole. In a map of more than WHOLE
//    tiles, which parts hang together is looked at first (regions.c): that says at once whether there
//    is a way at all, and through which tiles; only those and the ones beside them are searched, in
//    legs of at most LEG tiles, so that neither time nor memory grow with the map's area.
//
// 3. Straighten. From each kept point, the furthest later one whose straight line costs no more
//    than the path between them: the same cost decides, so clearance is kept.
//
// 4. Round. Resampled evenly, then relaxed towards the middle of its neighbours wherever that does
//    not cost clearance that matters.
//
// 5. Headings. A robot that is not round, or cannot turn where it stands, or is asked for by a planner's name, is
// planned for by heading as well (heading.c), along the way of the cells: all of a small map at once, a large
// one in stretches of STRETCH_M, of which the last metres are planned again with the next. Where there is no way
// for its shape, the cells' search is made to look elsewhere, DETOURS times.
//
// A start or goal that is too near to something is moved to the nearest free place (0.4 m, 0.3 m).
//
//     begin -> REGIONS -> SEARCH, leg by leg -> HEADING -> SHAPE -> path   each step: so much, no more
//                 | no way                        straighten, round
//                 v
//                208
#include "body/nav/heading.h"
#include "body/nav/parts.h"
#include "body/nav/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT = 16,      // cost of a metre in the open
    WHOLE = 256,    // tiles of a map that is searched whole
    LEG = 400,      // tiles of the way that are searched at a time
    REGION = 8,     // cells that a region counts as, in a step
    LOOK_MAX = 400, // cells that straightening looks ahead: more would take a square of time
    SPOTS = 8,
    DETOURS = 4,
    RELAXATIONS = 40
};
static const double MARGIN_M = 0.10; // the gate's 0.05, and 0.05 for tracking
static const double SPOT_M = 0.5, SPOT_S = 180.0;
static const double SPOT_COST = 20.0;
static const double NEAR_COST = 5.0;
static const double NEAR_FALLOFF_M = 0.15;
static const double START_MOVE_M = 0.4;
static const double GOAL_MOVE_M = 0.3;
static const double EASY_M = 0.45; // clearance that rounding a corner may come down to
static const double SPACING_M = 0.05;
static const double WHOLE_M = 32.0;   // a map of such sides is planned by heading at once,
static const double STRETCH_M = 20.0; // a larger one in stretches of such sides
static const double AGAIN_M = 3.0;    // of which so much is planned again,
static const double ABOUT_M = 3.0, WIDE_M = 8.0; // with so much around them
static const double NEAR_M = 0.4;                // that a stretch's end is met by
static const double SHORTCUT_SLACK = 1.02; // rounding of the lattice is no reason to keep a corner

typedef struct place {
    int cx, cy;
    double x, y;
    bool moved;
} place;

typedef enum stage { IDLE, REGIONS, SEARCH, HEADING, SHAPE } stage;

typedef struct headed { // the search by heading, along the cells' way
    pons__heading *search;
    const pons__shape *shape; // borrowed
    pons__shape round;        // what it is of a circle
    double turning_radius_m;
    pons__plan_kind asked, kind;
    double *rx, *ry; // (n_route) the cells' way
    int n_route, route_at, route_to;
    pons_pose2 at; // where the next stretch begins
    bool wide;     // this stretch has failed once, and looks further about
    int searched, detours;
    struct {
        double x, y;
    } shut[DETOURS];
} headed;

struct pons__planner {
    pons__costmap *grid; // borrowed
    double radius, forbidden;
    uint16_t cost[PONS__LEVELS]; // by level of distance; 0: forbidden
    float metre[PONS__LEVELS];   // the same as a factor, for smoothing
    pons__regions *regions;      // NULL: the map is searched whole
    pons__search *search;
    headed by;

    // the search that is under way
    stage stage;
    pons_pose2 start, goal;
    place from, to;
    int leg_from; // of the regions' way, where this leg begins
    int n_lattice, cap_lattice;
    double *px, *py; // (n_lattice) the cells of the path, as points
    double *qx, *qy; // (PONS__PATH_MAX) scratch
    int expanded;    // cells, by this search
    struct {
        double x, y;
        int64_t until_ns;
    } spots[SPOTS]; // places where progress failed, the newest last
    int n_spots;
};

static int check_start(pons__planner *p, pons_pose2 start, place *ret, char *msg, size_t cap);
static int check_goal(pons__planner *p, pons_pose2 goal, place *ret, char *msg, size_t cap);
static double spot_cost(const void *planner, double x, double y);
static int begin_cells(pons__planner *p, char *ret_msg, size_t msg_cap);
static bool take_route(pons__planner *p);
static bool next_stretch(pons__planner *p);
static int step_heading(pons__planner *p, int cells, char *ret_msg, size_t msg_cap);
static bool next_leg(pons__planner *p);
static bool take_leg(pons__planner *p);
static void shape(pons__planner *p, pons__path *ret);
static int straighten(pons__planner *p, int n);
static bool headed_free(const pons__planner *p, const pons__path *path, int i, double margin_m);
static void resample(pons__planner *p, int n, pons__path *ret);

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
    p->forbidden = radius_m + MARGIN_M;
    for (int k = 0; k < PONS__LEVELS; k++) {
        const double d = (double)grid->metres[k];
        const double near = exp(-(d - p->forbidden) / NEAR_FALLOFF_M);
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

// The level at a point; 0 outside the map.
static inline uint8_t level_at(const pons__costmap *g, double x, double y)
{
    const double fx = (x - g->x0) * g->inv_res, fy = (y - g->y0) * g->inv_res;
    if (!(fx >= 0.0 && fy >= 0.0 && fx < g->w && fy < g->h)) {
        return 0;
    }
    return pons__costmap_level(g, (size_t)(int)fy * (size_t)g->w + (size_t)(int)fx);
}

// What a metre here costs more, after what has happened.
static double spot_cost(const void *planner, double x, double y)
{
    const pons__planner *p = planner;
    for (int i = 0; i < p->n_spots; i++) {
        const double dx = x - p->spots[i].x, dy = y - p->spots[i].y;
        if (dx * dx + dy * dy < SPOT_M * SPOT_M) {
            return SPOT_COST;
        }
    }
    for (int i = 0; i < p->by.detours; i++) {
        const double dx = x - p->by.shut[i].x, dy = y - p->by.shut[i].y;
        if (dx * dx + dy * dy < SPOT_M * SPOT_M) {
            return SPOT_COST;
        }
    }
    return 0.0;
}

// Cost of a metre here; INFINITY where forbidden.
static inline double metre_cost(const pons__planner *p, double x, double y)
{
    return (double)p->metre[level_at(p->grid, x, y)] + spot_cost(p, x, y);
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

static int no_memory(char *msg, size_t cap)
{
    snprintf(msg, cap, "no memory for a search");
    return PONS_PLAN_UNKNOWN;
}

int pons__planner_begin(pons__planner *p, pons_pose2 start, pons_pose2 goal, char *ret_msg,
                        size_t msg_cap)
{
    pons__planner_drop(p);
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
    p->expanded = p->by.searched = p->by.detours = 0;
    p->by.kind = p->by.turning_radius_m > 0.0                            ? PONS__PLAN_CURVES
                 : p->by.asked == PONS__PLAN_CELLS && p->by.shape->n > 0 ? PONS__PLAN_TURNS
                                                                         : p->by.asked;
    return begin_cells(p, ret_msg, msg_cap);
}

static int begin_cells(pons__planner *p, char *ret_msg, size_t msg_cap)
{
    pons__extra_cost *extra = p->n_spots > 0 || p->by.detours > 0 ? spot_cost : NULL;
    p->n_lattice = p->leg_from = 0;
    if (p->regions) {
        p->stage = REGIONS;
        return pons__regions_begin(p->regions, p->from.cx, p->from.cy, p->to.cx, p->to.cy, extra, p)
                   ? PONS__PLAN_GOES_ON
                   : no_memory(ret_msg, msg_cap);
    }
    p->stage = SEARCH;
    pons__search_allow_all(p->search);
    return pons__search_begin(p->search, p->from.cx, p->from.cy, p->to.cx, p->to.cy, extra, p)
               ? PONS__PLAN_GOES_ON
               : no_memory(ret_msg, msg_cap);
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
    pons__planner_drop(p);
    return PONS_PLAN_NO_VALID_PATH;
}

int pons__planner_step(pons__planner *p, int cells, pons__path *ret_path, char *ret_msg,
                       size_t msg_cap)
{
    if (p->stage == REGIONS) {
        const int regions = cells / REGION > 1 ? cells / REGION : 1;
        const int found = pons__regions_step(p->regions, regions);
        if (found < 0) {
            return no_way(p, ret_msg, msg_cap);
        }
        if (found > 0) {
            p->stage = SEARCH;
            return next_leg(p) ? PONS__PLAN_GOES_ON : no_memory(ret_msg, msg_cap);
        }
        return PONS__PLAN_GOES_ON;
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
            return no_memory(ret_msg, msg_cap);
        }
        if (p->regions && p->leg_from < pons__regions_way(p->regions) - 1) {
            return next_leg(p) ? PONS__PLAN_GOES_ON : no_memory(ret_msg, msg_cap);
        }
        if (p->by.kind != PONS__PLAN_CELLS) {
            p->stage = HEADING;
            return take_route(p) && next_stretch(p) ? PONS__PLAN_GOES_ON
                                                    : no_memory(ret_msg, msg_cap);
        }
        p->stage = SHAPE;
        if (p->regions && !small) {
            return PONS__PLAN_GOES_ON; // the rest is a slice of its own
        }
    }
    if (p->stage == HEADING) {
        const int code = step_heading(p, cells, ret_msg, msg_cap);
        if (code != PONS_NAV_OK) {
            return code;
        }
    }
    shape(p, ret_path);
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

static void shape(pons__planner *p, pons__path *ret)
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
    const float m = p->metre[level_at(p->grid, path->x[i], path->y[i])];
    return (path->s[i] - path->s[i - 1]) *
           ((isinf(m) ? 1.0 + NEAR_COST : (double)m) + spot_cost(p, path->x[i], path->y[i]));
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
        snprintf(msg, cap,
                 "start (%.2f, %.2f) is %.2f m from an obstacle, %.2f m needed, and nowhere free "
                 "within %.2f m",
                 start.x, start.y, d, p->forbidden, START_MOVE_M);
        return PONS_PLAN_START_OCCUPIED;
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
        snprintf(msg, cap,
                 "goal (%.2f, %.2f) is %.2f m from an obstacle, %.2f m needed, and nowhere free "
                 "within %.2f m",
                 goal.x, goal.y, (double)pons__costmap_dist(p->grid, goal.x, goal.y), p->forbidden,
                 GOAL_MOVE_M);
        return PONS_PLAN_GOAL_OCCUPIED;
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
                              p->n_spots > 0 || p->by.detours > 0 ? spot_cost : NULL, p);
}

// Room for the points of one leg more, and two besides.
static bool grow_lattice(pons__planner *p, int more)
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

// The cells of the leg that was found, behind those that there are.
static bool take_leg(pons__planner *p)
{
    const pons__costmap *g = p->grid;
    int n = 0;
    int32_t *way = pons__search_way(p->search, &n);
    if (!way || !grow_lattice(p, n)) {
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

// ---- headings -----------------------------------------------------------------------------------

// The cells' way becomes what the search by heading follows; px, py are free for its own.
static bool take_route(pons__planner *p)
{
    headed *b = &p->by;
    double *rx = malloc(sizeof *rx * (size_t)p->n_lattice),
           *ry = malloc(sizeof *ry * (size_t)p->n_lattice);
    if (!b->search) {
        b->search = pons__heading_create(p->grid);
    }
    if (!rx || !ry || !b->search) {
        free(rx);
        free(ry);
        return false;
    }
    memcpy(rx, p->px, sizeof *rx * (size_t)p->n_lattice);
    memcpy(ry, p->py, sizeof *ry * (size_t)p->n_lattice);
    free(b->rx);
    free(b->ry);
    b->rx = rx;
    b->ry = ry;
    b->n_route = p->n_lattice;
    b->route_at = 0;
    b->wide = false;
    b->at = (pons_pose2){p->from.x, p->from.y, isfinite(p->start.yaw) ? p->start.yaw : 0.0};
    p->n_lattice = 0;
    return true;
}

static bool next_stretch(pons__planner *p)
{
    const pons__costmap *g = p->grid;
    headed *b = &p->by;
    double x0 = b->at.x, x1 = x0, y0 = b->at.y, y1 = y0;
    const bool whole = fmax(g->w, g->h) * g->res <= WHOLE_M;
    int to = b->route_at;
    for (; to < b->n_route; to++) {
        const double low_x = fmin(x0, b->rx[to]), high_x = fmax(x1, b->rx[to]),
                     low_y = fmin(y0, b->ry[to]), high_y = fmax(y1, b->ry[to]);
        if (!whole && fmax(high_x - low_x, high_y - low_y) > STRETCH_M) {
            break;
        }
        x0 = low_x;
        x1 = high_x;
        y0 = low_y;
        y1 = high_y;
    }
    b->route_to = to - 1 > b->route_at ? to - 1 : b->route_at;
    const bool last = to == b->n_route;
    const int about = (int)((b->wide ? WIDE_M : ABOUT_M) / g->res);
    pons__heading_task t = {
        .shape = b->shape,
        .metre = p->metre,
        .margin_m = MARGIN_M,
        .turning_radius_m = b->turning_radius_m,
        .turns = b->kind == PONS__PLAN_TURNS,
        .extra = p->n_spots > 0 || b->detours > 0 ? spot_cost : NULL,
        .user = p,
        .from = b->at,
        .to = last ? (pons_pose2){p->to.x, p->to.y, p->goal.yaw}
                   : (pons_pose2){b->rx[b->route_to], b->ry[b->route_to], NAN},
        .near_m = last ? 0.0 : NEAR_M,
        .x0 = whole ? 0 : pons__costmap_col(g, x0) - about,
        .y0 = whole ? 0 : pons__costmap_row(g, y0) - about,
        .x1 = whole ? g->w : pons__costmap_col(g, x1) + about,
        .y1 = whole ? g->h : pons__costmap_row(g, y1) + about,
    };
    t.x0 = t.x0 < 0 ? 0 : t.x0;
    t.y0 = t.y0 < 0 ? 0 : t.y0;
    t.x1 = t.x1 > g->w ? g->w : t.x1;
    t.y1 = t.y1 > g->h ? g->h : t.y1;
    return pons__heading_begin(b->search, &t);
}

// Adds the way of a stretch; what is before its last metres, unless it is the last one.
static bool take_stretch(pons__planner *p, bool last)
{
    headed *b = &p->by;
    int n = 0;
    pons_pose2 *way = pons__heading_way(b->search, &n);
    if (!way || !grow_lattice(p, n)) {
        free(way);
        return false;
    }
    int end = n - 1;
    for (double back = 0.0; !last && end > n / 2 && back < AGAIN_M; end--) {
        back += hypot(way[end].x - way[end - 1].x, way[end].y - way[end - 1].y);
    }
    for (int i = 0; i <= end; i++) {
        const int k = p->n_lattice - 1;
        if (k < 0 || hypot(way[i].x - p->px[k], way[i].y - p->py[k]) > 1e-6) {
            p->px[p->n_lattice] = way[i].x;
            p->py[p->n_lattice++] = way[i].y;
        }
    }
    b->at = way[end];
    free(way);
    double best = INFINITY;
    for (int i = b->route_at, from = i; i <= b->route_to; i++) {
        const double d = hypot(b->rx[i] - b->at.x, b->ry[i] - b->at.y);
        if (d < best) {
            best = d;
            b->route_at = i > from ? i : from + 1;
        }
    }
    if (last && p->n_lattice == 1) { // it has only turned
        p->px[1] = p->px[0];
        p->py[1] = p->py[0];
        p->n_lattice = 2;
    }
    return true;
}

// A place that its shape does not pass: the cells' way must lead elsewhere.
static bool detour(pons__planner *p)
{
    headed *b = &p->by;
    const pons_pose2 at = pons__heading_furthest(b->search);
    if (b->detours == DETOURS || hypot(at.x - p->to.x, at.y - p->to.y) < SPOT_M) {
        return false;
    }
    b->shut[b->detours].x = at.x;
    b->shut[b->detours++].y = at.y;
    return true;
}

static int step_heading(pons__planner *p, int cells, char *ret_msg, size_t msg_cap)
{
    headed *b = &p->by;
    const bool whole = fmax(p->grid->w, p->grid->h) * p->grid->res <= WHOLE_M;
    const int found = pons__heading_step(b->search, cells);
    if (found == 0) {
        return PONS__PLAN_GOES_ON;
    }
    b->searched += pons__heading_searched(b->search);
    if (found > 0) {
        const bool last = b->route_to == b->n_route - 1;
        const bool taken = take_stretch(p, last);
        pons__heading_end(b->search);
        if (!taken) {
            pons__planner_drop(p);
            return no_memory(ret_msg, msg_cap);
        }
        b->wide = false;
        return last              ? PONS_NAV_OK
               : next_stretch(p) ? PONS__PLAN_GOES_ON
                                 : no_memory(ret_msg, msg_cap);
    }
    if (!whole && !b->wide) {
        b->wide = true;
        return next_stretch(p) ? PONS__PLAN_GOES_ON : no_memory(ret_msg, msg_cap);
    }
    if (!whole && detour(p)) {
        pons__heading_end(b->search);
        return begin_cells(p, ret_msg, msg_cap);
    }
    snprintf(ret_msg, msg_cap,
             "no way from (%.2f, %.2f) to (%.2f, %.2f) for its footprint and curves: %d headings "
             "searched%s",
             p->start.x, p->start.y, p->goal.x, p->goal.y, b->searched,
             found == -2 ? ", and given up" : "");
    pons__planner_drop(p);
    return found == -2 ? PONS_PLAN_TIMEOUT : PONS_PLAN_NO_VALID_PATH;
}

// ---- from cells to a path -----------------------------------------------------------------------

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
                if (turned &&
                    !(headed_free(p, path, i - 1, MARGIN_M) && headed_free(p, path, i, MARGIN_M) &&
                      headed_free(p, path, i + 1, MARGIN_M))) {
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
