// frontiers.h - frontiers, where the known floor ends, ordered by the shortest round through them.
#pragma once

#include "body/costmap/growing_map.h"

enum { PONS__FRONTIERS_MAX = 64 };

typedef struct pons__frontier {
    double x, y;      // its middle [m]
    pons_pose2 stand; // the nearest pose that is close enough to see a part of it
    pons_pose2 front; // the pose that is close enough to see its middle
    double round_m;   // shortest round that begins with it: to it, to others near, and home
} pons__frontier;

typedef struct pons__frontiers {
    int n; // the best first
    pons__frontier at[PONS__FRONTIERS_MAX];
    double reachable_m2; // the floor that the robot's middle can reach, of what is known
    bool at_edge;        // known floor is at the edge of the costmap: the place goes on beyond
} pons__frontiers;

// room_m: clearance of the robot's middle from walls and unknown cells. home: where the robot returns to in the end. PONS_ENOMEM.
int pons__frontiers_find(const pons__costmap *g, const pons__static_layer *l, pons_pose2 robot,
                         pons_pose2 home, double room_m, pons__frontiers *ret, pons_error *err);
