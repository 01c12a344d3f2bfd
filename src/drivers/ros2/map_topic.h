// map_topic.h - /map: whether it is of the same place as pons's world, and the map of a world that grows. The essay is in map_topic.c.
#pragma once

#include "drivers/dds/config.h"
#include "drivers/dds/dds_node.h"
#include "pons/ext/outside.h"
#include "pons/value.h"

typedef struct ros2_map ros2_map;

// *ret stays NULL when the world has nothing that the map could contradict, and does not grow. PONS_EENV, PONS_ENOMEM.
int ros2_map_open(ros2_node *n, const ros2_config *c, const pons_value *world, ros2_map **ret,
                  pons_error *err);
void ros2_map_close(ros2_map *m); // NULL-safe
// The reader thread: what has come. now_ns: robot time; ros_ns: ROS's.
void ros2_map_take(ros2_map *m, int64_t now_ns, int64_t ros_ns);
const char *ros2_map_bad(const ros2_map *m); // "", or why it is no map of this world; NULL-safe
// Any thread: as ext/outside.h has it. NULL-safe.
bool ros2_map_newest(ros2_map *m, uint64_t seen, pons_robot_map *ret,
                     char ret_why[PONS_OUTSIDE_TEXT_MAX]);
