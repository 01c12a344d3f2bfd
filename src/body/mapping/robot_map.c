// robot_map.c - the map that a robot's own SLAM makes (slam_toolbox's /map), used in place of a SLAM module's.
//
// The robot reports its pose, and gives a whole map every few seconds. Each scan is only the occasion to ask for a new map. A
// new map replaces the one before, and may have other walls (after a loop closure), another origin and another size. It is
// resampled onto the cells of the costmap. Parts outside the costmap are left out.
//
// **Faults** are returned as the scan's error. Exploring ends with an error that stays (mapper.c):
//
//     no map within FIRST_S                         the SLAM does not run, or its topic has another name
//     no map for SILENT_S and SILENT_M of way       the SLAM has ended; one that publishes only changes is silent at rest
//     much less floor than the map before or the    the SLAM has started anew, in another frame: saving would overwrite
//     saved map                                     the file
#include "body/mapping/robot_map.h"

#include "pons/map.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MODULE   "mapper"
#define FIRST_S  15.0
#define SILENT_S 30.0
#define SILENT_M 3.0
#define ANEW     0.5 // a map with less than this share of the floor before has started anew

enum { FREE_MOST = 25, OCCUPIED_LEAST = 65 }; // map_server's thresholds; unknown between them

typedef struct robot_map {
    const pons_robot_outside_ops *outside;
    void *robot;
    const pons__costmap *grid; // its frame
    const char *map_path;
    pons_robot_map newest; // number 0: none
    double newest_m2;      // floor of `newest`
    bool counts;           // since_ns and way_m are set; `place` clears it
    int64_t since_ns;      // stamp of the scan at which a map came last, or of the first scan
    double way_m;          // driven since since_ns
    pons_pose2 last;       // odometry at the last scan
    double known_m2;       // floor of the map before, at first of the saved map; 0: none
} robot_map;

bool pons__robot_map_given(const pons_robot_ops *robot, void *robot_self)
{
    const pons_robot_outside_ops *o = pons_robot_outside(robot);
    pons_robot_place place;
    return pons_robot_gives_map(robot) && o->place && o->place(robot_self, &place);
}

int pons__robot_map_open(const pons_robot_ops *robot, void *robot_self, const pons__costmap *grid,
                         const char *map_path, void **ret_self, pons_error *err)
{
    robot_map *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a map");
    }
    r->outside = pons_robot_outside(robot);
    r->robot = robot_self;
    r->grid = grid;
    r->map_path = map_path;
    *ret_self = r;
    return PONS_OK;
}

static void robot_map_close(void *self)
{
    robot_map *r = self;
    if (r) {
        free(r->newest.cells);
        free(r);
    }
}

int64_t pons__robot_map_stamp_ns(const void *self)
{
    return ((const robot_map *)self)->newest.stamp_ns;
}

static int robot_map_place(void *self, pons_pose2 base_in_map, pons_pose2 odom_from_base)
{
    robot_map *r = self;
    pons_map *saved = NULL;
    (void)base_in_map;
    r->counts = false;
    r->last = odom_from_base;
    r->known_m2 = 0.0;
    if (access(r->map_path, F_OK) == 0 && pons_map_load(r->map_path, &saved, NULL) == PONS_OK) {
        const pons_map_info *i = pons_map_about(saved);
        r->known_m2 = (double)i->free * i->resolution_m * i->resolution_m;
    }
    pons_map_destroy(saved);
    return PONS_OK;
}

static double floor_m2(const pons_robot_map *m)
{
    double n = 0.0;
    for (size_t i = 0; i < (size_t)m->w * (size_t)m->h; i++) {
        n += m->cells[i] >= 0 && m->cells[i] <= FREE_MOST;
    }
    return n * m->resolution_m * m->resolution_m;
}

static int robot_map_add(void *self, const pons_scan *scan, pons_pose2 odom_from_base,
                         pons_pose2 *ret_map_from_odom, bool *ret_changed, pons_error *err)
{
    robot_map *r = self;
    pons_robot_place at;
    pons_robot_map m;
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    if (!r->outside->place(r->robot, &at)) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE, "the robot does not say where it is");
    }
    *ret_map_from_odom = at.map_from_odom;
    *ret_changed = r->outside->map(r->robot, r->newest.number, &m, why);
    if (*ret_changed) {
        free(r->newest.cells);
        r->newest = m;
        r->newest_m2 = floor_m2(&m);
    }
    if (*ret_changed || !r->counts) {
        r->counts = true;
        r->since_ns = scan->stamp_ns;
        r->way_m = 0.0;
    }
    r->way_m += hypot(odom_from_base.x - r->last.x, odom_from_base.y - r->last.y);
    r->last = odom_from_base;
    const double silent_s = (double)(scan->stamp_ns - r->since_ns) / (double)PONS_NS_PER_S;
    if (r->newest.number == 0 && silent_s > FIRST_S) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE,
                              "the robot gives no map: is its SLAM running? %s", why);
    }
    if (silent_s > SILENT_S && r->way_m > SILENT_M) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE,
                              "no map has come for %.0f s and %.1f m: has its SLAM ended? %s",
                              silent_s, r->way_m, *why ? why : "its topic is silent");
    }
    if (r->newest.number == 0) {
        return PONS_OK;
    }
    if (r->newest_m2 < ANEW * r->known_m2) {
        return pons_error_set(err, PONS_EEXIST, MODULE,
                              "the robot's map begins anew: %.0f m2 of floor, %.0f m2 before; %s "
                              "is left as it is",
                              r->newest_m2, r->known_m2, r->map_path);
    }
    r->known_m2 = r->newest_m2;
    return PONS_OK;
}

static int8_t meant(int8_t cell)
{
    if (cell >= 0 && cell <= FREE_MOST) {
        return 0;
    }
    return cell >= OCCUPIED_LEAST ? 100 : -1;
}

// Gives each cell of the costmap the value of the robot's map at the cell's middle.
static void draw(const robot_map *r, int8_t *cells)
{
    const pons__costmap *g = r->grid;
    const pons_robot_map *m = &r->newest;
    const double c = cos(m->origin.yaw), s = sin(m->origin.yaw), inv = 1.0 / m->resolution_m;
    for (int y = 0; y < g->h; y++) {
        for (int x = 0; x < g->w; x++) {
            const double dx = pons__costmap_x(g, x) - m->origin.x,
                         dy = pons__costmap_y(g, y) - m->origin.y;
            const double mx = floor((c * dx + s * dy) * inv), my = floor((c * dy - s * dx) * inv);
            const bool in = mx >= 0.0 && my >= 0.0 && mx < m->w && my < m->h;
            cells[(size_t)y * (size_t)g->w + (size_t)x] =
                (int8_t)(in ? meant(m->cells[(size_t)my * (size_t)m->w + (size_t)mx]) : -1);
        }
    }
}

// Marks each cell of the costmap that contains the middle of an occupied cell of the robot's map. So no wall is lost, whatever
// the resolutions and the rotation.
static void draw_walls(const robot_map *r, int8_t *cells)
{
    const pons__costmap *g = r->grid;
    const pons_robot_map *m = &r->newest;
    const double c = cos(m->origin.yaw), s = sin(m->origin.yaw);
    for (int my = 0; my < m->h; my++) {
        for (int mx = 0; mx < m->w; mx++) {
            if (m->cells[(size_t)my * (size_t)m->w + (size_t)mx] < OCCUPIED_LEAST) {
                continue;
            }
            const double dx = (mx + 0.5) * m->resolution_m, dy = (my + 0.5) * m->resolution_m;
            const double x = floor((m->origin.x + c * dx - s * dy - g->x0) * g->inv_res),
                         y = floor((m->origin.y + s * dx + c * dy - g->y0) * g->inv_res);
            if (x >= 0.0 && y >= 0.0 && x < g->w && y < g->h) {
                cells[(size_t)y * (size_t)g->w + (size_t)x] = 100;
            }
        }
    }
}

static int robot_map_map(void *self, pons_slam_map *ret, pons_error *err)
{
    const robot_map *r = self;
    const pons__costmap *g = r->grid;
    if (r->newest.number == 0) {
        return PONS_OK;
    }
    int8_t *cells = malloc((size_t)g->w * (size_t)g->h);
    if (!cells) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a map");
    }
    draw(r, cells);
    draw_walls(r, cells);
    *ret = (pons_slam_map){
        .w = g->w, .h = g->h, .resolution_m = g->res, .x0 = g->x0, .y0 = g->y0, .cells = cells};
    return PONS_OK;
}

const pons_slam_ops pons__robot_map_ops = {.abi = PONS_SLAM_ABI,
                                           .place = robot_map_place,
                                           .add = robot_map_add,
                                           .map = robot_map_map,
                                           .close = robot_map_close};
