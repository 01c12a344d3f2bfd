// nav2_services.h - Nav2's services as skills: what is done to Nav2 itself, not by it. The essay is in nav2_services.c.
#pragma once

#include "drivers/dds/config.h"
#include "drivers/dds/dds_node.h"
#include "drivers/dds/interface_types.h"
#include "pons/ext/outside.h"
#include "pons/ext/skill.h"

enum { ROS2_UPKEEP_MAX = 3 }; // skills

typedef struct ros2_upkeep ros2_upkeep;

// Those whose services the configuration names; it stays as long.
int ros2_upkeep_open(ros2_node *n, ros2_types *t, const ros2_config *c, ros2_upkeep **ret,
                     pons_error *err);
void ros2_upkeep_close(ros2_upkeep *u); // NULL-safe
// In ret, at most ROS2_UPKEEP_MAX; theirs until close. How many.
size_t ros2_upkeep_skills(const ros2_upkeep *u, const pons_skill **ret);
bool ros2_upkeep_takes(const ros2_upkeep *u, const char *skill);
// The reader thread.
void ros2_upkeep_poll(ros2_upkeep *u, int64_t host_ns);
// Any thread: Nav2 is known not to be active, and why.
bool ros2_upkeep_holds(ros2_upkeep *u, char *why, size_t cap);
bool ros2_upkeep_begins(ros2_upkeep *u); // any thread: that has not been asked to the end yet
// The loop thread; they do not wait.
void ros2_upkeep_begin(ros2_upkeep *u, const pons_external_goal_request *goal);
bool ros2_upkeep_look(ros2_upkeep *u, const char *goal_id,
                      pons_external_goal *ret); // false: no such goal
void ros2_upkeep_end(ros2_upkeep *u, const char *goal_id);
