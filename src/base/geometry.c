// geometry.c - what of planar geometry needs more than a line.
#include "pons/geometry.h"

bool pons_polygon_contains(const pons_value *polygon, double x, double y)
{
    const size_t n = json_array_size(polygon);
    bool inside = false;
    for (size_t i = 0, j = n - 1; n >= 3 && i < n; j = i++) {
        const json_t *a = json_array_get(polygon, i), *b = json_array_get(polygon, j);
        const double ax = json_number_value(json_array_get(a, 0));
        const double ay = json_number_value(json_array_get(a, 1));
        const double bx = json_number_value(json_array_get(b, 0));
        const double by = json_number_value(json_array_get(b, 1));
        if ((ay > y) != (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax) {
            inside = !inside;
        }
    }
    return inside;
}

double pons_polygon_distance(const pons_value *polygon, double x, double y)
{
    const size_t n = json_array_size(polygon);
    double best = INFINITY;
    if (pons_polygon_contains(polygon, x, y)) {
        return 0;
    }
    for (size_t i = 0, k = n - 1; i < n; k = i++) {
        const json_t *a = json_array_get(polygon, k), *b = json_array_get(polygon, i);
        const double ax = json_number_value(json_array_get(a, 0)),
                     ay = json_number_value(json_array_get(a, 1));
        const double dx = json_number_value(json_array_get(b, 0)) - ax,
                     dy = json_number_value(json_array_get(b, 1)) - ay;
        const double length2 = dx * dx + dy * dy;
        const double along = length2 > 0 ? ((x - ax) * dx + (y - ay) * dy) / length2 : 0;
        const double s = fmin(fmax(along, 0), 1);
        best = fmin(best, hypot(x - ax - s * dx, y - ay - s * dy));
    }
    return best;
}

// Of the part of the line that lies over a box's floor plan, its ends as shares of the whole. False: none does.
static bool over_box(const pons_box2 *b, const double from[3], const double to[3], double *ret_in,
                     double *ret_out)
{
    const double c = cos(b->yaw), s = sin(b->yaw);
    const double at[2] = {from[0] - b->x, from[1] - b->y},
                 way[2] = {to[0] - from[0], to[1] - from[1]};
    const double p[2] = {c * at[0] + s * at[1], c * at[1] - s * at[0]},
                 d[2] = {c * way[0] + s * way[1], c * way[1] - s * way[0]},
                 half[2] = {0.5 * b->sx, 0.5 * b->sy};
    double in = 0.0, out = 1.0;
    for (int i = 0; i < 2; i++) {
        if (fabs(d[i]) < 1e-12) {
            if (fabs(p[i]) > half[i]) {
                return false;
            }
            continue;
        }
        const double one = (-half[i] - p[i]) / d[i], other = (half[i] - p[i]) / d[i];
        in = fmax(in, fmin(one, other));
        out = fmin(out, fmax(one, other));
    }
    *ret_in = in;
    *ret_out = out;
    return in < out;
}

bool pons_boxes_clear(const pons_box2 *boxes, const double *heights, size_t n, const double from[3],
                      const double to[3])
{
    for (size_t i = 0; i < n; i++) {
        double in, out;
        if (!over_box(&boxes[i], from, to, &in, &out) || out >= 1.0) {
            continue; // `to` lies over it
        }
        const double rise = to[2] - from[2];
        if (fmin(from[2] + in * rise, from[2] + out * rise) < heights[i]) {
            return false;
        }
    }
    return true;
}

void pons_boxes_draw(const pons_value *boxes, const double origin[2], double cell, int w, int h,
                     int8_t *cells)
{
    pons_each(v, boxes) {
        const pons_box2 b = {pons_get_num(v, "x", 0.0), pons_get_num(v, "y", 0.0),
                             pons_get_num(v, "yaw", 0.0), pons_get_num(v, "sx", 0.0),
                             pons_get_num(v, "sy", 0.0)};
        const double reach = 0.5 * hypot(b.sx, b.sy), bx = b.x - origin[0], by = b.y - origin[1];
        const int x0 = (int)fmax(0.0, fmin(w, floor((bx - reach) / cell))),
                  x1 = (int)fmax(-1.0, fmin(w - 1.0, floor((bx + reach) / cell))),
                  y0 = (int)fmax(0.0, fmin(h, floor((by - reach) / cell))),
                  y1 = (int)fmax(-1.0, fmin(h - 1.0, floor((by + reach) / cell)));
        for (int y = y0; y <= y1; y++) {
            for (int x = x0; x <= x1; x++) {
                const bool middle = floor(bx / cell) == x && floor(by / cell) == y;
                if (middle || pons_box2_distance(&b, origin[0] + (x + 0.5) * cell,
                                                 origin[1] + (y + 0.5) * cell) < 0.5 * cell) {
                    cells[(size_t)y * (size_t)w + (size_t)x] = 100;
                }
            }
        }
    }
}
