// agent_host.h - sessions with the planning agent in the process of a brain.
#ifndef PONS_CLI_SERVE_AGENT_HOST_H
#define PONS_CLI_SERVE_AGENT_HOST_H

#include "cli/serve/workspace_actions.h"

// Fills what a host has of the agent: agent_open, agent_close, graph_config, graph_config_put. user
// is the cli_host of cli_host_of.
void cli_agent_host(pons_serve_host *h);

#endif
