// mcp_internal.h - what the two ends of the protocol share: messages, wires, names, results.
#ifndef PONS_MCP_INTERNAL_H
#define PONS_MCP_INTERNAL_H

#include "pons/buf.h"
#include "pons/mcp.h"

#include <poll.h>

#define PONS__MCP             "mcp"
#define PONS__MCP_MESSAGE_MAX (16 * 1024 * 1024) // bytes of one message
#define PONS__MCP_OUTPUT_MAX  (64 * 1024)        // bytes of a result that the host gets
#define PONS__MCP_FDS         3                  // descriptors of one wire, at most

// JSON-RPC's error codes.
enum {
    PONS__RPC_PARSE = -32700,
    PONS__RPC_REQUEST = -32600,
    PONS__RPC_METHOD = -32601,
    PONS__RPC_PARAMS = -32602,
    PONS__RPC_INTERNAL = -32603,
    PONS__RPC_WIRE = -32001 // our own: the request got no answer from the wire
};

// What a server says beside the protocol, in a file of bounded size. Thread of the wire.
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

// A connection to a server. One thread.
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
    int (*fds)(void *self, struct pollfd *p); // ≤ PONS__MCP_FDS
    // Takes one message: 1 and *ret, 0 when there is none, or negative: the connection is over.
    int (*next)(void *self, pons_value **ret, pons_error *err);
} pons__wire_ops;
extern const pons__wire_ops pons__wire_stdio, pons__wire_http;

// message.c
pons_value *pons__rpc_request(int64_t id, const char *method, pons_value *params); // takes params
pons_value *pons__rpc_notification(const char *method, pons_value *params);
pons_value *pons__rpc_result(const pons_value *id, pons_value *result);
pons_value *pons__rpc_error(const pons_value *id, int code, const char *message);
// "version" when pons speaks it, else NULL.
const char *pons__mcp_version(const char *version);
extern const char pons__mcp_newest[];
// "weather.get forecast" → "weather.get_forecast", cut to what a tool's name may be.
void pons__mcp_tool_name(const char *server, const char *tool, char ret[65]);
// A tool's schema as the host can check it: what it cannot is left out. New reference.
pons_value *pons__mcp_parameters(const pons_value *schema);
// The content of a tools/call result as text; *ret_cut when it was too long.
int pons__mcp_text(const pons_value *result, pons_buf *b, bool *ret_cut);

#endif
