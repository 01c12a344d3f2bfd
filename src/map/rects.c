// rects.c - cells merged to few rectangles.
//
// From the lower left on, each cell that none covers yet begins a rectangle: as far along its row as
// it goes and then upwards, or upwards first, whichever is larger. That is not the fewest possible,
// but walls along the map's axes come out whole, and what was mapped is covered to the cell.
#include "map/merge.h"

#include <stdlib.h>

#define MODULE "map"

typedef struct span {
    int x0, y0, x1, y1; // cells, both ends in it
} span;

typedef struct field {
    const int8_t *cells;
    int w, h, low, high;
    bool outside;  // wanted are those that are neither 0 to low nor high and more
    uint8_t *done; // bits of cells that a rectangle has
} field;

static bool wanted(const field *f, int x, int y)
{
    const size_t at = (size_t)y * (size_t)f->w + (size_t)x;
    const int8_t v = f->cells[at];
    const bool in = f->outside ? v < 0 || (v > f->low && v < f->high) : v >= f->low && v <= f->high;
    return in && !(f->done[at / 8] >> at % 8 & 1);
}

static bool row_wanted(const field *f, int x0, int x1, int y)
{
    while (x0 <= x1 && wanted(f, x0, y)) {
        x0++;
    }
    return x0 > x1;
}

static bool column_wanted(const field *f, int x, int y0, int y1)
{
    while (y0 <= y1 && wanted(f, x, y0)) {
        y0++;
    }
    return y0 > y1;
}

static int64_t area(const span *s)
{
    return (int64_t)(s->x1 - s->x0 + 1) * (s->y1 - s->y0 + 1);
}

static span grow(const field *f, int x, int y)
{
    span a = {x, y, x, y}, b = a;
    while (a.x1 + 1 < f->w && wanted(f, a.x1 + 1, y)) {
        a.x1++;
    }
    while (a.y1 + 1 < f->h && row_wanted(f, a.x0, a.x1, a.y1 + 1)) {
        a.y1++;
    }
    while (b.y1 + 1 < f->h && wanted(f, x, b.y1 + 1)) {
        b.y1++;
    }
    while (b.x1 + 1 < f->w && column_wanted(f, b.x1 + 1, b.y0, b.y1)) {
        b.x1++;
    }
    return area(&b) > area(&a) ? b : a;
}

static void take(field *f, const span *s)
{
    for (int y = s->y0; y <= s->y1; y++) {
        for (int x = s->x0; x <= s->x1; x++) {
            const size_t at = (size_t)y * (size_t)f->w + (size_t)x;
            f->done[at / 8] |= (uint8_t)(1u << at % 8);
        }
    }
}

static pons_box2 placed(const pons_map_info *m, const span *s)
{
    const double res = m->resolution_m;
    const pons_pose2 at =
        pons_pose_compose(m->origin, (pons_pose2){0.5 * res * (s->x0 + s->x1 + 1),
                                                  0.5 * res * (s->y0 + s->y1 + 1), 0.0});
    return (pons_box2){at.x, at.y, at.yaw, res * (s->x1 - s->x0 + 1), res * (s->y1 - s->y0 + 1)};
}

int pons__map_merge(const pons_map_info *m, const int8_t *cells, int low, int high, bool outside,
                    size_t most, pons_box2 **ret, size_t *ret_n, pons_error *err)
{
    const size_t bytes = (size_t)m->w * (size_t)m->h / 8 + 1;
    field f = {cells, m->w, m->h, low, high, outside, calloc(bytes, 1)};
    size_t n = 0, cap = 64;
    pons_box2 *boxes = malloc(cap * sizeof *boxes);
    int rc = f.done && boxes ? PONS_OK : PONS_ENOMEM;
    for (int y = 0; rc == PONS_OK && y < m->h; y++) {
        for (int x = 0; rc == PONS_OK && x < m->w; x++) {
            if (!wanted(&f, x, y)) {
                continue;
            }
            const span s = grow(&f, x, y);
            take(&f, &s);
            if (n == cap) {
                pons_box2 *more = realloc(boxes, 2 * cap * sizeof *more);
                rc = more ? PONS_OK : PONS_ENOMEM;
                boxes = more ? more : boxes;
                cap *= more ? 2 : 1;
            }
            if (n == most) {
                rc = PONS_EINVAL;
            } else if (rc == PONS_OK) {
                boxes[n++] = placed(m, &s);
            }
        }
    }
    free(f.done);
    if (rc < 0) {
        free(boxes);
        return rc == PONS_ENOMEM
                   ? pons_error_set(err, rc, MODULE, "no memory to merge a map's cells")
                   : pons_error_set(err, rc, MODULE,
                                    "the map is too ragged: more than %zu rectangles", most);
    }
    *ret = boxes;
    *ret_n = n;
    return PONS_OK;
}
