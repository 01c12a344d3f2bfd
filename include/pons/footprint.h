// footprint.h - what of the floor a robot covers: a circle about its base, or a convex polygon in the base
// frame (x forward, y left, metres).
#pragma once

#include "pons/geometry.h"
#include "pons/linkage.h"

PONS_C_BEGIN

#define PONS_FOOTPRINT_MAX 32

typedef struct pons_footprint {
    int n;                        // corners, counter-clockwise; 0: a circle of circumscribed_m
    double x[PONS_FOOTPRINT_MAX]; // (n) [m] in base
    double y[PONS_FOOTPRINT_MAX];
    double inscribed_m;     // about the base: nearer than this is inside, however it is turned
    double circumscribed_m; // and further than this is outside
} pons_footprint;

// From [[x, y], …] or the text that Nav2 has for it, "[[x, y], …]": the convex hull, which must have the
// base inside. NULL, or what is wrong in words; *ret is untouched then. Any thread.
const char *pons_footprint_read(const pons_value *v, pons_footprint *ret);
pons_footprint pons_footprint_circle(double radius_m);
// Its corners as a list, new; of a circle an empty one. NULL: no memory.
pons_value *pons_footprint_value(const pons_footprint *f);
// From a point in base to the outline [m]; negative inside.
double pons_footprint_distance(const pons_footprint *f, double x, double y);
// Between the robot at a pose and a box [m]: 0 or less exactly when they touch; never more than the
// distance.
double pons_footprint_gap(const pons_footprint *f, pons_pose2 at, const pons_box2 *box);

PONS_C_END
