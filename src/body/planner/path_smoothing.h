// path_smoothing.h - makes a path of a plan's cells, and computes what a path costs (path_smoothing.c).
#pragma once

#include "body/planner/path.h"

typedef struct pons__planner pons__planner; // a planner's working memory

// Rounds a path towards the middle of its neighbours where that costs no clearance that matters.
// A path with curves stays as it is.
void pons__planner_smooth(pons__planner *p, pons__path *path);
// Fills s and left from x and y.
void pons__planner_measure(const pons__planner *p, pons__path *path);
// Cost of what is left from s on, or INFINITY when some of it has become too close to an obstacle;
// and what it was when planned.
double pons__planner_cost_from(const pons__planner *p, const pons__path *path, double s,
                               double *ret_planned);

// For the planner. spot_cost: extra cost of a metre at a point that is to be avoided (planner: a pons__planner). grow:
// makes room for this many points more, and two besides. shape: makes a path of the points that were found.
double pons__planner_spot_cost(const void *planner, double x, double y);
bool pons__planner_grow(pons__planner *p, int more);
void pons__planner_shape(pons__planner *p, pons__path *ret);
