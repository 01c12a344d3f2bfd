// costmap.h - the grid of what a robot may touch, a footprint over its cells, and the window that goes with the robot
// (costmap.c, costmap_static.c, distance_field.c, footprint_discs.c, local_costmap.c).
// Poses are in map, [m] and [rad]; grids are row-major, cell (0,0) at the origin's corner.
#pragma once

#include "body/area/zone_grid.h"
#include "pons/clock.h"
#include "pons/ext/robot.h"
#include "pons/footprint.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pons__costmap
    pons__costmap; // the static map of a world plus what the lidar has seen

// From the world value (map.resolution_m, bounds, map.boxes). PONS_EINVAL.
int pons__costmap_from_world(const pons_value *world, pons__costmap **ret, pons_error *err);
void pons__costmap_destroy(pons__costmap *g); // NULL-safe
// Where nobody goes, or slowly; NULL: nowhere. The grid's.
struct pons__area;
const struct pons__area *pons__costmap_area(const pons__costmap *g);
// Marks hits and clears along beams, in the obstacle layer; static cells stay.
// The scan that it was given last is ignored.
void pons__costmap_observe(pons__costmap *g, pons_pose2 pose_in_map, const pons_scan *scan);
void pons__costmap_clear_obstacles(pons__costmap *g);
// Summary of the obstacle layer's blobs: up to cap {x, y, radius}; returns how many.
typedef struct pons__blob {
    double x, y, r; // [m] in map
} pons__blob;
int pons__costmap_blobs(const pons__costmap *g, pons__blob *ret, int cap);
// Distance to the nearest occupied cell [m], capped at 2.
double pons__costmap_clearance(const pons__costmap *g, double x, double y);

// ---- the cells ----------------------------------------------------------------------------------

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
    int32_t n_seen;
    size_t cap_seen;
    int32_t n_obstacles;

    uint8_t *disc; // (2·reach+1, 2·reach+1) level of the distance from the middle cell
    int32_t reach; // PONS__DIST_MAX_M in cells

    int32_t *fresh; // (n_fresh) cells that became obstacles since dist was brought up to date
    int32_t n_fresh;
    size_t cap_fresh;
    int32_t *gone; // (n_gone) and cells that stopped being obstacles
    int32_t n_gone;
    size_t cap_gone;
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
// The level at a point; 0 outside the map.
static inline uint8_t pons__costmap_level_at(const pons__costmap *g, double x, double y)
{
    const double fx = (x - g->x0) * g->inv_res, fy = (y - g->y0) * g->inv_res;
    if (!(fx >= 0.0 && fy >= 0.0 && fx < g->w && fy < g->h)) {
        return 0;
    }
    return pons__costmap_level(g, (size_t)(int)fy * (size_t)g->w + (size_t)(int)fx);
}
// dist at a point; 0 outside the map.
static inline float pons__costmap_dist(const pons__costmap *g, double x, double y)
{
    return g->metres[pons__costmap_level_at(g, x, y)];
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
// From marks of what is never free, in their place: the level of the distance to the nearest. Any thread.
int pons__costmap_distances(const pons__costmap *g, uint8_t *field, pons_error *err);
// Forgets the evidence of what the boxes explain: after these have changed.
void pons__costmap_forget_explained(pons__costmap *g);
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
void pons__local_costmap_copy(pons__costmap *w,
                              const pons__costmap *map); // the map's boxes are others now
