// heading_task.h - the input of a search with headings (hybrid_astar.h).
#pragma once

#include "body/planner/connected_regions.h"

typedef struct pons__heading_task {
    const pons__shape *shape; // borrowed
    const float *metre;       // (PONS__LEVELS) cost of a metre, by level; INFINITY: too near
    double margin_m;          // clearance of the shape from obstacles
    double turning_radius_m;  // of the tightest curve
    bool turns;               // the robot may also turn in place
    pons__extra_cost *extra;  // adds to a metre's cost; NULL: nothing is added
    const void *user;
    pons_pose2 from, to; // to.yaw NAN: any
    double near_m;       // ends this near to `to`, with any heading; 0: exactly at `to`
    int x0, y0, x1, y1;  // the cells that are searched; x1, y1 are exclusive
    const double *way_x,
        *way_y; // (n_way) of these only those that are within about_m of it, by tiles
    int n_way;  // 0: all
    double about_m;
} pons__heading_task;
