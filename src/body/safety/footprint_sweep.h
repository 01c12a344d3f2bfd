// footprint_sweep.h - a convex polygon that moves among points. The essay is in footprint_sweep.c.
#pragma once

#include "pons/footprint.h"

#define PONS__SWEEP_STRAIGHT 1e-3 // curvature below which an arc counts as a line [1/m]

// How far it may go [m], at most `reach`, before a point is within r of it: dir +1 forwards, -1 backwards;
// curvature = w / v [1/m]. Zero when a point is within r already and the motion brings it nearer.
double pons__sweep_free(const pons_footprint *f, const double *x, const double *y, int n, double r,
                        int dir, double curvature, double reach);
// The same of turning where it stands [rad], at most 2π: dir +1 counter-clockwise.
double pons__sweep_turn(const pons_footprint *f, const double *x, const double *y, int n, double r,
                        int dir);
// Is a point within r of it, and does that motion bring it nearer?
bool pons__sweep_nearer(const pons_footprint *f, double x, double y, double r, pons_twist2 go);
