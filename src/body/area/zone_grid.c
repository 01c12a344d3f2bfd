// zone_grid.c - keep-out and speed zones over the cells of a costmap.
//
// Two layers, each there only when a world has something for it: a bit a cell for keep-out, and a byte
// a cell, the speed in hundredths of the robot's, for slow zones. What a polygon touches is in it, to
// the cell; a mask's cell likewise. So the planner, which marks the first as it marks walls, and the
// safety gate, which looks a few places up ten milliseconds apart, judge the same.
//
// A mask is a map (src/map/) that is read as Nav2's filters read theirs:
//
//     keep_out   100: nobody goes there. What is less, and unknown, says nothing
//     speed      v: the limit is base + multiplier · v, in percent of the robot's speed, or in m/s
//                with absolute. 0 and unknown: no limit, and so a result that makes no sense
//
// Where several limits meet, the lowest holds.
#include "body/area/zone_grid.h"

#include "pons/buf.h"
#include "pons/map.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "world"

enum {
    TILE = 16,
    NO_LIMIT = 100,
    RECTS_MAX = 1 << 20,
    CORNERS_MAX = 64,
    SPEEDS = 100,
    CROSSINGS_MAX = 64
};

struct pons__area {
    pons__area_frame f;
    double speed_max_mps;
    pons_value *keep_out, *masks; // as the world has them; NULL: none
    uint8_t *forbidden;           // bits of cells; NULL: none
    uint8_t *tiles;               // (tiles) holds such a cell
    int tiles_w, tiles_h;
    uint8_t *slow; // (h, w) hundredths of speed_max_mps; NULL: none
};

typedef struct layer { // what a shape is drawn on
    pons__area *a;
    int hundredths; // NO_LIMIT: keep-out
} layer;

typedef struct corner {
    double x, y; // [cells]
} corner;

// ---- drawing ------------------------------------------------------------------------------------

static bool make_layer(pons__area *a, bool slow)
{
    const size_t n = (size_t)a->f.w * (size_t)a->f.h;
    a->tiles_w = (a->f.w - 1) / TILE + 1;
    a->tiles_h = (a->f.h - 1) / TILE + 1;
    if (slow && !a->slow) {
        a->slow = malloc(n);
        if (a->slow) {
            memset(a->slow, NO_LIMIT, n);
        }
    } else if (!slow && !a->forbidden) {
        a->forbidden = calloc(n / 8 + 1, 1);
        a->tiles = calloc((size_t)a->tiles_w * (size_t)a->tiles_h, 1);
    }
    return slow ? a->slow != NULL : a->forbidden && a->tiles;
}

// Rounded down, but never to a stand: that is what keep_out is for.
static int hundredths(const pons__area *a, double mps)
{
    const double v = a->speed_max_mps > 0.0 ? mps / a->speed_max_mps * NO_LIMIT : NO_LIMIT;
    return v >= NO_LIMIT ? NO_LIMIT : v < 1.0 ? 1 : (int)(v + 1e-9);
}

static void mark(const layer *l, int cx, int cy)
{
    const pons__area *a = l->a;
    if (cx < 0 || cy < 0 || cx >= a->f.w || cy >= a->f.h) {
        return;
    }
    const size_t at = (size_t)cy * (size_t)a->f.w + (size_t)cx;
    if (l->hundredths == NO_LIMIT) {
        a->forbidden[at / 8] |= (uint8_t)(1u << at % 8);
        a->tiles[cy / TILE * a->tiles_w + cx / TILE] = 1;
    } else if (l->hundredths < a->slow[at]) {
        a->slow[at] = (uint8_t)l->hundredths;
    }
}

// In cells, of a coordinate that may be anywhere.
static double clamp_to(double v, int n)
{
    return v < -1.0 ? -1.0 : v > n ? n : v;
}

static int by_size(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

// Liang and Barsky's clipping, so that an edge from far away takes no more steps than the frame.
static bool clip(double at, double d, int n, double *from, double *to)
{
    const double low = -1.0, high = n + 1.0;
    if (fabs(d) < 1e-12) {
        return at >= low && at <= high;
    }
    const double a = (low - at) / d, b = (high - at) / d;
    *from = fmax(*from, fmin(a, b));
    *to = fmin(*to, fmax(a, b));
    return *from <= *to;
}

// An edge: the cells that it passes, by steps of half a cell, within the frame.
static void draw_edge(const layer *l, const corner *p, const corner *q)
{
    double from = 0.0, to = 1.0;
    if (!clip(p->x, q->x - p->x, l->a->f.w, &from, &to) ||
        !clip(p->y, q->y - p->y, l->a->f.h, &from, &to)) {
        return;
    }
    const double len = hypot(q->x - p->x, q->y - p->y) * (to - from);
    const int n = (int)ceil(2.0 * len) + 1;
    for (int i = 0; i <= n; i++) {
        const double t = from + (to - from) * i / n;
        mark(l, (int)floor(p->x + t * (q->x - p->x)), (int)floor(p->y + t * (q->y - p->y)));
    }
}

// The inside, row by row through the cells' middles, by the even-odd rule; then its edges.
static void draw_corners(const layer *l, const corner *at, size_t n)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, at[i].y);
        high = fmax(high, at[i].y);
    }
    const int last = (int)clamp_to(high, l->a->f.h);
    for (int cy = (int)clamp_to(low, l->a->f.h); cy <= last; cy++) {
        double cross[CROSSINGS_MAX];
        size_t k = 0;
        const double y = cy + 0.5;
        for (size_t i = 0; i < n; i++) {
            const corner *p = &at[i], *q = &at[(i + 1) % n];
            if ((p->y > y) != (q->y > y)) {
                cross[k++] = p->x + (y - p->y) / (q->y - p->y) * (q->x - p->x);
            }
        }
        qsort(cross, k, sizeof *cross, by_size);
        for (size_t i = 0; i + 1 < k; i += 2) {
            const int to = (int)floor(clamp_to(cross[i + 1], l->a->f.w));
            for (int cx = (int)floor(clamp_to(cross[i], l->a->f.w)); cx <= to; cx++) {
                mark(l, cx, cy);
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        draw_edge(l, &at[i], &at[(i + 1) % n]);
    }
}

static void draw_polygon(const layer *l, const pons_value *polygon)
{
    corner at[CORNERS_MAX];
    const pons__area_frame *f = &l->a->f;
    size_t n = json_array_size(polygon);
    n = n < CORNERS_MAX ? n : CORNERS_MAX; // the schema allows no more
    for (size_t i = 0; i < n; i++) {
        const pons_value *p = json_array_get(polygon, i);
        at[i].x = (json_number_value(json_array_get(p, 0)) - f->x0) / f->res;
        at[i].y = (json_number_value(json_array_get(p, 1)) - f->y0) / f->res;
    }
    draw_corners(l, at, n);
}

// A hair smaller, so that cells of the same lattice do not spill onto their neighbours.
static void draw_box(const layer *l, const pons_box2 *b)
{
    corner at[4];
    const pons__area_frame *f = &l->a->f;
    const double c = cos(b->yaw), s = sin(b->yaw), less = 1e-3 * f->res;
    const double hx = 0.5 * b->sx - less, hy = 0.5 * b->sy - less;
    for (int i = 0; i < 4; i++) {
        const double ox = i == 0 || i == 3 ? -hx : hx, oy = i < 2 ? -hy : hy;
        at[i].x = (b->x + c * ox - s * oy - f->x0) / f->res;
        at[i].y = (b->y + s * ox + c * oy - f->y0) / f->res;
    }
    draw_corners(l, at, 4);
}

// ---- what a world says --------------------------------------------------------------------------

static int draw(pons__area *a, const pons_value *polygon, int limit, bool keep_out, pons_error *err)
{
    if (!keep_out && limit == NO_LIMIT) {
        return PONS_OK;
    }
    if (!make_layer(a, !keep_out)) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the world's areas");
    }
    draw_polygon(&(layer){a, keep_out ? NO_LIMIT : limit}, polygon);
    return PONS_OK;
}

static int add_polygons(pons__area *a, const pons_value *world, pons_error *err)
{
    const pons_value *out = pons_get(world, "keep_out"), *slow = pons_get(world, "speed_zones");
    int rc = PONS_OK;
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(out); i++) {
        rc = draw(a, pons_get(json_array_get(out, i), "polygon"), NO_LIMIT, true, err);
    }
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(slow); i++) {
        const pons_value *z = json_array_get(slow, i);
        const double share = pons_get_num(z, "percent", NO_LIMIT) / NO_LIMIT;
        const double mps = pons_get_num(z, "speed_max_mps", share * a->speed_max_mps);
        rc = draw(a, pons_get(z, "polygon"), hundredths(a, mps), false, err);
    }
    return rc;
}

static int draw_mask(pons__area *a, const pons_map *m, int low, int high, const layer *l,
                     pons_error *err)
{
    pons_box2 *boxes = NULL;
    size_t n = 0;
    const int rc = pons_map_rects_of(m, low, high, RECTS_MAX, &boxes, &n, err);
    if (rc < 0) {
        return rc;
    }
    const bool whole = n == 0 || make_layer(a, l->hundredths != NO_LIMIT);
    for (size_t i = 0; whole && i < n; i++) {
        draw_box(l, &boxes[i]);
    }
    free(boxes);
    return whole ? PONS_OK
                 : pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the world's areas");
}

// What a value of a speed mask means.
static int mask_limit(const pons__area *a, const pons_value *filter, int value)
{
    const double limit =
        pons_get_num(filter, "base", NO_LIMIT) + pons_get_num(filter, "multiplier", -1.0) * value;
    if (pons_get_bool(filter, "absolute", false)) {
        return limit > 0.0 ? hundredths(a, limit) : NO_LIMIT;
    }
    return limit > 0.0 && limit <= NO_LIMIT ? hundredths(a, limit / NO_LIMIT * a->speed_max_mps)
                                            : NO_LIMIT;
}

static int add_mask(pons__area *a, const pons_value *filter, pons_error *err)
{
    pons_map *m = NULL;
    int rc = pons_map_load(pons_get_str(filter, "path", ""), &m, err);
    if (rc < 0) {
        return rc;
    }
    if (strcmp(pons_get_str(filter, "kind", ""), "keep_out") == 0) {
        rc = draw_mask(a, m, 100, 100, &(layer){a, NO_LIMIT}, err);
    } else {
        bool seen[SPEEDS + 1] = {false};
        const pons_map_info *i = pons_map_about(m);
        const int8_t *cells = pons_map_cells(m);
        for (size_t k = 0; k < (size_t)i->w * (size_t)i->h; k++) {
            if (cells[k] > 0) {
                seen[cells[k]] = true;
            }
        }
        for (int v = 1; rc == PONS_OK && v <= SPEEDS; v++) {
            const layer l = {a, mask_limit(a, filter, v)};
            if (seen[v] && l.hundredths != NO_LIMIT) {
                rc = draw_mask(a, m, v, v, &l, err);
            }
        }
    }
    pons_map_destroy(m);
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__area_create(const pons_value *world, const pons__area_frame *frame, pons__area **ret,
                      pons_error *err)
{
    const pons_value *filters = pons_get(world, "filters");
    pons__area *a = calloc(1, sizeof *a);
    if (!a) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the world's areas");
    }
    a->f = *frame;
    a->speed_max_mps = pons_get_num(pons_get(world, "robot"), "speed_max_mps", 0.0);
    a->keep_out = pons_value_ref(pons_get(world, "keep_out"));
    a->masks = pons_value_ref(filters);
    int rc = add_polygons(a, world, err);
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(filters); i++) {
        rc = add_mask(a, json_array_get(filters, i), err);
    }
    if (rc < 0 || (!a->forbidden && !a->slow)) {
        pons__area_destroy(a);
        a = NULL;
    }
    if (rc == PONS_OK) {
        *ret = a;
    }
    return rc;
}

void pons__area_destroy(pons__area *a)
{
    if (a) {
        pons_value_unref(a->keep_out);
        pons_value_unref(a->masks);
        free(a->forbidden);
        free(a->tiles);
        free(a->slow);
        free(a);
    }
}

bool pons__area_has_keep_out(const pons__area *a)
{
    return a && a->forbidden;
}

double pons__area_cell_m(const pons__area *a)
{
    return a->f.res;
}

bool pons__area_cell(const pons__area *a, int cx, int cy)
{
    if (!a || !a->forbidden) {
        return false;
    }
    const size_t at = (size_t)cy * (size_t)a->f.w + (size_t)cx;
    return a->forbidden[at / 8] >> at % 8 & 1;
}

// Is there such a cell, and which?
static bool cell_at(const pons__area *a, double x, double y, int *ret_cx, int *ret_cy)
{
    const double fx = floor((x - a->f.x0) / a->f.res), fy = floor((y - a->f.y0) / a->f.res);
    if (!(fx >= 0.0 && fy >= 0.0 && fx < a->f.w && fy < a->f.h)) {
        return false;
    }
    *ret_cx = (int)fx;
    *ret_cy = (int)fy;
    return true;
}

bool pons__area_keep_out(const pons__area *a, double x, double y)
{
    int cx = 0, cy = 0;
    return a && a->forbidden && cell_at(a, x, y, &cx, &cy) && pons__area_cell(a, cx, cy);
}

static const char *mask_file(const pons__area *a)
{
    pons_each(filter, a->masks) {
        if (strcmp(pons_get_str(filter, "kind", ""), "keep_out") == 0) {
            return pons_get_str(filter, "file", "");
        }
    }
    return "";
}

double pons__area_nearest(const pons__area *a, double x, double y, double within_m, char *buf,
                          size_t cap)
{
    const pons_value *nearest = NULL;
    const bool in = pons__area_keep_out(a, x, y);
    double best = INFINITY;
    pons_each(area, a ? a->keep_out : NULL) {
        const double d = pons_polygon_distance(pons_get(area, "polygon"), x, y);
        if (d < best && d <= (in ? a->f.res : within_m)) {
            best = d;
            nearest = area;
        }
    }
    if (nearest) {
        char id[41], why[61];
        pons_utf8_copy(id, sizeof id, pons_get_str(nearest, "id", ""));
        pons_utf8_copy(why, sizeof why, pons_get_str(nearest, "reason", ""));
        snprintf(buf, cap, "%s%s%s", id, *why ? ": " : "", why);
    } else if (in) {
        pons_utf8_copy(buf, cap, mask_file(a));
    }
    return in ? 0.0 : best;
}

void pons__area_ids(const pons__area *a, char *buf, size_t cap)
{
    pons_autobuf all = PONS_BUF_INIT;
    pons_each(area, a->keep_out) {
        pons_buf_printf(&all, "%s%s", all.len > 0 ? ", " : "", pons_get_str(area, "id", ""));
    }
    if (*mask_file(a)) {
        pons_buf_printf(&all, "%s%s", all.len > 0 ? ", " : "", mask_file(a));
    }
    pons_utf8_copy(buf, cap, all.data ? all.data : "");
}

// The tile of a coordinate, of those that there are.
static int tile_of(double v, double from, double res, int n)
{
    const double t = floor((v - from) / (res * TILE));
    return t < 0.0 ? 0 : t > n - 1 ? n - 1 : (int)t;
}

bool pons__area_near(const pons__area *a, double x, double y, double within_m)
{
    if (!a || !a->forbidden) {
        return false;
    }
    const pons__area_frame *f = &a->f;
    const int x1 = tile_of(x + within_m, f->x0, f->res, a->tiles_w),
              y1 = tile_of(y + within_m, f->y0, f->res, a->tiles_h);
    for (int ty = tile_of(y - within_m, f->y0, f->res, a->tiles_h); ty <= y1; ty++) {
        for (int tx = tile_of(x - within_m, f->x0, f->res, a->tiles_w); tx <= x1; tx++) {
            if (a->tiles[ty * a->tiles_w + tx]) {
                return true;
            }
        }
    }
    return false;
}

double pons__area_speed(const pons__area *a, double x, double y)
{
    int cx = 0, cy = 0;
    if (!a || !a->slow || !cell_at(a, x, y, &cx, &cy)) {
        return INFINITY;
    }
    const int v = a->slow[(size_t)cy * (size_t)a->f.w + (size_t)cx];
    return v == NO_LIMIT ? INFINITY : a->speed_max_mps * v / NO_LIMIT;
}
