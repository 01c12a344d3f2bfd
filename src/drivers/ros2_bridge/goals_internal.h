// goals_internal.h - goals of ROS's clients at the body, as the files of action_server.c share them.
#pragma once

#include "drivers/ros2_bridge/nav2_actions.h"

enum {
    STATUS_ACCEPTED = 1,
    STATUS_EXECUTING = 2,
    STATUS_CANCELING = 3,
    STATUS_SUCCEEDED = 4,
    STATUS_CANCELED = 5,
    STATUS_ABORTED = 6
};
enum { GOALS_MAX = 64, ASKERS_MAX = 8, QUESTIONS_MAX = 32, OUTCOME_UNKNOWN = 9909, REFUSED = 1 };

typedef struct bridge_asker {
    uint64_t guid;
    int64_t seq;
} bridge_asker;

typedef enum bridge_phase { GOAL_FREE, GOAL_WAITS, GOAL_SENT, GOAL_RUNS, GOAL_OVER } bridge_phase;

typedef struct bridge_goal {
    bridge_phase phase;
    int action;
    uint8_t uuid[16];
    char id[BRIDGE_ID];
    const char *skill;
    pons_value *args;    // until it is sent
    bool topic;          // came over goal_pose: nobody waits for an answer
    bool resent;         // the link broke before its answer: the body may know it already
    bridge_asker client; // who sent it
    int8_t status;
    int64_t stamp_ns; // ROS's time of its acceptance
    int64_t since_host_ns;
    double turned_rad; // at the start
    bridge_end end;
    bridge_asker askers[ASKERS_MAX]; // for its result
    int n_askers;
} bridge_goal;

typedef struct bridge_question { // a result that the ledger is asked for
    bool open;
    int action;
    char id[BRIDGE_ID];
    bridge_asker who;
    int64_t since_host_ns;
} bridge_question;

struct bridge_goals {
    struct {
        bridge_service send, result, cancel;
        dds_entity_t feedback_w, status_w;
        bool changed;
    } at[BRIDGE_ACTIONS];
    bridge_goal all[GOALS_MAX];
    bridge_question asked[QUESTIONS_MAX];
    double turned_rad, last_yaw;
    bool has_yaw;
};

// All requests of an action's services begin so.
typedef nav2_msgs_action_dds__NavigateToPose_GetResult_Request_ bridge_goal_request;

// goal.c

void bridge_goal_id(const uint8_t uuid[16], char ret[BRIDGE_ID]);
bridge_goal *bridge_goal_find(bridge *b, const char *id);
bridge_goal *bridge_goal_place(bridge *b); // NULL: too many are active
void bridge_goal_forget(bridge_goal *g);
action_msgs_msg_dds__GoalInfo_ bridge_goal_info(const bridge_goal *g);
// A status of ROS, of one of the link; canceling: a client wanted that.
int8_t bridge_goal_status(int state, bool canceling);
// It is over: who asked for its result has it.
void bridge_goal_finish(bridge *b, bridge_goal *g, int8_t status, int64_t code, const char *text,
                        double s);
void bridge_goals_publish(bridge *b, int action); // the list of its goals

// goal_requests.c

void bridge_goals_take_cancels(bridge *b, int action);
void bridge_goals_take_questions(bridge *b, int action);
void bridge_goals_received_status(bridge *b, const pons_report_status *s);
void bridge_goals_nobody_knows(bridge *b, const char *why); // what the ledger was asked
