// action_server.h - Nav2's actions as they are served.
#pragma once

#include "drivers/ros2_bridge/internal.h"

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
void bridge_goals_received(bridge *b, const pons_report *r);
void bridge_goal_pose(bridge *b, pons_pose2 at); // as from an action's client
