// image.c - see image.h.
#include "drivers/ros2_camera/image.h"

#include "pons/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct encoding {
    const char *name;
    bool depth;
    uint32_t bytes; // a pixel
    uint8_t rgb[3]; // where in it red, green and blue are
    double unit_m;  // of a distance
} encoding;

static const encoding encodings[] = {
    {"rgb8", false, 3, {0, 1, 2}, 0.0},  {"bgr8", false, 3, {2, 1, 0}, 0.0},
    {"rgba8", false, 4, {0, 1, 2}, 0.0}, {"bgra8", false, 4, {2, 1, 0}, 0.0},
    {"mono8", false, 1, {0, 0, 0}, 0.0}, {"16UC1", true, 2, {0, 0, 0}, 0.001},
    {"32FC1", true, 4, {0, 0, 0}, 1.0},
};

// NULL: none of these.
static const encoding *encoding_of(const sensor_msgs_msg_dds__Image_ *m, bool depth)
{
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        if (encodings[i].depth == depth && strcmp(encodings[i].name, m->encoding) == 0) {
            return &encodings[i];
        }
    }
    return NULL;
}

ros2_image_fault ros2_image_check(const sensor_msgs_msg_dds__Image_ *m, bool depth, char *why,
                                  size_t cap)
{
    const encoding *e = encoding_of(m, depth);
    const uint64_t w = m->width, h = m->height, step = m->step;
    if (!e) {
        snprintf(why, cap, "its encoding '%.20s' is not read, only %s", m->encoding,
                 depth ? "16UC1 and 32FC1" : "rgb8, bgr8, rgba8, bgra8 and mono8");
        return ROS2_IMAGE_ENCODING;
    }
    if (w == 0 || h == 0 || w * h > PONS_PICTURE_PIXELS_MAX) {
        snprintf(why, cap, "a picture of %u × %u pixels, more than 50 million or none", m->width,
                 m->height);
        return ROS2_IMAGE_SIZE;
    }
    if (step < w * e->bytes || step * h != m->data._length) {
        snprintf(why, cap, "%u × %u pixels in rows of %u bytes are not %u bytes", m->width,
                 m->height, m->step, m->data._length);
        return ROS2_IMAGE_SIZE;
    }
    return ROS2_IMAGE_GOOD;
}

uint8_t *ros2_image_rgb(const sensor_msgs_msg_dds__Image_ *m)
{
    const encoding *e = encoding_of(m, false);
    const size_t w = m->width, h = m->height;
    uint8_t *rgb = malloc(3 * w * h), *to = rgb;
    for (size_t y = 0; rgb && y < h; y++) {
        const uint8_t *from = m->data._buffer + y * m->step;
        for (size_t x = 0; x < w; x++, from += e->bytes, to += 3) {
            to[0] = from[e->rgb[0]];
            to[1] = from[e->rgb[1]];
            to[2] = from[e->rgb[2]];
        }
    }
    return rgb;
}

static double distance_of(const encoding *e, const uint8_t *from, bool bigendian)
{
    uint32_t bits = 0;
    float metres;
    for (uint32_t i = 0; i < e->bytes; i++) {
        bits |= (uint32_t)from[i] << 8 * (bigendian ? e->bytes - 1 - i : i);
    }
    memcpy(&metres, &bits, sizeof metres);
    return e->unit_m * (e->bytes == 2 ? (double)bits : (double)metres);
}

// REP 118: zero, NaN and infinities are no distances.
float *ros2_image_depth(const sensor_msgs_msg_dds__Image_ *m, bool *ret_any)
{
    const encoding *e = encoding_of(m, true);
    const size_t w = m->width, h = m->height;
    float *depth = malloc(w * h * sizeof *depth), *to = depth;
    *ret_any = false;
    for (size_t y = 0; depth && y < h; y++) {
        const uint8_t *from = m->data._buffer + y * m->step;
        for (size_t x = 0; x < w; x++, from += e->bytes) {
            const double z = distance_of(e, from, m->is_bigendian != 0);
            const bool is = isfinite(z) && z > 0.0;
            *ret_any = *ret_any || is;
            *to++ = is ? (float)z : INFINITY;
        }
    }
    return depth;
}
