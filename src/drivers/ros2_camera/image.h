// image.h - sensor_msgs/Image as pictures are in pons: what may be read of one, its colours, its distances.
#pragma once

#include "ros2.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ros2_image_fault {
    ROS2_IMAGE_GOOD,
    ROS2_IMAGE_SIZE,    // absurd, or not that of its data
    ROS2_IMAGE_ENCODING // none that is read
} ros2_image_fault;

// Whether it can be read: rgb8, bgr8, rgba8, bgra8 and mono8, or with `depth` 16UC1 [mm] and 32FC1 [m]. why: a line.
ros2_image_fault ros2_image_check(const sensor_msgs_msg_dds__Image_ *m, bool depth, char *why,
                                  size_t cap);
// Of one that is good: 3 bytes a pixel, rows from the top; free(). NULL: no memory.
uint8_t *ros2_image_rgb(const sensor_msgs_msg_dds__Image_ *m);
// Of one that is good: metres, INFINITY where the camera says none; free(). NULL: no memory. *ret_any: it says some.
float *ros2_image_depth(const sensor_msgs_msg_dds__Image_ *m, bool *ret_any);
