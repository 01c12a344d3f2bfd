// bridge.h - the bridge's one object, and what its files offer each other. One thread has all of it, but
// for the heart. The essay is in bridge.c.
#ifndef PONS_DRIVERS_ROS2_BRIDGE_BRIDGE_H
#define PONS_DRIVERS_ROS2_BRIDGE_BRIDGE_H

#include "drivers/ros2/node.h"
#include "pons/clock.h"
#include "pons/ext/bridge.h"
#include "pons/geometry.h"
#include "pons/link_message.h"
#include "pons/link_report.h"
#include "pons/rand.h"
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
    dds_entity_t r, w;          // of requests, of replies
    int missing;                // clients whose replies' readers are not known yet
    int64_t since_host_ns;      // since when so many
} bridge_service;

typedef struct bridge_hand { // the link on which the bridge is the body's controller
    pons_link *link;         // NULL: it is not, and does not want to be
    int64_t epoch;           // 0: not yet
    int64_t since_host_ns;   // of the connection
    int64_t idle_host_ns;    // since when nobody wants anything; 0: somebody does
} bridge_hand;

typedef struct bridge_drive { // of /cmd_vel
    enum { DRIVE_OFF, DRIVE_WANTED, DRIVE_SENT, DRIVE_ON, DRIVE_ENDS } phase;
    char id[BRIDGE_ID];
    double v, w;           // newest
    bool fresh;            // and not told yet
    int64_t told_host_ns;  // when one was
    int64_t heard_host_ns; // a good one
    int64_t moved_host_ns; // one that is not zero
    int64_t since_host_ns; // of the phase
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
    bridge_hand hand;
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
    pons_pose2 map_from_odom, odom_from_base;
    double std_m;
    int64_t robot_ns;
    int64_t offset_ns; // robot time + this is ROS's
    int64_t last_ros_ns;
    bool has_offset;
    int64_t amcl_due_ns, battery_due_ns; // host time
    char battery_state[24];
    double battery_pct;

    // endpoints
    dds_entity_t odom_w, scan_w, battery_w, tf_w, tf_static_w, clock_w, map_w, amcl_w, rosout_w,
        info_w;
    dds_entity_t twist_r, stamped_r, goal_pose_r, initialpose_r;
    int64_t look_due_ns; // for publishers of cmd_vel's other type, and for what does not fit
    char misfit[3][BRIDGE_TEXT]; // what was told of cmd_vel, goal_pose, initialpose
    bridge_service param[6];
    bridge_drive drive;
    bridge_goals *goals;
    char said[BRIDGE_TEXT]; // last line to people, not repeated for a while
    int64_t said_host_ns;
};

// common.c
bool bridge_same_frame(const char *a, const char *b);
// A pose of ROS in the map; false, with a line: no numbers, no rotation, or a frame that does not connect.
bool bridge_pose(const bridge *b, const char *frame, const geometry_msgs_msg_dds__Pose_ *p,
                 pons_pose2 *ret, char why[BRIDGE_TEXT]);
void bridge_say(bridge *b, bridge_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
dds_entity_t bridge_reader(bridge *b, ros2_node *n, const char *prefix, const char *name,
                           const char *type, const dds_topic_descriptor_t *desc, ros2_qos qos,
                           pons_error *err);
// A service NAME, to be looked after by bridge_reader's listener. response_type NULL: the descriptor's.
bool bridge_service_open(bridge *b, bridge_service *s, const char *name,
                         const dds_topic_descriptor_t *request,
                         const dds_topic_descriptor_t *response, const char *response_type,
                         pons_error *err);
// Its requests may be taken: who has asked can hear the answer.
bool bridge_service_ready(bridge *b, bridge_service *s);
int64_t bridge_ros_ns(const bridge *b); // now, by the robot's newest word
builtin_interfaces_msg_dds__Time_ bridge_stamp(int64_t ns);
void bridge_new_id(bridge *b, char ret[BRIDGE_ID]);
bool bridge_sim_time(const bridge *b);

// body.c: what comes over the links, and who is in control.
void bridge_body_poll(bridge *b);    // all that came over the links
void bridge_control_step(bridge *b); // lets go of what nobody wants
void bridge_body_close(bridge *b);

// hand.c: what it is told.
bool bridge_send(pons_link *l, const pons_message *m); // false: the link is gone
bool bridge_in_control(const bridge *b);
bool bridge_goal_send(bridge *b, const char *id, const char *skill, pons_value *args, bool preempt);
void bridge_goal_cancel(bridge *b, const char *id);

// shown.c: what is published.
int bridge_shown_open(bridge *b, pons_error *err);
void bridge_show(bridge *b, const pons_report_senses *s);
void bridge_show_map(bridge *b, const pons_value *world);

// drive.c: cmd_vel, goal_pose, initialpose.
int bridge_drive_open(bridge *b, pons_error *err);
void bridge_drive_take(bridge *b);
void bridge_drive_step(bridge *b);
bool bridge_drive_owns(const bridge *b, const char *goal_id);
static inline bool bridge_drive_wants(const bridge *b) // control
{
    return b->drive.phase != DRIVE_OFF;
}
void bridge_drive_answered(bridge *b, bool accepted, const char *why);
void bridge_drive_over(bridge *b);

// goals.c: the actions.
int bridge_goals_open(bridge *b, pons_error *err);
void bridge_goals_close(bridge *b);
void bridge_goals_take(bridge *b);
void bridge_goals_step(bridge *b);
bool bridge_goals_want(const bridge *b); // control
bool bridge_goals_active(const bridge *b);
void bridge_goals_refuse(bridge *b, const char *why); // what is not begun
void bridge_goals_lost(bridge *b, const char *why);   // what is: its outcome is not known
void bridge_goals_flush(bridge *b); // waits until clients have what they were told
void bridge_goals_adopt(bridge *b); // after control was lost and had again
void bridge_goals_heard(bridge *b, const pons_report *r);
void bridge_goal_pose(bridge *b, pons_pose2 at); // as from an action's client

// graph.c: what ros2's tools ask of a node.
int bridge_graph_open(bridge *b, pons_error *err); // before other endpoints: rosout
int bridge_graph_tell(bridge *b, pons_error *err); // after them: ros_discovery_info
void bridge_graph_take(bridge *b);

#endif
