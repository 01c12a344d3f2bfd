// errand.h - the client of Nav2's NavigateToPose: one goal at a time. The essay is in errand.c.
#ifndef PONS_DRIVERS_ROS2_ERRAND_H
#define PONS_DRIVERS_ROS2_ERRAND_H

#include "drivers/ros2/node.h"
#include "pons/ext/outside.h"

typedef struct ros2_errand ros2_errand;

int ros2_errand_open(ros2_node *n, const ros2_config *c, ros2_errand **ret, pons_error *err);
void ros2_errand_close(ros2_errand *e); // NULL-safe
// The reader thread: takes what has come, sends what is to be sent. Host time.
void ros2_errand_poll(ros2_errand *e, int64_t host_ns);
// The loop thread.
void ros2_errand_begin(ros2_errand *e, const pons_errand_goal *goal);
void ros2_errand_look(ros2_errand *e, pons_errand *ret);
void ros2_errand_end(ros2_errand *e);

#endif
