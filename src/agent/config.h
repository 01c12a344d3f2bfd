// config.h - graph_config.yaml as a value with positions.
#pragma once

#include "pons/agent.h"

struct pons_agent_config {
    pons_yaml *yaml; // NULL: the defaults
    pons_value *value;
};
// A member by a path of keys with dots below "graph": "nodes.agent.tools"; NULL: not set.
const pons_value *pons__cfg(const pons_agent_config *c, const char *path);
int64_t pons__cfg_int(const pons_agent_config *c, const char *path);
bool pons__cfg_bool(const pons_agent_config *c, const char *path);
// Adds the position of a pointer to an error, when the configuration came from a text.
int pons__cfg_blame(const pons_agent_config *c, const char *pointer, pons_error *err);
