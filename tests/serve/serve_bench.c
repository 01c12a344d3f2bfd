// serve_bench.c - a server over real sockets, its host, and a client that writes what it likes.
#include "serve/serve_bench.h"

#include "pons/buf.h"
#include "pons/store.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANG_MS 120000 // a test that waits so long has failed

// ---- a host -------------------------------------------------------------------------------------

static int status(void *user, const char *thread, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)err;
    *ret = pons_object("thread", json_string(thread ? thread : "main"), "mode", json_string("IDLE"),
                       NULL);
    return PONS_OK;
}

static int say(void *user, const char *thread, const char *text, pons_value **ret, pons_error *err)
{
    bench *b = user;
    (void)err;
    b->changes++;
    snprintf(b->words, sizeof b->words, "%s", text);
    *ret = pons_object("thread", json_string(thread), "text", json_string(text), NULL);
    return PONS_OK;
}

static int control(void *user, const char *thread, const char *word, const char *task,
                   pons_error *err)
{
    (void)thread;
    (void)word;
    (void)task;
    (void)err;
    ((bench *)user)->changes++;
    return PONS_OK;
}

static int answer(void *user, const char *thread, const char *question, pons_value *answer,
                  const char *by, pons_value **ret, pons_error *err)
{
    (void)thread;
    (void)answer;
    (void)err;
    ((bench *)user)->changes++;
    *ret = pons_object("verdict", json_string(strcmp(question, "late") == 0 ? "late" : "bound"),
                       "by", json_string(by), NULL);
    return PONS_OK;
}

static int reset(void *user, pons_error *err)
{
    (void)err;
    ((bench *)user)->changes++;
    return PONS_OK;
}

static int place(void *user, double x, double y, double yaw, pons_error *err)
{
    bench *b = user;
    (void)err;
    b->changes++;
    snprintf(b->words, sizeof b->words, "at %.2f %.2f %.2f", x, y, yaw);
    return PONS_OK;
}

static int rooms(void *user, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)err;
    *ret = json_pack("{s:s,s:[]}", "world", "den", "rooms");
    return PONS_OK;
}

static int room_name(void *user, double x, double y, const char *en, const char *zh,
                     pons_value **ret, pons_error *err)
{
    bench *b = user;
    (void)err;
    b->changes++;
    snprintf(b->words, sizeof b->words, "%s %s at %.2f %.2f", en, zh ? zh : "-", x, y);
    *ret = json_pack("{s:b}", "known", 1);
    return PONS_OK;
}

static int fork_thread(void *user, const char *thread, const char *checkpoint, const char *to,
                       const pons_value *edit, pons_error *err)
{
    (void)thread;
    (void)checkpoint;
    (void)to;
    (void)edit;
    (void)err;
    ((bench *)user)->changes++;
    return PONS_OK;
}

static int life(void *user, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)err;
    *ret = pons_object("time", json_string("2026-03-02T07:20+08:00"), NULL);
    return PONS_OK;
}

static int message(void *user, const char *text, const char *from, bool urgent, pons_error *err)
{
    (void)text;
    (void)from;
    (void)urgent;
    (void)err;
    ((bench *)user)->changes++;
    return PONS_OK;
}

static int fleet(void *user, bool map, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)err;
    *ret = pons_object(map ? "zones" : "robots", json_array(), NULL);
    return PONS_OK;
}

static int fleet_say(void *user, const char *word, const pons_value *value, pons_error *err)
{
    bench *b = user;
    (void)err;
    b->changes++;
    snprintf(b->reason, sizeof b->reason, "%s %s %d", word, pons_get_str(value, "id", ""),
             pons_get_bool(value, "done", false));
    return PONS_OK;
}

static int draw(void *user, const char *name, pons_value **ret, pons_error *err)
{
    (void)user;
    if (strcmp(name, "react") != 0) {
        return pons_error_set(err, PONS_ENOTFOUND, "graph", "there is no graph %s", name);
    }
    *ret =
        pons_object("name", json_string(name), "nodes", json_array(), "edges", json_array(), NULL);
    return PONS_OK;
}

static pons_value *system_now(void *user)
{
    (void)user;
    return pons_object("version", json_string("1"), NULL);
}

static int doctor(void *user, pons_value **ret, pons_error *err)
{
    (void)err;
    ((bench *)user)->changes++;
    *ret = json_array();
    return PONS_OK;
}

static int stop(void *user, const char *reason, pons_error *err)
{
    bench *b = user;
    snprintf(b->reason, sizeof b->reason, "%s", reason);
    if (strcmp(reason, "no disk") == 0) {
        return pons_error_set(err, PONS_EIO, "stop", "the latch is not on the disk");
    }
    b->stops++;
    return PONS_OK;
}

static int world(void *user, const char *name, pons_value **ret, pons_error *err)
{
    (void)user;
    (void)ret;
    return pons_error_set(err, PONS_ENOTFOUND, "world", "no world %s", name);
}

static int observe(void *user, bool laser, pons_link **ret, pons_error *err)
{
    bench *b = user;
    (void)laser;
    if (!b->body) {
        return pons_error_set(err, PONS_ENOTFOUND, "link", "no body");
    }
    int ends[2];
    if (b->body_fd != 0 ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0) {
        return pons_error_set(err, PONS_ECLOSED, "link", "the body is gone");
    }
    *ret = pons_link_from_fd(ends[0]);
    b->body_fd = ends[1];
    return PONS_OK;
}

// ---- a server -----------------------------------------------------------------------------------

void bench_start(bench *b)
{
    pons_error err = PONS_ERROR_INIT;
    if (pons_serve_open(&b->o, &b->serve, &err) < 0) {
        fail_msg("%s", err.message);
    }
    b->port = pons_serve_port(b->serve);
    b->stop_port = pons_serve_stop_port(b->serve);
}

void bench_open(bench *b)
{
    pons_error err = PONS_ERROR_INIT;
    *b = (bench){.serve = NULL};
    snprintf(b->dir, sizeof b->dir, "/tmp/pons-serve-XXXXXX");
    assert_non_null(mkdtemp(b->dir));
    snprintf(b->tokens, sizeof b->tokens, "%s/tokens", b->dir);
    assert_int_equal(pons_store_memory_open(&b->store, &err), PONS_OK);
    assert_int_equal(b->store.ops->lease_acquire(b->store.self, "main", &b->lease, &err), PONS_OK);
    b->o = (pons_serve_options){.store = b->store,
                                .clock = pons_clock_real(),
                                .host = {.user = b,
                                         .status = status,
                                         .say = say,
                                         .control = control,
                                         .answer = answer,
                                         .reset = reset,
                                         .place = place,
                                         .stop = stop,
                                         .fork = fork_thread,
                                         .life = life,
                                         .message = message,
                                         .fleet = fleet,
                                         .fleet_say = fleet_say,
                                         .draw = draw,
                                         .system = system_now,
                                         .doctor = doctor,
                                         .world = world,
                                         .rooms = rooms,
                                         .room_name = room_name,
                                         .observe = observe},
                                .thread = "main",
                                .stop_port = 0,
                                .token_file = b->tokens};
    if (pons_http_server_load(&b->o.http, &err) < 0) {
        fail_msg("%s", err.message);
    }
    bench_start(b);
}

void bench_close(bench *b)
{
    pons_serve_close(b->serve);
    b->store.ops->lease_release(b->store.self, &b->lease);
    pons_store_close(&b->store);
    unlink(b->tokens);
    rmdir(b->dir);
}

void bench_commit(bench *b, int n)
{
    pons_error err = PONS_ERROR_INIT;
    pons_event_row rows[16];
    assert_in_range(n, 1, 16);
    for (int i = 0; i < n; i++) {
        rows[i] = (pons_event_row){
            .ns = "kernel", .ts_ms = 5, .type = "mode", .payload = {"{\"a\":1}", 7}};
    }
    pons_commit c = {.lease = &b->lease, .ns = "kernel", .events = rows, .n_events = (size_t)n};
    if (b->store.ops->commit(b->store.self, &c, &err) < 0) {
        fail_msg("%s", err.message);
    }
    const pons_event ev = {
        .seq = rows[n - 1].seq, .thread = "main", .ns = "kernel", .type = "mode"};
    if (b->serve) {
        pons_serve_event(b->serve, &ev);
    }
}

// ---- a client -----------------------------------------------------------------------------------

int bench_connect(int port)
{
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

char *bench_until(int fd, const char *what)
{
    pons_buf b = PONS_BUF_INIT;
    pons_buf_byte(&b, 0);
    b.len = 0;
    while (!what || !strstr(b.data, what)) {
        char text[4096];
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
        const ssize_t n = recv(fd, text, sizeof text, 0);
        if (n <= 0) {
            break;
        }
        pons_buf_bytes(&b, text, (size_t)n);
        pons_buf_byte(&b, 0);
        b.len--;
    }
    return pons_buf_take(&b, NULL);
}

int bench_send(const bench *b, const ask *a)
{
    pons_autobuf t = PONS_BUF_INIT;
    const int port = a->stop_port ? b->stop_port : b->port;
    const int fd = bench_connect(port);
    // Of a stream the bytes as they are, without the lengths of chunks between them.
    const bool stream = strncmp(a->path, "/v1/events", 10) == 0 ||
                        strncmp(a->path, "/mcp", 4) == 0 || strncmp(a->path, "/api/chat", 9) == 0 ||
                        strstr(a->path, "/stream") || strstr(a->path, "wait") ||
                        strstr(a->path, "/join");
    pons_buf_printf(&t, "%s %s HTTP/1.%d\r\n", a->method, a->path, stream ? 0 : 1);
    if (a->host) {
        pons_buf_printf(&t, "Host: %s\r\n", a->host);
    } else {
        pons_buf_printf(&t, "Host: 127.0.0.1:%d\r\n", port);
    }
    if (a->token) {
        pons_buf_printf(&t, "Authorization: Bearer %s\r\n", a->token);
    }
    if (a->body) {
        pons_buf_printf(&t, "Content-Length: %zu\r\n", strlen(a->body));
        if (!a->headers || !strstr(a->headers, "Content-Type")) {
            pons_buf_str(&t, "Content-Type: application/json\r\n");
        }
    }
    pons_buf_printf(&t, "%sConnection: close\r\n\r\n%s", a->headers ? a->headers : "",
                    a->body ? a->body : "");
    for (size_t at = 0; at < t.len;) {
        const ssize_t n = send(fd, t.data + at, t.len - at, MSG_NOSIGNAL);
        if (n <= 0) {
            break; // the server has had enough
        }
        at += (size_t)n;
    }
    return fd;
}

char *bench_reply(const bench *b, const ask *a)
{
    const int fd = bench_send(b, a);
    char *r = bench_until(fd, NULL);
    close(fd);
    return r;
}

int bench_code(const char *reply)
{
    return strncmp(reply, "HTTP/1.", 7) == 0 ? (int)strtol(reply + 9, NULL, 10) : 0;
}

int bench_status(const bench *b, const ask *a)
{
    char *r = bench_reply(b, a);
    const int n = bench_code(r);
    free(r);
    return n;
}

const char *bench_token(const bench *b, const char *role)
{
    return pons_serve_token(b->serve, role);
}
