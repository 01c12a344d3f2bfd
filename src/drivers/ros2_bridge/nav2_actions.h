// nav2_actions.h - the four actions that are served, each with its types: what its goal means to the body, and
// what the body's words mean to its clients.
#pragma once

#include "drivers/ros2_bridge/internal.h"

enum { BRIDGE_ACTIONS = 4, BRIDGE_NAVIGATE = 0 };

typedef struct bridge_end { // how a goal ended
    int8_t status;          // action_msgs/GoalStatus; 0: nobody knows
    uint16_t error_code;
    char text[BRIDGE_TEXT];
    double duration_s;
} bridge_end;

typedef struct bridge_way { // how far a goal has come
    const pons_report_feedback *f;
    double turned_rad;
    builtin_interfaces_msg_dds__Time_ stamp;
} bridge_way;

typedef struct bridge_action {
    const dds_topic_descriptor_t *send_req, *send_res, *result_req, *result_res, *feedback;
    const dds_topic_descriptor_t *humble_res; // of the same name
    bool preempts;                            // a new goal takes over from an old one
    // The body's skill and its arguments; NULL, with a line: it is no goal. request: SendGoal_Request.
    pons_value *(*read)(const bridge *b, const void *request, const char **ret_skill,
                        char why[BRIDGE_TEXT]);
    void (*write_result)(const bridge *b, ros2_rpc *to, uint64_t guid, int64_t seq,
                         const bridge_end *end);
    void (*write_feedback)(const bridge *b, dds_entity_t w, const uint8_t uuid[16],
                           const bridge_way *way);
} bridge_action;

extern const bridge_action bridge_actions[BRIDGE_ACTIONS];

// Nanoseconds of a ROS duration, and back; what is no number is none.
double bridge_seconds(const builtin_interfaces_msg_dds__Duration_ *d);
builtin_interfaces_msg_dds__Duration_ bridge_duration(double s);
