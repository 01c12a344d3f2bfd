// wire_log.h - what a server says beside the protocol (run/mcp-NAME.log), in a file of bounded size.
// One thread: that of the wire.
#pragma once

#include <stddef.h>

typedef struct pons__mcp_log {
    int fd;
    size_t written;
    char path[4096];
} pons__mcp_log;

void pons__mcp_log_open(pons__mcp_log *l, const char *path);
void pons__mcp_log_bytes(pons__mcp_log *l, const char *bytes, size_t n);
void pons__mcp_log_note(pons__mcp_log *l, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void pons__mcp_log_close(pons__mcp_log *l);
