// agent_setup.c - what an agent is made of in a workspace: configuration, prompts, tools.
#include "app/agent/agent_setup.h"

#include "app/pictures/pictures.h"
#include "app/sight/sight.h"
#include "pons/config_file.h"
#include "pons/file.h"
#include "pons/protected_files.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROMPT_MAX   (64 * 1024) // bytes
#define MCP_WAIT_MS  10000       // for servers that start, before a turn's words go to the model
#define BODY_WAIT_MS 5000        // the same, for a body's first words
#define LOOK_MS      5

int app_agent_config_path(const app_context *c, char *ret, size_t cap, pons_error *err)
{
    static const char *const names[] = {PONS_DIR_CONFIG "/" PONS_FILE_GRAPH_CONFIG,
                                        PONS_FILE_GRAPH_CONFIG};
    for (size_t i = 0; i < 2; i++) {
        const int rc = pons_config_at(PONS_CONFIG_WORKSPACE, c->workspace, names[i], ret, cap, err);
        if (rc != PONS_ENOTFOUND) {
            return rc;
        }
        *err = (pons_error)PONS_ERROR_INIT;
    }
    return pons_config_find(NULL, names[0], ret, cap, NULL, err);
}

int app_agent_config(const app_context *c, pons_agent_config **ret, pons_error *err)
{
    char path[PATH_MAX + 64];
    const int rc = app_agent_config_path(c, path, sizeof path, err);
    return rc < 0 ? rc : pons_agent_config_load(path, ret, err);
}

// Without mcp.json there are no servers.
static int mcp_tools(const app_context *c, const pons_clock *clock, app_agent_parts *p,
                     pons_error *err)
{
    const int rc = app_mcp_tools(c, clock, &p->tools[p->n_tools], err);
    if (rc >= 0) {
        p->mcp = &p->tools[p->n_tools++];
        app_mcp_tell_refused(c, p->mcp);
    }
    return rc == PONS_ENOTFOUND ? PONS_OK : rc;
}

static int connect_body(void *user, pons_link **ret, pons_error *err)
{
    const app_agent_parts *p = user;
    return app_robot_connect(p->c, &p->meant, ret, err);
}

// config/prompts/NAME.md of the workspace, a person or the installation; without either, what is built in.
static int load_prompts(const app_context *c, pons_value **ret, pons_error *err)
{
    static const char *const names[] = {"agent", "executor", "replanner"};
    pons_value *all = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[PATH_MAX + 64], relative[64];
        pons_error none = PONS_ERROR_INIT;
        snprintf(relative, sizeof relative, "config/prompts/%s.md", names[i]);
        const int rc = pons_config_find(c->workspace, relative, path, sizeof path, NULL, &none);
        if (rc < 0) {
            if (rc == PONS_ENOTFOUND) {
                continue;
            }
            pons_value_unref(all);
            *err = none;
            return rc;
        }
        size_t n = 0;
        char *text = pons_file_text(path, PROMPT_MAX, &n);
        pons_value *v = n > 0 && n <= PROMPT_MAX ? json_stringn(text, n) : NULL;
        free(text);
        if (!v) {
            pons_value_unref(all);
            return pons_error_set(err, PONS_EINVAL, "agent",
                                  "%s: expected a text of 1 to %d bytes in UTF-8", path,
                                  PROMPT_MAX);
        }
        json_object_set_new(all, names[i], v);
    }
    *ret = all;
    return PONS_OK;
}

int app_agent_parts_open(const app_context *c, const char *thread, const pons_clock *clock,
                         const pons_store *store, const pons_tools *goals, const char *folder,
                         app_agent_parts *p, pons_error *err)
{
    *p = (app_agent_parts){0};
    if (goals) {
        p->tools[p->n_tools++] = *goals;
    }
    int rc = app_agent_config(c, &p->config, err);
    if (rc < 0 || !store) {
        if (rc < 0) {
            app_agent_parts_close(p);
        }
        return rc;
    }
    rc = load_prompts(c, &p->prompts, err);
    if (rc >= 0) {
        rc = app_core_tools(c, clock, folder, &p->tools[p->n_tools], err);
        p->n_tools += rc >= 0;
    }
    if (rc >= 0) {
        const pons_memory_tools_options memory = {
            .store = *store, .clock = *clock, .session = thread};
        rc = pons_memory_tools_open(&memory, &p->tools[p->n_tools], err);
        p->n_tools += rc >= 0;
    }
    pons_autovalue policy = NULL;
    rc = rc < 0 ? rc : app_critic_policy(c, &policy, err);
    if (rc >= 0) {
        p->c = c;
        rc = app_robot_offered(c, &p->meant, err);
    }
    if (rc >= 0) {
        char space[64];
        app_objects_space(c, space);
        const bool sees = app_sight_wanted(c, p->meant.world);
        const pons_robot_tools_options robot = {.clock = *clock,
                                                .items = {.store = *store, .clock = *clock},
                                                .objects = sees ? space : NULL,
                                                .connect = connect_body,
                                                .user = p,
                                                .thread = thread,
                                                .policy = policy,
                                                .look_only = goals != NULL};
        rc = pons_robot_tools_open(&robot, &p->tools[p->n_tools], err);
        if (rc >= 0) {
            p->judge = app_workspace_tools_judge;
            p->judge_user = &p->files;
            p->robot = &p->tools[p->n_tools++];
        }
    }
    if (rc >= 0) {
        rc = app_camera_tools(c, p->meant.world, &p->tools[p->n_tools], err);
        p->n_tools += p->tools[p->n_tools].ops != NULL;
    }
    if (rc >= 0) {
        rc = app_workspace_tools_open(c, clock, thread, p->robot, &p->files, err);
        if (p->files.tools.ops) {
            p->tools[p->n_tools++] = p->files.tools;
        }
    }
    if (rc >= 0) { // a name belongs to the first who has it: after pons's own, before servers'
        rc = app_tool_modules(c, clock, p->tools, APP_AGENT_TOOLS_MAX - 1, &p->n_tools, err);
    }
    rc = rc < 0 ? rc : mcp_tools(c, clock, p, err);
    if (rc < 0) {
        app_agent_parts_close(p);
    }
    return rc;
}

void app_agent_parts_close(app_agent_parts *p)
{
    for (size_t i = p->n_tools; i > 0; i--) { // the workspace's asks the robot's
        p->tools[i - 1].ops->close(p->tools[i - 1].self);
    }
    pons_store_close(&p->files.memory);
    app_picture_middleware_close(p->cameras);
    pons_agent_config_destroy(p->config);
    pons_value_unref(p->prompts);
    *p = (app_agent_parts){0};
}

static bool servers_start(const app_agent_parts *p)
{
    pons_autovalue status = NULL;
    pons_error ignored = PONS_ERROR_INIT;
    if (!p->mcp || pons_mcp_status(p->mcp, &status, &ignored) < 0) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(status); i++) {
        if (strcmp(pons_get_str(json_array_get(status, i), "state", ""), "starting") == 0) {
            return true;
        }
    }
    return false;
}

// A body that listens says hello and its first telemetry at once.
static bool body_is_silent(const app_agent_parts *p)
{
    pons_link *there = NULL;
    if (!p->robot || app_robot_connect(p->c, &p->meant, &there, &(pons_error)PONS_ERROR_INIT) < 0) {
        return false;
    }
    pons_link_close(there);
    pons_autovalue status = pons_robot_tools_status(p->robot->self);
    return !pons_get_bool(status, "connected", false);
}

void app_agent_parts_wait(const app_agent_parts *p, const pons_clock *clock)
{
    const int64_t from = pons_now_ms(clock);
    for (;;) {
        const int64_t waited = pons_now_ms(clock) - from;
        const bool mcp = waited < MCP_WAIT_MS && servers_start(p);
        const bool body = waited < BODY_WAIT_MS && body_is_silent(p);
        if (!mcp && !body) {
            return;
        }
        poll(NULL, 0, LOOK_MS);
    }
}

int app_agent_model(const app_context *c, const char *spec, const pons_clock *clock, pons_llm *ret,
                    pons_error *err)
{
    pons_autovalue pictures = NULL;
    int rc = app_model_pictures(c, &pictures, err);
    rc = rc < 0 ? rc : app_llm(spec, pictures, clock, ret, err);
    if (rc < 0 || ret->ops) {
        return rc;
    }
    return pons_error_set(err, PONS_EENV, "agent",
                          "no model is configured: set OPENAI_API_KEY and OPENAI_BASE_URL or "
                          "PONS_LLM_URL, or give --llm URL (docs/reference/models.md)");
}

const char *app_agent_pictures_to(const app_context *c, const char *spec, char *ret, size_t cap)
{
    pons_autovalue pictures = NULL;
    pons_error none = PONS_ERROR_INIT; // app_agent_model has said it
    return app_model_pictures(c, &pictures, &none) >= 0 && app_llm_asks(spec, pictures, ret, cap)
               ? ret
               : NULL;
}
