// body_commands.h - what the body is told.
#pragma once

#include "drivers/ros2_bridge/internal.h"

bool bridge_send(pons_link *l, const pons_message *m); // false: the link is gone
bool bridge_in_control(const bridge *b);
bool bridge_goal_send(bridge *b, const char *id, const char *skill, pons_value *args, bool preempt);
void bridge_goal_cancel(bridge *b, const char *id);
