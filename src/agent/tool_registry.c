// tool_registry.c - the tools of all providers, by name.
//
// A provider's list is asked for once and again when its generation changes (a server came up, a
// body said which skills it has). A name belongs to the first provider that has it. Two tools are
// the agent's own: plan_create, which only the agent node may call whatever a list says, and
// step_failed, with which the executor says that a step can't be done.
#include "agent/tool_registry.h"

#include "agent/config.h"
#include "agent/session.h"
#include "pons/agent.h"
#include "pons/log.h"
#include "pons/schema.h"
#include "pons/spelling.h"

#include <stdlib.h>
#include <string.h>

static const char OWN[] = {
#include "agent/own_tools.json.h"
};

int pons__registry_init(pons__registry *r, const pons_tools *providers, size_t n, pons_error *err)
{
    *r = (pons__registry){.providers = providers, .n_providers = n};
    r->generations = calloc(n + 1, sizeof *r->generations);
    r->lists = calloc(n + 1, sizeof *r->lists);
    r->own = json_loads(OWN, 0, NULL);
    if (!r->generations || !r->lists || !r->own) {
        return pons_error_set(err, PONS_ENOMEM, PONS__AGENT, "no memory for tools");
    }
    return pons__registry_refresh(r, err);
}

static void drop_tools(pons__registry *r)
{
    for (size_t i = 0; i < r->n_tools; i++) {
        pons_schema_destroy(r->tools[i].schema);
    }
    free(r->tools);
    r->tools = NULL;
    r->n_tools = 0;
}

void pons__registry_fini(pons__registry *r)
{
    drop_tools(r);
    for (size_t i = 0; r->lists && i < r->n_providers; i++) {
        pons_value_unref(r->lists[i]);
    }
    pons_value_unref(r->own);
    free(r->lists);
    free(r->generations);
    *r = (pons__registry){0};
}

static int add(pons__registry *r, const pons_value *list, const pons_tools *provider,
               pons_error *err)
{
    const size_t n = json_array_size(list);
    pons__tool *grown = realloc(r->tools, (r->n_tools + n + 1) * sizeof *grown);
    if (!grown) {
        return pons_error_set(err, PONS_ENOMEM, PONS__AGENT, "no memory for tools");
    }
    r->tools = grown;
    for (size_t i = 0; i < n; i++) {
        const pons_value *item = json_array_get(list, i);
        const char *name = pons_get_str(item, "name", "");
        if (!*name || pons__registry_find(r, name)) {
            continue; // a name belongs to the first who has it
        }
        pons__tool *t = &r->tools[r->n_tools++];
        *t = (pons__tool){.item = item, .name = name, .provider = provider};
        // A server's schema may use words that pons's checker does not have: the server checks
        // then.
        pons_error ignored = PONS_ERROR_INIT;
        const pons_value *parameters = pons_get(item, "parameters");
        if (parameters && pons_schema_compile(parameters, &t->schema, &ignored) < 0) {
            t->schema = NULL;
        }
    }
    return PONS_OK;
}

int pons__registry_refresh(pons__registry *r, pons_error *err)
{
    bool changed = r->n_tools == 0;
    for (size_t i = 0; i < r->n_providers; i++) {
        const pons_tools *p = &r->providers[i];
        const uint64_t generation = p->ops->generation ? p->ops->generation(p->self) : 0;
        if (r->lists[i] && generation == r->generations[i]) {
            continue;
        }
        pons_value *list = NULL;
        const int rc = p->ops->list(p->self, &list, err);
        if (rc < 0) {
            return rc;
        }
        pons_value_unref(r->lists[i]);
        r->lists[i] = list;
        r->generations[i] = generation;
        changed = true;
    }
    if (!changed) {
        return PONS_OK;
    }
    drop_tools(r);
    int rc = add(r, r->own, NULL, err);
    for (size_t i = 0; i < r->n_providers && rc >= 0; i++) {
        rc = add(r, r->lists[i], &r->providers[i], err);
    }
    return rc;
}

const pons__tool *pons__registry_find(const pons__registry *r, const char *name)
{
    for (size_t i = 0; i < r->n_tools; i++) {
        if (strcmp(r->tools[i].name, name) == 0) {
            return &r->tools[i];
        }
    }
    return NULL;
}

bool pons__specs_have(const pons_value *specs, const pons__tool *t)
{
    const char *category = pons_get_str(t->item, "category", "");
    for (size_t i = 0; i < json_array_size(specs); i++) {
        const char *spec = json_string_value(json_array_get(specs, i));
        if (strcmp(spec, "all") == 0 || strcmp(spec, category) == 0 || strcmp(spec, t->name) == 0) {
            return true;
        }
    }
    return false;
}

// Of SERVER.TOOL, as every tool of a server is named.
static bool server_is_silent(const pons_value *list, const char *name)
{
    const char *dot = strchr(name, '.');
    for (size_t i = 0; dot && i < json_array_size(list); i++) {
        const char *other = pons_get_str(json_array_get(list, i), "name", "");
        if (strncmp(other, name, (size_t)(dot - name) + 1) == 0) {
            return false;
        }
    }
    return dot != NULL;
}

static bool names_tool(const pons__registry *r, const char *name)
{
    if (pons__registry_find(r, name)) {
        return true;
    }
    // A server that is not up yet has no tools: what it will have is not known.
    for (size_t i = 0; i < r->n_providers; i++) {
        const char *from = r->providers[i].ops->name;
        const bool mcp = strcmp(from, "mcp") == 0, robot = strcmp(from, "robot") == 0;
        if ((mcp && server_is_silent(r->lists[i], name)) ||
            (robot && json_array_size(r->lists[i]) == 0)) {
            return true;
        }
    }
    return false;
}

static bool names_something(const pons__registry *r, const char *spec)
{
    static const char *const words[] = {"all", "core", "mcp", "robot"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(spec, words[i]) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < r->n_tools; i++) {
        if (strcmp(pons_get_str(r->tools[i].item, "category", ""), spec) == 0) {
            return true;
        }
    }
    return names_tool(r, spec);
}

int pons__specs_check(const pons__registry *r, const pons_agent_config *c, const char *pointer,
                      const pons_value *specs, pons_error *err)
{
    for (size_t i = 0; i < json_array_size(specs); i++) {
        const char *spec = json_string_value(json_array_get(specs, i));
        if (names_something(r, spec)) {
            continue;
        }
        char at[128];
        snprintf(at, sizeof at, "%s/%zu", pointer, i);
        pons_error_set(err, PONS_EINVAL, PONS__AGENT,
                       "there is no tool and no category named %s (categories: all core mcp robot)",
                       spec);
        pons__cfg_blame(c, at, err);
        return PONS_EINVAL;
    }
    return PONS_OK;
}

int pons__names_check(const pons__registry *r, const pons_agent_config *c, const char *key,
                      pons_error *err)
{
    const pons_value *named = pons__cfg(c, key);
    void *it = json_object_iter((pons_value *)(uintptr_t)named);
    const size_t n = json_is_array(named) ? json_array_size(named) : json_object_size(named);
    for (size_t i = 0; i < n; i++) {
        const bool list = json_is_array(named);
        const char *name =
            list ? json_string_value(json_array_get(named, i)) : json_object_iter_key(it);
        it = list ? NULL : json_object_iter_next((pons_value *)(uintptr_t)named, it);
        if (names_tool(r, name)) {
            continue;
        }
        char at[128], place[24], line[512];
        pons_meant m = pons_meant_of(name, strlen(name));
        for (size_t k = 0; k < r->n_tools; k++) {
            pons_meant_try(&m, r->tools[k].name, strlen(r->tools[k].name));
        }
        snprintf(place, sizeof place, "%zu", i);
        snprintf(at, sizeof at, "/graph/tools/%s/%s", strchr(key, '.') + 1, list ? place : name);
        pons_error_set(err, PONS_EINVAL, PONS__AGENT, "graph.%s: there is no tool named %s%s%s%s",
                       key, name, m.best ? ", did you mean '" : "", m.best ? m.best : "",
                       m.best ? "'?" : "");
        pons__cfg_blame(c, at, err);
        if (m.best || names_something(r, name)) {
            return PONS_EINVAL;
        }
        // A skill of a module, or of the robot's own software: who has it may come later.
        pons_log(PONS_LOG_WARN, "agent",
                 "%s; it takes effect once a module or the robot has a tool of that name",
                 pons_error_line(err, line, sizeof line));
        *err = (pons_error)PONS_ERROR_INIT;
    }
    return PONS_OK;
}
