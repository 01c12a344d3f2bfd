// cmd_vel.h - cmd_vel, goal_pose, initialpose.
#pragma once

#include "drivers/ros2_bridge/internal.h"

int bridge_drive_open(bridge *b, pons_error *err);
void bridge_drive_take(bridge *b);
void bridge_drive_step(bridge *b);
bool bridge_drive_owns(const bridge *b, const char *goal_id);
void bridge_drive_answered(bridge *b, bool accepted, const char *why);
void bridge_drive_over(bridge *b);
