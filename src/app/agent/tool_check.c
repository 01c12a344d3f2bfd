// tool_check.c - which names tools have here: whether each that graph_config.yaml names can be there, and whether a plan
// calls one. A look that starts no server of tools and asks no body.
//
//     core tools, memory, modules      as they are opened for the agent
//     skills                           those that pons has; query_world, and what a workspace and a server add
//     SERVER.TOOL                      of a server of mcp.json: which tools it has is known when it runs
#include "app/agent/agent_setup.h"
#include "pons/body.h"

#include <string.h>

enum { OWN = 3 }; // providers beside those of modules: the fixed names, the memory's, the core's

static int list(void *self, pons_value **ret, pons_error *err)
{
    *ret = pons_value_ref(self);
    return PONS_OK;
}

static void close_names(void *self)
{
    pons_value_unref(self);
}

static const pons_tools_ops names_ops = {
    .abi = PONS_TOOL_ABI, .name = "names", .close = close_names, .list = list};

static void add(pons_value *names, const char *name, const char *category)
{
    json_array_append_new(
        names, pons_object("name", json_string(name), "category", json_string(category), NULL));
}

// Of the names that the configuration has, those of a server that mcp.json has.
static void add_of_servers(pons_value *names, const pons_value *servers, const char *name)
{
    pons_each_member(server, ignored, servers) {
        const size_t n = strlen(server);
        if (name && strncmp(name, server, n) == 0 && name[n] == '.') {
            add(names, name, "mcp");
        }
    }
}

static void add_named(pons_value *names, const pons_value *servers, const pons_value *named)
{
    pons_each(item, named) {
        add_of_servers(names, servers, json_string_value(item));
    }
    pons_each_member(key, item, named) {
        add_of_servers(names, servers, key);
    }
}

static int fixed_names(const app_context *c, const pons_agent_config *config, pons_value *names,
                       pons_error *err)
{
    static const char *const beside[][2] = {{"query_world", "robot"},  {"where_is", "robot"},
                                            {"what_is_in", "robot"},   {"robot_goal", "robot"},
                                            {"take_picture", "robot"}, {PONS_WS_PROPOSE, "robot"},
                                            {"read_workspace", "core"}};
    static const char *const lists[][3] = {{"nodes", "agent", "tools"},
                                           {"nodes", "executor", "tools"},
                                           {"tools", "approve", NULL},
                                           {"tools", "risk", NULL}};
    pons_autovalue servers = NULL;
    const char *skill;
    const int rc = app_mcp_servers(c, &servers, err);
    if (rc < 0 && rc != PONS_ENOTFOUND) {
        return rc;
    }
    *err = (pons_error)PONS_ERROR_INIT; // without mcp.json there are no servers
    for (size_t i = 0; (skill = pons_body_skill_name(i)); i++) {
        add(names, skill, "robot");
    }
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        add(names, beside[i][0], beside[i][1]);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const pons_value *at = pons_get(pons_agent_config_value(config), "graph");
        for (size_t k = 0; k < 3 && lists[i][k]; k++) {
            at = pons_get(at, lists[i][k]);
        }
        add_named(names, servers, at);
    }
    return PONS_OK;
}

// Those that need no configuration of the agent's: the memory's, the core's, those of modules.
static int open_here(const app_context *c, const pons_clock *clock, pons_tools *tools, size_t max,
                     size_t *n, pons_error *err)
{
    const pons_memory_tools_options memory = {.clock = *clock}; // only listed
    int rc = pons_memory_tools_open(&memory, &tools[*n], err);
    *n += rc >= 0;
    if (rc >= 0) {
        rc = app_core_tools(c, clock, NULL, &tools[*n], err);
        *n += rc >= 0;
    }
    return rc < 0 ? rc : app_tool_modules(c, clock, tools, max, n, err);
}

static void close_all(const pons_tools *tools, size_t n)
{
    for (size_t i = n; i > 0; i--) {
        tools[i - 1].ops->close(tools[i - 1].self);
    }
}

int app_agent_names_check(const app_context *c, const pons_agent_config *config, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    pons_tools tools[OWN + APP_TOOL_MODULES_MAX];
    size_t n = 0;
    pons_value *names = json_array();
    tools[n++] = (pons_tools){&names_ops, names};
    int rc = fixed_names(c, config, names, err);
    rc = rc < 0 ? rc : open_here(c, &clock, tools, sizeof tools / sizeof tools[0], &n, err);
    rc = rc < 0 ? rc : pons_agent_config_check(config, tools, n, err);
    close_all(tools, n);
    return rc;
}

// A step that is to be done yet, and its action is of this list, or of one of these servers.
static bool calls(const pons_plan *p, const pons_value *list, const pons_value *servers)
{
    pons_autovalue named = json_array();
    bool any = false;
    for (size_t i = 0; i < p->n_steps && !any; i++) {
        const pons_plan_step *s = &p->steps[i];
        if (s->tool_call_type == PONS_TOOL_EXECUTE &&
            !pons_machine_final(&pons_step_machine, s->status)) {
            add_of_servers(named, servers, s->action);
            any = json_array_size(named) > 0 || pons_find(list, "name", s->action);
        }
    }
    return any;
}

// Whether all that is to be done yet are pons's own skills: then no tool is looked for.
static int only_skills(const pons_plan *p, bool *ret, pons_error *err)
{
    pons_autovalue skills = NULL;
    const int rc = pons_body_skills(NULL, 0, &skills, err);
    *ret = rc >= 0;
    for (size_t i = 0; i < p->n_steps && *ret; i++) {
        const pons_plan_step *s = &p->steps[i];
        *ret = s->tool_call_type != PONS_TOOL_EXECUTE ||
               pons_machine_final(&pons_step_machine, s->status) ||
               pons_find(skills, "name", s->action);
    }
    return rc;
}

int app_agent_plan_calls(const app_context *c, const pons_plan *plan, bool *ret, pons_error *err)
{
    const pons_clock clock = pons_clock_real();
    pons_tools tools[OWN + APP_TOOL_MODULES_MAX];
    size_t n = 0;
    pons_autovalue servers = NULL;
    bool skills = false;
    *ret = false;
    int rc = only_skills(plan, &skills, err);
    if (rc < 0 || skills) {
        return rc;
    }
    rc = app_mcp_servers(c, &servers, err);
    if (rc == PONS_ENOTFOUND) {
        *err = (pons_error)PONS_ERROR_INIT;
        rc = PONS_OK;
    }
    rc = rc < 0 ? rc : open_here(c, &clock, tools, sizeof tools / sizeof tools[0], &n, err);
    bool any = rc >= 0 && calls(plan, NULL, servers);
    for (size_t i = 0; i < n && rc >= 0 && !any; i++) {
        pons_autovalue list = NULL;
        rc = tools[i].ops->list(tools[i].self, &list, err);
        any = rc >= 0 && calls(plan, list, NULL);
    }
    close_all(tools, n);
    *ret = any;
    return rc;
}
