// robot_actions.h - goals of pons's skills that actions of the robot carry out: Nav2's, and a robot's own. The essay
// is in robot_actions.c.
#pragma once

#include "drivers/dds/action_client.h"
#include "pons/ext/skill.h"

typedef struct ros2_errands ros2_errands;

// The configuration and the world stay as long.
int ros2_errands_open(ros2_node *n, const ros2_config *c, const pons_value *world,
                      ros2_errands **ret, pons_error *err);
void ros2_errands_close(ros2_errands *e); // NULL-safe
bool ros2_errands_take(const ros2_errands *e, const char *skill);
const pons_skill *const *ros2_errands_skills(const ros2_errands *e, size_t *ret_n);
// The reader thread. Host time.
// waits: what would move the robot is not sent yet.
void ros2_errands_poll(ros2_errands *e, bool waits, int64_t host_ns);
// Any thread: what Nav2 drives is canceled there, and fails.
void ros2_errands_give_up(ros2_errands *e, const char *why);
// A goal that would move the robot waits, and why: Nav2 is not active, or nobody publishes what it wants of the wheels
// (cmd_vel_in, a reader; 0: there is none).
bool ros2_errands_lack(ros2_errands *e, ros2_node *n, dds_entity_t cmd_vel_in,
                       char why[PONS_OUTSIDE_TEXT_MAX]);
// The loop thread; they do not wait.
void ros2_errands_begin(ros2_errands *e, const pons_external_goal_request *goal);
void ros2_errands_look(ros2_errands *e, const char *goal_id, pons_external_goal *ret);
void ros2_errands_end(ros2_errands *e, const char *goal_id);
