// mcp.h - the Model Context Protocol over HTTP.
#pragma once

#include "serve/access/route.h"

int pons__mcp_open(pons_serve *s, pons__mcp **ret, pons_error *err); // o.mcp NULL: *ret is NULL
void pons__mcp_stop(pons__mcp *m);  // its thread ends, and every stream; NULL-safe
void pons__mcp_close(pons__mcp *m); // frees; after the server's last request. NULL-safe
