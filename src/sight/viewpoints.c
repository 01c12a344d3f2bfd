// viewpoints.c - where a robot has to stand to see a place, or all of a zone.
//
//     a place .... where it stands, if the place is in reach and nothing hides it; else the nearest free place of which
//                  that is so
//     a zone ..... its floor, and what stands on it, as a grid of points; places are added, each time the one that sees
//                  most of what none has seen yet, until the rest is not worth a way
//
// Only obstacles of the map hide things, as for a view (line_of_sight.h); obstacles that came later are not considered.
#include "pons/viewpoints.h"

#include "sight/line_of_sight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 250, PLACES = 80 }; // of a zone, at most about so many
static const double STEP_LEAST_M = 0.25, PLACE_LEAST_M = 0.5;
static const double MARGIN_M = 0.1;   // beside the robot's own radius
static const double WORTH = 0.04;     // of the zone, that a further place has to add
static const double FLOOR_M = 0.1;    // above the floor, where low things are
static const double TOO_NEAR_M = 0.7; // to look at a thing well
static const double REACH = 0.9;      // of the detector's, so that a step aside does no harm

typedef struct eye {
    const pons_value *world;
    pons__walls walls;
    double height_m, near_m, far_m, radius_m;
} eye;

static int open_eye(const pons_value *world, double radius_m, eye *ret, pons_error *err)
{
    const pons_value *sight = pons_get(world, "sight");
    *ret = (eye){.world = world,
                 .height_m = pons_get_num(sight, "height_m", 1.0),
                 .near_m = pons_get_num(sight, "near_m", 0.3),
                 .far_m = REACH * pons_get_num(sight, "range_m", 4.0),
                 .radius_m = isfinite(radius_m) ? radius_m : 0.0};
    return pons__walls_init(&ret->walls, world, err);
}

static bool sees(const eye *e, double x, double y, const double at[3])
{
    const double from[3] = {x, y, e->height_m}, r = hypot(at[0] - x, at[1] - y);
    return r <= e->far_m && r >= e->near_m &&
           pons__walls_clear((void *)(uintptr_t)&e->walls, from, at);
}

// Whether the robot may stand there, as far as the map says.
static bool is_free(const eye *e, double x, double y)
{
    const double room = e->radius_m + MARGIN_M;
    const pons_value *b = pons_get(e->world, "bounds");
    bool free = json_array_size(b) < 4 || (x >= json_number_value(json_array_get(b, 0)) + room &&
                                           y >= json_number_value(json_array_get(b, 1)) + room &&
                                           x <= json_number_value(json_array_get(b, 2)) - room &&
                                           y <= json_number_value(json_array_get(b, 3)) - room);
    pons_each(area, pons_get(e->world, "keep_out")) {
        free = free && !pons_polygon_contains(pons_get(area, "polygon"), x, y);
    }
    for (size_t i = 0; free && i < e->walls.n; i++) {
        free = pons_box2_distance(&e->walls.boxes[i], x, y) >= room;
    }
    return free;
}

// ---- a place ------------------------------------------------------------------------------------

int pons_viewpoint_of(const pons_value *world, double radius_m, const pons_pose2 *from,
                      const double at[3], pons_pose2 *ret, pons_error *err)
{
    eye e;
    double best = INFINITY;
    int rc = open_eye(world, radius_m, &e, err);
    if (rc < 0) {
        return rc;
    }
    if (sees(&e, from->x, from->y, at)) {
        *ret = *from;
        best = 0.0;
    }
    for (double r = TOO_NEAR_M; best > 0.0 && r <= e.far_m; r += PLACE_LEAST_M) {
        const int n = (int)ceil(2.0 * M_PI * r / PLACE_LEAST_M);
        for (int i = 0; i < n; i++) {
            const double a = 2.0 * M_PI * i / n;
            const pons_pose2 to = {.x = at[0] + r * cos(a), .y = at[1] + r * sin(a)};
            const double way = hypot(to.x - from->x, to.y - from->y);
            if (way < best && is_free(&e, to.x, to.y) && sees(&e, to.x, to.y, at)) {
                best = way;
                *ret = to;
            }
        }
    }
    if (isfinite(best)) {
        ret->yaw = atan2(at[1] - ret->y, at[0] - ret->x);
    }
    pons__walls_fini(&e.walls);
    return isfinite(best) ? PONS_OK
                          : pons_error_set(err, PONS_ENOTFOUND, "sight",
                                           "there is no place from which (%.2f, %.2f) is in view",
                                           at[0], at[1]);
}

// ---- a zone -------------------------------------------------------------------------------------

typedef struct floor_plan { // of a zone
    double (*points)[3];
    bool *seen;
    size_t n;
    double (*places)[2]; // where the robot may stand
    size_t n_places;
} floor_plan;

// The height at which things stand there; NAN: in a wall.
static double height_at(const eye *e, double x, double y)
{
    double height = FLOOR_M;
    for (size_t i = 0; i < e->walls.n; i++) {
        if (pons_box2_distance(&e->walls.boxes[i], x, y) <= 0.0) {
            height = fmax(height, e->walls.heights[i]);
        }
    }
    return isfinite(height) ? height : NAN;
}

static void extent(const pons_value *polygon, double low[2], double high[2])
{
    for (int k = 0; k < 2; k++) {
        low[k] = INFINITY, high[k] = -INFINITY;
        pons_each(corner, polygon) {
            low[k] = fmin(low[k], json_number_value(json_array_get(corner, k)));
            high[k] = fmax(high[k], json_number_value(json_array_get(corner, k)));
        }
    }
}

// Calls add for the middle of each square of a grid that lies in the polygon.
static void raster(const pons_value *polygon, double step, const eye *e, floor_plan *f,
                   void (*add)(floor_plan *f, const eye *e, double x, double y))
{
    double low[2], high[2];
    extent(polygon, low, high);
    for (double y = low[1] + 0.5 * step; y < high[1]; y += step) {
        for (double x = low[0] + 0.5 * step; x < high[0]; x += step) {
            if (pons_polygon_contains(polygon, x, y)) {
                add(f, e, x, y);
            }
        }
    }
}

static void add_point(floor_plan *f, const eye *e, double x, double y)
{
    const double z = height_at(e, x, y);
    if (f->n < 4 * POINTS && !isnan(z)) {
        memcpy(f->points[f->n++], (double[3]){x, y, z}, sizeof *f->points);
    }
}

static void add_place(floor_plan *f, const eye *e, double x, double y)
{
    if (f->n_places < 4 * PLACES && is_free(e, x, y)) {
        f->places[f->n_places][0] = x;
        f->places[f->n_places++][1] = y;
    }
}

// How many points a place sees that none did; mark: it is taken.
static size_t sees_new(const eye *e, floor_plan *f, double x, double y, bool mark)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        // What lies under it is seen on the way there.
        const bool under = hypot(f->points[i][0] - x, f->points[i][1] - y) < e->near_m;
        if (!f->seen[i] && (under || sees(e, x, y, f->points[i]))) {
            n++;
            f->seen[i] = mark;
        }
    }
    return n;
}

static size_t cover(const eye *e, floor_plan *f, const pons_pose2 *first, pons_pose2 *ret,
                    size_t most)
{
    size_t n = 0;
    if (first) {
        ret[n++] = *first;
        sees_new(e, f, first->x, first->y, true);
    }
    while (n < most) {
        size_t best = 0, gain = 0;
        for (size_t i = 0; i < f->n_places; i++) {
            const size_t more = sees_new(e, f, f->places[i][0], f->places[i][1], false);
            if (more > gain) {
                best = i, gain = more;
            }
        }
        if (gain == 0 || (double)gain < WORTH * (double)f->n) {
            break;
        }
        ret[n++] = (pons_pose2){.x = f->places[best][0], .y = f->places[best][1]};
        sees_new(e, f, f->places[best][0], f->places[best][1], true);
    }
    return n;
}

// The nearest next, behind the first.
static void order(pons_pose2 *at, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        for (size_t k = i + 1; k < n; k++) {
            const pons_pose2 *from = &at[i - 1];
            if (hypot(at[k].x - from->x, at[k].y - from->y) <
                hypot(at[i].x - from->x, at[i].y - from->y)) {
                const pons_pose2 nearer = at[k];
                at[k] = at[i];
                at[i] = nearer;
            }
        }
    }
}

int pons_zone_viewpoints(const pons_value *world, double radius_m, const pons_value *polygon,
                         const pons_pose2 *first, pons_pose2 *ret, size_t most, size_t *ret_n,
                         pons_error *err)
{
    eye e;
    int rc = open_eye(world, radius_m, &e, err);
    if (rc < 0) {
        return rc;
    }
    floor_plan f = {.points = calloc(4 * POINTS, sizeof *f.points),
                    .seen = calloc(4 * POINTS, sizeof *f.seen),
                    .places = calloc(4 * PLACES, sizeof *f.places)};
    double low[2], high[2];
    extent(polygon, low, high);
    const double area = (high[0] - low[0]) * (high[1] - low[1]);
    if (!f.points || !f.seen || !f.places) {
        rc = pons_error_set(err, PONS_ENOMEM, "sight", "no memory to look round");
    } else if (json_array_size(polygon) >= 3 && isfinite(area)) {
        raster(polygon, fmax(STEP_LEAST_M, sqrt(area / POINTS)), &e, &f, add_point);
        raster(polygon, fmax(PLACE_LEAST_M, sqrt(area / PLACES)), &e, &f, add_place);
    }
    if (rc >= 0) {
        *ret_n = cover(&e, &f, first, ret, most);
        order(ret, *ret_n);
    }
    free(f.points);
    free(f.seen);
    free(f.places);
    pons__walls_fini(&e.walls);
    return rc;
}
