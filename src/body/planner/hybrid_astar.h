// hybrid_astar.h - a search for a way on which the heading counts. The essay is in hybrid_astar.c.
#pragma once

#include "body/planner/heading_task.h"

typedef struct pons__heading pons__heading;

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
