// scan_score.h - does a scan agree with the map at a pose?
#pragma once

#include "body/costmap/costmap.h"

typedef struct pons__agreement {
    int n;        // ends that were looked at
    int hits;     // on a mapped face
    int through;  // behind one: the beam would have gone through a wall
    double share; // hits of hits and through; NAN: too few to tell
    bool contradicts;
    double fit; // (hits - through) of all, at most 1
    bool weak;  // the map explains too little of it to be quite sure that the pose is right
} pons__agreement;

// from: where the beams begin, and px, py (n): their ends, in base [m].
pons__agreement pons__agreement_of(const pons__costmap *g, pons_pose2 pose, pons_pose2 from,
                                   const float *px, const float *py, int n);
