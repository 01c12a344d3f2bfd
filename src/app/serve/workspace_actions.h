// workspace_actions.h - what a server's clients may do to the workspace, in the words of the command line.
#pragma once

#include "app/workspace/context.h"
#include "pons/ext/tool.h"
#include "pons/serve.h"

typedef struct app_host { // the server's workers read it, several at once
    const app_context *c;
    pons_store store;
    const pons_policy *policy;
    const char *thread; // the server's own
    const char *llm;    // as --llm; NULL: the environment's
    pons_clock clock;
} app_host;

pons_serve_host app_host_of(app_host *h);

// agent_host.c: fills what a host has of the agent: agent_open, agent_close, graph_config, graph_config_put. user is
// the app_host of app_host_of.
void app_agent_host(pons_serve_host *h);

// thread_fork.c: as pons_serve_host.fork, of the robot's thread, an agent's, or a graph's: a thread of its own from a
// moment of another one, also with other values.
int app_thread_fork(const app_host *h, const char *from, const char *at, const char *to,
                    const pons_value *edit, pons_error *err);

// read_only_tools.c: a provider before `tools`, which stays its owner's and outlives it, with only those that change
// nothing.
int app_read_only_tools(pons_tools tools, pons_tools *ret, pons_error *err);
