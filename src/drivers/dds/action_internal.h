// action_internal.h - an action's client, and its goals, as the files of action_client.c share them.
#pragma once

#include "drivers/dds/action_client.h"
#include "drivers/dds/rpc.h"

#include <pthread.h>

enum { ACTION_SEND, ACTION_RESULT, ACTION_CANCEL, ACTION_SERVICES };
enum { ACTION_DUE = 4 * ROS2_GOALS_MAX, ACTION_UNWANTED = 2 * ROS2_GOALS_MAX };

typedef enum ros2_phase { GOAL_FREE, GOAL_BEGUN, GOAL_SENT, GOAL_RUNS, GOAL_OVER } ros2_phase;

typedef struct ros2_goal {
    ros2_phase phase;
    bool noticed;      // by the round before the goal may be sent
    bool canceling;    // GOAL_SENT, GOAL_RUNS: it was asked to end, and has not
    bool given_up;     // by the driver itself, which has said why
    bool reported_end; // GOAL_OVER: and somebody has looked
    bool listed;       // in the server's newest list
    char id[256];
    uint8_t uuid[16];
    void *mem;         // GOAL_BEGUN: the request
    int64_t since_ns;  // host time of the phase; 0: not looked at yet
    int64_t cancel_ns; // canceling: since when; 0: not looked at yet
    int64_t lost_ns;   // since when the server is gone; 0: it is there
    int64_t seq[2];    // of ACTION_SEND, ACTION_RESULT
    uint64_t asked;    // GOAL_RUNS: of whom the result was asked, as action_client.c counts them
    int8_t status;     // in the server's newest list; 0: it has not been there
    int64_t ended_ns;  // since when that is an end, and there is no result; 0: it is none
    bool again;        // and the result was asked for once more
    ros2_progress reported;
} ros2_goal;

typedef struct
    ros2_unwanted { // a goal that is to be canceled, until the server has said that it is
    bool used;
    uint8_t uuid[16];
    int64_t since_ns, sent_ns; // host times; 0: not looked at yet, not sent
    int64_t seq;
} ros2_unwanted;

typedef struct ros2_due { // what is to be written
    int service;
    uint8_t uuid[16];
    int64_t seq;
    void *mem; // ACTION_SEND
} ros2_due;

struct ros2_action {
    ros2_node *n;
    char name[ROS2_NAME_MAX];
    int64_t patience_ns, answer_ns;
    const ros2_shape *asks[ACTION_SERVICES], *answers[ACTION_SERVICES], *feedback,
        *goal; // ACTION_CANCEL: idlc's, no shape
    ros2_rpc rpc[ACTION_SERVICES];
    dds_entity_t feedback_r, status_r;

    pthread_mutex_t mtx; // what follows
    ros2_goal goals[ROS2_GOALS_MAX];
    ros2_due due[ACTION_DUE];
    int n_due;
    ros2_unwanted unwanted[ACTION_UNWANTED];
    int64_t seq; // of the last request
};

// All with the lock.
ros2_goal *ros2_goal_find(ros2_action *a, const char *id);
ros2_goal *ros2_goal_place(ros2_action *a); // NULL: there are too many
void ros2_goal_forget(ros2_action *a, ros2_goal *g);
void ros2_goal_over(ros2_action *a, ros2_goal *g, ros2_end end, const char *text);
void ros2_goal_owe(ros2_action *a, int service,
                   ros2_goal *g); // written in this round; no ACTION_CANCEL
// It is canceled, once its server is there, until that has answered. Of too many the oldest is given up.
void ros2_goal_cancel(ros2_action *a, ros2_goal *g);
void ros2_goal_owe_cancel(ros2_action *a, ros2_unwanted *u);
// Takes what has come; the reader thread.
void ros2_action_hear(ros2_action *a, int64_t host_ns);
