// camera_info.h - sensor_msgs/CameraInfo as a lens of pons (ext/detector.h).
#pragma once

#include "pons/ext/detector.h"
#include "ros2.h"

#include <stdbool.h>

typedef struct ros2_calibration {
    bool known;           // one has come, and says how the camera looks
    char why[128];        // it does not, or its distortion cannot be used; "": nothing
    pons_lens lens;       // of a picture of this size; the middle of its first pixel is 0.5, 0.5
    double width, height; // [px]; 0: of any
} ros2_calibration;

// rectified: of pictures that were straightened already, which P describes; else K and the distortion.
void ros2_calibration_of(const sensor_msgs_msg_dds__CameraInfo_ *m, bool rectified,
                         ros2_calibration *ret);
// For a picture of another size of the same region.
pons_lens ros2_calibration_lens(const ros2_calibration *c, int width, int height);
