// hybrid_astar.h - a search for a way on which the heading counts. The essay is in hybrid_astar.c.
#pragma once

#include "body/planner/connected_regions.h"

typedef struct pons__heading pons__heading;

typedef struct pons__heading_task {
    const pons__shape *shape; // borrowed
    const float *metre;       // (PONS__LEVELS) what a metre costs, by level; INFINITY: too near
    double margin_m;          // that the shape keeps from everything
    double turning_radius_m;  // of the tightest curve
    bool turns;               // it may turn where it stands as well
    pons__extra_cost *extra;  // NULL: nothing
    const void *user;
    pons_pose2 from, to; // to.yaw NAN: any
    double near_m;       // it is enough to come so near, whatever the heading; 0: exactly there
    int x0, y0, x1, y1;  // the cells that are looked at; x1, y1 are outside
    const double *way_x,
        *way_y; // (n_way) of these only those that are within about_m of it, by tiles
    int n_way;  // 0: all
    double about_m;
} pons__heading_task;

pons__heading *pons__heading_create(const pons__costmap *g); // borrows; NULL: no memory
void pons__heading_destroy(pons__heading *h);                // NULL-safe
bool pons__heading_begin(pons__heading *h, const pons__heading_task *task); // false: no memory
// Goes on, for about so many cells' worth. 1: found; 0: not yet; -1: there is none; -2: given up.
int pons__heading_step(pons__heading *h, int cells);
int pons__heading_searched(const pons__heading *h); // states
// Where it came nearest to the goal.
pons_pose2 pons__heading_furthest(const pons__heading *h);
// The poses of the way, 5 cm apart or less, first to last; the caller's to free. NULL: no memory.
pons_pose2 *pons__heading_way(const pons__heading *h, int *ret_n);
void pons__heading_end(pons__heading *h); // gives memory back
