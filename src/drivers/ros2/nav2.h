// nav2.h - Nav2's actions as pons's skills: which there are, and how a goal of pons's becomes one of Nav2's.
#pragma once

#include "drivers/dds/config.h"
#include "drivers/dds/interface_types.h"
#include "pons/ext/skill.h"

typedef struct ros2_order { // what a goal of Nav2's is made of
    const ros2_config *c;
    const pons_value *world; // its zones and its charger
    const ros2_shape *shape; // of the release's goal
    const pons_external_goal_request *goal;
    char *why; // (cap) a line, when it cannot be
    size_t cap;
} ros2_order;

typedef struct ros2_nav2 {
    const char *skill;
    const char *type;                         // nav2_msgs/action/…
    int unknown;                              // the error number when Nav2 gives none
    bool still;                               // its goals move nothing
    const pons_skill *record;                 // NULL: a skill that the body has
    pons_value *(*goal)(const ros2_order *o); // an object; NULL, with a line in why: it cannot be
} ros2_nav2;

extern const ros2_nav2 ros2_nav2_all[ROS2_NAV2];
