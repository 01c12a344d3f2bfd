// json_rpc.c - JSON-RPC messages as both ends make them, and the versions that pons speaks.
#include "mcp/json_rpc.h"

#include "pons/mcp.h"

#include <string.h>

const char pons__mcp_newest[] = "2025-11-25";

const char *pons__mcp_version(const char *version)
{
    static const char *const known[] = {pons__mcp_newest, "2025-06-18", "2025-03-26", "2024-11-05"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i], version) == 0) {
            return known[i];
        }
    }
    return NULL;
}

bool pons_mcp_version_known(const char *version)
{
    return pons__mcp_version(version) != NULL;
}

pons_value *pons__rpc_request(int64_t id, const char *method, pons_value *params)
{
    return pons_object("jsonrpc", json_string("2.0"), "id", json_integer(id), "method",
                       json_string(method), "params", params, NULL);
}

pons_value *pons__rpc_notification(const char *method, pons_value *params)
{
    return pons_object("jsonrpc", json_string("2.0"), "method", json_string(method), "params",
                       params, NULL);
}

pons_value *pons__rpc_result(const pons_value *id, pons_value *result)
{
    return pons_object("jsonrpc", json_string("2.0"), "id", id ? pons_value_ref(id) : json_null(),
                       "result", result ? result : json_object(), NULL);
}

pons_value *pons__rpc_error(const pons_value *id, int code, const char *message)
{
    return pons_object(
        "jsonrpc", json_string("2.0"), "id", id ? pons_value_ref(id) : json_null(), "error",
        pons_object("code", json_integer(code), "message", json_string(message), NULL), NULL);
}
