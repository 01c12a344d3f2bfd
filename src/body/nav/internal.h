// internal.h - what the grids, the planner, the controller, the motions, the localiser and the
// navigator (navigator.c, nav_*.c) share with each other and with nobody else.
#ifndef PONS_BODY_NAV_INTERNAL_H
#define PONS_BODY_NAV_INTERNAL_H

#include "body/area/zone_grid.h"
#include "body/nav/navigator.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- grid ---------------------------------------------------------------------------------------

#define PONS__DIST_MAX_M    2.0f // distance fields stop here
#define PONS__SURFACE_MAX_M 1.0f // the surface field is right out to here

#define PONS__LEVELS       256 // of distance, a byte a cell: 0 occupied … 255 DIST_MAX or more
#define PONS__PATCH        64  // cells of a side of a patch of the surface field
#define PONS__PATCH_STRIDE (PONS__PATCH + 1) // it has the next patch's first row and column too

typedef struct pons__surface pons__surface; // distance_field.c

struct pons__costmap {
    double x0, y0; // corner of cell (0,0) in map [m]
    double res;    // edge of a cell [m]
    double inv_res;
    int w, h;

    uint8_t *fixed;    // (h,w) level of the distance to the nearest cell that is never free
    uint8_t *walls;    // (h,w) the same to a box's; is `fixed` where there are no areas
    uint8_t *near;     // (h,w) 255 - level of that to the nearest obstacle; 0: none in reach
    uint8_t *evidence; // (h,w) hits against passing beams, and PONS__OBSTACLE
    float metres[PONS__LEVELS]; // [m] what a level means: never more than the distance
    uint8_t *level_of;          // (reach² + 1) by squared distance in cells, between middles

    int32_t *seen; // (n_seen) cells whose evidence is not 0
    int32_t n_seen, cap_seen;
    int32_t n_obstacles;

    uint8_t *disc; // (2·reach+1, 2·reach+1) level of the distance from the middle cell
    int32_t reach; // PONS__DIST_MAX_M in cells

    int32_t *fresh; // (n_fresh) cells that became obstacles since dist was brought up to date
    int32_t n_fresh, cap_fresh;
    int32_t *gone; // (n_gone) and cells that stopped being obstacles
    int32_t n_gone, cap_gone;
    int64_t refill_stamp_ns, scan_stamp_ns; // of the last refill, of the last scan; robot time
    uint32_t generation;                    // of dist: rises whenever it changes,
    uint32_t openings;                      // and this when some of it may have risen
    uint32_t *changed; // (of patches) generation at which some of it changed last; NULL: not kept
    int patches_w, patches_h;

    pons__area *area;               // NULL: none; a window has none of its own
    pons__surface *surface;         // of the boxes; NULL: a window's, which looks into its map's
    const struct pons__costmap *of; // a window's map,
    int of_x, of_y;                 // and where its cell (0,0) lies in there
};

// Brings dist up to date now, whatever the rate limit says.
void pons__costmap_refresh(pons__costmap *g);

static inline int pons__costmap_col(const pons__costmap *g, double x)
{
    return (int)floor((x - g->x0) * g->inv_res);
}
static inline int pons__costmap_row(const pons__costmap *g, double y)
{
    return (int)floor((y - g->y0) * g->inv_res);
}
static inline bool pons__costmap_inside(const pons__costmap *g, int cx, int cy)
{
    return cx >= 0 && cy >= 0 && cx < g->w && cy < g->h;
}
static inline double pons__costmap_x(const pons__costmap *g, int cx)
{
    return g->x0 + (cx + 0.5) * g->res;
}
static inline double pons__costmap_y(const pons__costmap *g, int cy)
{
    return g->y0 + (cy + 0.5) * g->res;
}
// Level of the distance to the nearest occupied cell, of either layer.
static inline uint8_t pons__costmap_level(const pons__costmap *g, size_t cell)
{
    const uint8_t near = (uint8_t)(PONS__LEVELS - 1 - g->near[cell]);
    return g->fixed[cell] < near ? g->fixed[cell] : near;
}
// dist at a point; 0 outside the map.
static inline float pons__costmap_dist(const pons__costmap *g, double x, double y)
{
    const double fx = (x - g->x0) * g->inv_res, fy = (y - g->y0) * g->inv_res;
    if (!(fx >= 0.0 && fy >= 0.0 && fx < g->w && fy < g->h)) {
        return 0.0f;
    }
    return g->metres[pons__costmap_level(g, (size_t)(int)fy * (size_t)g->w + (size_t)(int)fx)];
}

#define PONS__OBSTACLE 0x80 // in evidence
static inline bool pons__costmap_is_obstacle(const pons__costmap *g, int32_t cell)
{
    return (g->evidence[cell] & PONS__OBSTACLE) != 0;
}

// The map's boxes alone: does one cover the cell's centre, and how far is the nearest such cell [m]?
static inline bool pons__costmap_is_static(const pons__costmap *g, int cx, int cy)
{
    return g->walls[(size_t)cy * (size_t)g->w + (size_t)cx] == 0;
}
static inline float pons__costmap_static_m(const pons__costmap *g, int cx, int cy)
{
    return g->metres[g->walls[(size_t)cy * (size_t)g->w + (size_t)cx]];
}

// distance_field.c: signed distance to the nearest box's face [m], inside negative, at most
// PONS__SURFACE_MAX_M. Worked out patch by patch where somebody looks; the newest are kept.
typedef struct pons__box {
    double x, y, c, s, hx, hy; // centre, cos and sin of yaw, half sizes
} pons__box;
pons__surface *pons__surface_create(const pons__costmap *g, const pons__box *boxes,
                                    int n);   // copies
void pons__surface_destroy(pons__surface *f); // NULL-safe
// The field at a cell, and from there on to the right and up (by PONS__PATCH_STRIDE) as far as the
// patch goes, which is one cell at least. Until the next call.
const float *pons__surface_at(pons__surface *f, int cx, int cy);
static inline float pons__costmap_surface(const pons__costmap *g, int cx, int cy)
{
    if (!g->of) {
        return *pons__surface_at(g->surface, cx, cy);
    }
    const int x = cx + g->of_x, y = cy + g->of_y;
    return pons__costmap_inside(g->of, x, y) ? *pons__surface_at(g->of->surface, x, y)
                                             : -PONS__SURFACE_MAX_M;
}

// Memory for g->w × g->h cells, all free; what levels mean, and the disc of them.
int pons__costmap_alloc(pons__costmap *g, pons_error *err);
// Its frame, its memory and its static layer: costmap_static.c.
int pons__costmap_read(pons__costmap *g, const pons_value *world, pons_error *err);
// Forgets the evidence within half_m of a point, to each side; or all but that.
void pons__costmap_clear_region(pons__costmap *g, double x, double y, double half_m, bool except);
// Makes dist anew from static_dist and the obstacles.
void pons__costmap_restamp(pons__costmap *g);

// What a place costs in Nav2's numbers: 254 occupied, 253 a robot of that radius would touch, else
// falling off exponentially from 252 with the distance; 0 beyond reach.
#define PONS__COST_LETHAL    254
#define PONS__COST_INSCRIBED 253
#define PONS__INFLATION_M    0.15 // falls to 1/e over this
static inline int pons__costmap_cost(const pons__costmap *g, double x, double y, double radius_m)
{
    const double d = (double)pons__costmap_dist(g, x, y);
    return d <= 0.0       ? PONS__COST_LETHAL
           : d < radius_m ? PONS__COST_INSCRIBED
                          : (int)(252.0 * exp(-(d - radius_m) / PONS__INFLATION_M));
}

// ---- shape: a footprint over the cells ----------------------------------------------------------

#define PONS__SHAPE_MAX 160
typedef struct pons__shape {
    int n;                                                             // discs; 0: round
    double x[PONS__SHAPE_MAX], y[PONS__SHAPE_MAX], r[PONS__SHAPE_MAX]; // (n) in base [m]
    double inscribed_m, circumscribed_m;
} pons__shape;
void pons__shape_of(const pons_footprint *f, pons__shape *ret);
// Is everything that is occupied at least margin_m from the robot at a pose? To the cell.
bool pons__shape_free(const pons__shape *s, const pons__costmap *g, pons_pose2 at, double margin_m);

// ---- window: the local costmap ------------------------------------------------------------------

// A grid of its own that goes with the robot: the map's boxes within reach_m to each side, and an
// obstacle layer of its own. What leaves the window is forgotten. NULL: no memory.
pons__costmap *pons__local_costmap_create(const pons__costmap *map, double reach_m);
// Keeps the robot in the middle half of it.
void pons__local_costmap_follow(pons__costmap *w, const pons__costmap *map, pons_pose2 pose_in_map);

// ---- path ---------------------------------------------------------------------------------------

#define PONS__PATH_MAX 4096

typedef struct pons__path {
    int n;                    // 0: none
    double x[PONS__PATH_MAX]; // [m] in map
    double y[PONS__PATH_MAX];
    double s[PONS__PATH_MAX];    // [m] from the start, along the path
    double left[PONS__PATH_MAX]; // [m] to the end, weighted by nearness to obstacles, as planned
    bool moved_goal;             // the goal was occupied: the path ends at the nearest free place
} pons__path;

static inline double pons__path_length(const pons__path *p)
{
    return p->n > 0 ? p->s[p->n - 1] : 0.0;
}
// The point s metres along; clamped to the ends.
void pons__path_at(const pons__path *p, double s, double *ret_x, double *ret_y);
// Where along the path a pose is [m]: the nearest point from from_s on, no more than ahead_m
// further. *ret_off: how far beside it.
double pons__path_project(const pons__path *path, double from_s, double ahead_m, pons_pose2 pose,
                          double *ret_off);

// ---- planner ------------------------------------------------------------------------------------

typedef struct pons__planner pons__planner; // working memory; borrows the grid
pons__planner *pons__planner_create(pons__costmap *grid, double radius_m); // NULL: no memory
// For a shape that is not a circle, or a base that cannot turn where it stands; shape is borrowed.
pons__planner *pons__planner_create_for(pons__costmap *grid, const pons__shape *shape,
                                        double turning_radius_m);
void pons__planner_destroy(pons__planner *p); // NULL-safe
// What the next plan is made by. A robot that is not round is never planned for by cells alone: then CELLS
// is TURNS; nor one that cannot turn where it stands: then both are CURVES.
typedef enum pons__plan_kind {
    PONS__PLAN_CELLS, // places; the robot turns where it must
    PONS__PLAN_TURNS, // headings too: curves, and turns where it stands
    PONS__PLAN_CURVES // headings too: no curve tighter than its turning radius; ends at the goal's heading
} pons__plan_kind;
void pons__planner_use(pons__planner *p, pons__plan_kind kind);
// A place where progress failed: ways through it are dear for some minutes of robot time. And what
// time it is, before planning.
void pons__planner_avoid(pons__planner *p, double x, double y, int64_t now_ns);
void pons__planner_now(pons__planner *p, int64_t now_ns);
// A goal whose yaw is NAN may be reached in any heading. A plan in steps of about so many cells. PONS__PLAN_GOES_ON, and then: PONS_NAV_OK and *ret_path,
// or a number of 200–208 and a message; *ret_path untouched then. Memory that a search needs goes back
// at its end, and when it is dropped. What changes in the grid meanwhile may be seen or not.
#define PONS__PLAN_GOES_ON (-1)
int pons__planner_begin(pons__planner *p, pons_pose2 start, pons_pose2 goal, char *ret_msg,
                        size_t msg_cap);
int pons__planner_step(pons__planner *p, int cells, pons__path *ret_path, char *ret_msg,
                       size_t msg_cap);
void pons__planner_drop(pons__planner *p);
int pons__planner_searched(const pons__planner *p);  // cells, since it began
bool pons__planner_is_large(const pons__planner *p); // the map: more than a step may be needed
// All of it at once.
int pons__planner_plan(pons__planner *p, pons_pose2 start, pons_pose2 goal, pons__path *ret_path,
                       char *ret_msg, size_t msg_cap);
// Rounds a path towards the middle of its neighbours where that costs no clearance that matters.
// A path with curves stays as it is.
void pons__planner_smooth(pons__planner *p, pons__path *path);
// Fills s and left from x and y.
void pons__planner_measure(const pons__planner *p, pons__path *path);
// Cost of what is left from s on, or INFINITY when some of it has become too close to an obstacle;
// and what it was when planned.
double pons__planner_cost_from(const pons__planner *p, const pons__path *path, double s,
                               double *ret_planned);

// ---- controller ---------------------------------------------------------------------------------

typedef enum pons__follow_phase {
    PONS__FOLLOW_DRIVE,
    PONS__FOLLOW_TURN,  // in place, towards the path
    PONS__FOLLOW_ALIGN, // in place, to the goal's yaw
    PONS__FOLLOW_DONE
} pons__follow_phase;

typedef struct pons__follower {
    pons__follow_phase phase;
    double s;        // [m] along the path: the robot's projection, never falls
    double off_path; // [m] distance to the path
    bool samples;    // by trying velocities (dwa_controller.c), else by pure pursuit
    pons_twist2 cmd; // the last one
} pons__follower;

void pons__follower_begin(pons__follower *f, pons_twist2 twist);
// A new path, same journey: the speed is kept. The robot is from_s along it, or a little further.
void pons__follower_new_path(pons__follower *f, double from_s);
// One control step of dt_s. final_yaw: NULL for any.
pons_twist2 pons__follower_step(pons__follower *f, const pons__nav_params *p,
                                const pons__costmap *g, const pons__path *path,
                                const double *final_yaw, pons_pose2 pose, pons_twist2 twist,
                                double dt_s);
// dwa_controller.c: of the velocities near `now` the one that follows best from s on; zero when none is free.
pons_twist2 pons__sample(const pons__nav_params *p, const pons__costmap *g, const pons__path *path,
                         double s, pons_pose2 pose, pons_twist2 now, double speed_max_mps);
// Speed towards turning by err radians, and the limit of acceleration; used by recoveries too.
double pons__turn_rate(const pons__nav_params *p, double err_rad);
pons_twist2 pons__limit_accel(const pons__nav_params *p, pons_twist2 last, pons_twist2 measured,
                              pons_twist2 want, double dt_s);

#endif
