// config.h - config/ros2.yaml, checked, with every name whole.
#ifndef PONS_DRIVERS_ROS2_CONFIG_H
#define PONS_DRIVERS_ROS2_CONFIG_H

#include "pons/error.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROS2_NAME_MAX = 200 };

typedef struct ros2_qos {
    bool reliable, transient;
    int depth;
} ros2_qos;

typedef struct ros2_stream {
    char name[ROS2_NAME_MAX]; // "/robot1/odom"; "": there is none
    ros2_qos qos;
} ros2_stream;

typedef struct ros2_config {
    bool jazzy; // message forms: else Humble's
    uint32_t domain;
    char robot_id[64]; // "": the world's
    char map[64], odom[64], base[64];
    bool sim_time, stamped; // /clock; TwistStamped on cmd_vel
    bool nav2, place;       // who navigates, who localises
    ros2_stream t_odom, t_scan, t_battery, t_tf, t_tf_static, t_clock, t_cmd_vel, t_cmd_vel_in,
        t_initialpose;
    char action[ROS2_NAME_MAX]; // of NavigateToPose
    double odom_s, scan_s, tf_s, server_s;
    // Of a body that is shown to ROS (ros2_bridge): what it publishes is reliable, unless qos says else.
    struct {
        char ns[ROS2_NAME_MAX], node[64], laser[64];
        ros2_stream odom, scan, battery, tf, tf_static, clock, map, amcl_pose, goal_pose;
        char spin[ROS2_NAME_MAX], back_up[ROS2_NAME_MAX], drive_on_heading[ROS2_NAME_MAX];
    } shown;
} ros2_config;

// The file is WORKSPACE/config/ros2.yaml, else the installed one. ROS_DOMAIN_ID and ROS_DISTRO come
// before it. PONS_EINVAL with file:line:col.
int ros2_config_load(const char *workspace, ros2_config *ret, pons_error *err);

#endif
