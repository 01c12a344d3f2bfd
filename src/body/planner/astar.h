// astar.h - A* over the cells of a map's tiles, in slices. The essay is in astar.c.
#pragma once

#include "body/planner/connected_regions.h"

typedef struct pons__search pons__search;
// cost: of a metre, in `unit`s, by level of distance; 0: no way. Borrows both. NULL: no memory.
pons__search *pons__search_create(const pons__costmap *g, const uint16_t cost[PONS__LEVELS],
                                  int unit);
void pons__search_destroy(pons__search *s); // NULL-safe
// Which tiles the next search may use: all, or none but those that are allowed after it.
void pons__search_allow_all(pons__search *s);
void pons__search_allow_none(pons__search *s);
void pons__search_allow(pons__search *s, int tile); // and those around it
// Between two free cells; extra NULL: nothing. False: no memory.
bool pons__search_begin(pons__search *s, int from_x, int from_y, int to_x, int to_y,
                        pons__extra_cost *extra, const void *user);
// Goes on for so many cells. 1: found; 0: not yet; -1: there is no way in the tiles allowed.
int pons__search_step(pons__search *s, int cells);
int pons__search_searched(const pons__search *s); // cells, by this search
// The cells of the way, first to last, the caller's to free; *ret_n. NULL: no memory.
int32_t *pons__search_way(const pons__search *s, int *ret_n);
void pons__search_end(pons__search *s); // gives memory back, but for a little
