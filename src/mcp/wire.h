// wire.h - a connection to a server, whatever carries it: a process's pipes (stdio/) or HTTP (http/).
// The client's thread alone calls it.
#pragma once

#include "mcp/wire_log.h"
#include "pons/value.h"

#include <poll.h>

#define PONS__MCP_FDS 3 // descriptors of one wire, at most

typedef struct pons__wire_ops {
    const char *name; // "stdio", "http"
    // spec: the server's entry of mcp.json. log outlives the wire.
    int (*open)(const pons_value *spec, const char *workspace, pons__mcp_log *log, void **ret,
                pons_error *err);
    void (*hang_up)(void *self); // says that it is over; close follows
    void (*close)(void *self);   // NULL-safe
    // Queues one message; id of a request, else 0. A request that the wire cannot deliver is
    // answered by an error message of the wire's own.
    int (*send)(void *self, const char *text, size_t n, int64_t id, pons_error *err);
    // The version that was agreed: the session has begun.
    void (*begun)(void *self, const char *version);
    int (*fds)(void *self, struct pollfd *p); // <= PONS__MCP_FDS
    // Takes one message: 1 and *ret, 0 when there is none, or negative: the connection is over.
    int (*next)(void *self, pons_value **ret, pons_error *err);
} pons__wire_ops;

extern const pons__wire_ops pons__wire_stdio, pons__wire_http;
