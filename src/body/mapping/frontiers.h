// frontiers.h - frontiers, where the known floor ends, ranked by what is seen from there per metre of way.
#pragma once

#include "body/costmap/growing_map.h"

enum { PONS__FRONTIERS_MAX = 64 };

typedef struct pons__frontier {
    double x, y;      // its middle [m]
    pons_pose2 stand; // where the robot would stand, facing it
    double utility;   // how much is seen for the way
} pons__frontier;

typedef struct pons__frontiers {
    int n; // the best first
    pons__frontier at[PONS__FRONTIERS_MAX];
    double reachable_m2; // the floor that the robot's middle can reach, of what is known
    bool at_edge;        // known floor is at the edge of the costmap: the place goes on beyond
} pons__frontiers;

// room_m: what the robot's middle keeps from everything. PONS_ENOMEM.
int pons__frontiers_find(const pons__costmap *g, const pons__static_layer *l, pons_pose2 robot,
                         double room_m, pons__frontiers *ret, pons_error *err);
