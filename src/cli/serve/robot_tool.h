// robot_tool.h - the robot as one tool, for models that share a process with its brain.
#ifndef PONS_CLI_SERVE_ROBOT_TOOL_H
#define PONS_CLI_SERVE_ROBOT_TOOL_H

#include "pons/ext/tool.h"
#include "pons/serve.h"

typedef struct cli_goal_tools_options {
    pons_serve_host host; // borrowed, as the store
    pons_store store;
    pons_clock clock;
    const char *thread; // the robot's
} cli_goal_tools_options;

// robot_goal {text}: a goal for the brain, as `pons say` says it; the call ends when the task does.
int cli_goal_tools_open(const cli_goal_tools_options *o, pons_tools *ret, pons_error *err);

#endif
