// line_of_sight.c - what of the map hides things.
#include "sight/line_of_sight.h"

#include <stdlib.h>
#include <string.h>

static const double FURNITURE_HEIGHT_M = 0.75; // where the world does not say

int pons__walls_init(pons__walls *w, const pons_value *world, pons_error *err)
{
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    const size_t n = json_array_size(boxes);
    *w = (pons__walls){.boxes = calloc(n + 1, sizeof *w->boxes),
                       .heights = calloc(n + 1, sizeof *w->heights)};
    if (!w->boxes || !w->heights) {
        pons__walls_fini(w);
        return pons_error_set(err, PONS_ENOMEM, "sight", "no memory for the map");
    }
    pons_each(b, boxes) {
        const bool wall = strcmp(pons_get_str(b, "kind", "wall"), "wall") == 0;
        w->boxes[w->n] = (pons_box2){pons_get_num(b, "x", 0.0), pons_get_num(b, "y", 0.0),
                                     pons_get_num(b, "yaw", 0.0), pons_get_num(b, "sx", 0.0),
                                     pons_get_num(b, "sy", 0.0)};
        w->heights[w->n++] = pons_get_num(b, "height_m", wall ? INFINITY : FURNITURE_HEIGHT_M);
    }
    return PONS_OK;
}

void pons__walls_fini(pons__walls *w)
{
    free(w->boxes);
    free(w->heights);
    *w = (pons__walls){0};
}

bool pons__walls_clear(void *user, const double from[3], const double to[3])
{
    const pons__walls *w = user;
    return pons_boxes_clear(w->boxes, w->heights, w->n, from, to);
}
