// http.c - the part of the contract that needs no network: the module's loading, events, headers.
#include "pons/ext/http.h"

#include "pons/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int pons_http_load(const pons_http_ops **ret, pons_error *err)
{
    const void *loaded = NULL;
    const int rc = pons_module_load("http", "curl", &loaded, err);
    const pons_http_ops *ops = loaded;
    if (rc < 0) {
        return rc;
    }
    if (ops->abi != PONS_HTTP_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "http", "http-curl has ABI %u, not %u",
                              ops->abi, PONS_HTTP_ABI);
    }
    *ret = ops;
    return PONS_OK;
}

void pons_http_event_clear(pons_http_event *ev)
{
    free(ev->url);
    free(ev->headers);
    free(ev->data);
    ev->url = ev->headers = ev->data = NULL;
}

bool pons_http_header(const pons_http_event *head, const char *name, char *ret, size_t cap)
{
    const size_t len = strlen(name);
    bool found = false;
    ret[0] = '\0';
    for (const char *line = head->headers; line && *line;) {
        const char *end = strchrnul(line, '\n');
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            snprintf(ret, cap, "%.*s", (int)(end - line - (ptrdiff_t)len - 1), line + len + 1);
            found = true;
        }
        line = *end ? end + 1 : end;
    }
    return found;
}
