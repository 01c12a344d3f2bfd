// robot_tool.h - the robot as one tool, for models that share a process with its brain.
#pragma once

#include "pons/ext/tool.h"
#include "pons/serve.h"

typedef struct app_goal_tools_options {
    pons_serve_host host; // borrowed, as the store
    pons_store store;
    pons_clock clock;
    const char *thread; // the robot's
} app_goal_tools_options;

// robot_goal {text}: a goal for the brain, as `pons say` says it; the call ends when the task does.
int app_goal_tools_open(const app_goal_tools_options *o, pons_tools *ret, pons_error *err);
