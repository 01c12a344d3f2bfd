// merge.h - between the map (map.c) and its rectangles (rects.c).
#pragma once

#include "pons/map.h"

// Rectangles of the cells that are low to high; or, `outside`, of those that are neither 0 to low nor
// high and more.
int pons__map_merge(const pons_map_info *m, const int8_t *cells, int low, int high, bool outside,
                    size_t most, pons_box2 **ret, size_t *ret_n, pons_error *err);
