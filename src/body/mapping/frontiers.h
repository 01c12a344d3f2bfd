// frontiers.h - frontiers, where the known floor ends, in the order of a short round through them.
#pragma once

#include "body/costmap/growing_map.h"

enum { PONS__FRONTIERS_MAX = 64 };

typedef struct pons__frontier {
    double x, y;      // its middle [m]
    pons_pose2 stand; // the nearest pose that it is seen from, facing it
    pons_pose2 front; // the pose in front of its middle
    double round_m;   // the shortest round that begins with it: to it, to the others near, and home
} pons__frontier;

typedef struct pons__frontiers {
    int n; // the best first
    pons__frontier at[PONS__FRONTIERS_MAX];
    double reachable_m2; // the floor that the robot's middle can reach, of what is known
    bool at_edge;        // known floor is at the edge of the costmap: the place goes on beyond
} pons__frontiers;

// room_m: what the robot's middle keeps from everything. home: where it will come back to. PONS_ENOMEM.
int pons__frontiers_find(const pons__costmap *g, const pons__static_layer *l, pons_pose2 robot,
                         pons_pose2 home, double room_m, pons__frontiers *ret, pons_error *err);
