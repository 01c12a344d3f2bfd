// line_of_sight.h - what of the map hides things: for the line of sight of a view.
#pragma once

#include "pons/geometry.h"

#include <stddef.h>

typedef struct pons__walls {
    pons_box2 *boxes;
    double *heights; // walls: INFINITY
    size_t n;
} pons__walls;

// The boxes of a world (docs/reference/worlds.md). PONS_ENOMEM.
int pons__walls_init(pons__walls *w, const pons_value *world, pons_error *err);
void pons__walls_fini(pons__walls *w); // NULL-safe parts
// A pons_object_view's `clear`; user is the walls.
bool pons__walls_clear(void *user, const double from[3], const double to[3]);
