// configured_skills.h - a robot's own skills: entries of `skills` in config/ros2.yaml as skills of pons.
#pragma once

#include "drivers/dds/config.h"
#include "drivers/dds/interface_types.h"
#include "pons/ext/skill.h"

typedef struct ros2_own {
    pons_skill record;
    bool service;             // it is a service, not an action
    char name[ROS2_NAME_MAX]; // of the action or the service
    const char *type;         // my_msgs/action/Wave, my_msgs/srv/Beep
    const pons_value *fixed;  // members of the goal that the entry says; NULL: none
    char *texts[4];           // of the record: JSON
} ros2_own;

typedef struct ros2_owns {
    size_t n;
    ros2_own at[ROS2_OWN_MAX];
} ros2_owns;

// The definitions that the entries have themselves.
int ros2_owns_define(const ros2_config *c, ros2_types *t, pons_error *err);
int ros2_owns_open(ros2_owns *o, const ros2_config *c, ros2_types *t, pons_error *err);
void ros2_owns_close(ros2_owns *o);
pons_value *ros2_own_goal(const ros2_own *o, const pons_value *args);
