// senses.h - what the robot's topics say, in the body's terms. The essay is in senses.c.
#pragma once

#include "drivers/dds/dds_node.h"
#include "pons/ext/robot.h"

typedef struct ros2_senses ros2_senses;

int ros2_senses_open(ros2_node *n, const ros2_config *c, ros2_senses **ret, pons_error *err);
void ros2_senses_close(ros2_senses *s); // NULL-safe
// The reader thread.
void ros2_senses_take(ros2_senses *s, int64_t host_ns);
// Whether the wall's clock was set; the same thread.
void ros2_senses_look_at_wall(ros2_senses *s, int64_t host_ns);
// It is so far from the robot's time. When that is more than a moment off it was set: stamps are by the new one from now on,
// robot time goes on, and the senses begin anew.
void ros2_senses_wall(ros2_senses *s, int64_t offset_ns, int64_t host_ns);
// How many odometries and scans were good since it was opened; the thread that takes.
void ros2_senses_good(const ros2_senses *s, uint64_t *ret_odom, uint64_t *ret_scans);
// "" when nothing is missing; PONS_OUTSIDE_TEXT_MAX bytes.
void ros2_senses_lack(ros2_senses *s, int64_t host_ns, char *ret);
// Any thread; they never wait.
int64_t ros2_senses_now(ros2_senses *s);    // robot time
int64_t ros2_senses_ros_ns(ros2_senses *s); // the same moment as ROS has it
void ros2_senses_state(ros2_senses *s, pons_robot_state *ret);
bool ros2_senses_scan(ros2_senses *s, pons_scan *ret);
bool ros2_senses_place(ros2_senses *s, pons_robot_place *ret);
