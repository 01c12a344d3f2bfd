// config.h - a number, a word or a list of a section of the checked configuration.
#pragma once

#include "tools/core/core.h"

extern const char pons__tools_schema[];

int64_t pons__conf(const pons__core *c, const char *section, const char *key, int64_t fallback);
const pons_value *pons__conf_value(const pons__core *c, const char *section, const char *key);
size_t pons__conf_output(const pons__core *c); // bytes of one call's output
