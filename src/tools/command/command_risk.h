// command_risk.h - what a call of a tool may do, judged before it runs.
#pragma once

#include "pons/ext/tool.h"
#include "tools/command/safe_commands.h"

// *ret_cmd (may be NULL) is filled when the command is safe.
pons_tool_risk pons__command_risk(const pons__core *c, const char *command, const char *cwd,
                                  pons__command *ret_cmd, char *reason, size_t cap);
pons_tool_risk pons__url_risk(const pons__core *c, const char *url, char *reason, size_t cap);
