// heading_task.h - what a search by heading is asked for (hybrid_astar.h).
#pragma once

#include "body/planner/connected_regions.h"

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
