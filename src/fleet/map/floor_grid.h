// floor_grid.h - a floor on its way to a map: places where a robot may stand, and straight lines between them.
#pragma once

#include "fleet/map/zone_graph.h"

#define PONS__NEIGHBOURS      16
#define PONS__FLOOR_CELLS_MAX 4e6

typedef struct pons__spot {
    double x, y;
    int32_t bay;                  // the caller's, or -1
    int32_t to[PONS__NEIGHBOURS]; // where straight lines lead that a robot may drive
    uint8_t n;
    uint16_t out; // bits: which of `to` may be gone; filled by the compiler
} pons__spot;

typedef struct pons__spots {
    pons__spot *at;
    size_t n, cap;
} pons__spots;

// Spots at most about step_m apart, and lines between them, such that who stands on a spot and who drives along a
// line that does not end there never touch, nor two who drive along lines without a common end. Only those that
// hang together with most of the caller's bays. ret is the caller's, by free(ret->at).
void pons__floor_spots(const pons_fleet_floor *floor, double step_m, pons__spots *ret);
