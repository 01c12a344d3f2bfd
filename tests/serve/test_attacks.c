// Every route of the server against every attack that needs no luck: who has no token, a wrong one or a
// small one; pages of others; forms; paths; bodies that are too large, no JSON, or too deep; heads and
// bodies that never come. Nothing of it reaches the robot. The routes are the server's own tables, so
// that a new one is attacked, too. And a thousand clients that listen beside a thousand that only
// pretend to be about to speak.
#include "pons/buf.h"
#include "serve/access/route.h"
#include "serve/serve_bench.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANG_MS    120000 // a test that waits so long has failed
#define HASTY_MS   2000   // that a server in a hurry waits for a head, or a body
#define ROUTES_MAX 256

static const pons__route *rows[ROUTES_MAX];
static size_t n_rows;

static void find_routes(void)
{
    n_rows = 0;
    for (size_t t = 0; pons__serve_tables[t]; t++) {
        for (const pons__route *row = pons__serve_tables[t]; row->path; row++) {
            assert_true(n_rows < ROUTES_MAX);
            rows[n_rows++] = row;
        }
    }
    assert_true(n_rows > 40);
}

// The path with something where the stars are.
static void path_of(const pons__route *row, char ret[256])
{
    size_t n = 0;
    for (const char *at = row->path; *at && n < 240; at++) {
        if (*at == '*') {
            n += (size_t)snprintf(ret + n, 256 - n, "x1");
        } else {
            ret[n++] = *at;
        }
    }
    ret[n] = '\0';
}

// A method that no route of this path has.
static const char *method_beside(const char *path)
{
    static const char *const methods[] = {"PATCH", "PUT", "DELETE", "POST"};
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        bool taken = false;
        for (size_t i = 0; i < n_rows; i++) {
            char other[256];
            path_of(rows[i], other);
            const bool same = strcmp(other, path) == 0 || strcmp(rows[i]->path, path) == 0;
            taken |= same && strcmp(rows[i]->method, methods[m]) == 0;
        }
        if (!taken) {
            return methods[m];
        }
    }
    return NULL;
}

static bool writes(const pons__route *row)
{
    return strcmp(row->method, "GET") != 0;
}

static void must(const bench *b, const char *what, const ask *a, int one, int other)
{
    const int got = bench_status(b, a);
    if (got != one && got != other) {
        fail_msg("%s %s, %s: %d", a->method, a->path, what, got);
    }
}

static void attack(const bench *b, const pons__route *row, const char *deep, const char *large)
{
    char path[256], crooked[300];
    path_of(row, path);
    const char *token =
        bench_token(b, pons__role_name(row->role > PONS__NOBODY ? row->role : PONS__VIEWER));
    const char *body = writes(row) ? "{}" : NULL;
    const ask plain = {row->method, path, NULL, token, NULL, body, false};
    ask a = plain;
    if (row->role > PONS__NOBODY) {
        a.token = NULL;
        must(b, "no token", &a, 401, 401);
        char part[33];
        snprintf(part, sizeof part, "%.32s", token);
        a.token = part;
        must(b, "a token's beginning", &a, 401, 401);
    }
    a.token = "0000000000000000000000000000000000000000000000000000000000000000";
    must(b, "a wrong token", &a, 401, 401);
    if (row->role > PONS__VIEWER) {
        a.token = bench_token(b, "viewer");
        must(b, "a viewer's token", &a, 403, 403);
    }
    if (row->role > PONS__OPERATOR) {
        a.token = bench_token(b, "operator");
        must(b, "an operator's token", &a, 403, 403);
    }
    a = plain;
    a.host = "evil.example";
    must(b, "a foreign host", &a, 403, 403);
    a = plain;
    a.headers = "Host: evil.example\r\n";
    must(b, "two hosts", &a, 400, 403);
    a = plain;
    a.headers = "Origin: http://evil.example\r\n";
    must(b, "a foreign origin", &a, 403, 403);
    a.headers = "Origin: null\r\n";
    must(b, "no origin's origin", &a, 403, 403);
    // A browser's request for another site's page, which has no Origin: a picture, a form, a worker.
    a.headers = "Sec-Fetch-Site: cross-site\r\n";
    must(b, "another site", &a, 403, 403);
    a.headers = "Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\n";
    must(b, "another port's page", &a, 403, 403);
    a.headers = "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site\r\n";
    must(b, "two sites", &a, 403, 403);
    a.headers =
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n";
    must(b, "a frame", &a, 403, 403);
    if (writes(row)) {
        a.headers = "Content-Type: application/x-www-form-urlencoded\r\n";
        must(b, "a form", &a, 415, 415);
        a.headers = "Content-Type: text/plain\r\n";
        must(b, "text", &a, 415, 415);
        a = plain;
        a.body = "{\"text\":";
        must(b, "bad JSON", &a, 400, 400);
        a.body = deep;
        must(b, "deep JSON", &a, 400, 400);
        a.body = large;
        must(b, "too large", &a, 413, 413);
    }
    a = plain;
    a.method = method_beside(path);
    if (a.method) { // a word in the path may be another route's name of something: then its role counts
        const int got = bench_status(b, &a);
        assert_true(got == 405 || got == 404 || got == 403);
    }
    a = plain;
    snprintf(crooked, sizeof crooked, "/x/..%s", path);
    a.path = crooked;
    must(b, "traversal", &a, 400, 404);
    snprintf(crooked, sizeof crooked, "/x/%%2e%%2e%s", path);
    must(b, "encoded traversal", &a, 400, 404);
    snprintf(crooked, sizeof crooked, "%s%%00", path);
    must(b, "a zero", &a, 400, 404);
}

static void test_every_route_against_every_attack(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    find_routes();
    char *deep = calloc(1, 200001), *large = malloc(1100001);
    memset(deep, '[', 200000);
    memset(large, ' ', 1100000);
    large[1100000] = '\0';
    for (size_t i = 0; i < n_rows; i++) {
        attack(&b, rows[i], deep, large);
    }
    assert_int_equal(b.changes, 0); // nothing of it reached the robot
    assert_int_equal(b.stops, 0);
    print_message("%zu routes\n", n_rows);
    // A link that a person follows, an address that was typed, and the page itself.
    static const char *const own[] = {
        "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n",
        "Sec-Fetch-Site: none\r\n", "Sec-Fetch-Site: same-origin\r\n"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        const ask a = {"GET", "/v1/state", NULL, bench_token(&b, "viewer"), own[i], NULL, false};
        assert_int_equal(bench_status(&b, &a), 200);
    }
    free(deep);
    free(large);
    bench_close(&b);
}

// ---- what never comes ---------------------------------------------------------------------------

static void send_text(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

// Until the other side has closed; whatever it says before that is its business.
static void must_close(int fd)
{
    char text[4096];
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
        if (recv(fd, text, sizeof text, 0) <= 0) {
            close(fd);
            return;
        }
    }
}

// A server that waits for less long than the one that ships.
static int open_hasty(const pons_http_server_options *opts, void **ret_self, pons_error *err)
{
    const pons_http_server_ops *real = NULL;
    pons_http_server_options o = *opts;
    o.head_ms = o.body_ms = HASTY_MS;
    const int rc = pons_http_server_load(&real, err);
    return rc < 0 ? rc : real->open(&o, ret_self, err);
}

static void test_heads_and_bodies_that_never_come(void **state)
{
    bench b;
    int fds[2 * ROUTES_MAX];
    size_t n = 0;
    (void)state;
    bench_open(&b);
    pons_http_server_ops hasty = *b.o.http;
    hasty.open = open_hasty;
    pons_serve_close(b.serve);
    b.o.http = &hasty;
    bench_start(&b);
    find_routes();
    for (size_t i = 0; i < n_rows;
         i++) { // all at once: each is waited for as long as it is allowed
        char path[256], text[1024];
        path_of(rows[i], path);
        fds[n] = bench_connect(b.port);
        snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nX-A", rows[i]->method,
                 path, b.port);
        send_text(fds[n++], text);
        if (writes(rows[i])) {
            fds[n] = bench_connect(b.port);
            snprintf(text, sizeof text,
                     "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nx-api-key: %s\r\nContent-Type: "
                     "application/json\r\nContent-Length: 100\r\n\r\n{",
                     rows[i]->method, path, b.port, bench_token(&b, "admin"));
            send_text(fds[n++], text);
        }
    }
    for (size_t i = 0; i < n; i++) {
        must_close(fds[i]);
    }
    assert_int_equal(b.changes, 0);
    bench_close(&b);
}

// Where a body ends is said once, and nothing behind it is another request.
static void test_bodies_that_end_twice(void **state)
{
    static const char *const frames[] = {
        "Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    };
    bench b;
    (void)state;
    bench_open(&b);
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        char text[1024];
        const int fd = bench_connect(b.port);
        snprintf(text, sizeof text,
                 "POST /threads/count HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nx-api-key: %s\r\n"
                 "Content-Type: application/json\r\n%sPOST /stop HTTP/1.1\r\n\r\n",
                 b.port, bench_token(&b, "operator"), frames[i]);
        send_text(fd, text);
        char *r = bench_until(fd, NULL); // to its end: the connection is closed
        assert_int_equal(bench_code(r), 400);
        assert_null(strstr(r + 1, "HTTP/1.1 "));
        free(r);
        close(fd);
    }
    assert_int_equal(b.changes, 0);
    assert_int_equal(b.stops, 0);
    bench_close(&b);
}

// ---- a thousand and a thousand ------------------------------------------------------------------

typedef struct listener {
    int fd;
    int64_t last; // event
    char rest[64];
} listener;

// Reads what has come; each event once, in order.
static void take(listener *l)
{
    char text[65536 + sizeof l->rest];
    size_t n = strlen(l->rest);
    memcpy(text, l->rest, n);
    const ssize_t got = recv(l->fd, text + n, 65536, MSG_DONTWAIT);
    if (got <= 0) {
        assert_true(got < 0); // it was not dropped
        return;
    }
    n += (size_t)got;
    text[n] = '\0';
    const char *at = text;
    for (const char *id = text; (id = strstr(id, "\nid: ")); id++) {
        if (!strchr(id + 1, '\n')) {
            break; // the number is not whole
        }
        assert_int_equal(strtoll(id + 5, NULL, 10), l->last + 1);
        l->last++;
        at = id + 5;
    }
    // What may be the beginning of the next one.
    const char *tail = text + n > text + 40 ? text + n - 40 : text;
    tail = tail < at ? at : tail;
    snprintf(l->rest, sizeof l->rest, "%s", tail);
}

static void test_a_thousand_that_listen_and_a_thousand_that_pretend(void **state)
{
    enum { MOST = 1000, EVENTS = 10 };
    bench b;
    struct rlimit files;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max < 65536 ? files.rlim_max : 65536;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    const size_t room = files.rlim_cur > 300 ? (files.rlim_cur - 300) / 4 : 0; // two ends of each
    const size_t n = room < MOST ? room : MOST;
    print_message("%zu of each\n", n);
    assert_true(n >= 100);
    bench_open(&b);
    int *slow = calloc(n, sizeof *slow);
    listener *l = calloc(n, sizeof *l);
    for (size_t i = 0; i < n; i++) {
        slow[i] = bench_connect(b.port);
        send_text(slow[i], "GET /v1/state HTTP/1.1\r\nHost: 127");
        snprintf(l[i].rest, sizeof l[i].rest,
                 "\n"); // which ends what is read before the first event
        l[i].fd = bench_send(
            &b, &(ask){"GET", "/v1/events", NULL, bench_token(&b, "viewer"), NULL, NULL, false});
    }
    for (size_t i = 0; i < n; i++) {
        free(bench_until(l[i].fd, "event: hello"));
    }
    bench_commit(&b, EVENTS);
    // Meanwhile Stop and the state have their answers.
    assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", NULL, NULL, NULL, "{}", true}), 200);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/v1/state", NULL, bench_token(&b, "viewer"),
                                             NULL, NULL, false}),
                     200);
    for (size_t i = 0; i < n; i++) {
        for (int waited = 0; l[i].last < EVENTS; waited++) {
            struct pollfd p = {.fd = l[i].fd, .events = POLLIN};
            assert_int_equal(poll(&p, 1, HANG_MS), 1);
            take(&l[i]);
            assert_true(waited < 100000);
        }
        close(l[i].fd);
    }
    for (size_t i = 0; i < n; i++) {
        must_close(slow[i]);
    }
    free(slow);
    free(l);
    bench_close(&b);
}

// ---- Stop while others hold its port ------------------------------------------------------------

// A server whose limits of time are so long that they help nobody.
static int open_patient(const pons_http_server_options *opts, void **ret_self, pons_error *err)
{
    const pons_http_server_ops *real = NULL;
    pons_http_server_options o = *opts;
    o.head_ms = o.body_ms = o.idle_ms = 2 * HANG_MS;
    const int rc = pons_http_server_load(&real, err);
    return rc < 0 ? rc : real->open(&o, ret_self, err);
}

static int connect_quietly(int port)
{
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)connect(fd, (const struct sockaddr *)&a, sizeof a);
    }
    return fd;
}

// A process that reads two ports, holds n connections to each, and opens one anew for each byte that it gets.
static pid_t crowd(size_t n, int *ret_fd)
{
    int pair[2], ports[2];
    char byte = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int *fds = calloc(2 * n, sizeof *fds);
        close(pair[1]);
        if (!fds || read(pair[0], ports, sizeof ports) != (ssize_t)sizeof ports) {
            _exit(1);
        }
        for (size_t i = 0; i < 2 * n; i++) {
            fds[i] = connect_quietly(ports[i % 2]);
        }
        for (size_t i = 0; write(pair[0], &byte, 1) == 1 && read(pair[0], &byte, 1) == 1;
             i = (i + 1) % (2 * n)) {
            close(fds[i]);
            fds[i] = connect_quietly(ports[i % 2]);
        }
        _exit(0);
    }
    close(pair[0]);
    *ret_fd = pair[1];
    return pid;
}

// The last test: the process keeps so few descriptors, fewer than the crowd holds at each port.
static void test_stop_beside_those_who_fill_both_ports(void **state)
{
    enum { CROWD = 1000, FILES = 512, STOPS = 100 };
    const struct rlimit few = {FILES, FILES};
    bench b;
    int fd = -1;
    char byte = 0;
    (void)state;
    const pid_t pid = crowd(CROWD, &fd);
    bench_open(&b);
    pons_http_server_ops patient = *b.o.http;
    patient.open = open_patient;
    pons_serve_close(b.serve);
    b.o.http = &patient;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    bench_start(&b);
    const int ports[2] = {b.port, b.stop_port};
    assert_int_equal(write(fd, ports, sizeof ports), sizeof ports);
    assert_int_equal(read(fd, &byte, 1), 1);
    for (int i = 0; i < STOPS; i++) {
        assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", NULL, NULL, NULL, "{}", true}),
                         200);
        assert_int_equal(write(fd, &byte, 1), 1);
        assert_int_equal(read(fd, &byte, 1), 1);
    }
    assert_int_equal(b.stops, STOPS);
    close(fd);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_route_against_every_attack),
        cmocka_unit_test(test_bodies_that_end_twice),
        cmocka_unit_test(test_heads_and_bodies_that_never_come),
        cmocka_unit_test(test_a_thousand_that_listen_and_a_thousand_that_pretend),
        cmocka_unit_test(test_stop_beside_those_who_fill_both_ports),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
