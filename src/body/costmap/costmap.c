// costmap.c - where a robot cannot be: the map's boxes, and what the lidar has seen besides.
//
// Two layers over one lattice of cells.
//
//   static     the boxes of the world file (costmap_static.c). Never changes, never cleared.
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
// there. The signed distance to the boxes themselves, which scan matching wants, is distance_field.c's.
//
// Distances run from a cell's centre to the near edge of the occupied cell: half a cell less than
// between the centres.
#include "body/costmap/costmap.h"

#include "pons/growing_list.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HIT = 2, MISS = 1, OCCUPIED_AT = 4, EVIDENCE_MAX = 10 };
enum { OBSTACLE = PONS__OBSTACLE, OPEN = 0x40, FAR = PONS__LEVELS - 1 };
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

// ---- the obstacle layer -------------------------------------------------------------------------

static int clamp_int(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static bool push(int32_t **list, int32_t *n, size_t *cap, int32_t cell)
{
    if ((size_t)*n == *cap && !pons_list_reserve(list, cap, *cap + 1, sizeof **list)) {
        return false;
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
    const pons_pose2 eye = pons_pose_compose(pose, scan->from);
    // Turning a unit vector by one increment a beam is as good as a sine for each.
    double ux = cos(eye.yaw + (double)scan->angle_min);
    double uy = sin(eye.yaw + (double)scan->angle_min);
    const double ic = cos((double)scan->angle_increment), is = sin((double)scan->angle_increment);
    for (int k = 0; k < scan->n; k++) {
        const float r = scan->ranges[k];
        const double bx = ux, by = uy;
        ux = bx * ic - by * is;
        uy = bx * is + by * ic;
        if (!(r > scan->range_min && r < max)) {
            continue;
        }
        const int cx = pons__costmap_col(g, eye.x + (double)r * bx);
        const int cy = pons__costmap_row(g, eye.y + (double)r * by);
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

// Does the scan look through this place, seen from the lidar?
static bool beam_passes(const pons_scan *scan, double yaw, double dx, double dy, double half_cell)
{
    const double r2 = dx * dx + dy * dy;
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

static void clear_passed(pons__costmap *g, pons_pose2 pose, const pons_scan *scan)
{
    const pons_pose2 eye = pons_pose_compose(pose, scan->from);
    const double yaw = pons_wrap_angle(eye.yaw);
    int32_t kept = 0;
    for (int32_t i = 0; i < g->n_seen; i++) {
        const int32_t cell = g->seen[i];
        const double x = pons__costmap_x(g, cell % g->w), y = pons__costmap_y(g, cell / g->w);
        const double dx = x - pose.x, dy = y - pose.y;
        if (dx * dx + dy * dy < SELF_M * SELF_M ||
            beam_passes(scan, yaw, x - eye.x, y - eye.y, 0.5 * g->res)) {
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

// ---- public functions ---------------------------------------------------------------------------

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

typedef struct region {
    double x, y, half_m;
    bool except;
} region;

static bool in_region(const pons__costmap *g, int32_t cell, const void *user)
{
    const region *r = user;
    const bool in = fabs(pons__costmap_x(g, cell % g->w) - r->x) <= r->half_m &&
                    fabs(pons__costmap_y(g, cell / g->w) - r->y) <= r->half_m;
    return in != r->except;
}

static bool is_explained(const pons__costmap *g, int32_t cell, const void *user)
{
    (void)user;
    return (double)pons__costmap_surface(g, cell % g->w, cell / g->w) <= EXPLAINED_M;
}

// Forgets the evidence of the cells for which `goes` is true. Returns how many they were.
static int32_t forget(pons__costmap *g,
                      bool (*goes)(const pons__costmap *g, int32_t cell, const void *user),
                      const void *user)
{
    const int32_t seen = g->n_seen;
    int32_t kept = 0;
    for (int32_t i = 0; i < seen; i++) {
        const int32_t cell = g->seen[i];
        if (!goes(g, cell, user)) {
            g->seen[kept++] = cell;
            continue;
        }
        const bool was = pons__costmap_is_obstacle(g, cell);
        g->evidence[cell] = 0;
        if (was) {
            obstacle_gone(g, cell);
        }
    }
    g->n_seen = kept;
    return seen - kept;
}

void pons__costmap_clear_region(pons__costmap *g, double x, double y, double half_m, bool except)
{
    if (forget(g, in_region, &(region){x, y, half_m, except}) > 0) {
        pons__costmap_refresh(g);
    }
}

void pons__costmap_forget_explained(pons__costmap *g)
{
    forget(g, is_explained, NULL);
    pons__costmap_refresh(g);
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
