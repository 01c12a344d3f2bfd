// action_answers.c - what comes from the server of an action (action_client.c): answers, lists of goals, feedback, results.
#include "drivers/dds/action_internal.h"
#include "ros2.h"

#include <string.h>

enum { SUCCEEDED = 4, CANCELED = 5, ABORTED = 6 }; // action_msgs/msg/GoalStatus
enum { CANCEL_REFUSED = 1, CANCEL_UNKNOWN = 2 };   // action_msgs/srv/CancelGoal

typedef struct answer_head {
    uint64_t guid;
    int64_t seq;
} answer_head;

// The goal that an answer is for; NULL: another client's, or nobody's any more.
static ros2_goal *asked(ros2_action *a, int service, const void *answer)
{
    answer_head head;
    memcpy(&head, answer, sizeof head);
    for (int i = 0; i < ROS2_GOALS_MAX && head.guid == ros2_rpc_guid(&a->rpc[service]); i++) {
        ros2_goal *g = &a->goals[i];
        if (g->phase != GOAL_FREE && g->seq[service] == head.seq) {
            return g;
        }
    }
    return NULL;
}

static void take_answers(ros2_action *a, int64_t host_ns)
{
    ROS2_RPC_TAKE(&a->rpc[ACTION_SEND], void, answer)
    {
        ros2_goal *g = asked(a, ACTION_SEND, answer);
        const bool *accepted =
            ros2_value_at(a->answers[ACTION_SEND], answer, "accepted", ROS2_BOOL);
        if (!g || g->phase != GOAL_SENT) {
            continue;
        }
        if (*accepted) {
            g->phase = GOAL_RUNS;
            g->since_ns = host_ns;
            ros2_goal_owe(a, ACTION_RESULT, g);
            if (g->canceling) { // also when that was said already: it may have been there first
                ros2_goal_cancel(a, g);
            }
        } else {
            ros2_goal_over(a, g, ROS2_END_REFUSED, "did not take the goal");
        }
    }
}

// The server has no such goal: it was restarted, or has forgotten. One that was not taken yet may be on its way.
static void is_unknown(ros2_action *a, const ros2_unwanted *u)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        ros2_goal *g = &a->goals[i];
        if (g->phase == GOAL_RUNS && g->canceling && !g->status &&
            memcmp(g->uuid, u->uuid, sizeof g->uuid) == 0) {
            ros2_goal_over(a, g, ROS2_END_UNKNOWN, "has forgotten the goal");
        }
    }
}

// A server that has the goal's cancel in hand, or has no such goal, need not be told again; one that refuses is.
static void take_cancels(ros2_action *a)
{
    ROS2_RPC_TAKE(&a->rpc[ACTION_CANCEL], action_msgs_srv_dds__CancelGoal_Response_, answer)
    {
        for (int i = 0; i < ACTION_UNWANTED; i++) {
            ros2_unwanted *u = &a->unwanted[i];
            if (u->used && answer->guid_ == ros2_rpc_guid(&a->rpc[ACTION_CANCEL]) &&
                answer->seq_ == u->seq && answer->return_code != CANCEL_REFUSED) {
                u->used = false;
                if (answer->return_code == CANCEL_UNKNOWN) {
                    is_unknown(a, u);
                }
            }
        }
    }
}

static void take_results(ros2_action *a)
{
    const ros2_shape *s = a->answers[ACTION_RESULT];
    ROS2_RPC_TAKE(&a->rpc[ACTION_RESULT], void, answer)
    {
        ros2_goal *g = asked(a, ACTION_RESULT, answer);
        const int8_t *status = ros2_value_at(s, answer, "status", ROS2_INT8);
        if (!g || g->phase != GOAL_RUNS) {
            continue;
        }
        if (*status == SUCCEEDED || *status == ABORTED || *status == CANCELED) {
            pons_autovalue whole = ros2_value_to(s, answer);
            g->reported.result = pons_value_ref(pons_get(whole, "result"));
            ros2_goal_over(a, g,
                           *status == SUCCEEDED ? ROS2_END_SUCCEEDED
                           : *status == ABORTED ? ROS2_END_ABORTED
                                                : ROS2_END_CANCELED,
                           "");
        } else {
            ros2_goal_cancel(a, g); // what it answers is no end
            ros2_goal_over(a, g, ROS2_END_UNKNOWN, "has forgotten the goal");
        }
    }
}

static void take_feedback(ros2_action *a)
{
    ROS2_TAKE(a->feedback_r, void, f)
    {
        for (int i = 0; i < ROS2_GOALS_MAX; i++) {
            ros2_goal *g = &a->goals[i];
            if ((g->phase == GOAL_RUNS || g->phase == GOAL_SENT) &&
                memcmp(g->uuid, f, sizeof g->uuid) == 0) {
                pons_autovalue whole = ros2_value_to(a->feedback, f);
                pons_value_unref(g->reported.feedback);
                g->reported.feedback = pons_value_ref(pons_get(whole, "feedback"));
            }
        }
    }
}

// Which of the goals the server's newest list has.
static void take_status(ros2_action *a)
{
    ROS2_TAKE(a->status_r, action_msgs_msg_dds__GoalStatusArray_, s)
    {
        for (int k = 0; k < ROS2_GOALS_MAX; k++) {
            ros2_goal *g = &a->goals[k];
            g->listed = false;
            for (uint32_t i = 0; i < s->status_list._length && !g->listed; i++) {
                const action_msgs_msg_dds__GoalStatus_ *one = &s->status_list._buffer[i];
                g->listed = memcmp(one->goal_info.goal_id.uuid, g->uuid, sizeof g->uuid) == 0;
                g->status = g->listed ? one->status : g->status;
            }
        }
    }
}

void ros2_action_hear(ros2_action *a, int64_t host_ns)
{
    take_answers(a, host_ns);
    take_status(a);
    take_feedback(a);
    take_results(a);
    take_cancels(a);
}
