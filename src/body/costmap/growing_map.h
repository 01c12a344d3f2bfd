// growing_map.h - the static layer of a costmap whose map is still being made.
#pragma once

#include "body/costmap/costmap.h"
#include "pons/ext/slam.h"

typedef struct pons__static_layer {
    uint8_t *fixed, *walls; // (h, w) as a costmap has them
    uint8_t *known;         // (h, w) of pons__known
    pons__surface *surface;
} pons__static_layer;

typedef enum pons__known { PONS__UNKNOWN, PONS__FREE, PONS__OCCUPIED } pons__known;

// Of a map, in the frame of a costmap: no way goes through what is unknown. Any thread: it reads of the costmap only what stays as
// it is. PONS_ENOMEM; PONS_EINVAL: the map is too ragged.
int pons__static_layer_make(const pons__costmap *g, const pons_slam_map *m, pons__static_layer *ret,
                            pons_error *err);
void pons__static_layer_fini(pons__static_layer *l); // leaves it empty
// The costmap takes the layer over, and *l is what it had; `known` stays where it is.
void pons__static_layer_swap(pons__costmap *g, pons__static_layer *l);
