// local_costmap.c - the local costmap: a small grid that goes with the robot.
//
// It is a pons__costmap like the map's, with the map's resolution and lattice, so everything that works
// on a grid works on it. What differs is where it is: its corner moves, in whole cells, whenever
// the robot leaves the middle half.
//
//     +---------------+        +---------------+
//     |   +-------+   |        |   +-------+   |   evidence that is in both windows is kept,
//     |   |     R-+-> |  --->  |   | R     |   |   the rest is forgotten; the map's boxes are
//     |   +-------+   |        |   +-------+   |   copied, the distances made anew
//     +---------------+        +---------------+
//
// Beyond the map's edge everything is occupied.
#include "body/costmap/costmap.h"

#include <stdlib.h>

static void copy_map(pons__costmap *w, const pons__costmap *map)
{
    const int cx0 = (int)lround((w->x0 - map->x0) * map->inv_res);
    const int cy0 = (int)lround((w->y0 - map->y0) * map->inv_res);
    w->of = map;
    w->of_x = cx0;
    w->of_y = cy0;
    for (int cy = 0; cy < w->h; cy++) {
        for (int cx = 0; cx < w->w; cx++) {
            const size_t to = (size_t)cy * (size_t)w->w + (size_t)cx;
            const int mx = cx0 + cx, my = cy0 + cy;
            const bool in = pons__costmap_inside(map, mx, my);
            // The same resolution has the same levels.
            w->fixed[to] = in ? map->fixed[(size_t)my * (size_t)map->w + (size_t)mx] : 0;
        }
    }
}

pons__costmap *pons__local_costmap_create(const pons__costmap *map, double reach_m)
{
    pons__costmap *w = calloc(1, sizeof *w);
    if (!w) {
        return NULL;
    }
    w->res = map->res;
    w->inv_res = map->inv_res;
    const int side = 2 * (int)ceil(reach_m * map->inv_res);
    w->w = w->h = side;
    w->x0 = map->x0;
    w->y0 = map->y0;
    w->refill_stamp_ns = w->scan_stamp_ns = INT64_MIN / 2;
    if (pons__costmap_alloc(w, NULL) < 0) {
        pons__costmap_destroy(w);
        return NULL;
    }
    copy_map(w, map);
    pons__costmap_restamp(w);
    return w;
}

// The evidence of all cells is taken out first, as a cell may move onto one that is yet to move.
static void move_evidence(pons__costmap *w, int dx, int dy)
{
    uint8_t *had = malloc((size_t)w->n_seen + 1);
    int32_t kept = 0;
    for (int32_t i = 0; i < w->n_seen; i++) {
        const int32_t cell = w->seen[i];
        if (had) { // without memory it is forgotten, and seen again
            had[i] = w->evidence[cell];
        }
        w->evidence[cell] = 0;
    }
    w->n_obstacles = 0;
    for (int32_t i = 0; had && i < w->n_seen; i++) {
        const int cx = w->seen[i] % w->w - dx, cy = w->seen[i] / w->w - dy;
        if (!pons__costmap_inside(w, cx, cy)) {
            continue;
        }
        const int32_t cell = cy * w->w + cx;
        w->evidence[cell] = had[i];
        w->n_obstacles += pons__costmap_is_obstacle(w, cell);
        w->seen[kept++] = cell; // never beyond i
    }
    free(had);
    w->n_fresh = w->n_gone = 0;
    w->n_seen = kept;
}

void pons__local_costmap_copy(pons__costmap *w, const pons__costmap *map)
{
    copy_map(w, map);
    pons__costmap_forget_explained(w);
    pons__costmap_restamp(w);
}

void pons__local_costmap_follow(pons__costmap *w, const pons__costmap *map, pons_pose2 pose)
{
    if (!isfinite(pose.x + pose.y)) {
        return;
    }
    const double half = 0.5 * w->w * w->res;
    const double off_x = pose.x - (w->x0 + half), off_y = pose.y - (w->y0 + half);
    if (fabs(off_x) <= 0.5 * half && fabs(off_y) <= 0.5 * half) {
        return;
    }
    // Bounded, should a pose be far from any map: then nothing is in the window anyway.
    const double most = 1e6;
    const int dx = (int)lround(fmax(fmin(off_x * w->inv_res, most), -most));
    const int dy = (int)lround(fmax(fmin(off_y * w->inv_res, most), -most));
    w->x0 += dx * w->res;
    w->y0 += dy * w->res;
    move_evidence(w, dx, dy);
    copy_map(w, map);
    pons__costmap_restamp(w);
}
