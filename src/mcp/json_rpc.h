// json_rpc.h - the messages of JSON-RPC 2.0 that both ends of the protocol make, and its versions.
#pragma once

#include "pons/value.h"

#define PONS__MCP             "mcp"              // of errors
#define PONS__MCP_MESSAGE_MAX (16 * 1024 * 1024) // bytes of one message

// JSON-RPC's error codes.
enum {
    PONS__RPC_PARSE = -32700,
    PONS__RPC_REQUEST = -32600,
    PONS__RPC_METHOD = -32601,
    PONS__RPC_PARAMS = -32602,
    PONS__RPC_INTERNAL = -32603,
    PONS__RPC_WIRE = -32001 // our own: the request got no answer from the wire
};

pons_value *pons__rpc_request(int64_t id, const char *method, pons_value *params); // takes params
pons_value *pons__rpc_notification(const char *method, pons_value *params);
pons_value *pons__rpc_result(const pons_value *id, pons_value *result);
pons_value *pons__rpc_error(const pons_value *id, int code, const char *message);

// "version" when pons speaks it, else NULL.
const char *pons__mcp_version(const char *version);
extern const char pons__mcp_newest[];
