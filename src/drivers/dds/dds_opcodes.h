// dds_opcodes.h - what DDS writes of a shape.
#pragma once

#include "drivers/dds/interface_types.h"

typedef struct ros2_topic {
    dds_topic_descriptor_t desc;
    const ros2_shape *of;
    char name[ROS2_TYPE_MAX + 16];
    uint32_t *ops;
} ros2_topic;

// Valid as long as the shape. NULL: no memory, or it has too many members.
ros2_topic *ros2_topic_create(const ros2_shape *s);
void ros2_topic_destroy(ros2_topic *x); // NULL-safe
