// internal.h - the bridge's one object, of which each file has its part. One thread has all of it, but for the
// heart. The essay is in bridge.c, and who may call whom.
#pragma once

#include "drivers/dds/rpc.h"
#include "pons/clock.h"
#include "pons/ext/bridge.h"
#include "pons/geometry.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/random.h"
#include "ros2.h"

#include <pthread.h>
#include <stdatomic.h>

#define BRIDGE_TEXT 240 // bytes of a line for people
enum { BRIDGE_ID = 33 };
#define WORDS(s) ((char *)(uintptr_t)(s)) // messages have no const; DDS reads them only

typedef struct bridge bridge;
typedef struct bridge_goals bridge_goals;

typedef enum bridge_level { // rcl_interfaces/Log
    BRIDGE_INFO = 20,
    BRIDGE_WARN = 30,
    BRIDGE_ERROR = 40
} bridge_level;

typedef struct bridge_service { // one that is served
    ros2_rpc rpc;
    int missing;           // clients whose replies' readers are not known yet
    int64_t since_host_ns; // since when so many
} bridge_service;

typedef struct bridge_manual { // the link on which the bridge is the body's controller
    pons_link *link;           // NULL: it is not, and does not want to be
    int64_t epoch;             // 0: not yet
    int64_t since_host_ns;     // of the connection
    int64_t idle_host_ns;      // since when nobody wants anything; 0: somebody does
} bridge_manual;

typedef struct bridge_drive { // of /cmd_vel
    enum { DRIVE_OFF, DRIVE_WANTED, DRIVE_SENT, DRIVE_ON, DRIVE_ENDS } phase;
    char id[BRIDGE_ID];
    double v, w;              // newest
    bool fresh;               // and not told yet
    int64_t reported_host_ns; // when one was
    int64_t received_host_ns; // a good one
    int64_t moved_host_ns;    // one that is not zero
    int64_t since_host_ns;    // of the phase
} bridge_drive;

struct bridge {
    const pons_bridge_options *o;
    ros2_config c;
    ros2_node node;
    ros2_node other; // a participant for cmd_vel of the other type; participant 0: not made
    int wake;        // an eventfd: something has come over DDS
    dds_listener_t *listener;
    pons_clock clock;
    pons_rand rand;
    int64_t host_ns; // of this round
    bool dead;       // the body has gone, and `once`,
    bool moved;      // and something was under way

    // the body
    pons_link *eye;     // the observer's; NULL: no body
    int64_t eye_due_ns; // host time of the next try
    bool greeted;
    char robot_id[64], driver[64], boot_id[64];
    double speed, radius_m, speed_max_mps, yaw_rate_max_radps;
    bool simulated;
    bridge_manual hand;
    pthread_t heart;
    bool beats;
    _Atomic int64_t round_host_ns; // the loop's last
    _Atomic int heart_quit;
    pthread_mutex_t hand_mtx;
    pons_link *beating; // [hand_mtx] hand.link while it is a controller's

    // what is known of it
    bool latched, base_busy;
    char latch_reason[128], busy_goal[PONS_GOAL_ID_MAX + 1];
    bool seen, placed; // any senses yet
    pons_pose2 map_from_odom, odom_from_base, base_from_laser;
    bool has_laser; // any scan yet
    double std_m;
    int64_t robot_ns;
    int64_t offset_ns; // robot time + this is ROS's
    int64_t last_ros_ns;
    bool has_offset;
    int64_t amcl_due_ns, battery_due_ns; // host time
    char battery_state[24];
    double battery_pct;

    // endpoints
    dds_entity_t odom_w, scan_w, battery_w, tf_w, tf_static_w, clock_w, map_w, amcl_w, rosout_w;
    dds_entity_t twist_r, stamped_r, goal_pose_r, initialpose_r;
    int64_t look_due_ns; // for publishers of cmd_vel's other type, and for what does not fit
    char misfit[3][BRIDGE_TEXT]; // what was told of cmd_vel, goal_pose, initialpose
    bridge_service param[6];
    bridge_drive drive;
    bridge_goals *goals;
    char said[BRIDGE_TEXT]; // last line to people, not repeated for a while
    int64_t said_host_ns;
};

static inline bool bridge_drive_wants(const bridge *b) // control
{
    return b->drive.phase != DRIVE_OFF;
}
