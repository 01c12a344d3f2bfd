// config.h - config/gazebo.yaml, checked, with every name whole.
#pragma once

#include "pons/error.h"
#include "pons/geometry.h"
#include "pons/value.h"

#include <stdbool.h>

enum { GAZEBO_NAME_MAX = 200 };

typedef struct gazebo_config {
    char partition[GAZEBO_NAME_MAX]; // "": the environment's
    char world[64], model[64];
    bool steps;       // pons steps the world; else it runs by itself
    bool percent;     // the battery's percentage is 0 to 100, else 0 to 1
    bool has_lidar;   // it says where the lidar is,
    pons_pose2 lidar; // in base; else it is where the world has it
    char cmd_vel[GAZEBO_NAME_MAX], odom[GAZEBO_NAME_MAX], scan[GAZEBO_NAME_MAX];
    char battery[GAZEBO_NAME_MAX], contacts[GAZEBO_NAME_MAX]; // "": there is none
    char recharge[GAZEBO_NAME_MAX]; // + "/start", "/stop"; "": it cannot be charged
    double odom_s, scan_s, step_s;
    double open_s; // for the first senses, when pons has the clock
} gazebo_config;

// The file is WORKSPACE/config/gazebo.yaml, else the installed one; world: the name that it has when the
// file gives none. PONS_EINVAL with file:line:col.
int gazebo_config_load(const char *workspace, const char *world, gazebo_config *ret,
                       pons_error *err);
