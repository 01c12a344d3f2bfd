// action_goal.c - what is known of a goal at an action (action_client.c), and what is to be written for it.
#include "drivers/dds/action_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ros2_goal_forget(ros2_action *a, ros2_goal *g)
{
    if (g->mem) {
        ros2_value_fini(a->asks[ACTION_SEND], g->mem);
        free(g->mem);
    }
    pons_value_unref(g->reported.feedback);
    pons_value_unref(g->reported.result);
    *g = (ros2_goal){.phase = GOAL_FREE};
}

ros2_goal *ros2_goal_find(ros2_action *a, const char *id)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        ros2_goal *g = &a->goals[i];
        if (g->phase != GOAL_FREE && strcmp(g->id, id) == 0) {
            return g;
        }
    }
    return NULL;
}

ros2_goal *ros2_goal_place(ros2_action *a)
{
    for (int i = 0; i < ROS2_GOALS_MAX; i++) {
        if (a->goals[i].phase == GOAL_FREE) {
            return &a->goals[i];
        }
    }
    return NULL;
}

// The server has said how it ended: no cancel of it is owed.
static void needs_no_cancel(ros2_action *a, const ros2_goal *g)
{
    for (int i = 0; i < ACTION_UNWANTED; i++) {
        if (memcmp(a->unwanted[i].uuid, g->uuid, sizeof g->uuid) == 0) {
            a->unwanted[i].used = false;
        }
    }
}

void ros2_goal_over(ros2_action *a, ros2_goal *g, ros2_end end, const char *text)
{
    g->phase = GOAL_OVER;
    if (end != ROS2_END_UNKNOWN) {
        needs_no_cancel(a, g);
    }
    if (g->canceling && end == ROS2_END_CANCELED) {
        end = g->given_up ? ROS2_END_GIVEN_UP : ROS2_END_ENDED;
    }
    g->reported.end = end;
    if (end == ROS2_END_GIVEN_UP) {
        return; // told.text says why already
    }
    snprintf(g->reported.text, sizeof g->reported.text, "%.*s", (int)sizeof g->reported.text - 1,
             text);
}

static ros2_due *due(ros2_action *a, int service, const uint8_t uuid[16])
{
    if (a->n_due == ACTION_DUE) {
        return NULL;
    }
    ros2_due *d = &a->due[a->n_due++];
    *d = (ros2_due){.service = service, .seq = ++a->seq};
    memcpy(d->uuid, uuid, sizeof d->uuid);
    return d;
}

void ros2_goal_owe(ros2_action *a, int service, ros2_goal *g)
{
    ros2_due *d = due(a, service, g->uuid);
    if (!d) {
        return;
    }
    if (service == ACTION_SEND) {
        d->mem = g->mem;
        g->mem = NULL;
    }
    g->seq[service] = d->seq;
}

void ros2_goal_cancel(ros2_action *a, ros2_goal *g)
{
    g->canceling = true;
    ros2_unwanted *u = NULL; // its own place, a free one, the oldest
    for (int i = 0; i < ACTION_UNWANTED; i++) {
        ros2_unwanted *at = &a->unwanted[i];
        if (at->used && memcmp(at->uuid, g->uuid, sizeof at->uuid) == 0) {
            u = at;
            break;
        }
        if (!u || (u->used && (!at->used || at->since_ns < u->since_ns))) {
            u = at;
        }
    }
    *u = (ros2_unwanted){.used = true};
    memcpy(u->uuid, g->uuid, sizeof u->uuid);
}

void ros2_goal_owe_cancel(ros2_action *a, ros2_unwanted *u)
{
    const ros2_due *d = due(a, ACTION_CANCEL, u->uuid);
    u->seq = d ? d->seq : u->seq;
}
