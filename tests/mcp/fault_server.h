// fault_server.h - the test program as an MCP server: `PROGRAM serve MODE`.
#ifndef PONS_TESTS_MCP_FAULT_SERVER_H
#define PONS_TESTS_MCP_FAULT_SERVER_H

// Serves on 0 and 1 until the end of input. mode: good old future dies silent.
int fault_server(const char *mode);

#endif
