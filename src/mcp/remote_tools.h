// remote_tools.h - a server's tools as the host has them: names, schemas, results.
#pragma once

#include "pons/buf.h"
#include "pons/value.h"

#define PONS__MCP_TOOL_NAME  65          // with its end
#define PONS__MCP_OUTPUT_MAX (64 * 1024) // bytes of a result that the host gets

// "weather.get forecast" -> "weather.get_forecast", cut to what a tool's name may be.
void pons__mcp_tool_name(const char *server, const char *tool, char ret[PONS__MCP_TOOL_NAME]);
// A tool's schema as the host can check it: what it cannot is left out. New reference.
pons_value *pons__mcp_parameters(const pons_value *schema);
// The content of a tools/call result as text; *ret_cut when it was too long.
int pons__mcp_text(const pons_value *result, pons_buf *b, bool *ret_cut);
