// growing_map.c - the static layer of a costmap whose map is still being made.
//
// A new map changes only the static layer of a costmap. Another thread computes the new layer, and the loop only swaps
// pointers.
#include "body/costmap/growing_map.h"

#include "pons/map.h"

#include <stdlib.h>
#include <string.h>

enum { BOXES_MAX = 1 << 20 };

// How many cells the map's corner lies right of the costmap's.
static int cells_between(double from, double to, double res)
{
    return (int)lround((to - from) / res);
}

static void mark_cells(const pons__costmap *g, const pons_slam_map *m, pons__static_layer *l)
{
    const int x0 = cells_between(g->x0, m->x0, g->res), y0 = cells_between(g->y0, m->y0, g->res);
    for (int y = 0; y < g->h; y++) {
        for (int x = 0; x < g->w; x++) {
            const size_t at = (size_t)y * (size_t)g->w + (size_t)x;
            const int mx = x - x0, my = y - y0;
            const bool in = mx >= 0 && my >= 0 && mx < m->w && my < m->h;
            const int v = in ? m->cells[(size_t)my * (size_t)m->w + (size_t)mx] : -1;
            l->known[at] = (uint8_t)(v > 0 ? PONS__OCCUPIED : PONS__FREE);
            l->known[at] = v < 0 ? PONS__UNKNOWN : l->known[at];
            l->walls[at] = v > 0;
            l->fixed[at] = v != 0 || pons__area_cell(g->area, x, y);
        }
    }
}

static int make_surface(const pons__costmap *g, const pons_slam_map *m, pons__static_layer *l,
                        pons_error *err)
{
    const pons_map_info info = {
        .w = m->w, .h = m->h, .resolution_m = m->resolution_m, .origin = {m->x0, m->y0, 0.0}};
    pons_box2 *walls = NULL;
    size_t n = 0;
    int rc = pons_map_rects_of_cells(&info, m->cells, 1, 100, BOXES_MAX, &walls, &n, err);
    if (rc < 0) {
        return rc;
    }
    pons__box *boxes = calloc(n + 1, sizeof *boxes);
    for (size_t i = 0; boxes && i < n; i++) {
        boxes[i] =
            (pons__box){walls[i].x, walls[i].y, 1.0, 0.0, 0.5 * walls[i].sx, 0.5 * walls[i].sy};
    }
    l->surface = boxes ? pons__surface_create(g, boxes, (int)n) : NULL;
    free(boxes);
    free(walls);
    return l->surface ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "grid", "out of memory");
}

int pons__static_layer_make(const pons__costmap *g, const pons_slam_map *m, pons__static_layer *ret,
                            pons_error *err)
{
    const size_t cells = (size_t)g->w * (size_t)g->h;
    pons__static_layer l = {malloc(cells), malloc(cells), malloc(cells), NULL};
    int rc = l.fixed && l.walls && l.known
                 ? PONS_OK
                 : pons_error_set(err, PONS_ENOMEM, "grid", "out of memory");
    if (rc == PONS_OK) {
        mark_cells(g, m, &l);
        rc = pons__costmap_distances(g, l.fixed, err);
    }
    rc = rc < 0 ? rc : pons__costmap_distances(g, l.walls, err);
    rc = rc < 0 ? rc : make_surface(g, m, &l, err);
    if (rc < 0) {
        pons__static_layer_fini(&l);
        return rc;
    }
    *ret = l;
    return PONS_OK;
}

void pons__static_layer_fini(pons__static_layer *l)
{
    if (l->walls != l->fixed) {
        free(l->walls);
    }
    free(l->fixed);
    free(l->known);
    pons__surface_destroy(l->surface);
    *l = (pons__static_layer){0};
}

void pons__static_layer_swap(pons__costmap *g, pons__static_layer *l)
{
    const pons__static_layer had = {g->fixed, g->walls, l->known, g->surface};
    g->fixed = l->fixed;
    g->walls = l->walls;
    g->surface = l->surface;
    *l = had;
    g->generation++;
    g->openings++;
    for (int i = 0; g->changed && i < g->patches_w * g->patches_h; i++) {
        g->changed[i] = g->generation;
    }
    pons__costmap_forget_explained(g);
}
