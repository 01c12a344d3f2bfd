// agent_cli.h - what `pons agent`, `pons resume`, `pons approve` and `pons mcp serve` share of the
// planning agent: its parts from a workspace, its events on a terminal, a person's answers.
#pragma once

#include "app/agent/agent_setup.h"
#include "cli/agent/agent_events.h"
#include "cli/cli.h"

// ---- cmd_mcp.c ----------------------------------------------------------------------------------

// Shows or answers one; answer NULL: shows, and APP_WAITING.
int cli_mcp_approve(cli *c, const char *id, const pons_value *answer, pons_error *err);

// ---- cmd_agent.c, agent_approve.c ---------------------------------------------------------------

// Carries out a plan whose steps name tools, in a new session of its own; no model is asked.
int cli_agent_plan(cli *c, const pons_plan *plan, pons_error *err);
int cli_agent_resume(cli *c, const char *thread, const char *llm, pons_error *err);
// Shows or answers what an agent's thread waits for; answer NULL: shows, and
// APP_WAITING when there is something.
int cli_agent_approve(cli *c, pons_store store, const char *thread, const pons_value *answer,
                      const char *id, pons_error *err);
