// agent_cli.h - what `pons agent`, `pons resume`, `pons approve` and `pons mcp serve` share of the
// planning agent: its parts from a workspace, its events on a terminal, a person's answers.
#ifndef PONS_AGENT_CLI_H
#define PONS_AGENT_CLI_H

#include "cli/agent/agent_events.h"
#include "cli/cli.h"
#include "app/workspace/which_robot.h"
#include "pons/agent.h"
#include "pons/mcp.h"
#include "pons/workspace_desk.h"

// ---- workspace_tools.c: the files of a workspace that was onboarded -----------------------------

typedef struct cli_desk {
    cli *c;
    pons_tools robot; // pons_robot_tools_open's
    pons_tools tools; // the desk's; ops NULL: the workspace has no such files
} cli_desk;

// *ret must not move while it is open. Its tools are closed as others are, before the robot's.
int cli_desk_open(cli *c, const pons_clock *clock, const char *who, const pons_tools *robot,
                  cli_desk *ret, pons_error *err);
// A pons_agent_judge_fn: the body's critic, and the files' where there are some. user: a cli_desk.
int cli_desk_judge(void *user, const char *tool, const pons_value *args, const pons_plan_step *step,
                   pons_verdict **ret, pons_error *err);

// ---- agent_setup.c: configuration, prompts and tools of a workspace -----------------------------

#define CLI_TOOL_MODULES_MAX 8 // as the schema of tools.yaml
#define CLI_AGENT_TOOLS_MAX                                                                        \
    (CLI_TOOL_MODULES_MAX + 6) // the core's, memory's, the robot's two, the workspace's, MCP's

typedef struct cli_agent_parts {
    pons_agent_config *config;
    pons_value *prompts;
    pons_tools tools[CLI_AGENT_TOOLS_MAX];
    size_t n_tools;
    const pons_tools *mcp, *robot; // of those, or NULL
    cli_desk desk;
    pons_agent_judge_fn judge;
    void *judge_user;
    cli *c;
    app_robot meant;
} cli_agent_parts;

// The workspace's config/graph_config.yaml or graph_config.yaml, else the one that pons ships; the
// core tools, the memory in the store and the tools of modules, the body's skills when a body runs there,
// MCP servers of mcp.json. store NULL: offline, the configuration alone; else it outlives the parts. parts must
// not move while it is open. goals: a provider that is there in place of the skills, because a brain has
// the body; taken, also on failure; NULL: the skills.
// folder: where file tools are rooted; NULL: the workspace.
int cli_agent_parts_open(cli *c, const char *thread, const pons_clock *clock,
                         const pons_store *store, const pons_tools *goals, const char *folder,
                         cli_agent_parts *ret, pons_error *err);
// Until the MCP servers that start are there, and a body that runs has said what it can do; for a
// while.
void cli_agent_parts_wait(const cli_agent_parts *p, const pons_clock *clock);
void cli_agent_parts_close(cli_agent_parts *p); // zeroed is fine
// Which file: of the workspace, else what pons ships.
int cli_agent_config_path(const cli *c, char *ret, size_t cap, pons_error *err);
int cli_agent_config(const cli *c, pons_agent_config **ret, pons_error *err);

// app_llm; without a model there is no agent: PONS_EENV says what to set.
int cli_agent_model(const char *spec, const pons_clock *clock, pons_llm *ret, pons_error *err);

// ---- tool_check.c -------------------------------------------------------------------------------

// Whether a step that is to be done yet names a tool that is here and no skill of pons: a core tool, one of a module or of
// a server of mcp.json. Starts nothing. The workspace must be there.
int cli_agent_plan_calls(cli *c, const pons_plan *plan, bool *ret, pons_error *err);
// Whether each tool that config names can be there, without starting anything: PONS_EINVAL with its position. The
// workspace must be there.
int cli_agent_names_check(cli *c, const pons_agent_config *config, pons_error *err);

// ---- tools.c: config/tools.yaml of the workspace, else the one that pons ships ------------------

// The core tools; folder: where they are rooted, NULL: the workspace.
// What config/tools.yaml says, with this workspace in it; unchecked: pons_core_tools_open has its schema.
int cli_tools_config(const cli *c, pons_value **ret, pons_error *err);
int cli_core_tools(cli *c, const pons_clock *clock, const char *folder, pons_tools *ret,
                   pons_error *err);
// A provider for each entry of `modules`, put after the *n that are there already (at most max in
// all). On failure, too, the caller closes what is there.
int cli_tool_modules(cli *c, const pons_clock *clock, pons_tools *tools, size_t max, size_t *n,
                     pons_error *err);

// ---- cmd_mcp.c ----------------------------------------------------------------------------------

// The servers of the workspace's mcp.json, being started. PONS_ENOTFOUND: there is no such file.
int cli_mcp_tools(const cli *c, const pons_clock *clock, pons_tools *ret, pons_error *err);
// One line for each server whose entry has a fault, once a process.
void cli_mcp_tell_refused(const pons_tools *mcp);
// Those that mcp.json has, by name (pons_mcp_load). PONS_ENOTFOUND.
int cli_mcp_servers(const cli *c, pons_value **ret, pons_error *err);
// Waits until each server has started or failed, at most so long; *ret is pons_mcp_status.
int cli_mcp_wait(const pons_tools *mcp, int timeout_ms, pons_value **ret, pons_error *err);
// A question of `pons mcp serve`: its ids begin with this.
#define CLI_MCP_QUESTION "mcp-"
// Shows or answers one; answer NULL: shows, and APP_WAITING.
int cli_mcp_approve(cli *c, const char *id, const pons_value *answer, pons_error *err);

// ---- mcp_serve_setup.c: what MCP clients get ----------------------------------------------------

#define CLI_MCP_PROVIDERS (CLI_AGENT_TOOLS_MAX + 1)
#define CLI_MCP_ID_MAX    64

typedef struct cli_mcp_parts {
    cli *c;
    pons_clock clock;
    bool look_only; // the brain has the body: no skills, only what is known
    const char *instructions;
    pons_tools tools[CLI_MCP_PROVIDERS];
    size_t n_tools;
    void *robot; // of the robot's provider, or NULL
    cli_desk desk;
    app_robot meant;
} cli_mcp_parts;

// Providers of list ("robot,core,modules,mcp") after those that are there; name: of the controller.
// The parts must not move. On failure, too, the caller closes them.
int cli_mcp_parts_open(cli_mcp_parts *p, const char *list, const char *name, pons_error *err);
void cli_mcp_parts_close(cli_mcp_parts *p);
pons_mcp_server_options cli_mcp_options(cli_mcp_parts *p); // without descriptors
bool cli_mcp_wants(const char *list, const char *word);
void cli_mcp_question_path(const cli *c, const char *id, char *ret, size_t cap);
bool cli_mcp_question_is(const char *id);
int cli_mcp_question_write(const cli *c, const char *id, const pons_value *question,
                           pons_error *err);

// ---- cmd_agent.c, agent_approve.c ---------------------------------------------------------------

// Carries out a plan whose steps name tools, in a new session of its own; no model is asked.
int cli_agent_plan(cli *c, const pons_plan *plan, pons_error *err);
int cli_agent_resume(cli *c, const char *thread, const char *llm, pons_error *err);
// Shows or answers what an agent's thread waits for; answer NULL: shows, and
// APP_WAITING when there is something.
int cli_agent_approve(cli *c, pons_store store, const char *thread, const pons_value *answer,
                      const char *id, pons_error *err);

#endif
