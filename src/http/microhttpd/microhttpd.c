// microhttpd.c - the HTTP server of ext/http_server.h on GNU libmicrohttpd.
//
//     MHD's thread (epoll)           workers                       janitor
//     sockets, TLS, HTTP/1.1    -->  handle(), may block           breaks late connections
//     request_reply.c, stream_reply.c      <--  reply, stream                 connection_timeouts.c
//
// MHD's thread never waits for a request: a connection whose request is whole sleeps until a worker
// has answered. Files: request_reply.c is a request, stream_reply.c a reply that is written as time goes on,
// websocket.c a WebSocket, with a thread of its own, connection_timeouts.c what happens to those who take too long.
#include "http/microhttpd/certificate.h"
#include "http/microhttpd/connection_timeouts.h"
#include "http/microhttpd/request_reply.h"
#include "http/microhttpd/stream_reply.h"
#include "http/microhttpd/websocket.h"
#include "pons/module.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BACKLOG SOMAXCONN
#define SPARE   64 // connections more that MHD takes: those that are shut, until it has noticed
#define TLS_BYTES                                                                                  \
    (16 * 1024) // more of a connection's memory, for a header that is refused politely
#define PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

// ---- workers ------------------------------------------------------------------------------------

static void *worker(void *server)
{
    pons__server *sv = server;
    pthread_mutex_lock(&sv->mtx);
    while (!sv->closing || sv->first) {
        pons_http_exchange *x = sv->first;
        if (!x) {
            pthread_cond_wait(&sv->work, &sv->mtx);
            continue;
        }
        sv->first = x->next;
        sv->last = sv->first ? sv->last : NULL;
        sv->waiting--;
        const bool closing = sv->closing;
        pthread_mutex_unlock(&sv->mtx);
        if (closing) {
            pons__exchange_refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "the server closes");
        } else {
            sv->o.handle(sv->o.user, x);
        }
        pthread_mutex_lock(&sv->mtx);
    }
    pthread_mutex_unlock(&sv->mtx);
    return NULL;
}

// ---- opening ------------------------------------------------------------------------------------

static int listen_at(const char *address, uint16_t port, uint16_t *ret_port, pons_error *err)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    const bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
    const bool is_v6 = !is_v4 && inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
    const struct sockaddr *a = is_v4 ? (const struct sockaddr *)&v4 : (const struct sockaddr *)&v6;
    socklen_t n = is_v4 ? sizeof v4 : sizeof v6;
    const int one = 1;
    if (!is_v4 && !is_v6) {
        return pons_error_set(err, PONS_EINVAL, PONS__HTTPD, "'%s' is no IP address", address);
    }
    const int fd = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return pons_error_set(err, PONS_EENV, PONS__HTTPD, "no socket: %s", strerror(errno));
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (is_v6) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
    }
    if (bind(fd, a, n) < 0 || listen(fd, BACKLOG) < 0) {
        const int saved = errno;
        close(fd);
        return pons_error_set(err, saved == EADDRINUSE ? PONS_EBUSY : PONS_EINVAL, PONS__HTTPD,
                              "cannot listen on %s port %u: %s", address, port, strerror(saved));
    }
    if (is_v4) {
        getsockname(fd, (struct sockaddr *)&v4, &n);
        *ret_port = ntohs(v4.sin_port);
    } else {
        getsockname(fd, (struct sockaddr *)&v6, &n);
        *ret_port = ntohs(v6.sin6_port);
    }
    return fd;
}

static int start(pons__server *sv, int fd, pons_error *err)
{
    const pons_http_server_options *o = &sv->o;
    const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                           MHD_ALLOW_UPGRADE | MHD_USE_ITC | MHD_USE_ERROR_LOG |
                           (o->certificate ? (unsigned)MHD_USE_TLS : 0U);
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)PRIORITIES},
        {MHD_OPTION_END, 0, NULL},
    };
    struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    sv->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, pons__exchange_access, sv, MHD_OPTION_EXTERNAL_LOGGER,
        pons__exchange_log, sv, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
        o->connections_max + SPARE, MHD_OPTION_CONNECTION_MEMORY_LIMIT, o->head_max,
        MHD_OPTION_STRICT_FOR_CLIENT, 0, MHD_OPTION_URI_LOG_CALLBACK, pons__exchange_begin, sv,
        MHD_OPTION_NOTIFY_COMPLETED, pons__exchange_over, sv, MHD_OPTION_NOTIFY_CONNECTION,
        pons__connection_notify, sv, MHD_OPTION_ARRAY, o->certificate ? tls : none, MHD_OPTION_END);
    if (!sv->daemon) {
        return pons_error_set(err, o->certificate ? PONS_EINVAL : PONS_EENV, PONS__HTTPD,
                              o->certificate ? "the certificate or its key cannot be used"
                                             : "the server cannot start");
    }
    return PONS_OK;
}

static int start_threads(pons__server *sv, pons_error *err)
{
    sv->workers = calloc(sv->o.workers, sizeof *sv->workers);
    if (!sv->workers) {
        return pons_error_set(err, PONS_ENOMEM, PONS__HTTPD, "no memory for workers");
    }
    while (sv->n_workers < sv->o.workers &&
           pthread_create(&sv->workers[sv->n_workers], NULL, worker, sv) == 0) {
        sv->n_workers++;
    }
    sv->has_janitor = pthread_create(&sv->janitor, NULL, pons__janitor, sv) == 0;
    if (sv->n_workers < sv->o.workers || !sv->has_janitor) {
        return pons_error_set(err, PONS_EENV, PONS__HTTPD, "no threads for the server");
    }
    return PONS_OK;
}

static void defaults(pons_http_server_options *o)
{
    o->workers = o->workers ? o->workers : 4;
    o->connections_max = o->connections_max ? o->connections_max : 2048;
    o->head_max = o->head_max ? o->head_max : (size_t)16 * 1024;
    o->body_max = o->body_max ? o->body_max : (size_t)1024 * 1024;
    o->stream_max = o->stream_max ? o->stream_max : (size_t)256 * 1024;
    o->head_ms = o->head_ms ? o->head_ms : 5000;
    o->body_ms = o->body_ms ? o->body_ms : 20000;
    o->idle_ms = o->idle_ms ? o->idle_ms : 30000;
    o->head_max += o->certificate ? TLS_BYTES : 0;
}

static void close_server(void *self)
{
    pons__server *sv = self;
    if (!sv) {
        return;
    }
    pthread_mutex_lock(&sv->mtx);
    sv->closing = true;
    pthread_cond_broadcast(&sv->work);
    pthread_cond_broadcast(&sv->bell);
    pthread_mutex_unlock(&sv->mtx);
    for (unsigned i = 0; i < sv->n_workers; i++) {
        pthread_join(sv->workers[i], NULL);
    }
    if (sv->has_janitor) {
        pthread_join(sv->janitor, NULL);
    }
    pons__streams_close(sv);
    pons__sockets_close(sv);
    pons__connections_settle(sv);
    if (sv->daemon) {
        MHD_stop_daemon(sv->daemon);
    }
    free(sv->workers);
    pthread_cond_destroy(&sv->work);
    pthread_cond_destroy(&sv->bell);
    pthread_cond_destroy(&sv->quiet);
    pthread_mutex_destroy(&sv->mtx);
    free(sv);
}

static int open_server(const pons_http_server_options *opts, void **ret_self, pons_error *err)
{
    pthread_condattr_t monotonic;
    pons__server *sv = calloc(1, sizeof *sv);
    if (!sv) {
        return pons_error_set(err, PONS_ENOMEM, PONS__HTTPD, "no memory for a server");
    }
    sv->o = *opts;
    defaults(&sv->o);
    pthread_mutex_init(&sv->mtx, NULL);
    pthread_cond_init(&sv->work, NULL);
    pthread_cond_init(&sv->quiet, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&sv->bell, &monotonic);
    pthread_condattr_destroy(&monotonic);
    const int fd = listen_at(opts->address, opts->port, &sv->port, err);
    int rc = fd < 0 ? fd : start_threads(sv, err);
    rc = rc < 0 ? rc : start(sv, fd, err);
    if (rc < 0) {
        if (fd >= 0) {
            close(fd); // MHD takes it only when it starts
        }
        close_server(sv);
        return rc;
    }
    *ret_self = sv;
    return PONS_OK;
}

static uint16_t port_of(void *self)
{
    return ((pons__server *)self)->port;
}

// ---- a request, as its worker reads it ----------------------------------------------------------

static const char *method_of(const pons_http_exchange *x)
{
    return x->method;
}

static const char *path_of(const pons_http_exchange *x)
{
    return x->path;
}

static const char *query_of(const pons_http_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, name);
}

typedef struct sought {
    const char *name, *found;
    unsigned left;
} sought;

static enum MHD_Result seek(void *user, enum MHD_ValueKind kind, const char *name,
                            const char *value)
{
    sought *s = user;
    if (s->left-- > 0) {
        return MHD_YES;
    }
    s->name = name;
    s->found = value ? value : "";
    return MHD_NO;
}

static const char *query_at(const pons_http_exchange *x, unsigned i, const char **ret_name)
{
    sought s = {.left = i};
    MHD_get_connection_values(x->connection, MHD_GET_ARGUMENT_KIND, seek, &s);
    *ret_name = s.name;
    return s.found;
}

static const char *header_of(const pons_http_exchange *x, const char *name)
{
    return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

typedef struct counted {
    const char *name;
    unsigned n;
} counted;

static enum MHD_Result count(void *user, enum MHD_ValueKind kind, const char *name,
                             const char *value)
{
    counted *c = user;
    c->n += strcasecmp(name, c->name) == 0;
    return MHD_YES;
}

static unsigned header_count(const pons_http_exchange *x, const char *name)
{
    counted c = {.name = name};
    MHD_get_connection_values(x->connection, MHD_HEADER_KIND, count, &c);
    return c.n;
}

static const char *body_of(const pons_http_exchange *x, size_t *ret_n)
{
    *ret_n = x->body_n;
    return x->body ? x->body : "";
}

static const char *peer_of(const pons_http_exchange *x)
{
    return x->peer;
}

static void reply(pons_http_exchange *x, int status, const char *const *headers, const void *body,
                  size_t n)
{
    struct MHD_Response *r =
        MHD_create_response_from_buffer(n, (void *)(uintptr_t)body, MHD_RESPMEM_MUST_COPY);
    if (!r) {
        pons__exchange_refuse(x, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "no memory");
        return;
    }
    pons__connection_within(x->server, x->seen, PONS__REPLY_MS);
    pons__exchange_answer(x, status, r, headers);
}

static const pons_http_server_ops ops = {
    .abi = PONS_HTTP_SERVER_ABI,
    .name = "microhttpd",
    .open = open_server,
    .close = close_server,
    .port = port_of,
    .method = method_of,
    .path = path_of,
    .query = query_of,
    .query_at = query_at,
    .header = header_of,
    .header_count = header_count,
    .body = body_of,
    .peer = peer_of,
    .reply = reply,
    .stream = pons__stream_begin,
    .stream_write = pons__stream_write,
    .stream_unsent = pons__stream_unsent,
    .stream_end = pons__stream_end,
    .socket = pons__socket_begin,
    .socket_send = pons__socket_send,
    .socket_end = pons__socket_end,
    .certificate = pons__server_certificate,
};

PONS_MODULE_EXPORT("server", "microhttpd", &ops);
