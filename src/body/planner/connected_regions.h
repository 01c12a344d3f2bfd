// connected_regions.h - which parts of a map hang together, for a search that is coarse first. The essay is in
// connected_regions.c.
#pragma once

#include "body/costmap/costmap.h"

#define PONS__TILE 32 // cells of a side

// What a metre at a point costs besides.
typedef double pons__extra_cost(const void *user, double x, double y);

typedef struct pons__regions pons__regions;
// cost: of a metre, in `unit`s, by level of distance; 0: no way. Borrows the grid. Looks at the
// whole map. NULL: no memory.
pons__regions *pons__regions_create(const pons__costmap *g, const uint16_t cost[PONS__LEVELS],
                                    int unit);
void pons__regions_destroy(pons__regions *r); // NULL-safe
// Begins a search between two free cells. False: no memory.
bool pons__regions_begin(pons__regions *r, int from_x, int from_y, int to_x, int to_y,
                         pons__extra_cost *extra, const void *user);
// Goes on for so many regions. 1: found; 0: not yet; -1: there is no way.
int pons__regions_step(pons__regions *r, int regions);
void pons__regions_end(pons__regions *r); // gives the search's memory back
// The way that was found, first region first: the tile, and a free cell of the region.
int pons__regions_way(const pons__regions *r); // how many
int pons__regions_tile(const pons__regions *r, int i);
void pons__regions_cell(const pons__regions *r, int i, int *ret_x, int *ret_y);
int pons__regions_searched(const pons__regions *r); // by the last search
