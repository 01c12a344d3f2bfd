// costmap.c - where a robot cannot be: the map's boxes, and what the lidar has seen besides.
//
// Two layers over one lattice of cells.
//
//   static     the boxes of the world file. Never changes, never cleared.
//   obstacle   evidence from scans, one small counter a cell. A beam that ends in a cell adds
//              HIT; a beam that passes over it takes MISS away. The cell becomes an obstacle at
//              OCCUPIED_AT and stops being one only at 0, so it does not flicker:
//
//                  evidence   0 ----- 4 ----------- 10
//                             free <---------------- obstacle
//                             free --> obstacle
//
//              A beam that ends on or near a mapped face is explained by the map and adds
//              nothing; the tolerance grows with range because an error of yaw does.
//
// Clearing walks over the cells that hold evidence and asks which beam passes each, instead of
// walking along every beam: a quiet house has no such cells, and then a scan costs only its hits.
//
// How far the nearest occupied cell is, is kept as a level, a byte a cell (a building of 200 × 200 m
// has 16 million cells):
//
//   fixed   to the nearest static cell: exact Euclidean distance (Felzenszwalb & Huttenlocher,
//           "Distance Transforms of Sampled Functions", 2012), made once, a band of rows at a time.
//   near    to the nearest obstacle, upside down, so that where none ever was the memory is not even
//           touched. A new obstacle lowers the distance by stamping a disc; one that goes gives back
//           what it was nearest to, and what is left is stamped there, at most twice a second or
//           when a planner asks.
//
// There are few distances between cells: each near one has a level of its own, further out several
// share one, which stands for the shortest of them. So a level never promises room that is not
// there. The signed distance to the boxes themselves, which scan matching wants, is surface.c's.
//
// Distances run from a cell's centre to the near edge of the occupied cell: half a cell less than
// between the centres.
#include "body/nav/parts.h"
#include "pons/map.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HIT = 2, MISS = 1, OCCUPIED_AT = 4, EVIDENCE_MAX = 10, CELLS_MAX = 16 * 1024 * 1024 };
enum { OBSTACLE = PONS__OBSTACLE, OPEN = 0x40, FAR = PONS__LEVELS - 1, BAND = 256 };
static const double EXACT_M =
    0.45; // distances to here have levels of their own, if there are enough
static const double HIT_RANGE_MAX_M = 4.0;   // an obstacle further away can wait
static const double CLEAR_RANGE_MAX_M = 6.0; // beams clear further than they mark
static const double EXPLAINED_M = 0.12;      // so near a mapped face, a hit is that face
static const double EXPLAINED_PER_M = 0.02;  // and a little more for each metre of range
static const double PASSED_BY_M = 0.10;      // a beam clears a cell that it outreaches by this
static const double SELF_M = 0.15;           // what is this near the robot's centre is the robot
static const int64_t REFILL_PERIOD_NS = PONS_NS_PER_S / 2;
static const double BLOB_GAP_M = 0.15; // cells nearer than this to each other are one blob

typedef struct window {
    int x0, y0, x1, y1; // cells, both ends in it; empty: x1 < x0
} window;

static int read_frame(pons__costmap *g, const pons_value *world, pons_error *err);
static int read_boxes(pons__costmap *g, const pons_value *list, pons_error *err);
static void add_box(pons__costmap *g, const pons__box *b);
static int make_static(pons__costmap *g, const pons_value *world, pons_error *err);
static int make_fixed(pons__costmap *g, uint8_t *field, pons_error *err);
static bool push(int32_t **list, int32_t *n, int32_t *cap, int32_t cell);
static void mark_hits(pons__costmap *g, pons_pose2 pose, const pons_scan *scan);
static void clear_passed(pons__costmap *g, pons_pose2 pose, const pons_scan *scan);
static int clamp_int(int v, int lo, int hi);
static void show_fresh(pons__costmap *g);
static void stamp_disc(pons__costmap *g, int32_t cell, window in);
static void unstamp(pons__costmap *g, int32_t cell);
static void wipe(pons__costmap *g, int32_t cell);
static void obstacle_gone(pons__costmap *g, int32_t cell);

int pons__costmap_from_world(const pons_value *world, pons__costmap **ret, pons_error *err)
{
    pons__costmap *g = calloc(1, sizeof *g);
    if (!g) {
        return pons_error_set(err, PONS_ENOMEM, "grid", "out of memory");
    }
    g->refill_stamp_ns = g->scan_stamp_ns = INT64_MIN / 2;
    int rc = read_frame(g, world, err);
    if (rc == PONS_OK) {
        rc = pons__costmap_alloc(g, err);
    }
    if (rc == PONS_OK) {
        rc = read_boxes(g, pons_get(pons_get(world, "map"), "boxes"), err);
    }
    if (rc == PONS_OK) {
        rc = make_static(g, world, err);
    }
    if (rc != PONS_OK) {
        pons__costmap_destroy(g);
        return rc;
    }
    *ret = g;
    return PONS_OK;
}

const pons__area *pons__costmap_area(const pons__costmap *g)
{
    return g->area;
}

void pons__costmap_destroy(pons__costmap *g)
{
    if (!g) {
        return;
    }
    if (g->walls != g->fixed) {
        free(g->walls);
    }
    free(g->fixed);
    pons__area_destroy(g->area);
    free(g->near);
    free(g->evidence);
    free(g->level_of);
    free(g->changed);
    pons__surface_destroy(g->surface);
    free(g->seen);
    free(g->fresh);
    free(g->gone);
    free(g->disc);
    free(g);
}

void pons__costmap_observe(pons__costmap *g, pons_pose2 pose_in_map, const pons_scan *scan)
{
    // The same scan twice would count its evidence twice.
    if (scan->stamp_ns == g->scan_stamp_ns || !isfinite(pose_in_map.x + pose_in_map.y) ||
        !isfinite(pose_in_map.yaw)) {
        return;
    }
    g->scan_stamp_ns = scan->stamp_ns;
    if (g->n_seen > 0) {
        clear_passed(g, pose_in_map, scan);
    }
    mark_hits(g, pose_in_map, scan);
    // What appears is shown at once; what has gone is dearer to show, and less urgent.
    if (scan->stamp_ns >= g->refill_stamp_ns + REFILL_PERIOD_NS ||
        scan->stamp_ns < g->refill_stamp_ns) {
        pons__costmap_refresh(g);
    } else {
        show_fresh(g);
    }
}

void pons__costmap_clear_obstacles(pons__costmap *g)
{
    if (g->n_seen == 0 && g->n_gone == 0) {
        return;
    }
    g->generation++;
    // What is told of as gone has left its disc, too.
    for (int32_t i = 0; i < g->n_seen; i++) {
        if (pons__costmap_is_obstacle(g, g->seen[i])) {
            wipe(g, g->seen[i]);
        }
        g->evidence[g->seen[i]] = 0;
    }
    for (int32_t i = 0; i < g->n_gone; i++) {
        wipe(g, g->gone[i]);
    }
    g->n_seen = g->n_obstacles = g->n_fresh = g->n_gone = 0;
    g->openings++;
}

void pons__costmap_clear_region(pons__costmap *g, double x, double y, double half_m, bool except)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < g->n_seen; i++) {
        const int32_t cell = g->seen[i];
        const bool in = fabs(pons__costmap_x(g, cell % g->w) - x) <= half_m &&
                        fabs(pons__costmap_y(g, cell / g->w) - y) <= half_m;
        if (in == except) {
            g->seen[kept++] = cell;
            continue;
        }
        const bool was = pons__costmap_is_obstacle(g, cell);
        g->evidence[cell] = 0;
        if (was) {
            obstacle_gone(g, cell);
        }
    }
    if (kept != g->n_seen) {
        g->n_seen = kept;
        pons__costmap_refresh(g);
    }
}

void pons__costmap_restamp(pons__costmap *g)
{
    const window all = {0, 0, g->w - 1, g->h - 1};
    memset(g->near, 0, (size_t)g->w * (size_t)g->h);
    g->generation++;
    for (int32_t i = 0; i < g->n_seen; i++) {
        if (pons__costmap_is_obstacle(g, g->seen[i])) {
            stamp_disc(g, g->seen[i], all);
        }
    }
    g->n_fresh = g->n_gone = 0;
    g->openings++;
}

static int by_cell(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Floods from an obstacle cell over gaps of BLOB_GAP_M. The obstacle cells that belong to no blob
// yet have OPEN in their evidence; `todo` has room for all of them.
static pons__blob flood(pons__costmap *g, int32_t from, int32_t *todo)
{
    const int gap = (int)lround(BLOB_GAP_M / g->res);
    int x0 = INT_MAX, y0 = INT_MAX, x1 = 0, y1 = 0, n = 0;
    todo[n++] = from;
    g->evidence[from] &= (uint8_t)~OPEN;
    for (int i = 0; i < n; i++) {
        const int cx = todo[i] % g->w, cy = todo[i] / g->w;
        x0 = cx < x0 ? cx : x0;
        y0 = cy < y0 ? cy : y0;
        x1 = cx > x1 ? cx : x1;
        y1 = cy > y1 ? cy : y1;
        for (int y = clamp_int(cy - gap, 0, cy); y <= clamp_int(cy + gap, cy, g->h - 1); y++) {
            for (int x = clamp_int(cx - gap, 0, cx); x <= clamp_int(cx + gap, cx, g->w - 1); x++) {
                if (g->evidence[y * g->w + x] & OPEN) {
                    g->evidence[y * g->w + x] &= (uint8_t)~OPEN;
                    todo[n++] = y * g->w + x;
                }
            }
        }
    }
    return (pons__blob){g->x0 + 0.5 * (x0 + x1 + 1) * g->res, g->y0 + 0.5 * (y0 + y1 + 1) * g->res,
                        0.5 * hypot(x1 - x0 + 1, y1 - y0 + 1) * g->res};
}

int pons__costmap_blobs(const pons__costmap *grid, pons__blob *ret, int cap)
{
    pons__costmap *g =
        (pons__costmap *)(uintptr_t)grid; // marks cells, and takes the marks away again
    if (g->n_obstacles == 0 || cap <= 0) {
        return 0;
    }
    // In the order of their first cells in the map, whatever order they were seen in.
    const size_t n = (size_t)g->n_obstacles;
    int32_t *cells = malloc(sizeof *cells * n), *todo = malloc(sizeof *todo * n);
    int found = 0;
    if (!cells || !todo) {
        goto done;
    }
    int32_t k = 0;
    for (int32_t i = 0; i < g->n_seen; i++) {
        if (pons__costmap_is_obstacle(g, g->seen[i])) {
            g->evidence[g->seen[i]] |= OPEN;
            cells[k++] = g->seen[i];
        }
    }
    qsort(cells, n, sizeof *cells, by_cell);
    for (int32_t i = 0; i < k; i++) {
        if (found < cap && (g->evidence[cells[i]] & OPEN)) {
            ret[found++] = flood(g, cells[i], todo);
        }
        g->evidence[cells[i]] &= (uint8_t)~OPEN;
    }
done:
    free(cells);
    free(todo);
    return found;
}

double pons__costmap_clearance(const pons__costmap *g, double x, double y)
{
    return pons__costmap_dist(g, x, y);
}

void pons__costmap_refresh(pons__costmap *g)
{
    if (g->n_gone > 0) {
        g->generation++;
        for (int32_t i = 0; i < g->n_gone; i++) {
            if (!pons__costmap_is_obstacle(g, g->gone[i])) { // not back again
                unstamp(g, g->gone[i]);
            }
        }
        g->n_gone = 0;
        g->refill_stamp_ns = g->scan_stamp_ns;
        g->openings++;
    }
    show_fresh(g);
}

// ---- the static layer ---------------------------------------------------------------------------

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

static int clamp_int(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

// To a cell number, however far away the point is.
static int clamp_cell(double v, int n)
{
    return v < 0.0 ? 0 : v > n - 1 ? n - 1 : (int)v;
}

// Marks the cells that it covers, for make_fixed.
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

typedef struct edt_scratch {
    float *f, *d; // (longest side) squared distances in and out [cells²]
    int32_t *v;   // (longest side) parabolas of the lower envelope
    double *z;    // (longest side + 1) where each begins
} edt_scratch;

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

typedef struct band_scratch {
    uint16_t *below; // (BAND + reach + 1, w) cells to the next static one upwards in y
    uint16_t *above; // (w) and to the last one
    edt_scratch e;
} band_scratch;

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

// A row of levels, from how far the next static cells of each column are.
static void make_row(pons__costmap *g, band_scratch *b, const uint16_t *below, uint8_t *ret)
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

// From the marks of add_box and of areas, in their place.
static int make_fixed(pons__costmap *g, uint8_t *field, pons_error *err)
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

// What a map does not know, as boxes: the map is gone again before there is more to remember.
static int read_unknown(const pons_value *world, pons_box2 **ret, size_t *ret_n, pons_error *err)
{
    const pons_value *map = pons_get(world, "map");
    const char *path = pons_get_str(map, "path", NULL);
    pons_map *m = NULL;
    if (!path || strcmp(pons_get_str(map, "unknown", "blocked"), "free") == 0) {
        return PONS_OK;
    }
    int rc = pons_map_load(path, &m, err);
    if (rc == PONS_OK) {
        rc = pons_map_rects(m, PONS_MAP_UNKNOWN, PONS_MAP_CELLS_MAX, ret, ret_n, err);
    }
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
    int rc = read_unknown(world, &unknown, &n, err);
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
    rc = rc < 0 ? rc : make_fixed(g, g->fixed, err);
    return rc < 0 || !any ? rc : make_fixed(g, g->walls, err);
}

// ---- the obstacle layer -------------------------------------------------------------------------

static bool push(int32_t **list, int32_t *n, int32_t *cap, int32_t cell)
{
    if (*n == *cap) {
        const int32_t more = *cap ? 2 * *cap : 256;
        int32_t *grown = realloc(*list, sizeof **list * (size_t)more);
        if (!grown) {
            return false;
        }
        *list = grown;
        *cap = more;
    }
    (*list)[(*n)++] = cell;
    return true;
}

// What there is no memory to remember has not been seen.
static void hit(pons__costmap *g, int32_t cell)
{
    const uint8_t was = g->evidence[cell];
    if (was == 0 && !push(&g->seen, &g->n_seen, &g->cap_seen, cell)) {
        return;
    }
    const int more = clamp_int((was & ~OBSTACLE) + HIT, 0, EVIDENCE_MAX);
    g->evidence[cell] = (uint8_t)((was & OBSTACLE) | more);
    if (!(was & OBSTACLE) && more >= OCCUPIED_AT &&
        push(&g->fresh, &g->n_fresh, &g->cap_fresh, cell)) {
        g->evidence[cell] |= OBSTACLE;
        g->n_obstacles++;
    }
}

static void mark_hits(pons__costmap *g, pons_pose2 pose, const pons_scan *scan)
{
    const float max = fminf(scan->range_max, (float)HIT_RANGE_MAX_M);
    // Turning a unit vector by one increment a beam is as good as a sine for each.
    double ux = cos(pose.yaw + (double)scan->angle_min);
    double uy = sin(pose.yaw + (double)scan->angle_min);
    const double ic = cos((double)scan->angle_increment), is = sin((double)scan->angle_increment);
    for (int k = 0; k < scan->n; k++) {
        const float r = scan->ranges[k];
        const double bx = ux, by = uy;
        ux = bx * ic - by * is;
        uy = bx * is + by * ic;
        if (!(r > scan->range_min && r < max)) {
            continue;
        }
        const int cx = pons__costmap_col(g, pose.x + (double)r * bx);
        const int cy = pons__costmap_row(g, pose.y + (double)r * by);
        if (!pons__costmap_inside(g, cx, cy)) {
            continue;
        }
        const int32_t cell = cy * g->w + cx;
        if ((double)pons__costmap_surface(g, cx, cy) <= EXPLAINED_M + EXPLAINED_PER_M * (double)r) {
            continue;
        }
        hit(g, cell);
    }
}

// Does the scan look through this place?
static bool beam_passes(const pons_scan *scan, double yaw, double dx, double dy, double half_cell)
{
    const double r2 = dx * dx + dy * dy;
    if (r2 < SELF_M * SELF_M) {
        return true;
    }
    if (r2 > CLEAR_RANGE_MAX_M * CLEAR_RANGE_MAX_M || scan->n < 1 ||
        !(scan->angle_increment > 0.0f)) {
        return false;
    }
    double a = atan2(dy, dx) - yaw - (double)scan->angle_min;
    a -= 2.0 * M_PI * floor(a / (2.0 * M_PI));
    const double inc = (double)scan->angle_increment;
    int k = (int)lround(a / inc);
    double off = a - k * inc;
    if (k == (int)lround(2.0 * M_PI / inc)) {
        k = 0; // a full circle's beam 0 again
    }
    if (k >= scan->n) {
        return false;
    }
    const double r = sqrt(r2);
    if (fabs(off) * r > 1.5 * half_cell) {
        return false; // between two beams
    }
    const float range = scan->ranges[k];
    const double reach = range < scan->range_max ? (double)range : (double)scan->range_max;
    return !isnan(range) && reach > r + PASSED_BY_M;
}

static void clear_passed(pons__costmap *g, pons_pose2 pose, const pons_scan *scan)
{
    const double yaw = pons_wrap_angle(pose.yaw);
    int32_t kept = 0;
    for (int32_t i = 0; i < g->n_seen; i++) {
        const int32_t cell = g->seen[i];
        const double dx = pons__costmap_x(g, cell % g->w) - pose.x;
        const double dy = pons__costmap_y(g, cell / g->w) - pose.y;
        if (beam_passes(scan, yaw, dx, dy, 0.5 * g->res)) {
            const uint8_t was = g->evidence[cell];
            const int left = clamp_int((was & ~OBSTACLE) - MISS, 0, EVIDENCE_MAX);
            g->evidence[cell] = left ? (uint8_t)((was & OBSTACLE) | left) : 0;
            if (left == 0 && (was & OBSTACLE)) {
                obstacle_gone(g, cell);
            }
        }
        if (g->evidence[cell] != 0) {
            g->seen[kept++] = cell;
        }
    }
    g->n_seen = kept;
}

// Its evidence is gone already.
static void obstacle_gone(pons__costmap *g, int32_t cell)
{
    g->n_obstacles--;
    if (!push(&g->gone, &g->n_gone, &g->cap_gone, cell)) {
        unstamp(g, cell); // now, then
        g->generation++;
        g->openings++;
    }
}

static window disc_window(const pons__costmap *g, int32_t cell)
{
    const int r = g->reach, cx = cell % g->w, cy = cell / g->w;
    return (window){clamp_int(cx - r, 0, g->w - 1), clamp_int(cy - r, 0, g->h - 1),
                    clamp_int(cx + r, 0, g->w - 1), clamp_int(cy + r, 0, g->h - 1)};
}

// The disc's entries beside the cells of row y from x0 on.
static const uint8_t *disc_row(const pons__costmap *g, int32_t cell, int x0, int y)
{
    const int r = g->reach, side = 2 * r + 1, cx = cell % g->w, cy = cell / g->w;
    return g->disc + (y - cy + r) * side + (x0 - cx + r);
}

// Something there is not as it was at the present generation.
static void note_change(pons__costmap *g, window in)
{
    for (int y = in.y0 / PONS__PATCH; g->changed && y <= in.y1 / PONS__PATCH; y++) {
        for (int x = in.x0 / PONS__PATCH; x <= in.x1 / PONS__PATCH; x++) {
            g->changed[y * g->patches_w + x] = g->generation;
        }
    }
}

// What the cell leaves of the distance, within the window. Most of the field's work: many cells at
// a time where the compiler can. The caller has raised the generation.
__attribute__((optimize("O3"))) static void stamp_disc(pons__costmap *g, int32_t cell, window in)
{
    const window disc = disc_window(g, cell);
    const int x0 = in.x0 > disc.x0 ? in.x0 : disc.x0, x1 = in.x1 < disc.x1 ? in.x1 : disc.x1;
    const int y0 = in.y0 > disc.y0 ? in.y0 : disc.y0, y1 = in.y1 < disc.y1 ? in.y1 : disc.y1;
    for (int y = y0; y <= y1; y++) {
        uint8_t *restrict out = g->near + (size_t)y * (size_t)g->w + x0;
        const uint8_t *restrict from = disc_row(g, cell, x0, y);
        const int n = x1 - x0 + 1;
        for (int i = 0; i < n; i++) {
            out[i] = from[i] > out[i] ? from[i] : out[i];
        }
    }
    if (x1 >= x0 && y1 >= y0) {
        note_change(g, (window){x0, y0, x1, y1});
    }
}

// Nothing is near any more, wherever this cell was: only when all obstacles go.
static void wipe(pons__costmap *g, int32_t cell)
{
    const window disc = disc_window(g, cell);
    for (int y = disc.y0; y <= disc.y1; y++) {
        memset(g->near + (size_t)y * (size_t)g->w + disc.x0, 0, (size_t)(disc.x1 - disc.x0 + 1));
    }
    note_change(g, disc);
}

static void show_fresh(pons__costmap *g)
{
    if (g->n_fresh == 0) {
        return;
    }
    const window all = {0, 0, g->w - 1, g->h - 1};
    g->generation++;
    for (int32_t i = 0; i < g->n_fresh; i++) {
        if (pons__costmap_is_obstacle(g, g->fresh[i])) {
            stamp_disc(g, g->fresh[i], all);
        }
    }
    g->n_fresh = 0;
}

// Takes an obstacle that has gone out of dist: the cells that were nearest to it, known by holding
// exactly its level, are far from all, and what is left near them is stamped anew.
static void unstamp(pons__costmap *g, int32_t cell)
{
    const window disc = disc_window(g, cell);
    window hole = {g->w, g->h, -1, -1};
    for (int y = disc.y0; y <= disc.y1; y++) {
        uint8_t *row = g->near + (size_t)y * (size_t)g->w;
        const uint8_t *from = disc_row(g, cell, disc.x0, y);
        for (int x = disc.x0; x <= disc.x1; x++) {
            if (row[x] == 0 || row[x] != from[x - disc.x0]) {
                continue;
            }
            row[x] = 0;
            hole.x0 = x < hole.x0 ? x : hole.x0;
            hole.x1 = x > hole.x1 ? x : hole.x1;
            hole.y0 = y < hole.y0 ? y : hole.y0;
            hole.y1 = y > hole.y1 ? y : hole.y1;
        }
    }
    if (hole.x1 < hole.x0) {
        return;
    }
    note_change(g, hole);
    const int r = g->reach;
    for (int32_t i = 0; i < g->n_seen; i++) {
        const int32_t near = g->seen[i], cx = near % g->w, cy = near / g->w;
        if (pons__costmap_is_obstacle(g, near) && cx >= hole.x0 - r && cx <= hole.x1 + r &&
            cy >= hole.y0 - r && cy <= hole.y1 + r) {
            stamp_disc(g, near, hole);
        }
    }
}
