// http.c - the part of the contracts that is the same for every client and server: the modules' loading, events,
// headers, and a call that is waited for.
#include "pons/ext/http.h"

#include "pons/ext/http_server.h"
#include "pons/module.h"
#include "pons/redact.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int pons_http_server_load(const pons_http_server_ops **ret, pons_error *err)
{
    const void *loaded = NULL;
    const int rc = pons_module_load_of("server", "microhttpd", PONS_HTTP_SERVER_ABI, &loaded, err);
    if (rc >= 0) {
        *ret = loaded;
    }
    return rc;
}

int pons_http_load(const pons_http_ops **ret, pons_error *err)
{
    const void *loaded = NULL;
    const int rc = pons_module_load_of("http", "curl", PONS_HTTP_ABI, &loaded, err);
    if (rc >= 0) {
        *ret = loaded;
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

static int no_reply(const char *url, const char *why, pons_error *err)
{
    char shown[200];
    pons_url_redacted(url, shown, sizeof shown);
    return pons_error_set(err, PONS_EIO, "http", "%s does not answer: %.200s", shown, why);
}

// Handles one event of a call; *over: it was the last one.
static int take(const pons_http_event *ev, const char *url, pons_buf *body, int *status, bool *over,
                pons_error *err)
{
    char shown[200];
    switch (ev->kind) {
    case PONS_HTTP_HEAD:
        *status = ev->status;
        return PONS_OK;
    case PONS_HTTP_DATA:
        return !body || pons_buf_bytes(body, ev->data, ev->n) >= 0
                   ? PONS_OK
                   : pons_error_set(err, PONS_ENOMEM, "http", "no memory for an answer");
    case PONS_HTTP_END:
        *over = true;
        return PONS_OK;
    default:
        break;
    }
    *over = true;
    if (ev->fault != PONS_HTTP_LONG_BODY) {
        return no_reply(url, ev->data ? ev->data : "the connection failed", err);
    }
    pons_url_redacted(url, shown, sizeof shown);
    return pons_error_set(err, PONS_EPROTOCOL, "http", "%s: the answer is too long", shown);
}

int pons_http_call(const pons_http_ops *http, void *client, uint64_t call,
                   const pons_http_request *request, int end_fd, pons_buf *body, int *ret_status,
                   pons_error *err)
{
    // A limit for safety: the client's thread ends the call long before.
    const int patience_ms = request->whole_ms > 0 ? (int)(2 * request->whole_ms) : -1;
    int rc = http->start(client, call, request, err);
    if (rc < 0) {
        return rc; // not started; a call of this number would be another caller's
    }
    for (bool over = false; rc >= 0 && !over;) {
        struct pollfd p[] = {{.fd = http->event_fd(client), .events = POLLIN},
                             {.fd = end_fd, .events = POLLIN}};
        pons_http_event ev;
        if (poll(p, 2, patience_ms) == 0) {
            rc = no_reply(request->url, "no answer came in time", err);
        } else if (p[1].revents && !p[0].revents) {
            rc = pons_error_set(err, PONS_ECANCELED, "http", "the call was given up");
        }
        while (rc >= 0 && !over && http->next(client, &ev)) {
            rc = take(&ev, request->url, body, ret_status, &over, err);
            pons_http_event_clear(&ev);
        }
    }
    http->cancel(client, call);
    return rc;
}

int pons_http_status(const pons_http_ops *http, void *client, uint64_t call,
                     const pons_http_request *request, int end_fd)
{
    int status = 0;
    const int rc = pons_http_call(http, client, call, request, end_fd, NULL, &status, NULL);
    return rc < 0 ? 0 : status;
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
