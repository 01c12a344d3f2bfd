// goal.c - one goal of ROS's (action_server.c), and the list of an action's.
#include "drivers/ros2_bridge/bridge_common.h"
#include "drivers/ros2_bridge/goals_internal.h"

#include <stdio.h>
#include <string.h>

void bridge_goal_id(const uint8_t uuid[16], char ret[BRIDGE_ID])
{
    for (int i = 0; i < 16; i++) {
        snprintf(ret + 2 * i, 3, "%02x", uuid[i]);
    }
}

bridge_goal *bridge_goal_find(bridge *b, const char *id)
{
    for (int i = 0; i < GOALS_MAX; i++) {
        if (b->goals->all[i].phase != GOAL_FREE && strcmp(b->goals->all[i].id, id) == 0) {
            return &b->goals->all[i];
        }
    }
    return NULL;
}

void bridge_goal_forget(bridge_goal *g)
{
    pons_value_unref(g->args);
    *g = (bridge_goal){0};
}

// A free place, or that of the goal which has been over for longest.
bridge_goal *bridge_goal_place(bridge *b)
{
    bridge_goal *oldest = NULL;
    for (int i = 0; i < GOALS_MAX; i++) {
        bridge_goal *g = &b->goals->all[i];
        if (g->phase == GOAL_FREE) {
            return g;
        }
        if (g->phase == GOAL_OVER && (!oldest || g->since_host_ns < oldest->since_host_ns)) {
            oldest = g;
        }
    }
    if (oldest) {
        b->goals->at[oldest->action].changed = true;
        bridge_goal_forget(oldest);
    }
    return oldest;
}

action_msgs_msg_dds__GoalInfo_ bridge_goal_info(const bridge_goal *g)
{
    action_msgs_msg_dds__GoalInfo_ info = {.stamp = bridge_stamp(g->stamp_ns)};
    memcpy(info.goal_id.uuid, g->uuid, 16);
    return info;
}

void bridge_goal_finish(bridge *b, bridge_goal *g, int8_t status, int64_t code, const char *text,
                        double s)
{
    bridge_goals *gs = b->goals;
    g->phase = GOAL_OVER;
    g->status = status;
    g->since_host_ns = b->host_ns;
    g->end = (bridge_end){.status = status,
                          .error_code = (uint16_t)(code >= 0 && code <= UINT16_MAX ? code : 0),
                          .duration_s = s};
    snprintf(g->end.text, sizeof g->end.text, "%s", text);
    for (int i = 0; i < g->n_askers; i++) {
        bridge_actions[g->action].write_result(b, &gs->at[g->action].result.rpc, g->askers[i].guid,
                                               g->askers[i].seq, &g->end);
    }
    g->n_askers = 0;
    bridge_goals_publish(b, g->action);
}

int8_t bridge_goal_status(int state, bool canceling)
{
    return state == PONS_GOAL_DONE                    ? STATUS_SUCCEEDED
           : state == PONS_GOAL_CANCELED && canceling ? STATUS_CANCELED
                                                      : STATUS_ABORTED;
}

void bridge_goals_publish(bridge *b, int i)
{
    action_msgs_msg_dds__GoalStatus_ list[GOALS_MAX];
    uint32_t n = 0;
    for (int k = 0; k < GOALS_MAX; k++) {
        const bridge_goal *g = &b->goals->all[k];
        if (g->action == i && (g->phase == GOAL_RUNS || g->phase == GOAL_OVER)) {
            list[n++] = (action_msgs_msg_dds__GoalStatus_){bridge_goal_info(g), g->status};
        }
    }
    const action_msgs_msg_dds__GoalStatusArray_ m = {.status_list = {n, n, list, false}};
    b->goals->at[i].changed = false;
    dds_write(b->goals->at[i].status_w, &m);
}
