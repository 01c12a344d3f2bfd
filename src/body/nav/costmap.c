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
// Three fields are kept over the cells, all in metres:
//
//   static_dist  exact Euclidean distance to the nearest static cell (Felzenszwalb & Huttenlocher,
//                "Distance Transforms of Sampled Functions", 2012), made once.
//   dist         the same with obstacles. A new obstacle lowers it by stamping a disc of distances;
//                one that goes gives back what it was nearest to, and what is left is stamped
//                there, at most twice a second or when a planner asks.
//   surface      signed distance to the boxes themselves, not to cells, so that scan matching is
//                not limited by the size of a cell.
//
// Distances run from a cell's centre to the near edge of the occupied cell: half a cell less than
// between the centres.
#include "body/nav/parts.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HIT = 2, MISS = 1, OCCUPIED_AT = 4, EVIDENCE_MAX = 10, CELLS_MAX = 16 * 1024 * 1024 };
static const double HIT_RANGE_MAX_M = 4.0;   // an obstacle further away can wait
static const double CLEAR_RANGE_MAX_M = 6.0; // beams clear further than they mark
static const double EXPLAINED_M = 0.12;      // so near a mapped face, a hit is that face
static const double EXPLAINED_PER_M = 0.02;  // and a little more for each metre of range
static const double PASSED_BY_M = 0.10;      // a beam clears a cell that it outreaches by this
static const double SELF_M = 0.15;           // what is this near the robot's centre is the robot
static const int64_t REFILL_PERIOD_NS = PONS_NS_PER_S / 2;
static const double BLOB_GAP_M = 0.15; // cells nearer than this to each other are one blob

typedef struct box {
    double x, y, c, s, hx, hy; // centre, cos and sin of yaw, half sizes
} box;

typedef struct window {
    int x0, y0, x1, y1; // cells, both ends in it; empty: x1 < x0
} window;

static int read_frame(pons__costmap *g, const pons_value *world, pons_error *err);
static int read_box(const pons_value *v, size_t i, box *ret, pons_error *err);
static void add_box(pons__costmap *g, const box *b);
static int make_static_dist(pons__costmap *g, pons_error *err);
static void mark_hits(pons__costmap *g, pons_pose2 pose, const pons_scan *scan);
static void clear_passed(pons__costmap *g, pons_pose2 pose, const pons_scan *scan);
static int clamp_int(int v, int lo, int hi);
static void show_fresh(pons__costmap *g);
static void stamp_disc(pons__costmap *g, int32_t cell, window in);
static void unstamp(pons__costmap *g, int32_t cell);
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
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    for (size_t i = 0; rc == PONS_OK && i < json_array_size(boxes); i++) {
        box b = {0};
        rc = read_box(json_array_get(boxes, i), i, &b, err);
        if (rc == PONS_OK) {
            add_box(g, &b);
        }
    }
    if (rc == PONS_OK) {
        rc = make_static_dist(g, err);
    }
    if (rc != PONS_OK) {
        pons__costmap_destroy(g);
        return rc;
    }
    memcpy(g->dist, g->static_dist, sizeof *g->dist * (size_t)g->w * (size_t)g->h);
    pons__costmap_make_disc(g);
    *ret = g;
    return PONS_OK;
}

void pons__costmap_destroy(pons__costmap *g)
{
    if (!g) {
        return;
    }
    free(g->is_static);
    free(g->is_obstacle);
    free(g->evidence);
    free(g->static_dist);
    free(g->dist);
    free(g->surface);
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
    if (g->n_seen == 0) {
        return;
    }
    for (int32_t i = 0; i < g->n_seen; i++) {
        g->evidence[g->seen[i]] = 0;
        g->is_obstacle[g->seen[i]] = 0;
    }
    g->n_seen = g->n_obstacles = g->n_fresh = g->n_gone = 0;
    memcpy(g->dist, g->static_dist, sizeof *g->dist * (size_t)g->w * (size_t)g->h);
    g->generation++;
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
        g->evidence[cell] = 0;
        if (g->is_obstacle[cell]) {
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
    memcpy(g->dist, g->static_dist, sizeof *g->dist * (size_t)g->w * (size_t)g->h);
    for (int32_t i = 0; i < g->n_seen; i++) {
        if (g->is_obstacle[g->seen[i]]) {
            stamp_disc(g, g->seen[i], all);
        }
    }
    g->n_fresh = g->n_gone = 0;
    g->generation++;
    g->openings++;
}

static int by_cell(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Floods from an obstacle cell over gaps of BLOB_GAP_M. `open` marks the obstacle cells that belong
// to no blob yet, `todo` has room for all of them.
static pons__blob flood(const pons__costmap *g, int32_t from, uint8_t *open, int32_t *todo)
{
    const int gap = (int)lround(BLOB_GAP_M / g->res);
    int x0 = INT_MAX, y0 = INT_MAX, x1 = 0, y1 = 0, n = 0;
    todo[n++] = from;
    open[from] = 0;
    for (int i = 0; i < n; i++) {
        const int cx = todo[i] % g->w, cy = todo[i] / g->w;
        x0 = cx < x0 ? cx : x0;
        y0 = cy < y0 ? cy : y0;
        x1 = cx > x1 ? cx : x1;
        y1 = cy > y1 ? cy : y1;
        for (int y = clamp_int(cy - gap, 0, cy); y <= clamp_int(cy + gap, cy, g->h - 1); y++) {
            for (int x = clamp_int(cx - gap, 0, cx); x <= clamp_int(cx + gap, cx, g->w - 1); x++) {
                if (open[y * g->w + x]) {
                    open[y * g->w + x] = 0;
                    todo[n++] = y * g->w + x;
                }
            }
        }
    }
    return (pons__blob){g->x0 + 0.5 * (x0 + x1 + 1) * g->res, g->y0 + 0.5 * (y0 + y1 + 1) * g->res,
                        0.5 * hypot(x1 - x0 + 1, y1 - y0 + 1) * g->res};
}

int pons__costmap_blobs(const pons__costmap *g, pons__blob *ret, int cap)
{
    if (g->n_obstacles == 0 || cap <= 0) {
        return 0;
    }
    // In the order of their first cells in the map, whatever order they were seen in.
    const size_t n = (size_t)g->n_obstacles;
    int32_t *cells = malloc(sizeof *cells * n), *todo = malloc(sizeof *todo * n);
    uint8_t *open = calloc((size_t)g->w * (size_t)g->h, 1);
    int found = 0;
    if (!cells || !todo || !open) {
        goto done;
    }
    int32_t k = 0;
    for (int32_t i = 0; i < g->n_seen; i++) {
        if (g->is_obstacle[g->seen[i]]) {
            open[g->seen[i]] = 1;
            cells[k++] = g->seen[i];
        }
    }
    qsort(cells, n, sizeof *cells, by_cell);
    for (int32_t i = 0; i < k && found < cap; i++) {
        if (open[cells[i]]) {
            ret[found++] = flood(g, cells[i], open, todo);
        }
    }
done:
    free(cells);
    free(todo);
    free(open);
    return found;
}

double pons__costmap_clearance(const pons__costmap *g, double x, double y)
{
    return pons__costmap_dist(g, x, y);
}

void pons__costmap_refresh(pons__costmap *g)
{
    if (g->n_gone > 0) {
        for (int32_t i = 0; i < g->n_gone; i++) {
            if (!g->is_obstacle[g->gone[i]]) { // not back again
                unstamp(g, g->gone[i]);
            }
        }
        g->n_gone = 0;
        g->refill_stamp_ns = g->scan_stamp_ns;
        g->generation++;
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

int pons__costmap_alloc(pons__costmap *g, pons_error *err)
{
    const size_t n = (size_t)g->w * (size_t)g->h;
    g->reach = (int32_t)ceil((double)PONS__DIST_MAX_M / g->res) + 1;
    const size_t side = 2 * (size_t)g->reach + 1;
    g->is_static = calloc(n, sizeof *g->is_static);
    g->is_obstacle = calloc(n, sizeof *g->is_obstacle);
    g->evidence = calloc(n, sizeof *g->evidence);
    g->static_dist = calloc(n, sizeof *g->static_dist);
    g->dist = calloc(n, sizeof *g->dist);
    g->surface = calloc(n, sizeof *g->surface);
    g->seen = calloc(n, sizeof *g->seen);
    g->fresh = calloc(n, sizeof *g->fresh);
    g->gone = calloc(n, sizeof *g->gone);
    g->disc = calloc(side * side, sizeof *g->disc);
    if (!g->is_static || !g->is_obstacle || !g->evidence || !g->static_dist || !g->dist ||
        !g->surface || !g->seen || !g->fresh || !g->gone || !g->disc) {
        return pons_error_set(err, PONS_ENOMEM, "grid", "out of memory for %d × %d cells", g->w,
                              g->h);
    }
    for (size_t i = 0; i < n; i++) {
        g->surface[i] = PONS__SURFACE_MAX_M;
    }
    return PONS_OK;
}

static int read_box(const pons_value *v, size_t i, box *ret, pons_error *err)
{
    const double x = pons_get_num(v, "x", NAN), y = pons_get_num(v, "y", NAN);
    const double sx = pons_get_num(v, "sx", NAN), sy = pons_get_num(v, "sy", NAN);
    const double yaw = pons_get_num(v, "yaw", 0.0);
    if (!isfinite(x + y + yaw) || !(sx > 0.0 && sy > 0.0 && isfinite(sx + sy))) {
        return pons_error_set(err, PONS_EINVAL, "grid",
                              "map.boxes[%zu] needs finite x, y and positive sx, sy", i);
    }
    *ret = (box){x, y, cos(yaw), sin(yaw), 0.5 * sx, 0.5 * sy};
    return PONS_OK;
}

// Signed distance from a box's faces, in its own frame (negative inside).
static double box_distance(double px, double py, double hx, double hy)
{
    const double dx = fabs(px) - hx, dy = fabs(py) - hy;
    const double ox = dx > 0.0 ? dx : 0.0, oy = dy > 0.0 ? dy : 0.0;
    const double in = dx > dy ? dx : dy;
    return sqrt(ox * ox + oy * oy) + (in < 0.0 ? in : 0.0);
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

static void add_box(pons__costmap *g, const box *b)
{
    const double reach = (double)PONS__SURFACE_MAX_M;
    const double ex = fabs(b->c) * b->hx + fabs(b->s) * b->hy + reach;
    const double ey = fabs(b->s) * b->hx + fabs(b->c) * b->hy + reach;
    const int x0 = clamp_cell((b->x - ex - g->x0) * g->inv_res, g->w);
    const int x1 = clamp_cell((b->x + ex - g->x0) * g->inv_res, g->w);
    const int y0 = clamp_cell((b->y - ey - g->y0) * g->inv_res, g->h);
    const int y1 = clamp_cell((b->y + ey - g->y0) * g->inv_res, g->h);
    // A box thinner than a cell still covers one centre in each row.
    const double cover_x = fmax(b->hx, 0.5 * g->res) + 1e-9;
    const double cover_y = fmax(b->hy, 0.5 * g->res) + 1e-9;
    for (int cy = y0; cy <= y1; cy++) {
        for (int cx = x0; cx <= x1; cx++) {
            const double dx = pons__costmap_x(g, cx) - b->x, dy = pons__costmap_y(g, cy) - b->y;
            const double px = b->c * dx + b->s * dy, py = -b->s * dx + b->c * dy;
            const size_t i = (size_t)cy * (size_t)g->w + (size_t)cx;
            const float d = (float)box_distance(px, py, b->hx, b->hy);
            g->surface[i] = d < g->surface[i] ? d : g->surface[i];
            if (fabs(px) <= cover_x && fabs(py) <= cover_y) {
                g->is_static[i] = 1;
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

// Squared distance in cells to metres from the near edge.
static float field_metres(const pons__costmap *g, float cells2)
{
    if (cells2 <= 0.0f) {
        return 0.0f;
    }
    const double d = (sqrt((double)cells2) - 0.5) * g->res;
    return d < (double)PONS__DIST_MAX_M ? (float)d : PONS__DIST_MAX_M;
}

static int make_static_dist(pons__costmap *g, pons_error *err)
{
    const size_t side = (size_t)(g->w > g->h ? g->w : g->h);
    edt_scratch e = {calloc(side, sizeof *e.f), calloc(side, sizeof *e.d),
                     calloc(side, sizeof *e.v), calloc(side + 1, sizeof *e.z)};
    int rc = PONS_OK;
    if (!e.f || !e.d || !e.v || !e.z) {
        rc = pons_error_set(err, PONS_ENOMEM, "grid", "out of memory");
        goto done;
    }
    for (int cx = 0; cx < g->w; cx++) {
        for (int cy = 0; cy < g->h; cy++) {
            e.f[cy] = g->is_static[(size_t)cy * (size_t)g->w + (size_t)cx] ? 0.0f : FLT_MAX;
        }
        edt_line(&e, g->h);
        for (int cy = 0; cy < g->h; cy++) {
            g->static_dist[(size_t)cy * (size_t)g->w + (size_t)cx] = e.d[cy];
        }
    }
    for (int cy = 0; cy < g->h; cy++) {
        float *row = g->static_dist + (size_t)cy * (size_t)g->w;
        memcpy(e.f, row, sizeof *row * (size_t)g->w);
        edt_line(&e, g->w);
        for (int cx = 0; cx < g->w; cx++) {
            row[cx] = field_metres(g, e.d[cx]);
        }
    }
done:
    free(e.f);
    free(e.d);
    free(e.v);
    free(e.z);
    return rc;
}

// ---- the obstacle layer -------------------------------------------------------------------------

void pons__costmap_make_disc(pons__costmap *g)
{
    const int side = 2 * g->reach + 1;
    for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
            const int dx = x - g->reach, dy = y - g->reach;
            g->disc[y * side + x] = field_metres(g, (float)(dx * dx + dy * dy));
        }
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
        if ((double)g->surface[cell] <= EXPLAINED_M + EXPLAINED_PER_M * (double)r) {
            continue;
        }
        if (g->evidence[cell] == 0) {
            g->seen[g->n_seen++] = cell;
        }
        g->evidence[cell] = (int8_t)clamp_int(g->evidence[cell] + HIT, 0, EVIDENCE_MAX);
        if (!g->is_obstacle[cell] && g->evidence[cell] >= OCCUPIED_AT) {
            g->is_obstacle[cell] = 1;
            g->n_obstacles++;
            // A cell that came, went and came again between two refreshes may be listed twice.
            if (g->n_fresh == g->w * g->h) {
                show_fresh(g);
            }
            g->fresh[g->n_fresh++] = cell;
        }
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
            g->evidence[cell] = (int8_t)clamp_int(g->evidence[cell] - MISS, 0, EVIDENCE_MAX);
        }
        if (g->evidence[cell] > 0) {
            g->seen[kept++] = cell;
        } else if (g->is_obstacle[cell]) {
            obstacle_gone(g, cell);
        }
    }
    g->n_seen = kept;
}

static void obstacle_gone(pons__costmap *g, int32_t cell)
{
    g->is_obstacle[cell] = 0;
    g->n_obstacles--;
    if (g->n_gone == g->w * g->h) {
        pons__costmap_refresh(g);
    }
    g->gone[g->n_gone++] = cell;
}

static window disc_window(const pons__costmap *g, int32_t cell)
{
    const int r = g->reach, cx = cell % g->w, cy = cell / g->w;
    return (window){clamp_int(cx - r, 0, g->w - 1), clamp_int(cy - r, 0, g->h - 1),
                    clamp_int(cx + r, 0, g->w - 1), clamp_int(cy + r, 0, g->h - 1)};
}

// The disc's entries beside the cells of row y from x0 on.
static const float *disc_row(const pons__costmap *g, int32_t cell, int x0, int y)
{
    const int r = g->reach, side = 2 * r + 1, cx = cell % g->w, cy = cell / g->w;
    return g->disc + (y - cy + r) * side + (x0 - cx + r);
}

// dist falls to what the cell leaves of it, within the window. Most of the field's work: four
// cells at a time where the compiler can.
__attribute__((optimize("O3"))) static void stamp_disc(pons__costmap *g, int32_t cell, window in)
{
    const window disc = disc_window(g, cell);
    const int x0 = in.x0 > disc.x0 ? in.x0 : disc.x0, x1 = in.x1 < disc.x1 ? in.x1 : disc.x1;
    const int y0 = in.y0 > disc.y0 ? in.y0 : disc.y0, y1 = in.y1 < disc.y1 ? in.y1 : disc.y1;
    for (int y = y0; y <= y1; y++) {
        float *restrict out = g->dist + (size_t)y * (size_t)g->w + x0;
        const float *restrict from = disc_row(g, cell, x0, y);
        const int n = x1 - x0 + 1;
        for (int i = 0; i < n; i++) {
            out[i] = from[i] < out[i] ? from[i] : out[i];
        }
    }
}

static void show_fresh(pons__costmap *g)
{
    if (g->n_fresh == 0) {
        return;
    }
    const window all = {0, 0, g->w - 1, g->h - 1};
    for (int32_t i = 0; i < g->n_fresh; i++) {
        if (g->is_obstacle[g->fresh[i]]) {
            stamp_disc(g, g->fresh[i], all);
        }
    }
    g->n_fresh = 0;
    g->generation++;
}

// Takes an obstacle that has gone out of dist: the cells that were nearest to it, known by holding
// exactly its distance, go back to the static field, and what is left near them is stamped anew.
static void unstamp(pons__costmap *g, int32_t cell)
{
    const window disc = disc_window(g, cell);
    window hole = {g->w, g->h, -1, -1};
    for (int y = disc.y0; y <= disc.y1; y++) {
        const size_t row = (size_t)y * (size_t)g->w;
        const float *from = disc_row(g, cell, disc.x0, y);
        for (int x = disc.x0; x <= disc.x1; x++) {
            const size_t i = row + (size_t)x;
            if (g->dist[i] != from[x - disc.x0] || g->dist[i] >= g->static_dist[i]) {
                continue;
            }
            g->dist[i] = g->static_dist[i];
            hole.x0 = x < hole.x0 ? x : hole.x0;
            hole.x1 = x > hole.x1 ? x : hole.x1;
            hole.y0 = y < hole.y0 ? y : hole.y0;
            hole.y1 = y > hole.y1 ? y : hole.y1;
        }
    }
    const int r = g->reach;
    for (int32_t i = 0; i < g->n_seen && hole.x1 >= hole.x0; i++) {
        const int32_t near = g->seen[i], cx = near % g->w, cy = near / g->w;
        if (g->is_obstacle[near] && cx >= hole.x0 - r && cx <= hole.x1 + r && cy >= hole.y0 - r &&
            cy <= hole.y1 + r) {
            stamp_disc(g, near, hole);
        }
    }
}
