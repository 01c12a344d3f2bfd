// config.c - the configuration of the core tools: its schema, which schemas/tools.json publishes, and its defaults.
#include "tools/core/config.h"

#include "tools/core/core.h"

#define OUTPUT_KB 64

const char pons__tools_schema[] = {
#include "tools/core/config.json.h"
};

int64_t pons__conf(const pons__core *c, const char *section, const char *key, int64_t fallback)
{
    return pons_get_int(section ? pons_get(c->config, section) : c->config, key, fallback);
}

const pons_value *pons__conf_value(const pons__core *c, const char *section, const char *key)
{
    return pons_get(section ? pons_get(c->config, section) : c->config, key);
}

size_t pons__conf_output(const pons__core *c)
{
    return (size_t)pons__conf(c, NULL, "output_kb", OUTPUT_KB) * PONS__KIB;
}
