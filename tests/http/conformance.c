// conformance.c - the one suite for HTTP clients; see conformance.h.
//
// A server answers exactly what the test wrote: the order of events, limits of time and size,
// redirects judged one by one, addresses that may not be connected to, and calls that are cancelled
// or closed at any moment, also from another thread. Limits of time are small numbers; what is
// asserted is what happened, never how long it took.
#include "http/conformance.h"

#include "llm/fake_server.h"
#include "pons/buf.h"
#include "pons/random.h"
#include "unit.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define HANG_MS   120000 // a test that waits so long has failed
#define OK        "HTTP/1.1 200 OK\r\nConnection: close\r\nX-One: first\r\nx-one:  last \r\n\r\n"
#define OK_PACKED "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nConnection: close\r\n\r\n"
#define KEEP      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define TO(where)                                                                                  \
    "HTTP/1.1 302 Found\r\nLocation: " where "\r\nContent-Length: 4\r\nConnection: close\r\n\r\n"  \
    "gone"

static const pons_http_ops *http;
static const char *const want[] = {"X-One", NULL};

typedef struct bench {
    fake_server *server;
    void *client;
    char url[64];
    uint64_t calls;
} bench;

static bench open_bench(const fake_step *steps, size_t n)
{
    pons_error err = PONS_ERROR_INIT;
    bench b = {.server = fake_server_start(steps, n)};
    snprintf(b.url, sizeof b.url, "http://127.0.0.1:%d/", fake_server_port(b.server));
    assert_int_equal(http->open(NULL, NULL, &b.client, &err), PONS_OK);
    return b;
}

static void close_bench(bench *b)
{
    http->close(b->client);
    fake_server_stop(b->server);
}

static void wait_event(void *client, pons_http_event *ret)
{
    while (!http->next(client, ret)) {
        struct pollfd p = {.fd = http->event_fd(client), .events = POLLIN};
        assert_int_equal(poll(&p, 1, HANG_MS), 1);
    }
}

typedef struct reply {
    int status;
    char one[32], url[128], why[256];
    pons_buf body;
    bool failed;
    pons_http_fault fault;
} reply;

// The events of the client's only call, in their order.
static reply take_reply(void *client, uint64_t call)
{
    reply r = {.status = 0};
    bool last = false;
    while (!last) {
        pons_http_event ev;
        wait_event(client, &ev);
        assert_int_equal(ev.call, call);
        if (ev.kind == PONS_HTTP_HEAD) {
            assert_int_equal(r.status, 0);
            assert_int_equal(r.body.len, 0);
            r.status = ev.status;
            pons_http_header(&ev, "x-one", r.one, sizeof r.one);
        } else if (ev.kind == PONS_HTTP_DATA) {
            assert_true(r.status > 0 && ev.n > 0 && ev.data[ev.n] == '\0');
            pons_buf_bytes(&r.body, ev.data, ev.n);
        }
        last = ev.kind == PONS_HTTP_END || ev.kind == PONS_HTTP_FAILED;
        r.failed = ev.kind == PONS_HTTP_FAILED;
        r.fault = ev.fault;
        if (ev.url) {
            snprintf(r.url, sizeof r.url, "%s", ev.url);
        }
        snprintf(r.why, sizeof r.why, "%s", r.failed ? ev.data : "");
        pons_http_event_clear(&ev);
    }
    return r;
}

static reply ask(bench *b, pons_http_request r)
{
    pons_error err = PONS_ERROR_INIT;
    r.url = r.url ? r.url : b->url;
    r.want = want;
    assert_int_equal(http->start(b->client, ++b->calls, &r, &err), PONS_OK);
    return take_reply(b->client, b->calls);
}

static void is_good(reply r, const char *body)
{
    assert_false(r.failed);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.body.data ? r.body.data : "", body);
    pons_buf_fini(&r.body);
}

static void is_fault(reply r, pons_http_fault fault, const char *why)
{
    if (!r.failed || r.fault != fault || !strstr(r.why, why)) {
        print_error("expected fault %d with \"%s\", got %d: %s\n", fault, why, r.fault, r.why);
        fail();
    }
    pons_buf_fini(&r.body);
}

// What pons_http_status makes of a reply, of none, and of one that is no longer waited for.
static void test_status_alone(void **state)
{
    (void)state;
    const fake_step steps[] = {{.bytes = OK "taken"},
                               {.bytes = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"},
                               {.reset = true},
                               {.bytes = OK "the first of it", .hold = true}};
    bench b = open_bench(steps, 4);
    const pons_http_request r = {.url = b.url, .body = "{}", .body_n = 2, .whole_ms = HANG_MS};
    const pons_http_request none = {.url = "ftp://127.0.0.1/", .whole_ms = HANG_MS};
    const int end = eventfd(0, EFD_CLOEXEC);
    assert_int_equal(pons_http_status(http, b.client, ++b.calls, &r, end), 200);
    assert_int_equal(pons_http_status(http, b.client, ++b.calls, &r, -1), 503);
    assert_int_equal(pons_http_status(http, b.client, ++b.calls, &r, -1), 0);
    assert_int_equal(pons_http_status(http, b.client, ++b.calls, &none, -1), 0);
    assert_string_equal(fake_server_body(b.server, 0), "{}");
    eventfd_write(end, 1);
    assert_int_equal(pons_http_status(http, b.client, ++b.calls, &r, end), 0);
    close(end);
    close_bench(&b);
}

// ---- replies ------------------------------------------------------------------------------------

static void test_order(void **state)
{
    (void)state;
    const fake_step steps[] = {
        {.bytes = "HTTP/1.1 100 Continue\r\nX-One: interim\r\n\r\n" OK "a body in pieces",
         .piece = 1},
        {.bytes = OK},
        {.bytes = "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"},
        {.bytes = OK "posted"}};
    bench b = open_bench(steps, 4);
    reply r = ask(&b, (pons_http_request){.whole_ms = HANG_MS});
    assert_string_equal(r.one, "last");
    assert_string_equal(r.url, b.url);
    is_good(r, "a body in pieces");
    is_good(ask(&b, (pons_http_request){0}), "");
    r = ask(&b, (pons_http_request){0});
    assert_int_equal(r.status, 404);
    assert_string_equal(r.one, "");
    assert_string_equal(r.body.data, "no");
    pons_buf_fini(&r.body);
    const char *const headers[] = {"X-Key: secret", NULL};
    is_good(ask(&b, (pons_http_request){.headers = headers, .body = "{}", .body_n = 2}), "posted");
    assert_memory_equal(fake_server_head(b.server, 3), "POST / ", 7);
    assert_non_null(strstr(fake_server_head(b.server, 3), "X-Key: secret\r\n"));
    assert_null(strstr(fake_server_head(b.server, 3), "Expect:"));
    assert_string_equal(fake_server_body(b.server, 3), "{}");
    close_bench(&b);
    http->close(NULL);
}

static void test_what_cannot_be_asked(void **state)
{
    (void)state;
    const fake_step step = {.bytes = OK, .hold = true};
    bench b = open_bench(&step, 1);
    pons_error err = PONS_ERROR_INIT;
    const char *const key[] = {"Authorization: Bearer secret", NULL}; // for nobody else
    const pons_http_request bad[] = {{.url = ""},
                                     {.url = b.url, .decode = true},
                                     {.url = b.url, .redirects = 1, .body = "x", .body_n = 1},
                                     {.url = b.url, .redirects = 1, .headers = key},
                                     {.url = b.url, .redirects = 1, .method = "DELETE"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(http->start(b.client, 1, &bad[i], &err), PONS_EINVAL);
    }
    const pons_http_request good = {.url = b.url};
    assert_int_equal(http->start(b.client, 1, &good, &err), PONS_OK);
    assert_int_equal(http->start(b.client, 1, &good, &err), PONS_EEXIST);
    http->cancel(b.client, 1);
    b.calls = 1;
    is_fault(ask(&b, (pons_http_request){.url = "file:///etc/passwd"}), PONS_HTTP_BAD_SCHEME, "");
    is_fault(ask(&b, (pons_http_request){.url = "http://"}), PONS_HTTP_BAD_URL, "");
    is_fault(ask(&b, (pons_http_request){.url = "http://127.0.0.1:1/"}), PONS_HTTP_UNREACHABLE, "");
    pons_http_url u;
    assert_int_equal(http->url("ftp://x/", "/t", &u, &err), PONS_EINVAL);
    assert_int_equal(http->url("http://me:key@h:1/v1/?k=key#f", "/t", &u, &err), PONS_OK);
    assert_string_equal(u.url, "http://me:key@h:1/v1/t?k=key");
    assert_string_equal(u.shown, "http://h:1/v1/t");
    free(u.url);
    free(u.shown);
    close_bench(&b);
}

// ---- packed bodies ------------------------------------------------------------------------------

#define UNPACKED                                                                                   \
    "data: 0123456789 00000000000000000000000000000000000000000000000000000000000000000000000000"  \
    "000000"

static const char gzipped[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x49\x2c\x49\xb4\x52\x30\x30\x34"
    "\x32\x36\x31\x35\x33\xb7\xb0\x54\x30\xa0\x32\x00\x00\x97\xe9\x97\x59\x61\x00"
    "\x00\x00";
static const char zlibbed[] =
    "\x78\x9c\x4b\x49\x2c\x49\xb4\x52\x30\x30\x34\x32\x36\x31\x35\x33\xb7\xb0\x54"
    "\x30\xa0\x32\x00\x00\xd4\xc0\x13\x22";
static const char deflated[] =
    "\x4b\x49\x2c\x49\xb4\x52\x30\x30\x34\x32\x36\x31\x35\x33\xb7\xb0\x54\x30\xa0"
    "\x32\x00\x00";

// A server packs though nobody asked for it: what comes is unpacked, and no longer than it may be.
static void test_packed(void **state)
{
    (void)state;
    const struct {
        const char *encoding, *bytes;
        size_t n;
    } rows[] = {{"gzip", gzipped, sizeof gzipped - 1},
                {"deflate", zlibbed, sizeof zlibbed - 1},
                {"deflate", deflated, sizeof deflated - 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        const int head = snprintf(text, sizeof text, OK_PACKED, rows[i].encoding);
        memcpy(text + head, rows[i].bytes, rows[i].n);
        const fake_step step = {.bytes = text, .n = (size_t)head + rows[i].n, .piece = 7};
        bench b = open_bench(&step, 1);
        is_good(ask(&b, (pons_http_request){0}), UNPACKED);
        assert_non_null(strstr(fake_server_head(b.server, 0), "Accept-Encoding: identity\r\n"));
        is_good(ask(&b, (pons_http_request){.decode = true, .body_max = 1000}), UNPACKED);
        assert_null(strstr(fake_server_head(b.server, 1), "identity"));
        reply r = ask(&b, (pons_http_request){.body_max = 9});
        assert_string_equal(r.body.data, "data: 012");
        is_fault(r, PONS_HTTP_LONG_BODY, "");
        close_bench(&b);
    }
}

// ---- limits -------------------------------------------------------------------------------------

static void test_limits(void **state)
{
    (void)state;
    const fake_step steps[] = {
        {.bytes = OK "0123456789"},
        {.bytes = OK "0123456789"},
        {.bytes = "HTTP/1.1 200 OK\r\n", .again = "X-More: and more\r\n", .again_max = 1u << 24},
        {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf"}};
    bench b = open_bench(steps, 4);
    is_good(ask(&b, (pons_http_request){.body_max = 10}), "0123456789");
    reply r = ask(&b, (pons_http_request){.body_max = 9});
    assert_string_equal(r.body.data, "012345678");
    is_fault(r, PONS_HTTP_LONG_BODY, "");
    r = ask(&b, (pons_http_request){0});
    assert_int_equal(r.status, 0);
    is_fault(r, PONS_HTTP_LONG_HEAD, "");
    r = ask(&b, (pons_http_request){0});
    assert_string_equal(r.body.data, "half");
    is_fault(r, PONS_HTTP_LOST, "");
    close_bench(&b);
}

static void test_times(void **state)
{
    (void)state;
    const struct {
        fake_step step;
        pons_http_request request;
        pons_http_fault fault;
        const char *why, *body;
    } late[] = {
        {{.hold = true},
         {.start_ms = 50},
         PONS_HTTP_SLOW_START,
         "no answer began within 0.05 s",
         ""},
        {{.bytes = OK, .hold = true}, {.start_ms = 50}, PONS_HTTP_SLOW_START, "0.05 s", ""},
        {{.bytes = OK "x", .hold = true},
         {.next_ms = 50},
         PONS_HTTP_SLOW_NEXT,
         "nothing more",
         "x"},
        {{.bytes = OK "x", .hold = true},
         {.whole_ms = 50},
         PONS_HTTP_SLOW_WHOLE,
         "not whole",
         NULL},
    };
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        bench b = open_bench(&late[i].step, 1);
        reply r = ask(&b, late[i].request);
        if (late[i].body) {
            assert_string_equal(r.body.data ? r.body.data : "", late[i].body);
        }
        is_fault(r, late[i].fault, late[i].why);
        fake_server_wait_hangups(b.server, 1); // given up on the wire too
        close_bench(&b);
    }
}

// A reader that takes nothing does not make the client grow: the server is no longer read from.
static void test_back_pressure(void **state)
{
    (void)state;
    static const size_t whole = (size_t)32 * 1024 * 1024;
    const fake_step step = {.bytes = OK, .again = "0123456789abcdef", .again_max = whole};
    bench b = open_bench(&step, 1);
    pons_error err = PONS_ERROR_INIT;
    const pons_http_request r = {.url = b.url, .next_ms = HANG_MS};
    assert_int_equal(http->start(b.client, 1, &r, &err), PONS_OK);
    struct pollfd p = {.fd = http->event_fd(b.client), .events = POLLIN};
    assert_int_equal(poll(&p, 1, HANG_MS), 1);
    // Another client's whole exchanges pass meanwhile, on the same thread.
    const fake_step quick = {.bytes = OK "quick"};
    bench other = open_bench(&quick, 1);
    for (int i = 0; i < 20; i++) {
        is_good(ask(&other, (pons_http_request){0}), "quick");
    }
    close_bench(&other);
    assert_true(fake_server_sent(b.server) < whole / 2);
    reply got = take_reply(b.client, 1); // and nothing of it is lost
    assert_false(got.failed);
    assert_true(got.body.len >= whole && got.body.len < whole + 65536);
    for (size_t i = 0; i < got.body.len; i++) {
        assert_int_equal(got.body.data[i], "0123456789abcdef"[i % 16]);
    }
    pons_buf_fini(&got.body);
    close_bench(&b);
}

// ---- redirects and addresses --------------------------------------------------------------------

static atomic_int asked_port, refused_port;

static bool permit(const struct sockaddr *a)
{
    const void *at = a;
    const int port = ntohs(((const struct sockaddr_in *)at)->sin_port);
    asked_port = port;
    return port != refused_port;
}

static void test_redirects(void **state)
{
    (void)state;
    const fake_step steps[] = {{.bytes = TO("/next")},
                               {.bytes = TO("next/2?a=b")},
                               {.bytes = OK "there"},
                               {.bytes = TO("/round")},
                               {.bytes = TO("/round")},
                               {.bytes = TO("/round")},
                               {.bytes = TO("file:///etc/passwd")},
                               {.bytes = "HTTP/1.1 304 Not Modified\r\nConnection: close\r\n\r\n"},
                               {.bytes = TO("/next")}};
    bench b = open_bench(steps, 9);
    reply r = ask(&b, (pons_http_request){.redirects = 2});
    assert_non_null(strstr(r.url, "/next/2?a=b"));
    is_good(r, "there");
    is_fault(ask(&b, (pons_http_request){.redirects = 2}), PONS_HTTP_REDIRECTS, "(2) redirects");
    assert_int_equal(fake_server_requests(b.server), 6);
    is_fault(ask(&b, (pons_http_request){.redirects = 2}), PONS_HTTP_BAD_SCHEME, "");
    r = ask(&b, (pons_http_request){.redirects = 2}); // goes nowhere: a reply
    assert_int_equal(r.status, 304);
    pons_buf_fini(&r.body);
    r = ask(&b, (pons_http_request){0}); // not asked to follow
    assert_int_equal(r.status, 302);
    assert_string_equal(r.body.data, "gone");
    pons_buf_fini(&r.body);
    close_bench(&b);
}

// A refused address is not connected to: as the first one, behind a redirect, and where a
// connection that somebody else may use is already open.
static void test_addresses(void **state)
{
    (void)state;
    const fake_step inside[] = {{.bytes = KEEP, .hold = true}};
    bench in = open_bench(inside, 1);
    is_good(ask(&in, (pons_http_request){0}), "hi"); // and its connection stays
    char there[200];
    snprintf(there, sizeof there, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
             in.url);
    const fake_step outside[] = {{.bytes = there}, {.bytes = OK "outside"}};
    bench out = open_bench(outside, 2);
    refused_port = fake_server_port(in.server);
    asked_port = 0;
    is_fault(ask(&out, (pons_http_request){.url = in.url, .permit = permit}), PONS_HTTP_ADDRESS,
             "127.0.0.1");
    assert_int_equal(asked_port, refused_port);
    reply r = ask(&out, (pons_http_request){.redirects = 3, .permit = permit});
    assert_string_equal(r.url, in.url);
    is_fault(r, PONS_HTTP_ADDRESS, "127.0.0.1");
    is_good(ask(&out, (pons_http_request){.permit = permit}), "outside");
    assert_int_equal(fake_server_requests(in.server), 1);
    close_bench(&out);
    close_bench(&in);
}

// ---- ends ---------------------------------------------------------------------------------------

static void test_cancel(void **state)
{
    (void)state;
    const fake_step steps[] = {{.bytes = OK "begun", .hold = true}, {.bytes = OK "next"}};
    bench b = open_bench(steps, 2);
    pons_error err = PONS_ERROR_INIT;
    const pons_http_request r = {.url = b.url};
    assert_int_equal(http->start(b.client, ++b.calls, &r, &err), PONS_OK);
    struct pollfd p = {.fd = http->event_fd(b.client), .events = POLLIN};
    assert_int_equal(poll(&p, 1, HANG_MS), 1); // its head is there, not yet taken
    http->cancel(b.client, b.calls);
    pons_http_event ev;
    assert_false(http->next(b.client, &ev));
    fake_server_wait_hangups(b.server, 1); // aborted on the wire
    is_good(ask(&b, (pons_http_request){0}), "next");
    http->cancel(b.client, 1); // over already
    http->cancel(b.client, 99);
    close_bench(&b);
}

#define STORM 400

typedef struct storm {
    bench *b;
    _Atomic uint64_t started;
    uint64_t seed;
    char cancelled[STORM + 1]; // the storm's thread alone
} storm;

static void *cancel_storm(void *arg)
{
    storm *s = arg;
    pons_rand rand;
    pons_rand_seed(&rand, s->seed);
    for (uint64_t call = 1; call <= STORM; call++) {
        while (s->started < call) {
            sched_yield();
        }
        if (pons_rand_unit(&rand) < 0.7) {
            http->cancel(s->b->client, call);
            s->cancelled[call] = 1;
        }
    }
    return NULL;
}

// Calls that another thread cancels at any moment of theirs: what was not cancelled ends once.
static void test_cancel_storm(void **state)
{
    (void)state;
    const fake_step step = {.bytes = OK "a reply"};
    bench b = open_bench(&step, 1);
    storm s = {.b = &b, .seed = 20261122};
    char ended[STORM + 1] = {0};
    pthread_t thread;
    pons_error err = PONS_ERROR_INIT;
    print_message("seed %llu\n", (unsigned long long)s.seed);
    assert_int_equal(pthread_create(&thread, NULL, cancel_storm, &s), 0);
    for (uint64_t call = 1; call <= STORM; call++) {
        // The name of one in four has to be looked up, and is nobody's.
        const pons_http_request r = {.url = call % 4 ? b.url : "http://no-such-name.invalid/"};
        assert_int_equal(http->start(b.client, call, &r, &err), PONS_OK);
        s.started = call;
        pons_http_event ev;
        while (http->next(b.client, &ev)) {
            ended[ev.call] += ev.kind == PONS_HTTP_END || ev.kind == PONS_HTTP_FAILED;
            pons_http_event_clear(&ev);
        }
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (uint64_t call = 1; call <= STORM; call++) {
        while (!s.cancelled[call] && !ended[call]) {
            pons_http_event ev;
            wait_event(b.client, &ev);
            assert_false(s.cancelled[ev.call]); // it was cancelled before
            ended[ev.call] += ev.kind == PONS_HTTP_END || ev.kind == PONS_HTTP_FAILED;
            pons_http_event_clear(&ev);
        }
        assert_in_range(ended[call], s.cancelled[call] ? 0 : 1, 1);
    }
    close_bench(&b);
}

// A client closes in the middle of everything; another one of the process does not notice, and a
// third gets a thread of its own after the last has gone.
static void test_close(void **state)
{
    (void)state;
    const fake_step hold = {.bytes = OK "begun", .hold = true}, good = {.bytes = OK "good"};
    bench a = open_bench(&hold, 1), b = open_bench(&good, 1);
    pons_error err = PONS_ERROR_INIT;
    const pons_http_request here = {.url = a.url}, name = {.url = "http://no-such-name.invalid/"};
    assert_int_equal(http->start(a.client, 1, &here, &err), PONS_OK);
    fake_server_wait_requests(a.server, 1);
    assert_int_equal(http->start(a.client, 2, &name, &err), PONS_OK);
    assert_int_equal(http->start(a.client, 3, &here, &err), PONS_OK);
    http->close(a.client);
    fake_server_wait_hangups(a.server, 1);
    fake_server_stop(a.server);
    is_good(ask(&b, (pons_http_request){0}), "good");
    close_bench(&b);
    for (int i = 0; i < 20; i++) {
        bench c = open_bench(&good, 1);
        assert_int_equal(http->start(c.client, ++c.calls, &(pons_http_request){.url = c.url}, &err),
                         PONS_OK);
        if (i % 2) {
            is_good(take_reply(c.client, c.calls), "good");
        }
        close_bench(&c);
    }
}

// ---- turns --------------------------------------------------------------------------------------

#define TURNS 50

typedef struct turner { // the shared thread's, but for what is atomic
    void *_Atomic client;
    const char *url;
    uint64_t call;
    atomic_int turns, ends;
} turner;

// Asks again and again, from one reply to the next.
static int take_turn(void *user)
{
    turner *t = user;
    pons_error err = PONS_ERROR_INIT;
    pons_http_event ev;
    bool more = t->call == 0;
    t->turns++;
    while (http->next(t->client, &ev)) {
        more |= ev.kind == PONS_HTTP_END;
        t->ends += ev.kind == PONS_HTTP_END;
        pons_http_event_clear(&ev);
    }
    const pons_http_request r = {.url = t->url};
    if (more && http->start(t->client, ++t->call, &r, &err) != PONS_OK) {
        t->ends = -1;
    }
    return t->ends < TURNS / 2 ? -1 : 1;
}

// A user that lives on the shared thread gets turns for its events, its time and when it is woken,
// and none after it has closed, in whatever it was.
static void test_turns(void **state)
{
    (void)state;
    const fake_step good = {.bytes = OK "good"};
    bench b = open_bench(&good, 1);
    turner *t = calloc(1, sizeof *t);
    pons_error err = PONS_ERROR_INIT;
    void *client = NULL;
    t->url = b.url;
    assert_int_equal(http->open(take_turn, t, &client, &err), PONS_OK);
    t->client = client;
    http->wake(client);
    while (t->ends < TURNS && t->ends >= 0) { // they need nobody else
        is_good(ask(&b, (pons_http_request){0}), "good");
    }
    assert_true(t->ends >= TURNS && t->turns >= TURNS);
    for (int i = 0; i < TURNS; i++) {
        http->wake(client);
    }
    http->close(client);
    free(t); // ASan would tell of a late turn
    is_good(ask(&b, (pons_http_request){0}), "good");
    close_bench(&b);
}

// ---- names --------------------------------------------------------------------------------------

static pthread_mutex_t look_up_mtx = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t look_up_cond = PTHREAD_COND_INITIALIZER;
static int look_ups;    // [look_up_mtx] of slow.test that have begun
static bool look_up_on; // [look_up_mtx] they may end

// In the C library's place, also for libcurl's threads: no-such-name.invalid is nobody's, and
// slow.test is looked up for as long as the test wants, and is nobody's then.
int getaddrinfo(const char *restrict node, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict ret)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = NULL;
    if (node && strcmp(node, "no-such-name.invalid") == 0) {
        return EAI_NONAME;
    }
    if (node && strcmp(node, "slow.test") == 0) {
        pthread_mutex_lock(&look_up_mtx);
        look_ups++;
        pthread_cond_broadcast(&look_up_cond);
        while (!look_up_on) {
            pthread_cond_wait(&look_up_cond, &look_up_mtx);
        }
        pthread_mutex_unlock(&look_up_mtx);
        return EAI_NONAME;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(node, service, hints, ret);
}

static void let_look_ups(bool on)
{
    pthread_mutex_lock(&look_up_mtx);
    look_up_on = on;
    pthread_cond_broadcast(&look_up_cond);
    pthread_mutex_unlock(&look_up_mtx);
}

static void start_slow(bench *b, int n, int64_t connect_ms)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_http_request r = {.url = "http://slow.test/", .connect_ms = connect_ms};
    assert_int_equal(http->start(b->client, ++b->calls, &r, &err), PONS_OK);
    pthread_mutex_lock(&look_up_mtx);
    while (look_ups < n) {
        pthread_cond_wait(&look_up_cond, &look_up_mtx);
    }
    pthread_mutex_unlock(&look_up_mtx);
}

// A name that is being looked up can be given up at once, by hand and by its limit of time, and
// holds up nobody else of the process.
static void test_slow_names(void **state)
{
    (void)state;
    const fake_step good = {.bytes = OK "good"};
    bench a = open_bench(&good, 1), b = open_bench(&good, 1);
    start_slow(&a, 1, 0);
    is_good(ask(&b, (pons_http_request){0}), "good");
    http->cancel(a.client, a.calls);
    is_good(ask(&b, (pons_http_request){0}), "good");
    start_slow(&a, 2, 50);
    is_fault(take_reply(a.client, a.calls), PONS_HTTP_SLOW_CONNECT, "no connection within 0.05 s");
    is_good(ask(&b, (pons_http_request){0}), "good");
    start_slow(&a, 3, 0);
    close_bench(&a);
    is_good(ask(&b, (pons_http_request){0}), "good");
    close_bench(&b); // the last: the thread is left to itself
    b = open_bench(&good, 1);
    is_good(ask(&b, (pons_http_request){0}), "good");
    let_look_ups(true);
    is_good(ask(&b, (pons_http_request){0}), "good");
    close_bench(&b);
}

int http_conformance(const char *name, const pons_http_ops *ops)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_alone),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_what_cannot_be_asked),
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_back_pressure),
        cmocka_unit_test(test_redirects),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_storm),
        cmocka_unit_test(test_close),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_slow_names),
    };
    http = ops;
    look_ups = 0;
    look_up_on = false;
    return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}
