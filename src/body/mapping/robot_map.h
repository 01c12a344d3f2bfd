// robot_map.h - the map that a robot's own SLAM makes, used in place of a SLAM module's. The essay is in robot_map.c.
#pragma once

#include "body/costmap/costmap.h"
#include "pons/ext/slam.h"

// Whether the robot localises itself and gives its map (ext/outside.h).
bool pons__robot_map_given(const pons_robot_ops *robot, void *robot_self);
// *ret_self: `self` of pons__robot_map_ops. Its maps have the frame of this costmap. All arguments are borrowed. PONS_ENOMEM.
int pons__robot_map_open(const pons_robot_ops *robot, void *robot_self, const pons__costmap *grid,
                         const char *map_path, void **ret_self, pons_error *err);
int64_t pons__robot_map_stamp_ns(const void *self); // of the newest scan in the newest map
// It has no `open`, `save` and `load`: the pose graph stays with the robot's SLAM.
extern const pons_slam_ops pons__robot_map_ops;
