// map_topic.h - whether the map that the robot's software goes by is of the same place as pons's world. The essay is in map_topic.c.
#pragma once

#include "pons/value.h"
#include "ros2.h"

typedef struct ros2_walls ros2_walls;

// Of the world's boxes of the kind "wall", which a map has become. NULL: it has none, or there is no memory.
ros2_walls *ros2_walls_create(const pons_value *world);
void ros2_walls_destroy(ros2_walls *w); // NULL-safe
// "", or a line: too much of the world's walls is free floor in the map.
void ros2_walls_compare(const ros2_walls *w, const nav_msgs_msg_dds__OccupancyGrid_ *map, char *ret,
                        size_t cap);
