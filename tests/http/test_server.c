// The contract of an HTTP server, for every implementation: what a handler is told, what a client
// gets, and what becomes of those who send too much, too slowly, nonsense, or go away. Limits of
// time are small numbers; what is asserted is what happened, never how long it took.
#include "pons/buf.h"
#include "pons/ext/http_server.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANG_MS 120000 // a test that waits so long has failed

static const pons_http_server_ops *http;

typedef struct bench {
    void *server;
    int port;
    pthread_mutex_t mtx;
    pons_http_stream *stream; // the newest
    sem_t streaming, go;
    int handled;
} bench;

// ---- a handler ----------------------------------------------------------------------------------

// /echo tells what came; /stream begins one; /wait waits for a post of `go`.
static void handle(void *user, pons_http_exchange *x)
{
    bench *b = user;
    static const char *const text[] = {"Content-Type: text/plain", "X-Test:  yes", NULL};
    static const char *const events[] = {"Content-Type: text/event-stream", NULL};
    pthread_mutex_lock(&b->mtx);
    b->handled++;
    pthread_mutex_unlock(&b->mtx);
    if (strcmp(http->path(x), "/stream") == 0) {
        pons_http_stream *s = http->stream(x, 200, events);
        pthread_mutex_lock(&b->mtx);
        b->stream = s;
        pthread_mutex_unlock(&b->mtx);
        sem_post(&b->streaming);
        return;
    }
    if (strcmp(http->path(x), "/wait") == 0) {
        sem_post(&b->streaming);
        sem_wait(&b->go);
    }
    size_t n = 0;
    const char *body = http->body(x, &n);
    const char *q = http->query(x, "q"), *h = http->header(x, "x-one");
    pons_autobuf out = PONS_BUF_INIT;
    pons_buf_printf(&out, "%s|%s|%s|%s|%u|%zu|", http->method(x), http->path(x), q ? q : "-",
                    h ? h : "-", http->header_count(x, "X-ONE"), n);
    pons_buf_bytes(&out, body, n);
    http->reply(x, strcmp(http->path(x), "/created") == 0 ? 201 : 200, text, out.data, out.len);
}

static void bench_open(bench *b, pons_http_server_options o)
{
    pons_error err = PONS_ERROR_INIT;
    *b = (bench){.server = NULL};
    pthread_mutex_init(&b->mtx, NULL);
    sem_init(&b->streaming, 0, 0);
    sem_init(&b->go, 0, 0);
    o.address = "127.0.0.1";
    o.handle = handle;
    o.user = b;
    const int rc = http->open(&o, &b->server, &err);
    if (rc < 0) {
        fail_msg("%s", err.message);
    }
    b->port = http->port(b->server);
    assert_true(b->port > 0);
}

static void bench_close(bench *b)
{
    http->close(b->server);
    pthread_mutex_destroy(&b->mtx);
    sem_destroy(&b->streaming);
    sem_destroy(&b->go);
}

static void wait_for(sem_t *s)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    ts.tv_sec += HANG_MS / 1000;
    while (sem_timedwait(s, &ts) < 0) {
        assert_int_equal(errno, EINTR);
    }
}

static pons_http_stream *await_stream(bench *b)
{
    wait_for(&b->streaming);
    pthread_mutex_lock(&b->mtx);
    pons_http_stream *s = b->stream;
    pthread_mutex_unlock(&b->mtx);
    return s;
}

// ---- a client -----------------------------------------------------------------------------------

static int client(const bench *b)
{
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)b->port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static void put(int fd, const char *text)
{
    for (size_t n = strlen(text), at = 0; at < n;) {
        const ssize_t k = send(fd, text + at, n - at, MSG_NOSIGNAL);
        if (k <= 0) {
            return; // the server has had enough
        }
        at += (size_t)k;
    }
}

// Reads until `what` has come, or the end; what is there, a string of the caller's.
static char *get_until(int fd, const char *what)
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

static char *ask(const bench *b, const char *request)
{
    const int fd = client(b);
    put(fd, request);
    char *all = get_until(fd, NULL);
    close(fd);
    return all;
}

static int status_of(const char *reply)
{
    return strncmp(reply, "HTTP/1.1 ", 9) == 0 ? (int)strtol(reply + 9, NULL, 10) : 0;
}

// ---- what comes in, what goes out ---------------------------------------------------------------

static void test_a_request_is_told_whole(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 2});
    char *r = ask(&b, "GET /echo/%2e%2E/a%20b?q=a%20%C3%A9&r HTTP/1.1\r\nHost: x\r\nX-One: 1\r\n"
                      "x-one: 2\r\nConnection: close\r\n\r\n");
    assert_int_equal(status_of(r), 200);
    assert_non_null(strcasestr(r, "\r\ncontent-type: text/plain\r\n"));
    assert_non_null(strstr(r, "\r\nX-Test: yes\r\n"));
    assert_non_null(strstr(r, "\r\n\r\nGET|/echo/%2e%2E/a%20b|a \xc3\xa9|1|2|0|"));
    free(r);
    r = ask(&b,
            "POST /created HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
            "a\nb\nc");
    assert_int_equal(status_of(r), 201);
    assert_non_null(strstr(r, "POST|/created|-|-|0|5|a\nb\nc"));
    free(r);
    r = ask(&b,
            "PUT /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n"
            "\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    assert_non_null(strstr(r, "PUT|/echo|-|-|0|5|abcde"));
    free(r);
    r = ask(&b, "HEAD /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert_int_equal(status_of(r), 200);
    assert_string_equal(strstr(r, "\r\n\r\n"), "\r\n\r\n");
    free(r);
    bench_close(&b);
}

static void test_a_connection_is_kept(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 4});
    const int fd = client(&b);
    for (int i = 0; i < 50; i++) {
        char request[128], want[64];
        snprintf(request, sizeof request, "GET /echo?q=%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
        snprintf(want, sizeof want, "|/echo|%d|", i);
        put(fd, request);
        char *r = get_until(fd, want);
        assert_non_null(strstr(r, want));
        free(r);
    }
    // Two that come at once are answered one after the other.
    put(fd, "GET /echo?q=first HTTP/1.1\r\nHost: x\r\n\r\nGET /echo?q=second HTTP/1.1\r\nHost: "
            "x\r\nConnection: close\r\n\r\n");
    char *r = get_until(fd, NULL);
    assert_true(strstr(r, "|first|") < strstr(r, "|second|"));
    assert_non_null(strstr(r, "|first|"));
    free(r);
    close(fd);
    bench_close(&b);
}

// ---- those who send too much, too slowly, or nonsense -------------------------------------------

static void test_what_is_too_long_is_refused(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 1, .body_max = 100, .head_max = 8192});
    char *r = ask(&b, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n");
    assert_int_equal(status_of(r), 413);
    free(r);
    pons_autobuf long_one = PONS_BUF_INIT;
    pons_buf_str(&long_one, "GET /echo HTTP/1.1\r\nHost: x\r\nX-One: ");
    for (int i = 0; i < 20000; i++) {
        pons_buf_byte(&long_one, 'a');
    }
    pons_buf_str(&long_one, "\r\n\r\n");
    pons_buf_byte(&long_one, 0);
    r = ask(&b, long_one.data);
    assert_true(status_of(r) == 431 || status_of(r) == 0); // told, or cut off in the midst of it
    free(r);
    pons_buf_clear(&long_one); // cookies of others on this machine: told once
    pons_buf_str(&long_one, "GET /echo HTTP/1.1\r\nHost: x\r\nCookie: ");
    for (int i = 0; i < 600; i++) {
        pons_buf_str(&long_one, "a=b; ");
    }
    pons_buf_str(&long_one, "\r\n\r\n");
    pons_buf_byte(&long_one, 0);
    r = ask(&b, long_one.data);
    assert_int_equal(status_of(r), 431);
    assert_null(strstr(r + 1, "HTTP/1.1 "));
    free(r);
    pons_buf_clear(&long_one); // a body that does not say how long it is
    pons_buf_str(&long_one,
                 "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n");
    for (int i = 0; i < 0x65; i++) {
        pons_buf_byte(&long_one, 'b');
    }
    pons_buf_str(&long_one, "\r\n0\r\n\r\n");
    pons_buf_byte(&long_one, 0);
    r = ask(&b, long_one.data);
    assert_true(status_of(r) == 413 || status_of(r) == 0);
    free(r);
    assert_int_equal(b.handled, 0);
    r = ask(&b,
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc");
    assert_int_equal(status_of(r), 200);
    free(r);
    bench_close(&b);
}

static void test_nonsense_is_refused(void **state)
{
    bench b;
    (void)state;
    static const char *const nonsense[] = {
        "\r\n\r\n\r\n\x01\x02\r\n\r\n",
        "GET\r\n\r\n",
        "GET /echo\r\n\r\n",
        "GET /echo HTTP/9.9\r\nHost: x\r\n\r\n",
        "GET /echo HTTP/1.1\r\n\r\n", // without a host
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, "
        "chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        "GET /echo?q=a%00b HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: x\x01\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: x\r\nX-One: a\rOrigin: b\r\n\r\n",
    };
    bench_open(&b, (pons_http_server_options){.workers = 1, .head_ms = 300, .body_ms = 300});
    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        char *r = ask(&b, nonsense[i]); // comes to an end
        assert_true(status_of(r) != 200 && status_of(r) != 201);
        assert_null(strstr(r + 1, "HTTP/1.1 ")); // and said once
        free(r);
    }
    assert_int_equal(b.handled, 0);
    bench_close(&b);
}

// What is no number is refused once, with one head, and nothing behind it is a request.
static void test_odd_lengths_have_one_answer(void **state)
{
    static const struct {
        const char *length;
        int status;
    } rows[] = {{"abc", 400},
                {"-1", 400},
                {"+2", 400},
                {"2 ", 400},
                {"2,2", 400},
                {"0x2", 400},
                {"", 400},
                {"2;a", 400},
                {"1e1", 400},
                {"2\t", 400},
                {"18446744073709551615", 413},
                {"18446744073709551616", 413},
                {"99999999999999999999999", 413}};
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 1});
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n"
                 "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n",
                 rows[i].length);
        char *r = ask(&b, text);
        if (status_of(r) != rows[i].status || strstr(r + 1, "HTTP/1.1 ")) {
            fail_msg("Content-Length '%s': %s", rows[i].length, r);
        }
        free(r);
    }
    assert_int_equal(b.handled, 0);
    bench_close(&b);
}

// A zero anywhere in a head: whoever compares stops at it. Also where the head comes a byte at a time.
static void test_a_zero_in_a_head(void **state)
{
    static const char head[] = "GET /echo?q=1 HTTP/1.1\r\nHost: x\r\nX-One: y\r\n"
                               "Origin: http://x\r\nConnection: close\r\n\r\n";
    const size_t n = sizeof head - 1;
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 1});
    for (size_t at = 0; at <= n; at++) { // n: none
        char text[sizeof head + 1];
        const size_t all = n + (at < n);
        memcpy(text, head, at);
        text[at] = '\0';
        memcpy(text + at + (at < n), head + at, n - at);
        const int fd = client(&b);
        for (size_t i = 0; i < all; i += at % 2 ? all : 1) {
            if (send(fd, text + i, at % 2 ? all : 1, MSG_NOSIGNAL) <= 0) {
                break; // the server has had enough
            }
        }
        shutdown(fd, SHUT_WR);
        char *r = get_until(fd, NULL);
        if ((status_of(r) == 200) != (at == n)) {
            fail_msg("a zero at %zu: %s", at, r);
        }
        free(r);
        close(fd);
    }
    assert_int_equal(b.handled, 1);
    bench_close(&b);
}

// However many hold connections and ask nothing, the next one is served: the quietest goes, and none that
// has a request in hand. The limits of time are so long that they are not what helps.
static void test_there_is_room_for_one_more(void **state)
{
    enum { MOST = 8, CROWD = 100 };
    int crowd[CROWD];
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 2,
                                              .connections_max = MOST,
                                              .head_ms = 2 * HANG_MS,
                                              .body_ms = 2 * HANG_MS,
                                              .idle_ms = 2 * HANG_MS});
    const int waits = client(&b);
    put(waits, "GET /wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    wait_for(&b.streaming);
    for (size_t i = 0; i < CROWD; i++) {
        static const char *const begun[] = {
            "", "GET /ec", "GET /echo HTTP/1.1\r\nHost: x\r\nX-",
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab",
            "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n"};
        crowd[i] = client(&b);
        put(crowd[i], begun[i % (sizeof begun / sizeof begun[0])]);
        char *r = ask(&b, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        assert_int_equal(status_of(r), 200);
        free(r);
    }
    sem_post(&b.go);
    char *r = get_until(waits, NULL);
    assert_int_equal(status_of(r), 200);
    free(r);
    free(get_until(crowd[0], NULL)); // it was ended
    for (size_t i = 0; i < CROWD; i++) {
        close(crowd[i]);
    }
    close(waits);
    bench_close(&b);
}

static void test_the_slow_are_let_go(void **state)
{
    enum { SLOW = 200 };
    bench b;
    int fds[SLOW];
    (void)state;
    bench_open(&b, (pons_http_server_options){
                       .workers = 1, .head_ms = 400, .body_ms = 400, .idle_ms = 400});
    for (int i = 0; i < SLOW; i++) {
        fds[i] = client(&b);
        put(fds[i], i % 4 == 0   ? ""
                    : i % 4 == 1 ? "GET /ec"
                    : i % 4 == 2 ? "GET /echo HTTP/1.1\r\nHost: x\r\nX-One:"
                                 : "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab");
    }
    // One that goes on sending, a byte at a time, is slow all the same.
    const int drip = client(&b);
    char *r = NULL;
    for (int i = 0; !r; i++) {
        assert_in_range(i, 0, HANG_MS / 20);
        put(drip, "a");
        struct pollfd p = {.fd = drip, .events = POLLIN};
        if (poll(&p, 1, 20) == 1) {
            r = get_until(drip, NULL);
        }
    }
    assert_true(status_of(r) != 200);
    free(r);
    close(drip);
    for (int i = 0; i < SLOW; i++) {
        r = get_until(fds[i], NULL);
        assert_true(status_of(r) != 200);
        free(r);
        close(fds[i]);
    }
    // A kept connection is not kept for ever.
    const int kept = client(&b);
    put(kept, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
    r = get_until(kept, NULL);
    assert_int_equal(status_of(r), 200);
    free(r);
    close(kept);
    assert_int_equal(b.handled, 1);
    // A handler may take its time.
    const int waiting = client(&b);
    put(waiting, "GET /wait HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    wait_for(&b.streaming);
    poll(NULL, 0, 1500);
    sem_post(&b.go);
    r = get_until(waiting, NULL);
    assert_int_equal(status_of(r), 200);
    free(r);
    close(waiting);
    bench_close(&b);
}

// ---- streams ------------------------------------------------------------------------------------

static void test_a_stream_arrives_as_it_is_written(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 1});
    const int fd = client(&b);
    put(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    pons_http_stream *s = await_stream(&b);
    for (int i = 0; i < 20; i++) {
        char line[32];
        snprintf(line, sizeof line, "data: %d\n\n", i);
        assert_int_equal(http->stream_write(s, line, strlen(line)), PONS_OK);
        char *r = get_until(fd, line); // before the next one is written
        assert_non_null(strstr(r, line));
        free(r);
    }
    assert_int_equal(http->stream_write(s, "last", 4), PONS_OK);
    http->stream_end(s);
    char *r = get_until(fd, "0\r\n\r\n");
    assert_non_null(strstr(r, "last"));
    free(r);
    put(fd, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); // it goes on
    r = get_until(fd, NULL);
    assert_int_equal(status_of(r), 200);
    free(r);
    close(fd);
    bench_close(&b);
}

static void test_a_client_that_goes_is_noticed(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 1});
    const int fd = client(&b);
    put(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    pons_http_stream *s = await_stream(&b);
    close(fd);
    int rc = PONS_OK;
    for (int i = 0; rc == PONS_OK; i++) {
        assert_in_range(i, 0, HANG_MS / 10);
        rc = http->stream_write(s, ": ping\n\n", 8);
        poll(NULL, 0, 10);
    }
    assert_int_equal(rc, PONS_ECANCELED);
    http->stream_end(s);
    bench_close(&b);
}

static void test_a_client_that_does_not_read_is_dropped(void **state)
{
    enum { MUCH = 64 * 1024 };
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 1, .stream_max = 2 * MUCH});
    const int fd = client(&b);
    char *much = calloc(1, MUCH);
    put(fd, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    pons_http_stream *s = await_stream(&b);
    int rc = PONS_OK;
    for (int i = 0; rc == PONS_OK; i++) {
        assert_in_range(i, 0, 100000);
        assert_true(http->stream_unsent(s) <= 2 * MUCH);
        rc = http->stream_write(s, much, MUCH);
    }
    assert_int_equal(rc, PONS_ECANCELED);
    http->stream_end(s);
    free(much);
    close(fd);
    bench_close(&b);
}

static void test_closing_ends_everything(void **state)
{
    bench b;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 2});
    const int streaming = client(&b), waiting = client(&b), idle = client(&b);
    put(streaming, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    pons_http_stream *s = await_stream(&b);
    put(waiting, "GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for(&b.streaming);
    sem_post(&b.go);
    http->close(b.server);
    assert_int_equal(http->stream_write(s, "x", 1), PONS_ECANCELED); // still its owner's
    http->stream_end(s);
    char *r = get_until(waiting, NULL);
    assert_true(status_of(r) == 200 || status_of(r) == 0);
    free(r);
    free(get_until(streaming, NULL));
    free(get_until(idle, NULL));
    close(streaming);
    close(waiting);
    close(idle);
    pthread_mutex_destroy(&b.mtx);
    sem_destroy(&b.streaming);
    sem_destroy(&b.go);
}

// ---- many, and where it cannot listen -----------------------------------------------------------

static void *many(void *user)
{
    const bench *b = user;
    for (int i = 0; i < 100; i++) {
        char *r = ask(b, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nConnection: close"
                         "\r\n\r\nmany");
        if (status_of(r) != 200 || !strstr(r, "|4|many")) {
            print_error("got: %s\n", r);
            abort();
        }
        free(r);
    }
    return NULL;
}

static void test_many_at_once(void **state)
{
    bench b;
    pthread_t threads[8];
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 4});
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, many, &b), 0);
    }
    for (size_t i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(b.handled, 800);
    bench_close(&b);
}

static void test_where_it_cannot_listen(void **state)
{
    bench b;
    void *other = NULL;
    (void)state;
    bench_open(&b, (pons_http_server_options){.workers = 1});
    pons_error err = PONS_ERROR_INIT;
    pons_http_server_options o = {
        .address = "127.0.0.1", .port = (uint16_t)b.port, .handle = handle, .user = &b};
    assert_int_equal(http->open(&o, &other, &err), PONS_EBUSY);
    assert_non_null(strstr(err.message, "127.0.0.1"));
    o.address = "localhost";
    assert_int_equal(http->open(&o, &other, &err), PONS_EINVAL);
    o = (pons_http_server_options){
        .address = "127.0.0.1", .certificate = "no", .key = "no", .handle = handle, .user = &b};
    assert_int_equal(http->open(&o, &other, &err), PONS_EINVAL);
    assert_null(other);
    bench_close(&b);
}

int main(void)
{
    pons_error err = PONS_ERROR_INIT;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_is_told_whole),
        cmocka_unit_test(test_a_connection_is_kept),
        cmocka_unit_test(test_what_is_too_long_is_refused),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_odd_lengths_have_one_answer),
        cmocka_unit_test(test_a_zero_in_a_head),
        cmocka_unit_test(test_there_is_room_for_one_more),
        cmocka_unit_test(test_the_slow_are_let_go),
        cmocka_unit_test(test_a_stream_arrives_as_it_is_written),
        cmocka_unit_test(test_a_client_that_goes_is_noticed),
        cmocka_unit_test(test_a_client_that_does_not_read_is_dropped),
        cmocka_unit_test(test_closing_ends_everything),
        cmocka_unit_test(test_many_at_once),
        cmocka_unit_test(test_where_it_cannot_listen),
    };
    if (pons_http_server_load(&http, &err) < 0) {
        print_error("%s\n", err.message);
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
