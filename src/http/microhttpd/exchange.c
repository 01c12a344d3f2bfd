// exchange.c - a request from its first line to its reply.
//
// MHD's thread calls, in this order, for one request:
//
//     exchange_begin     the line is there: what was asked for, not decoded
//     exchange_access    the headers are there; then pieces of the body; then its end:
//                        the connection sleeps (MHD_suspend_connection), a worker gets the request
//     exchange_access    again, when the worker has woken the connection: the response is queued
//     exchange_over      it is sent, or the client is gone
//
// While a connection sleeps MHD does not touch it, so the worker may read its headers.
#include "http/microhttpd/exchange.h"

#include "http/microhttpd/deadline.h"
#include "pons/memory.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WAITING_MAX 4096 // requests that no worker has taken yet

// ---- the server's thread ------------------------------------------------------------------------

static void peer_of(struct MHD_Connection *connection, char *ret, size_t cap)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *a = info ? info->client_addr : NULL;
    ret[0] = '\0';
    if (a && a->sa_family == AF_INET) {
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a)->sin_addr, ret,
                  (socklen_t)cap);
    } else if (a && a->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, ret,
                  (socklen_t)cap);
    }
}

void *pons__exchange_begin(void *server, const char *uri, struct MHD_Connection *connection)
{
    pons__server *sv = server;
    pons_http_exchange *x = calloc(1, sizeof *x);
    char *path = strdup(uri);
    if (!x || !path) {
        free(x);
        free(path);
        return NULL; // exchange_access breaks the connection
    }
    path[strcspn(path, "?")] = '\0';
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    x->server = sv;
    x->path = path;
    x->connection = connection;
    x->seen = info ? info->socket_context : NULL;
    peer_of(connection, x->peer, sizeof x->peer);
    pons__connection_within(sv, x->seen, sv->o.head_ms);
    return x;
}

static struct MHD_Response *text_response(const char *text)
{
    char json[256];
    const int n = snprintf(json, sizeof json, "{\"detail\":\"%s\"}\n", text);
    struct MHD_Response *r =
        MHD_create_response_from_buffer((size_t)n, json, MHD_RESPMEM_MUST_COPY);
    if (r) {
        MHD_add_response_header(r, "Content-Type", "application/json");
    }
    return r;
}

static enum MHD_Result refuse_now(pons_http_exchange *x, unsigned status, const char *why)
{
    struct MHD_Response *r = text_response(why);
    if (!r) {
        return MHD_NO;
    }
    MHD_add_response_header(r, "Connection", "close");
    pons__connection_within(x->server, x->seen, PONS__REPLY_MS);
    const enum MHD_Result ok = MHD_queue_response(x->connection, status, r);
    MHD_destroy_response(r);
    return ok;
}

typedef struct seen { // of a request's headers
    int frames;       // that say where the body ends
    bool odd;
} seen;

// A space before the colon is part of the name to MHD, and so is a line that goes on with the one before
// it: what was to be the Origin would not be there. Such a name is no token, or one of these with more
// behind it.
static bool is_odd(const char *name)
{
    static const char *const guarded[] = {"Host",           "Origin",           "Authorization",
                                          "x-api-key",      "Content-Type",     "Content-Length",
                                          "Mcp-Session-Id", "Transfer-Encoding"};
    const size_t n = strlen(name);
    bool odd = n == 0 || strspn(name, "!#$%&'*+-.^_`|~0123456789"
                                      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != n;
    for (size_t i = 0; i < sizeof guarded / sizeof guarded[0]; i++) {
        const size_t known = strlen(guarded[i]);
        odd |= n > known && strncasecmp(name, guarded[i], known) == 0;
    }
    return odd;
}

static enum MHD_Result see(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    seen *s = user;
    (void)kind;
    (void)value;
    s->frames +=
        strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0;
    s->odd |= is_odd(name);
    return MHD_YES;
}

static enum MHD_Result begin(pons_http_exchange *x, const char *method)
{
    const char *length =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, "Content-Length");
    x->begun = true;
    x->method = strdup(method);
    if (!x->method) {
        return MHD_NO;
    }
    seen s = {0};
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, see, &s);
    if (s.odd) {
        return refuse_now(x, MHD_HTTP_BAD_REQUEST, "a header that is no header");
    }
    if (s.frames > 1) { // a proxy in front may have believed the other one
        return refuse_now(x, MHD_HTTP_BAD_REQUEST, "one Content-Length, or one Transfer-Encoding");
    }
    if (length && strtoull(length, NULL, 10) > x->server->o.body_max) {
        return refuse_now(x, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
    }
    pons__connection_within(x->server, x->seen, x->server->o.body_ms);
    return MHD_YES;
}

static bool append(pons_http_exchange *x, const char *data, size_t n)
{
    if (x->body_n + n > x->server->o.body_max) {
        return false;
    }
    char *more = realloc(x->body, x->body_n + n + 1);
    if (!more) {
        return false;
    }
    memcpy(more + x->body_n, data, n);
    x->body = more;
    x->body_n += n;
    x->body[x->body_n] = '\0';
    return true;
}

static enum MHD_Result hand_over(pons_http_exchange *x)
{
    pons__server *sv = x->server;
    pons__connection_within(sv, x->seen, 0);
    MHD_suspend_connection(x->connection);
    pthread_mutex_lock(&sv->mtx);
    const bool full = sv->waiting >= WAITING_MAX || sv->closing;
    if (!full) {
        if (sv->last) {
            sv->last->next = x;
        } else {
            sv->first = x;
        }
        sv->last = x;
        sv->waiting++;
        pthread_cond_signal(&sv->work);
    }
    pthread_mutex_unlock(&sv->mtx);
    if (full) {
        pons__exchange_refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests wait");
    }
    return MHD_YES;
}

enum MHD_Result pons__exchange_access(void *server, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *data, size_t *n, void **exchange)
{
    pons_http_exchange *x = *exchange;
    (void)server;
    (void)url;
    (void)version;
    if (!x) {
        return MHD_NO;
    }
    if (!x->begun) {
        return begin(x, method);
    }
    if (*n > 0) {
        // In the midst of a body MHD takes no answer: a chunked one that is too long is cut off.
        const bool taken = append(x, data, *n);
        *n = 0;
        return taken ? MHD_YES : MHD_NO;
    }
    if (!x->response) {
        return hand_over(x);
    }
    const enum MHD_Result ok = MHD_queue_response(connection, (unsigned)x->status, x->response);
    MHD_destroy_response(x->response);
    x->response = NULL;
    return ok;
}

void pons__exchange_over(void *server, struct MHD_Connection *connection, void **exchange,
                         enum MHD_RequestTerminationCode how)
{
    pons__server *sv = server;
    pons_http_exchange *x = *exchange;
    (void)connection;
    (void)how;
    *exchange = NULL;
    if (!x) {
        return;
    }
    pons__connection_within(sv, x->seen, sv->o.idle_ms);
    if (x->socket) {
        x->never(x->socket);
    }
    if (x->response) {
        MHD_destroy_response(x->response);
    }
    free(x->path);
    free(x->method);
    free(x->body);
    free(x);
}

// ---- a worker's ---------------------------------------------------------------------------------

void pons__exchange_answer(pons_http_exchange *x, int status, struct MHD_Response *response,
                           const char *const *headers)
{
    for (size_t i = 0; headers && headers[i]; i++) {
        char name[128];
        const char *colon = strchr(headers[i], ':');
        const int n =
            colon ? snprintf(name, sizeof name, "%.*s", (int)(colon - headers[i]), headers[i]) : -1;
        if (n > 0 && (size_t)n < sizeof name) {
            MHD_add_response_header(response, name, colon + 1 + strspn(colon + 1, " "));
        }
    }
    x->status = status;
    x->response = response;
    MHD_resume_connection(x->connection);
}

void pons__exchange_refuse(pons_http_exchange *x, int status, const char *why)
{
    struct MHD_Response *r = text_response(why);
    if (!r) {
        // Nothing can be said: the connection is woken to be broken.
        r = MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    }
    if (!r) {
        pons_end_no_memory("an answer of a few bytes");
    }
    pons__connection_within(x->server, x->seen, PONS__REPLY_MS);
    pons__exchange_answer(x, status, r, NULL);
}
