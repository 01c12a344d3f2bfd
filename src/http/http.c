// http.c - the part of the contracts that is the same for every client and server: the modules' loading, events,
// headers, and a call that is waited for.
#include "pons/ext/http.h"

#include "pons/ext/http_server.h"
#include "pons/module.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int pons_http_server_load(const pons_http_server_ops **ret, pons_error *err)
{
    const void *loaded = NULL;
    const int rc = pons_module_load("server", "microhttpd", &loaded, err);
    const pons_http_server_ops *ops = loaded;
    if (rc >= 0 && ops->abi != PONS_HTTP_SERVER_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "http",
                              "server-microhttpd has ABI %u, not %u", ops->abi,
                              PONS_HTTP_SERVER_ABI);
    }
    if (rc >= 0) {
        *ret = ops;
    }
    return rc;
}

int pons_http_load(const pons_http_ops **ret, pons_error *err)
{
    const void *loaded = NULL;
    const int rc = pons_module_load("http", "curl", &loaded, err);
    const pons_http_ops *ops = loaded;
    if (rc >= 0 && ops->abi != PONS_HTTP_ABI) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "http", "http-curl has ABI %u, not %u",
                              ops->abi, PONS_HTTP_ABI);
    }
    if (rc >= 0) {
        *ret = ops;
    }
    return rc;
}

void pons_http_event_clear(pons_http_event *ev)
{
    free(ev->url);
    free(ev->headers);
    free(ev->data);
    ev->url = ev->headers = ev->data = NULL;
}

int pons_http_status(const pons_http_ops *http, void *client, uint64_t call,
                     const pons_http_request *request, int end_fd)
{
    const int patience_ms = (int)(2 * request->whole_ms); // the shared thread ends it long before
    pons_error err = PONS_ERROR_INIT;
    int status = 0;
    if (http->start(client, call, request, &err) < 0) {
        return 0;
    }
    for (;;) {
        struct pollfd p[] = {{.fd = http->event_fd(client), .events = POLLIN},
                             {.fd = end_fd, .events = POLLIN}};
        pons_http_event ev;
        if (poll(p, 2, patience_ms) == 0 || (p[1].revents && !p[0].revents)) {
            http->cancel(client, call);
            return 0;
        }
        while (http->next(client, &ev)) {
            const pons_http_event_kind kind = ev.kind;
            status = kind == PONS_HTTP_HEAD ? ev.status : kind == PONS_HTTP_FAILED ? 0 : status;
            pons_http_event_clear(&ev);
            if (kind == PONS_HTTP_END || kind == PONS_HTTP_FAILED) {
                return status;
            }
        }
    }
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
