// mcp_fixture.h - servers in a workspace of the test's own, and a host that calls their tools.
#ifndef PONS_TESTS_MCP_FIXTURE_H
#define PONS_TESTS_MCP_FIXTURE_H

#include "pons/mcp.h"

#include <limits.h>

typedef struct host {
    char ws[PATH_MAX - 512];
    pons_tools tools;
    uint64_t calls;
} host;

pons_value *mcp_json(const char *text);
// config: {"servers": …, timeout_s, start_s}; the workspace is added.
void host_open(host *h, const char *config);
void host_close(host *h);
char *host_read(const host *h, const char *relative); // NULL when there is none
void host_wait_readable(const host *h);               // until an event may be there
void host_wait_tool(host *h, const char *name);       // until it is listed
void host_wait_gone(host *h, const char *name);
pons_value *host_tool(const host *h, const char *name); // NULL when not listed
uint64_t host_start(host *h, const char *tool, const char *args);
pons_tool_event host_wait(host *h, uint64_t call); // its last event; progress is counted
extern int host_progress;
pons_tool_event host_call(host *h, const char *tool, const char *args);
char *host_output(host *h, const char *tool, const char *args); // must work
void host_fails(host *h, const char *tool, const char *args, int status, const char *says);
pons_value *host_status(const host *h, const char *server);

#endif
