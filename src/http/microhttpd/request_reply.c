// request_reply.c - a request from its first line to its reply.
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
#include "http/microhttpd/request_reply.h"

#include "http/microhttpd/connection_timeouts.h"
#include "pons/out_of_memory.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WAITING_MAX   4096 // requests that no worker has taken yet
#define CRLF          2    // bytes of a line's end at most
#define COOKIE_BYTES  80   // of memory that MHD takes for each
#define COOKIES_SHARE 8    // of a head's memory, that they may take for certain

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
    x->uri = uri;
    x->uri_n = strlen(uri);
    x->connection = connection;
    x->seen = info ? info->socket_context : NULL;
    peer_of(connection, x->peer, sizeof x->peer);
    pons__connection_within(sv, x->seen, sv->o.head_ms);
    if (x->seen) {
        x->seen->head = x;
    }
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
    int hosts;
    int frames; // that say where the body ends
    bool odd;
    bool length_odd, length_long; // no number; one that is too large for the body's limit
    bool coding_odd;              // none that is known
    size_t body_max;
    size_t cookies;  // bytes that MHD takes to read them, about
    const char *end; // of the value before, in MHD's buffer
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

static bool has_control(const char *value)
{
    for (; *value; value++) {
        if (((unsigned char)*value < 0x20 && *value != '\t') || *value == 0x7f) {
            return true;
        }
    }
    return false;
}

// A zero ends a value for everybody who compares it, and hides what follows. MHD cuts the head where it
// stands in its buffer, so what was hidden lies between a value's end and what comes next.
static bool is_next(const char *end, const char *next, ptrdiff_t most)
{
    const ptrdiff_t gap = next - end;
    return gap > 0 && gap <= most;
}

static void see_length(seen *s, const char *value)
{
    const size_t digits = strspn(value, "0123456789");
    s->length_odd |= digits == 0 || value[digits] != '\0';
    errno = 0;
    s->length_long |= strtoull(value, NULL, 10) > s->body_max || errno == ERANGE;
}

static size_t cookies_cost(const char *value)
{
    size_t n = 0;
    for (; *value; value++) {
        n += *value == ';' ? COOKIE_BYTES : 1;
    }
    return n;
}

static enum MHD_Result see(void *user, enum MHD_ValueKind kind, const char *name, const char *value)
{
    seen *s = user;
    s->odd |=
        !value || is_odd(name) || has_control(value) || (s->end && !is_next(s->end, name, CRLF));
    if (!value) {
        return MHD_YES;
    }
    s->end = value + strlen(value);
    s->hosts += strcasecmp(name, "Host") == 0;
    s->cookies += strcasecmp(name, "Cookie") == 0 ? cookies_cost(value) : 0;
    if (strcasecmp(name, "Content-Length") == 0) {
        s->frames++;
        see_length(s, value);
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        s->frames++;
        s->coding_odd |= strcasecmp(value, "chunked") != 0;
    }
    return MHD_YES;
}

static enum MHD_Result see_query(void *user, enum MHD_ValueKind kind, const char *name,
                                 size_t name_n, const char *value, size_t value_n)
{
    seen *s = user;
    s->odd |= strlen(name) != name_n || (value && strlen(value) != value_n);
    return MHD_YES;
}

// The line of the request, and the end of its last header.
static bool has_zero(const pons_http_exchange *x, const seen *s, const char *method,
                     const char *version)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return !is_next(method + strlen(method), x->uri, 1) ||
           !is_next(x->uri + x->uri_n, version, 1) || !info ||
           (s->end && !is_next(s->end, method + info->header_size, 2 * CRLF));
}

static void see_all(const pons_http_exchange *x, seen *s)
{
    s->body_max = x->server->o.body_any ? SIZE_MAX : x->server->o.body_max;
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, see, s);
    MHD_get_connection_values_n(x->connection, MHD_GET_ARGUMENT_KIND, see_query, s);
}

// NULL: it may be believed.
static const char *head_fault(const seen *s, unsigned *ret_status)
{
    *ret_status = s->odd || s->frames > 1 || s->length_odd ? MHD_HTTP_BAD_REQUEST
                  : s->length_long                         ? MHD_HTTP_CONTENT_TOO_LARGE
                                                           : MHD_HTTP_NOT_IMPLEMENTED;
    // Of several frames a proxy in front may have believed another one.
    return s->odd           ? "a malformed line or header"
           : s->frames > 1  ? "one Content-Length, or one Transfer-Encoding"
           : s->length_odd  ? "a Content-Length that is no number"
           : s->length_long ? "the body is too long"
           : s->coding_odd  ? "the only transfer coding is chunked"
                            : NULL;
}

static enum MHD_Result begin(pons_http_exchange *x, const char *method, const char *version)
{
    seen s = {0};
    unsigned status;
    see_all(x, &s);
    s.odd |= has_zero(x, &s, method, version) ||
             (s.hosts == 0 && strcmp(version, MHD_HTTP_VERSION_1_0) != 0);
    const char *why = head_fault(&s, &status);
    x->begun = true;
    if (x->seen) {
        x->seen->head = NULL;
    }
    x->method = strdup(method);
    if (!x->method) {
        return MHD_NO;
    }
    if (why) {
        x->handled = true;
        return refuse_now(x, status, why);
    }
    pons__connection_within(x->server, x->seen, x->server->o.body_ms);
    return MHD_YES;
}

// MHD itself refuses a Content-Length that is no number and cookies for which it has no room, when the head is
// whole, and writes its reply's head twice. It says so before it writes: then the connection is ours to answer, and to end.
void pons__exchange_log(void *server, const char *fmt, va_list ap)
{
    pons__server *sv = server;
    if (!pons__connection_thread(sv)) {
        return;
    }
    pthread_mutex_lock(&sv->mtx);
    for (pons__connection *c = sv->newest; c; c = c->next) {
        seen s = {0};
        unsigned status;
        if (c->head && !c->shut) {
            see_all(c->head, &s);
        }
        const char *why = head_fault(&s, &status);
        if (!why && s.cookies > sv->o.head_max / COOKIES_SHARE) {
            status = MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE;
            why = "too many cookies";
        }
        if (why) {
            char text[256];
            const int n =
                snprintf(text, sizeof text,
                         "HTTP/1.1 %u %s\r\nContent-Type: application/json\r\n"
                         "Connection: close\r\nContent-Length: %zu\r\n\r\n"
                         "{\"detail\":\"%s\"}\n",
                         status, MHD_get_reason_phrase_for(status), strlen(why) + 14, why);
            pons__connection_break(sv, c, sv->o.certificate ? "" : text,
                                   sv->o.certificate ? 0 : (size_t)n);
        }
    }
    pthread_mutex_unlock(&sv->mtx);
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
    x->handled = true;
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
        pons__exchange_refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "too many requests wait");
    }
    return MHD_YES;
}

enum MHD_Result pons__exchange_access(void *server, struct MHD_Connection *connection,
                                      const char *url, const char *method, const char *version,
                                      const char *data, size_t *n, void **exchange)
{
    pons_http_exchange *x = *exchange;
    if (!x) {
        return MHD_NO;
    }
    if (!x->begun) {
        return begin(x, method, version);
    }
    if (*n > 0) {
        // In the midst of a body MHD takes no answer: a chunked one that is too long is cut off, or its rest is dropped.
        const bool taken = x->handled || append(x, data, *n);
        *n = 0;
        return taken ? MHD_YES : x->server->o.body_any ? hand_over(x) : MHD_NO;
    }
    if (!x->handled) {
        return hand_over(x);
    }
    if (!x->response) {
        return MHD_NO;
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
    *exchange = NULL;
    if (!x) {
        return;
    }
    if (sv->o.body_any && x->begun && !x->handled && !sv->closing &&
        how != MHD_REQUEST_TERMINATED_DAEMON_SHUTDOWN) {
        sv->o.handle(sv->o.user, x); // nobody hears the reply
    }
    pons__connection_within(sv, x->seen, sv->o.idle_ms);
    if (x->seen) {
        x->seen->head = NULL;
    }
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
    if (!x->handled) { // there is no connection any more
        return;
    }
    MHD_resume_connection(x->connection);
}

void pons__exchange_refuse(pons_http_exchange *x, int status, const char *const *headers,
                           const char *why)
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
    pons__exchange_answer(x, status, r, headers);
}
