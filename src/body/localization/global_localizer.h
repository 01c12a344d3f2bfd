// global_localizer.h - where in the whole map does a scan fit? A search in slices; the essay is in
// global_localizer.c.
#pragma once

#include "body/costmap/costmap.h"

#define PONS__PLACES_MAX 32

typedef struct pons__place { // where the scan may have been taken
    pons_pose2 pose;         // in map, to about a cell and a step of the angle
    double share;            // of the ends that lie near a mapped face there, at most
} pons__place;

typedef struct pons__relocate pons__relocate;
// Looks for all places at which at least `share` of the ends (n, in base) may be explained.
// NULL: no memory. Borrows the grid; copies the ends.
pons__relocate *pons__relocate_create(const pons__costmap *grid, const float *px, const float *py,
                                      int n, double share);
void pons__relocate_destroy(pons__relocate *r); // NULL-safe
// Again, for another share of the same ends.
void pons__relocate_restart(pons__relocate *r, double share);
// A slice: goes on until about so many cells have been looked up. True: the map is searched.
bool pons__relocate_step(pons__relocate *r, int64_t lookups);
// The places, best first, each the best of its neighbourhood. *ret_more: there are more of them.
int pons__relocate_places(const pons__relocate *r, const pons__place **ret, bool *ret_more);
