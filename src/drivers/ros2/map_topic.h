// map_topic.h - /map: whether it shows the same place as the world, and the map of a world that grows (map_topic.c).
#pragma once

#include "drivers/dds/config.h"
#include "drivers/dds/dds_node.h"
#include "pons/ext/outside.h"
#include "pons/value.h"

typedef struct ros2_map ros2_map;

// *ret stays NULL if the world's map does not grow and the world has no walls to compare with. PONS_EENV, PONS_ENOMEM.
int ros2_map_open(ros2_node *n, const ros2_config *c, const pons_value *world, ros2_map **ret,
                  pons_error *err);
void ros2_map_close(ros2_map *m); // NULL-safe
// Reads the maps that have come. Reader thread. now_ns: robot time; ros_ns: ROS time.
void ros2_map_take(ros2_map *m, int64_t now_ns, int64_t ros_ns);
const char *ros2_map_bad(const ros2_map *m); // why it does not fit this world, or ""; NULL-safe
// `map` of ext/outside.h. Any thread. NULL-safe.
bool ros2_map_newest(ros2_map *m, uint64_t seen, pons_robot_map *ret,
                     char ret_why[PONS_OUTSIDE_TEXT_MAX]);
