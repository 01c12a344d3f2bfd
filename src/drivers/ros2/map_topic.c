// map_topic.c - /map beside the world.
//
// pons says where a zone is by its own world, and Nav2 drives there by its own map. When these are of two places, or of
// one place with two origins, every pose means something else, and nothing else would tell. So points of the world's
// walls are looked up in the map. A map that is being made knows few of them, another resolution or size is no
// contradiction, and furniture comes and goes: only where three tenths of what the map knows of the walls are free floor,
// the two are not of the same place.
#include "drivers/ros2/map_topic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 4000, KNOWN_LEAST = 30, OCCUPIED = 65 };

#define EVERY_M   0.1   // along a wall
#define LONGEST_M 500.0 // half of the longest one
#define AROUND_M  0.15  // within which a wall may be drawn elsewhere
#define SHARE                                                                                      \
    0.3 // of the known points that are free: a wall that was moved along itself still lies on itself

struct ros2_walls {
    int n;
    struct {
        double x, y; // in the map's frame
    } at[POINTS];
};

// Along the middle of its longer side: how many points that are; w: takes every so many of them.
static int64_t of_box(const pons_value *box, ros2_walls *w, int64_t nth, int64_t step)
{
    const double sx = pons_get_num(box, "sx", 0.0), sy = pons_get_num(box, "sy", 0.0),
                 yaw = pons_get_num(box, "yaw", 0.0) + (sx < sy ? 0.5 * M_PI : 0.0),
                 half = fmin(0.5 * fmax(sx, sy), LONGEST_M);
    int64_t n = 0;
    for (double d = EVERY_M * 0.5 - half; d <= half || n == 0; d += EVERY_M, n++) {
        const double at = fmin(d, half);
        if (w && (nth + n) % step == 0 && w->n < POINTS) {
            w->at[w->n].x = pons_get_num(box, "x", 0.0) + at * cos(yaw);
            w->at[w->n++].y = pons_get_num(box, "y", 0.0) + at * sin(yaw);
        }
    }
    return n;
}

static int64_t of_boxes(const pons_value *boxes, ros2_walls *w, int64_t step)
{
    int64_t n = 0;
    pons_each(box, boxes) {
        if (strcmp(pons_get_str(box, "kind", ""), "wall") == 0) {
            n += of_box(box, w, n, step);
        }
    }
    return n;
}

ros2_walls *ros2_walls_create(const pons_value *world)
{
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    const int64_t n = of_boxes(boxes, NULL, 1);
    ros2_walls *w = n > 0 ? calloc(1, sizeof *w) : NULL;
    if (w) {
        of_boxes(boxes, w, n / POINTS + 1);
    }
    return w;
}

void ros2_walls_destroy(ros2_walls *w)
{
    free(w);
}

// Whether all of the map around a point is free; *ret_known: all of it is known.
static bool is_free(const nav_msgs_msg_dds__OccupancyGrid_ *map, double x, double y,
                    bool *ret_known)
{
    const double res = (double)map->info.resolution;
    const int w = (int)map->info.width, h = (int)map->info.height,
              around = (int)ceil(AROUND_M / res), cx = (int)floor(x / res),
              cy = (int)floor(y / res);
    *ret_known = cx - around >= 0 && cy - around >= 0 && cx + around < w && cy + around < h;
    const int step = around / 6 + 1; // of a very fine one some are looked at
    bool free_ = *ret_known;
    for (int dy = -around; dy <= around && *ret_known && free_; dy += step) {
        for (int dx = -around; dx <= around && *ret_known && free_; dx += step) {
            const int8_t cell =
                map->data._buffer[(size_t)(cy + dy) * (size_t)w + (size_t)(cx + dx)];
            free_ = cell < OCCUPIED;
            *ret_known = !free_ || cell >= 0;
        }
    }
    return free_;
}

void ros2_walls_compare(const ros2_walls *w, const nav_msgs_msg_dds__OccupancyGrid_ *map, char *ret,
                        size_t cap)
{
    const geometry_msgs_msg_dds__Quaternion_ q = map->info.origin.orientation;
    const geometry_msgs_msg_dds__Point_ at = map->info.origin.position;
    const double yaw = 2.0 * atan2(q.z, q.w), c = cos(yaw), s = sin(yaw),
                 res = (double)map->info.resolution;
    int known = 0, free_ = 0;
    *ret = '\0';
    if (!(res >= 1e-3 && res <= 10.0) || !isfinite(at.x + at.y + yaw) || map->info.width < 1 ||
        map->info.height < 1 || // none yet, or one that was taken away
        map->info.width > 1 << 20 || map->info.height > 1 << 20 ||
        (uint64_t)map->info.width * map->info.height != map->data._length) {
        snprintf(ret, cap, "its size, its resolution or its origin is none of a map");
        return;
    }
    for (int i = 0; i < w->n; i++) {
        const double dx = w->at[i].x - at.x, dy = w->at[i].y - at.y;
        bool is_known = false;
        if (!(fabs(dx) < 1e6 && fabs(dy) < 1e6)) {
            continue;
        }
        const bool f = is_free(map, c * dx + s * dy, c * dy - s * dx, &is_known);
        known += is_known;
        free_ += is_known && f;
    }
    if (known >= KNOWN_LEAST && free_ > SHARE * known) {
        snprintf(ret, cap,
                 "it is of another place than the world: %d of %d points of walls are free", free_,
                 known);
    }
}
