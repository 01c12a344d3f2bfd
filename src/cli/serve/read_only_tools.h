// read_only_tools.h - a provider of tools of which only those are there that change nothing.
#ifndef PONS_CLI_SERVE_READ_ONLY_TOOLS_H
#define PONS_CLI_SERVE_READ_ONLY_TOOLS_H

#include "pons/ext/tool.h"

// One before `tools`, which stays its owner's and outlives it.
int cli_look_tools(pons_tools tools, pons_tools *ret, pons_error *err);

#endif
