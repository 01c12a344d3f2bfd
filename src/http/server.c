// server.c - loads the module that serves HTTP.
#include "pons/ext/http_server.h"
#include "pons/module.h"

int pons_http_server_load(const pons_http_server_ops **ret, pons_error *err)
{
    const void *loaded = NULL;
    const int rc = pons_module_load("server", "microhttpd", &loaded, err);
    const pons_http_server_ops *ops = loaded;
    if (rc < 0) {
        return rc;
    }
    if (ops->abi != PONS_HTTP_SERVER_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "http",
                              "server-microhttpd has ABI %u, not %u", ops->abi,
                              PONS_HTTP_SERVER_ABI);
    }
    *ret = ops;
    return PONS_OK;
}
