// config.h - config/ros2.yaml, checked, with every name whole.
#pragma once

#include "pons/error.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stdint.h>

enum { ROS2_NAME_MAX = 200, ROS2_OWN_MAX = 6 }; // the longest name; a robot's own skills
enum { ROS2_LIFECYCLE_MAX = 12 };               // nodes that are asked for their state
enum { ROS2_CAMERAS_MAX = 4 };

enum { // Nav2's actions, as nav2.c and config.c have them
    ROS2_TO_POSE,
    ROS2_THROUGH_POSES,
    ROS2_SPIN,
    ROS2_BACK_UP,
    ROS2_DRIVE,
    ROS2_DOCK,
    ROS2_UNDOCK,
    ROS2_WAYPOINTS,
    ROS2_PATH,
    ROS2_NAV2
};

typedef struct ros2_qos {
    bool reliable, transient;
    int depth;
} ros2_qos;

typedef struct ros2_stream {
    char name[ROS2_NAME_MAX]; // "/robot1/odom"; "": there is none
    ros2_qos qos;
} ros2_stream;

typedef struct ros2_camera {
    char name[64]; // the world's
    bool compressed;
    ros2_stream image, info, depth; // the last two may be missing
} ros2_camera;

typedef struct ros2_config {
    bool jazzy;      // forms as of Jazzy and later: else Humble's
    char distro[16]; // message forms: "humble", "jazzy", "kilted", "lyrical"
    uint32_t domain;
    char robot_id[64]; // "": the world's
    char map[64], odom[64], base[64];
    bool sim_time, stamped; // /clock; TwistStamped on cmd_vel
    bool nav2, place;       // who navigates, who localises
    ros2_stream t_odom, t_scan, t_battery, t_tf, t_tf_static, t_clock, t_cmd_vel, t_cmd_vel_in,
        t_initialpose, t_amcl_pose, t_map;
    int n_cameras;
    ros2_camera cameras[ROS2_CAMERAS_MAX];
    char ns[ROS2_NAME_MAX];                 // "robot1"; "": none
    char actions[ROS2_NAV2][ROS2_NAME_MAX]; // "": the robot does not do that
    char dock_id[64], dock_type[64];
    // Nav2's services; "": there is none.
    char clear_local[ROS2_NAME_MAX], clear_global[ROS2_NAME_MAX], lifecycle_manager[ROS2_NAME_MAX];
    int n_lifecycle;
    char lifecycle_nodes[ROS2_LIFECYCLE_MAX][64]; // as the file says them
    pons_value *skills, *interfaces;              // lists, owned; NULL: none
    double odom_s, scan_s, tf_s, server_s, answer_s;
    double
        discovery_s; // in which who was there before is found; Nav2 is asked that often how it is
    // Of a body that is shown to ROS (ros2_bridge): what it publishes is reliable, unless qos says else.
    struct {
        char ns[ROS2_NAME_MAX], node[64], laser[64];
        ros2_stream odom, scan, battery, tf, tf_static, clock, map, amcl_pose, goal_pose;
        char navigate_to_pose[ROS2_NAME_MAX];
        char spin[ROS2_NAME_MAX], back_up[ROS2_NAME_MAX], drive_on_heading[ROS2_NAME_MAX];
    } shown;
} ros2_config;

// The file is WORKSPACE/config/ros2.yaml, else the installed one. ROS_DOMAIN_ID and ROS_DISTRO come
// before it. PONS_EINVAL with file:line:col.
int ros2_config_load(const char *workspace, ros2_config *ret, pons_error *err);
void ros2_config_fini(ros2_config *c); // also of one that is zero
// Something of the robot's own software carries out goals.
bool ros2_config_outside(const ros2_config *c);
// A name whole: with the namespace, unless it begins with /.
void ros2_config_name(const ros2_config *c, const char *name, char ret[ROS2_NAME_MAX]);
