// tf.h - the tree of frames: transforms by name and time, interpolated. One thread. The essay is in tf.c.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ros2_transform { // of a child in its parent
    double p[3];                // [m]
    double q[4];                // x, y, z, w; of length 1
} ros2_transform;

typedef struct ros2_tf ros2_tf;
ros2_tf *ros2_tf_create(void);
void ros2_tf_destroy(ros2_tf *t); // NULL-safe
void ros2_tf_clear(ros2_tf *t);
// false, with a line in why: names that are empty or the same, what is no number or no rotation, a
// time far behind the newest, a frame that would be its own ancestor, too many frames.
bool ros2_tf_add(ros2_tf *t, const char *parent, const char *child, int64_t stamp_ns,
                 const ros2_transform *x, bool is_static, char *why, size_t cap);
// source in target at a time; 0: the newest at which all of the way is known, whose stamp is
// *ret_stamp_ns (INT64_MAX: static all the way). false, with a line: no such frame, frames that do
// not connect, a time that is not covered.
bool ros2_tf_get(const ros2_tf *t, const char *target, const char *source, int64_t stamp_ns,
                 ros2_transform *ret, int64_t *ret_stamp_ns, char *why, size_t cap);

const char *ros2_frame(const char *name); // without the slash in front, as tf2 has it since ever
double ros2_yaw(const double q[4]);
bool ros2_is_rotation(const double q[4]); // finite, and of about length 1
