// agent_host.c - sessions with the planning agent in the process of a brain.
//
// What `pons agent` is made of, for a caller without a terminal: the same configuration, tools, walls,
// risks and questions. But the brain has the body, so the robot is one tool, robot_goal, which goes the
// way of every goal. A session has parts of its own (its MCP servers, its model's connection); it is
// opened and closed on its own thread.
#include "app/agent/agent_setup.h"
#include "app/serve/robot_tool.h"
#include "app/serve/workspace_actions.h"
#include "pons/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_MAX (256L * 1024L)

typedef struct parts {
    app_agent_parts agent;
    pons_llm llm;
    pons_tools look[APP_AGENT_TOOLS_MAX]; // before the agent's, when it may only look
    size_t n_look;
} parts;

static void agent_close(void *user, pons_serve_agent *a)
{
    parts *p = a->parts;
    pons_agent_close(a->agent);
    if (p) {
        while (p->n_look > 0) {
            p->n_look--;
            p->look[p->n_look].ops->close(p->look[p->n_look].self);
        }
        app_agent_parts_close(&p->agent);
        if (p->llm.ops) {
            p->llm.ops->close(p->llm.self);
        }
        free(p);
    }
}

static int open_parts(app_host *h, const char *session, parts *p, pons_error *err)
{
    pons_tools goals = {0};
    const app_goal_tools_options o = {
        .host = app_host_of(h), .store = h->store, .clock = h->clock, .thread = h->thread};
    int rc = app_agent_model(h->c, h->llm, &h->clock, &p->llm, err);
    rc = rc < 0 ? rc : app_goal_tools_open(&o, &goals, err);
    return rc < 0 ? rc
                  : app_agent_parts_open(h->c, session, &h->clock, &h->store, &goals, NULL,
                                         &p->agent, err);
}

static int only_look(parts *p, pons_error *err)
{
    int rc = PONS_OK;
    for (size_t i = 0; rc >= 0 && i < p->agent.n_tools; i++) {
        rc = app_read_only_tools(p->agent.tools[i], &p->look[i], err);
        p->n_look += rc >= 0;
    }
    return rc;
}

static int agent_open(void *user, const char *session, bool look, pons_event_cb on_event,
                      void *event_user, pons_serve_agent *ret, pons_error *err)
{
    app_host *h = user;
    const char *model = getenv("PONS_LLM_MODEL");
    parts *p = calloc(1, sizeof *p);
    pons_serve_agent a = {.parts = p};
    char server[256];
    if (!p) {
        return pons_error_set(err, PONS_ENOMEM, "agent", "no memory for a session");
    }
    int rc = open_parts(h, session, p, err);
    rc = rc < 0 ? rc : app_picture_middleware_open(&p->agent, h->llm, &h->clock, err);
    rc = rc >= 0 && look ? only_look(p, err) : rc;
    if (rc >= 0) {
        const pons_agent_options o = {
            .store = h->store,
            .thread = session,
            .clock = h->clock,
            .config = p->agent.config,
            .llm = &p->llm,
            .model = model && *model ? model : NULL,
            .tools = look ? p->look : p->agent.tools,
            .n_tools = p->agent.n_tools,
            .prompts = p->agent.prompts,
            .middleware = &p->agent.seeing,
            .n_middleware = p->agent.n_seeing,
            .cameras = p->agent.camera_names,
            .judge = p->agent.judge,
            .judge_user = p->agent.judge_user,
            .pictures_to = app_agent_pictures_to(h->c, h->llm, server, sizeof server),
            .look = p->agent.judge ? pons_robot_tools_look : NULL,
            .look_user = p->agent.files.robot.self,
            .on_event = on_event,
            .user = event_user};
        app_agent_parts_wait(&p->agent, &h->clock);
        rc = pons_agent_open(&o, &a.agent, err);
    }
    if (rc < 0) {
        agent_close(user, &a);
        return rc;
    }
    *ret = a;
    return PONS_OK;
}

// ---- graph_config.yaml --------------------------------------------------------------------------

// The file that app_agent_config reads: the workspace's, or what pons ships.
static int graph_config(void *user, char **ret_text, pons_error *err)
{
    const app_host *h = user;
    char path[PATH_MAX + 64];
    int rc = app_agent_config_path(h->c, path, sizeof path, err);
    size_t n = 0;
    char *text = rc >= 0 ? pons_file_text(path, CONFIG_MAX, &n) : NULL;
    if (rc >= 0 && !text) {
        rc = pons_error_set(err, PONS_EENV, "agent", "%s cannot be read: %s", path,
                            pons_file_why(errno));
    } else if (n > (size_t)CONFIG_MAX) {
        rc = pons_error_set(err, PONS_EINVAL, "agent", "%s is longer than %ld bytes", path,
                            CONFIG_MAX);
    }
    if (rc < 0) {
        free(text);
        return rc;
    }
    *ret_text = text;
    return PONS_OK;
}

// Whole or not at all, and into the workspace: what pons ships stays as it is.
static int graph_config_put(void *user, const char *text, size_t n, pons_error *err)
{
    const app_host *h = user;
    char path[PATH_MAX + 64], dir[PATH_MAX + 32];
    const int rc = app_agent_config_path(h->c, path, sizeof path, err);
    if (rc < 0) {
        return rc;
    }
    if (strncmp(path, h->c->workspace, strlen(h->c->workspace)) != 0) {
        snprintf(dir, sizeof dir, "%s/config", h->c->workspace);
        mkdir(dir, 0755);
        snprintf(path, sizeof path, "%s/graph_config.yaml", dir);
    }
    const int why = pons_file_replace(path, text, n, 0644);
    return why == 0 ? PONS_OK
                    : pons_error_set(err, PONS_EENV, "agent", "%s cannot be written: %s", path,
                                     strerror(-why));
}

void app_agent_host(pons_serve_host *h)
{
    h->agent_open = agent_open;
    h->agent_close = agent_close;
    h->graph_config = graph_config;
    h->graph_config_put = graph_config_put;
}
