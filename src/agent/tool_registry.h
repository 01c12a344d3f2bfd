// tool_registry.h - the tools of all providers, and who may use which.
#pragma once

#include "agent/config.h"
#include "pons/schema.h"

#define PONS__PLAN_CREATE "plan_create"
#define PONS__STEP_FAILED "step_failed"

typedef struct pons__tool {
    const pons_value *item; // borrowed from the registry's lists
    const char *name;
    const pons_tools *provider; // NULL: the agent's own (plan_create, step_failed)
    pons_schema *schema;        // of its arguments; NULL: none that can be held against them
} pons__tool;

typedef struct pons__registry {
    const pons_tools *providers; // (n)
    size_t n_providers;
    uint64_t *generations; // (n_providers) of the lists
    pons_value **lists;    // (n_providers)
    pons__tool *tools;     // (n_tools)
    size_t n_tools;
    pons_value *own; // the agent's own tools
} pons__registry;

int pons__registry_init(pons__registry *r, const pons_tools *providers, size_t n, pons_error *err);
void pons__registry_fini(pons__registry *r);
// Asks providers whose generation changed for their lists again.
int pons__registry_refresh(pons__registry *r, pons_error *err);
const pons__tool *pons__registry_find(const pons__registry *r, const char *name); // NULL: none
// Whether a list of specs ("all", a category, a name) has the tool.
bool pons__specs_have(const pons_value *specs, const pons__tool *t);
// Every spec names something; else PONS_EINVAL with the position of the bad one.
int pons__specs_check(const pons__registry *r, const pons_agent_config *c, const char *pointer,
                      const pons_value *specs, pons_error *err);
// The same for tools.approve and tools.risk (key), which name tools alone.
int pons__names_check(const pons__registry *r, const pons_agent_config *c, const char *key,
                      pons_error *err);
