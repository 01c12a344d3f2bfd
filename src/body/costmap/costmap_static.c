// costmap_static.c - the layer of a costmap that never changes: a world's boxes, what its map does not know, where nobody
// may go; and how far from these each cell is, in levels (costmap.c).
#include "body/costmap/costmap.h"
#include "pons/growing_list.h"
#include "pons/map.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS_MAX = 16 * 1024 * 1024, FAR = PONS__LEVELS - 1, BAND = 256 };
static const double EXACT_M =
    0.45; // distances to here have levels of their own, if there are enough

typedef struct edt_scratch {
    float *f, *d; // (longest side) squared distances in and out [cells²]
    int32_t *v;   // (longest side) parabolas of the lower envelope
    double *z;    // (longest side + 1) where each begins
} edt_scratch;

typedef struct band_scratch {
    uint16_t *below; // (BAND + reach + 1, w) cells to the next static one upwards in y
    uint16_t *above; // (w) and to the last one
    edt_scratch e;
} band_scratch;

static int read_frame(pons__costmap *g, const pons_value *world, pons_error *err)
{
    const pons_value *map = pons_get(world, "map");
    const pons_value *bounds = pons_get(world, "bounds");
    double b[4];
    if (json_array_size(bounds) != 4) {
        return pons_error_set(err, PONS_EINVAL, "grid", "bounds is not [xmin, ymin, xmax, ymax]");
    }
    for (size_t i = 0; i < 4; i++) {
        b[i] = json_number_value(json_array_get(bounds, i));
    }
    g->res = pons_get_num(map, "resolution_m", 0.05);
    if (!(g->res >= 0.005 && g->res <= 1.0)) {
        return pons_error_set(err, PONS_EINVAL, "grid",
                              "map.resolution_m is %g, not within 0.005 … 1", g->res);
    }
    const double w = ceil((b[2] - b[0]) / g->res - 1e-9);
    const double h = ceil((b[3] - b[1]) / g->res - 1e-9);
    if (!(w >= 1.0 && h >= 1.0 && w * h <= CELLS_MAX)) {
        return pons_error_set(err, PONS_EINVAL, "grid",
                              "bounds [%g, %g, %g, %g] at %g m make %g × %g cells, not within 1 … "
                              "%d in all",
                              b[0], b[1], b[2], b[3], g->res, w, h, CELLS_MAX);
    }
    g->x0 = b[0];
    g->y0 = b[1];
    g->inv_res = 1.0 / g->res;
    g->w = (int)w;
    g->h = (int)h;
    return PONS_OK;
}

static int read_box(const pons_value *v, size_t i, pons__box *ret, pons_error *err)
{
    const double x = pons_get_num(v, "x", NAN), y = pons_get_num(v, "y", NAN);
    const double sx = pons_get_num(v, "sx", NAN), sy = pons_get_num(v, "sy", NAN);
    const double yaw = pons_get_num(v, "yaw", 0.0);
    if (!isfinite(x + y + yaw) || !(sx > 0.0 && sy > 0.0 && isfinite(sx + sy))) {
        return pons_error_set(err, PONS_EINVAL, "grid",
                              "map.boxes[%zu] needs finite x, y and positive sx, sy", i);
    }
    *ret = (pons__box){x, y, cos(yaw), sin(yaw), 0.5 * sx, 0.5 * sy};
    return PONS_OK;
}

// To a cell number, however far away the point is.
static int clamp_cell(double v, int n)
{
    return v < 0.0 ? 0 : v > n - 1 ? n - 1 : (int)v;
}

// Marks the cells that it covers, for the distances.
static void add_box(pons__costmap *g, const pons__box *b)
{
    // A box thinner than a cell still covers one centre in each row.
    const double cover_x = fmax(b->hx, 0.5 * g->res) + 1e-9;
    const double cover_y = fmax(b->hy, 0.5 * g->res) + 1e-9;
    const double ex = fabs(b->c) * cover_x + fabs(b->s) * cover_y;
    const double ey = fabs(b->s) * cover_x + fabs(b->c) * cover_y;
    const int x0 = clamp_cell((b->x - ex - g->x0) * g->inv_res, g->w);
    const int x1 = clamp_cell((b->x + ex - g->x0) * g->inv_res, g->w);
    const int y0 = clamp_cell((b->y - ey - g->y0) * g->inv_res, g->h);
    const int y1 = clamp_cell((b->y + ey - g->y0) * g->inv_res, g->h);
    for (int cy = y0; cy <= y1; cy++) {
        for (int cx = x0; cx <= x1; cx++) {
            const double dx = pons__costmap_x(g, cx) - b->x, dy = pons__costmap_y(g, cy) - b->y;
            const double px = b->c * dx + b->s * dy, py = -b->s * dx + b->c * dy;
            if (fabs(px) <= cover_x && fabs(py) <= cover_y) {
                g->fixed[(size_t)cy * (size_t)g->w + (size_t)cx] = 1;
            }
        }
    }
}

static int read_boxes(pons__costmap *g, const pons_value *list, pons_error *err)
{
    const size_t n = json_array_size(list);
    pons__box *boxes = calloc(n + 1, sizeof *boxes);
    g->changed = calloc((size_t)g->patches_w * (size_t)g->patches_h, sizeof *g->changed);
    int rc = boxes && g->changed ? PONS_OK : PONS_ENOMEM;
    for (size_t i = 0; rc == PONS_OK && i < n; i++) {
        rc = read_box(json_array_get(list, i), i, &boxes[i], err);
        if (rc == PONS_OK) {
            add_box(g, &boxes[i]);
        }
    }
    if (rc == PONS_OK && !(g->surface = pons__surface_create(g, boxes, (int)n))) {
        rc = PONS_ENOMEM;
    }
    free(boxes);
    return rc == PONS_ENOMEM ? pons_error_set(err, rc, "grid", "out of memory") : rc;
}

// `below` for the rows from y0 on, of those that are in reach of the band.
static int look_below(const pons__costmap *g, const uint8_t *field, band_scratch *b, int y0)
{
    const int end = y0 + BAND + g->reach < g->h ? y0 + BAND + g->reach : g->h;
    for (int y = end - 1; y >= y0; y--) {
        const uint8_t *mark = field + (size_t)y * (size_t)g->w;
        uint16_t *row = b->below + (size_t)(y - y0) * (size_t)g->w;
        for (int x = 0; x < g->w; x++) {
            const int next = y + 1 < end ? row[g->w + x] + 1 : g->reach + 1;
            row[x] = (uint16_t)(mark[x] ? 0 : next < g->reach + 1 ? next : g->reach + 1);
        }
    }
    return y0 + BAND < g->h ? y0 + BAND : g->h;
}

// One line of the distance transform: d[q] = min over p of (q − p)² + f[p].
static void edt_line(edt_scratch *e, int n)
{
    int k = -1;
    for (int q = 0; q < n; q++) {
        if (e->f[q] >= FLT_MAX) {
            continue; // no parabola here
        }
        double s = -DBL_MAX;
        while (k >= 0) {
            const int p = e->v[k];
            s = (((double)e->f[q] + (double)q * q) - ((double)e->f[p] + (double)p * p)) /
                (2.0 * (q - p));
            if (s > e->z[k]) {
                break;
            }
            k--;
        }
        e->v[++k] = q;
        e->z[k] = k == 0 ? -DBL_MAX : s;
    }
    if (k < 0) {
        for (int q = 0; q < n; q++) {
            e->d[q] = FLT_MAX;
        }
        return;
    }
    for (int q = 0, i = 0; q < n; q++) {
        while (i < k && e->z[i + 1] < q) {
            i++;
        }
        const float dq = (float)(q - e->v[i]);
        e->d[q] = dq * dq + e->f[e->v[i]];
    }
}

// A row of levels, from how far the next static cells of each column are.
static void make_row(const pons__costmap *g, band_scratch *b, const uint16_t *below, uint8_t *ret)
{
    const int most = g->reach * g->reach;
    bool any = false;
    for (int x = 0; x < g->w; x++) {
        const int up = below[x] == 0 ? 0 : b->above[x] + 1;
        b->above[x] = (uint16_t)(up < g->reach + 1 ? up : g->reach + 1);
        const int d = below[x] < b->above[x] ? below[x] : b->above[x];
        b->e.f[x] = d > g->reach ? FLT_MAX : (float)(d * d);
        any = any || d <= g->reach;
    }
    if (!any) {
        memset(ret, FAR, (size_t)g->w);
        return;
    }
    edt_line(&b->e, g->w);
    for (int x = 0; x < g->w; x++) {
        ret[x] = b->e.d[x] <= (float)most ? g->level_of[(int)b->e.d[x]] : (uint8_t)FAR;
    }
}

int pons__costmap_distances(const pons__costmap *g, uint8_t *field, pons_error *err)
{
    const size_t w = (size_t)g->w;
    band_scratch b = {calloc(((size_t)BAND + (size_t)g->reach + 1) * w, sizeof *b.below),
                      calloc(w, sizeof *b.above),
                      {calloc(w, sizeof *b.e.f), calloc(w, sizeof *b.e.d), calloc(w, sizeof *b.e.v),
                       calloc(w + 1, sizeof *b.e.z)}};
    const bool good = b.below && b.above && b.e.f && b.e.d && b.e.v && b.e.z;
    for (size_t x = 0; good && x < w; x++) {
        b.above[x] = (uint16_t)(g->reach + 1);
    }
    for (int y = 0; good && y < g->h;) {
        const int y0 = y, end = look_below(g, field, &b, y0);
        for (; y < end; y++) {
            make_row(g, &b, b.below + (size_t)(y - y0) * w, field + (size_t)y * w);
        }
    }
    free(b.below);
    free(b.above);
    free(b.e.f);
    free(b.e.d);
    free(b.e.v);
    free(b.e.z);
    return good ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "grid", "out of memory");
}

static pons_box2 box_between(double x0, double y0, double x1, double y1)
{
    return (pons_box2){0.5 * (x0 + x1), 0.5 * (y0 + y1), 0.0, fmax(x1 - x0, 0.0),
                       fmax(y1 - y0, 0.0)};
}

// Around a map that grows nothing is known yet; without one, nowhere.
static int add_around(const pons__costmap *g, const double *map, pons_box2 **boxes, size_t *n,
                      pons_error *err)
{
    const double x1 = g->x0 + g->w * g->res, y1 = g->y0 + g->h * g->res;
    if (!pons_list_reserve(boxes, NULL, *n + 4, sizeof **boxes)) {
        return pons_error_set(err, PONS_ENOMEM, "grid", "out of memory");
    }
    pons_box2 *more = *boxes;
    if (!map) {
        more[(*n)++] = box_between(g->x0, g->y0, x1, y1);
        return PONS_OK;
    }
    const pons_box2 sides[] = {
        box_between(g->x0, g->y0, map[0], y1), box_between(map[2], g->y0, x1, y1),
        box_between(map[0], g->y0, map[2], map[1]), box_between(map[0], map[3], map[2], y1)};
    for (size_t i = 0; i < 4; i++) {
        if (sides[i].sx > 0.5 * g->res && sides[i].sy > 0.5 * g->res) {
            more[(*n)++] = sides[i];
        }
    }
    return PONS_OK;
}

// What a map does not know, as boxes: the map is gone again before there is more to remember.
static int read_unknown(const pons__costmap *g, const pons_value *world, pons_box2 **ret,
                        size_t *ret_n, pons_error *err)
{
    const pons_value *map = pons_get(world, "map");
    const char *path = pons_get_str(map, "path", NULL);
    pons_map *m = NULL;
    const bool grows = pons_get_bool(map, "grows", false);
    if (!path || (!grows && strcmp(pons_get_str(map, "unknown", "blocked"), "free") == 0)) {
        return PONS_OK;
    }
    if (grows && access(path, F_OK) < 0) {
        return add_around(g, NULL, ret, ret_n, err);
    }
    int rc = pons_map_load(path, &m, err);
    rc = rc < 0 ? rc : pons_map_rects(m, PONS_MAP_UNKNOWN, PONS_MAP_CELLS_MAX, ret, ret_n, err);
    rc = rc < 0 || !grows ? rc : add_around(g, pons_map_about(m)->bounds, ret, ret_n, err);
    pons_map_destroy(m);
    return rc;
}

// Marks what is no wall, but nobody's way either.
static void mark_areas(pons__costmap *g, const pons_box2 *unknown, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const pons_box2 *b = &unknown[i];
        add_box(g, &(pons__box){b->x, b->y, cos(b->yaw), sin(b->yaw), 0.5 * b->sx, 0.5 * b->sy});
    }
    for (int cy = 0; pons__area_has_keep_out(g->area) && cy < g->h; cy++) {
        for (int cx = 0; cx < g->w; cx++) {
            if (pons__area_cell(g->area, cx, cy)) {
                g->fixed[(size_t)cy * (size_t)g->w + (size_t)cx] = 1;
            }
        }
    }
}

static int make_static(pons__costmap *g, const pons_value *world, pons_error *err)
{
    const size_t cells = (size_t)g->w * (size_t)g->h;
    const pons__area_frame frame = {g->x0, g->y0, g->res, g->w, g->h};
    pons_box2 *unknown = NULL;
    size_t n = 0;
    int rc = read_unknown(g, world, &unknown, &n, err);
    rc = rc < 0 ? rc : pons__area_create(world, &frame, &g->area, err);
    const bool any = rc == PONS_OK && (n > 0 || pons__area_has_keep_out(g->area));
    if (any) {
        uint8_t *walls = malloc(cells);
        if (walls) {
            memcpy(walls, g->fixed, cells);
            g->walls = walls;
            mark_areas(g, unknown, n);
        } else {
            rc = pons_error_set(err, PONS_ENOMEM, "grid", "out of memory");
        }
    }
    free(unknown);
    rc = rc < 0 ? rc : pons__costmap_distances(g, g->fixed, err);
    return rc < 0 || !any ? rc : pons__costmap_distances(g, g->walls, err);
}

// How many levels distances up to reach take when those that differ by less than a tolerance share
// one; with level_of, which.
static int count_levels(pons__costmap *g, const uint8_t *is_sum, double tolerance, bool fill)
{
    int n = 0;
    double from = -1.0;
    const int most = g->reach * g->reach;
    for (int k = 1; k <= most; k++) {
        const double d = (sqrt(k) - 0.5) * g->res;
        if (!is_sum[k] || d >= (double)PONS__DIST_MAX_M) {
            continue;
        }
        if (from < 0.0 || d - from > tolerance * (0.02 + fmax(from - EXACT_M, 0.0))) {
            from = d;
            n++;
            if (fill) {
                g->metres[n] = (float)d;
            }
        }
        if (fill) {
            g->level_of[k] = (uint8_t)n;
        }
    }
    return n;
}

// The finest tolerance that there are levels for.
static int make_levels(pons__costmap *g)
{
    const int most = g->reach * g->reach;
    uint8_t *is_sum = calloc((size_t)most + 1, 1);
    g->level_of = calloc((size_t)most + 1, 1);
    if (!is_sum || !g->level_of) {
        free(is_sum);
        return PONS_ENOMEM;
    }
    for (int y = 0; y <= g->reach; y++) {
        for (int x = 0; x * x + y * y <= most && x <= g->reach; x++) {
            is_sum[x * x + y * y] = 1;
        }
    }
    double low = 0.0, high = 1.0;
    while (high - low > 1e-4) {
        const double middle = 0.5 * (low + high);
        *(count_levels(g, is_sum, middle, false) < FAR ? &high : &low) = middle;
    }
    memset(g->level_of, FAR, (size_t)most + 1);
    g->level_of[0] = 0;
    g->metres[0] = 0.0f;
    for (int k = count_levels(g, is_sum, high, true) + 1; k < PONS__LEVELS; k++) {
        g->metres[k] = PONS__DIST_MAX_M;
    }
    free(is_sum);
    return PONS_OK;
}

static void make_disc(pons__costmap *g)
{
    const int side = 2 * g->reach + 1, most = g->reach * g->reach;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            const int k = (x - g->reach) * (x - g->reach) + (y - g->reach) * (y - g->reach);
            g->disc[y * side + x] = (uint8_t)(FAR - (k <= most ? g->level_of[k] : FAR));
        }
    }
}

int pons__costmap_alloc(pons__costmap *g, pons_error *err)
{
    const size_t n = (size_t)g->w * (size_t)g->h;
    g->reach = (int32_t)ceil((double)PONS__DIST_MAX_M / g->res) + 1;
    const size_t side = 2 * (size_t)g->reach + 1;
    g->patches_w = (g->w - 1) / PONS__PATCH + 1;
    g->patches_h = (g->h - 1) / PONS__PATCH + 1;
    g->fixed = calloc(n, 1);
    g->walls = g->fixed;
    g->near = calloc(n, 1);
    g->evidence = calloc(n, 1);
    g->disc = calloc(side * side, 1);
    if (!g->fixed || !g->near || !g->evidence || !g->disc || make_levels(g) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "grid", "out of memory for %d × %d cells", g->w,
                              g->h);
    }
    make_disc(g);
    return PONS_OK;
}

// Reads the frame, allocates the costmap and fills its static layer.
static int read_all(pons__costmap *g, const pons_value *world, pons_error *err)
{
    int rc = read_frame(g, world, err);
    rc = rc < 0 ? rc : pons__costmap_alloc(g, err);
    rc = rc < 0 ? rc : read_boxes(g, pons_get(pons_get(world, "map"), "boxes"), err);
    return rc < 0 ? rc : make_static(g, world, err);
}

int pons__costmap_from_world(const pons_value *world, pons__costmap **ret, pons_error *err)
{
    pons__costmap *g = calloc(1, sizeof *g);
    if (!g) {
        return pons_error_set(err, PONS_ENOMEM, "grid", "out of memory");
    }
    g->refill_stamp_ns = g->scan_stamp_ns = INT64_MIN / 2;
    const int rc = read_all(g, world, err);
    if (rc != PONS_OK) {
        pons__costmap_destroy(g);
        return rc;
    }
    *ret = g;
    return PONS_OK;
}
