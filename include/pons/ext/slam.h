// ext/slam.h - the contract of a mapper: scans and odometry become a map, and where the robot is in it.
//
// A mapper is a module `slam-NAME.so` (pons/module.h). A body whose world has `map.grows: true` loads the one that
// `map.slam` names, and gives it each scan while the robot explores:
//
//     open --> load? --> place --> add, add, add … --> map, save --> close
//
// Frames: map → odom → base (REP 105). The map's frame is that of the first `place`, and no later scan moves it. Named places
// and zones keep their coordinates when a loop is closed; walls far from the start may shift by its correction.
//
// The file of `save` is the pose graph as g2o's text, VERTEX_SE2 and EDGE_SE2 lines, each vertex
// followed by its scan as CARMEN's ROBOTLASER1. `load` draws the map from it again, with the resolution of `open`.
//
// Threads: all members are called by one thread, one call at a time, and the robot's loop does not wait for it. They may take
// their time and do I/O.
#pragma once

#include "pons/error.h"
#include "pons/geometry.h"
#include "pons/linkage.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_SLAM_ABI 1u

typedef struct pons_slam_map {
    int w, h;            // cells
    double resolution_m; // of a cell's edge
    double x0, y0;       // the lower left corner, in map [m]; whole multiples of the resolution
    int8_t *cells;       // (h, w) -1 unknown, 0 free … 100 occupied; by malloc
} pons_slam_map;

typedef struct pons_slam_ops {
    uint32_t abi; // PONS_SLAM_ABI
    // config: {resolution_m, radius_m}, valid during the call. radius_m: inscribed radius of the footprint. Cells this close to
    // the robot's path are free in the map, even where an obstacle was seen; 0 or missing: they are drawn as seen.
    // PONS_EINVAL: a value in it, named; PONS_EENV: a library cannot be used here.
    int (*open)(const pons_value *config, void **ret_self, pons_error *err);
    // The robot is there: at the first scan, and again after it was carried. Scans that follow are matched from here on.
    int (*place)(void *self, pons_pose2 base_in_map, pons_pose2 odom_from_base);
    // The next scan, and odometry at its stamp. *ret_map_from_odom: the newest estimate. *ret_changed: the map has something
    // new in it. Where scans do not show the motion, as in a long corridor, odometry is used. An error is about this scan alone
    // (PONS_EINVAL: its angles or ranges are impossible, or the pose is too far away); the outputs are unchanged, and the caller
    // gives the next scan.
    int (*add)(void *self, const pons_scan *scan, pons_pose2 odom_from_base,
               pons_pose2 *ret_map_from_odom, bool *ret_changed, pons_error *err);
    // The present map, cropped to the rows and columns that have known cells; w and h are 0 if no cell is known. The caller
    // frees ret->cells.
    int (*map)(void *self, pons_slam_map *ret, pons_error *err);
    // Writes the pose graph; the caller renames. PONS_EIO.
    int (*save)(void *self, const char *path, pons_error *err);
    // Replaces the pose graph by that of a file. PONS_ENOTFOUND: there is no such file; PONS_EINVAL with path:line; PONS_EIO.
    // After an error *self is unchanged.
    int (*load)(void *self, const char *path, pons_error *err);
    void (*close)(void *self); // NULL-safe
} pons_slam_ops;

PONS_C_END
