// agent_setup.h - what an agent, and a client of MCP, get in a workspace: configuration, prompts, tools.
#pragma once

#include "app/workspace/which_robot.h"
#include "pons/agent.h"
#include "pons/mcp.h"
#include "pons/workspace_model_access.h"

// ---- workspace_tools.c: the files of a workspace that was onboarded -----------------------------

typedef struct app_workspace_tools {
    const app_context *c;
    pons_tools robot; // pons_robot_tools_open's
    pons_tools tools; // the files'; ops NULL: the workspace has no such files
    pons_store
        memory; // where what was seen is kept; the first question opens it, who closes the tools closes it
} app_workspace_tools;

// *ret must not move while it is open. Its tools are closed as others are, before the robot's.
int app_workspace_tools_open(const app_context *c, const pons_clock *clock, const char *who,
                             const pons_tools *robot, app_workspace_tools *ret, pons_error *err);
// A pons_agent_judge_fn: the body's critic, and the files' where there are some. user: a app_workspace_tools.
int app_workspace_tools_judge(void *user, const char *tool, const pons_value *args,
                              const pons_plan_step *step, pons_verdict **ret, pons_error *err);

// ---- agent_setup.c: configuration, prompts and tools of a workspace -----------------------------

#define APP_TOOL_MODULES_MAX 8 // as the schema of tools.yaml
#define APP_AGENT_TOOLS_MAX                                                                        \
    (APP_TOOL_MODULES_MAX +                                                                        \
     7) // the core's, memory's, the robot's two, cameras', the workspace's, MCP's

typedef struct app_picture_middleware app_picture_middleware;

typedef struct app_agent_parts {
    pons_agent_config *config;
    pons_value *prompts;
    pons_tools tools[APP_AGENT_TOOLS_MAX];
    size_t n_tools;
    const pons_tools *mcp, *robot; // of those, or NULL
    app_workspace_tools files;
    pons_agent_judge_fn judge;
    void *judge_user;
    const app_context *c;
    app_robot meant;
    app_picture_middleware *cameras; // or NULL
    pons_agent_middleware seeing;    // (n_seeing, 0 or 1) the agent's
    size_t n_seeing;
    char camera_names[256]; // of which a person is asked; "": nobody is to be asked
} app_agent_parts;

// The workspace's config/graph_config.yaml or graph_config.yaml, else the one that pons ships; the
// core tools, the memory in the store and the tools of modules, the body's skills when a body runs there,
// MCP servers of mcp.json. store NULL: offline, the configuration alone; else it outlives the parts. parts must
// not move while it is open. goals: a provider that is there in place of the skills, because a brain has
// the body; taken, also on failure; NULL: the skills.
// folder: where file tools are rooted; NULL: the workspace.
int app_agent_parts_open(const app_context *c, const char *thread, const pons_clock *clock,
                         const pons_store *store, const pons_tools *goals, const char *folder,
                         app_agent_parts *ret, pons_error *err);
// Until the MCP servers that start are there, and a body that runs has said what it can do; for a
// while.
void app_agent_parts_wait(const app_agent_parts *p, const pons_clock *clock);
void app_agent_parts_close(app_agent_parts *p); // zeroed is fine
// Which file: of the workspace, else what pons ships.
int app_agent_config_path(const app_context *c, char *ret, size_t cap, pons_error *err);
int app_agent_config(const app_context *c, pons_agent_config **ret, pons_error *err);

// app_llm; without a model there is no agent: PONS_EENV says what to set.
int app_agent_model(const app_context *c, const char *spec, const pons_clock *clock, pons_llm *ret,
                    pons_error *err);
// Whose yes it needs before pictures of a session go to that model's server: its address. NULL: nobody's.
const char *app_agent_pictures_to(const app_context *c, const char *spec, char *ret, size_t cap);

// ---- picture_middleware.c -----------------------------------------------------------------------

// New pictures of `cameras` in config/vision.yaml with an agent's newest words, for a model of this spec: p->seeing. After
// app_agent_parts_open; p must not move.
int app_picture_middleware_open(app_agent_parts *p, const char *spec, const pons_clock *clock,
                                pons_error *err);
void app_picture_middleware_close(app_picture_middleware *k); // NULL-safe

// ---- tool_check.c -------------------------------------------------------------------------------

// Whether a step that is to be done yet names a tool that is here and no skill of pons: a core tool, one of a module or of
// a server of mcp.json. Starts nothing. The workspace must be there.
int app_agent_plan_calls(const app_context *c, const pons_plan *plan, bool *ret, pons_error *err);
// Whether each tool that config names can be there, without starting anything: PONS_EINVAL with its position. The
// workspace must be there.
int app_agent_names_check(const app_context *c, const pons_agent_config *config, pons_error *err);

// ---- core_tools.c: config/tools.yaml of the workspace, else the one that pons ships -------------

// The core tools; folder: where they are rooted, NULL: the workspace.
// What config/tools.yaml says, with this workspace in it; unchecked: pons_core_tools_open has its schema.
int app_tools_config(const app_context *c, pons_value **ret, pons_error *err);
int app_core_tools(const app_context *c, const pons_clock *clock, const char *folder,
                   pons_tools *ret, pons_error *err);
// A provider for each entry of `modules`, put after the *n that are there already (at most max in
// all). On failure, too, the caller closes what is there.
int app_tool_modules(const app_context *c, const pons_clock *clock, pons_tools *tools, size_t max,
                     size_t *n, pons_error *err);

// ---- mcp_servers.c ------------------------------------------------------------------------------

// The servers of the workspace's mcp.json, being started. PONS_ENOTFOUND: there is no such file.
int app_mcp_tools(const app_context *c, const pons_clock *clock, pons_tools *ret, pons_error *err);
// One line for each server whose entry has a fault, once a process.
void app_mcp_tell_refused(const app_context *c, const pons_tools *mcp);
// Those that mcp.json has, by name (pons_mcp_load). PONS_ENOTFOUND.
int app_mcp_servers(const app_context *c, pons_value **ret, pons_error *err);
// Waits until each server has started or failed, at most so long; *ret is pons_mcp_status.
int app_mcp_wait(const pons_tools *mcp, int timeout_ms, pons_value **ret, pons_error *err);
// A question of `pons mcp serve`: its ids begin with this.
#define APP_MCP_QUESTION "mcp-"

// ---- mcp_serve_setup.c: what MCP clients get ----------------------------------------------------

#define APP_MCP_PROVIDERS (APP_AGENT_TOOLS_MAX + 1)
#define APP_MCP_ID_MAX    64

typedef struct app_mcp_parts {
    const app_context *c;
    pons_clock clock;
    bool look_only; // the brain has the body: no skills, only what is known
    const char *instructions;
    pons_tools tools[APP_MCP_PROVIDERS];
    size_t n_tools;
    void *robot; // of the robot's provider, or NULL
    app_workspace_tools files;
    pons_store seen; // what was seen, read; ops NULL: nobody remembers
    app_robot meant;
} app_mcp_parts;

// Providers of list ("robot,core,modules,mcp") after those that are there; name: of the controller.
// The parts must not move. On failure, too, the caller closes them.
int app_mcp_parts_open(app_mcp_parts *p, const char *list, const char *name, pons_error *err);
void app_mcp_parts_close(app_mcp_parts *p);
pons_mcp_server_options app_mcp_options(app_mcp_parts *p); // without descriptors
bool app_mcp_wants(const char *list, const char *word);
void app_mcp_question_path(const app_context *c, const char *id, char *ret, size_t cap);
bool app_mcp_question_is(const char *id);
int app_mcp_question_write(const app_context *c, const char *id, const pons_value *question,
                           pons_error *err);

// ---- model_list.c -------------------------------------------------------------------------------

// The names of the models that the server has, an array; *ret is the caller's.
int app_model_list(const char *llm_spec, pons_value **ret, pons_error *err);

// ---- working_folder.c: the folder that an agent works in, and whether it is trusted -------------

typedef enum app_folder_ask {
    APP_FOLDER_ASK,
    APP_FOLDER_TRUST,
    APP_FOLDER_NEVER_ASK
} app_folder_ask;

// Where file tools are rooted: `wanted` (NULL: where the command was started) when it is trusted, else
// the workspace. ASK asks a person about one that was never asked about, once, by `person`; TRUST is a
// person's yes (--folder). A folder that does not exist is PONS_EINVAL; one whose owner others are than
// this user and root, or that lies in the workspace, is the workspace instead: *ret_why says why, else it is NULL.
int app_folder_find(const app_context *c, const char *wanted, app_folder_ask ask,
                    bool (*person)(const char *folder), char ret[PATH_MAX], const char **ret_why,
                    pons_error *err);
// The folder that a session worked in last; false: not known.
bool app_folder_of_session(const app_context *c, const char *session, char ret[PATH_MAX]);
void app_folder_note_session(const app_context *c, const char *session, const char *folder);
