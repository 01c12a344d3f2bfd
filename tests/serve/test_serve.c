// The doors, the stream of events and the Stop port, over real sockets, with a host that writes down
// what it was told: every route against every attack, nothing lost or said twice by a stream that is
// cut anywhere, a stop while everything else is busy.
#include "pons/buf.h"
#include "pons/store.h"
#include "serve/serve_bench.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- doors --------------------------------------------------------------------------------------

static const struct {
    const char *method, *path, *role, *body;
    int ok;
} routes[] = {
    {"GET", "/v1/state", "viewer", NULL, 200},
    {"POST", "/v1/say", "operator", "{\"text\":\"hello\"}", 202},
    {"POST", "/v1/pause", "operator", "{}", 202},
    {"POST", "/v1/continue", "operator", "{}", 202},
    {"POST", "/v1/cancel", "operator", "{}", 202},
    {"POST", "/v1/approvals/q1", "operator", "{\"action\":\"approve\"}", 200},
    {"POST", "/v1/reset", "operator", "{}", 200},
    {"POST", "/v1/pose", "operator", "{\"x\":1,\"y\":2,\"yaw\":0}", 200},
    {"POST", "/v1/threads/main/fork", "operator", "{\"to\":\"other\"}", 201},
    {"GET", "/v1/companion", "viewer", NULL, 200},
    {"POST", "/v1/companion/message", "operator", "{\"text\":\"hello\"}", 202},
    {"POST", "/v1/doctor", "operator", "{}", 200},
    {"GET", "/v1/graphs/react", "viewer", NULL, 200},
    {"GET", "/v1/system", "viewer", NULL, 200},
    {"GET", "/v1/threads/main/state", "viewer", NULL, 404}, // nothing is stored of it
    {"GET", "/v1/threads", "viewer", NULL, 200},
    {"GET", "/v1/threads/main/events", "viewer", NULL, 200},
    {"GET", "/metrics", "viewer", NULL, 200},
    {"GET", "/v1/fleet", "viewer", NULL, 200},
    {"GET", "/v1/fleet/map", "viewer", NULL, 200},
    {"POST", "/v1/fleet/tasks", "operator", "{\"name\":\"tea\",\"stops\":\"desk\"}", 202},
    {"POST", "/v1/fleet/tasks/t1/cancel", "operator", "{}", 202},
    {"POST", "/v1/fleet/tasks/t1/settle", "operator", "{\"done\":false}", 202},
    {"POST", "/v1/fleet/robots/r1/clear", "operator", "{}", 202},
    {"POST", "/v1/fleet/zones/z1/block", "operator", "{\"blocked\":true}", 202},
    {"POST", "/v1/map/rooms", "operator", "{\"x\":1,\"y\":2,\"en\":\"den\"}", 200},
    {"GET", "/v1/map/rooms", "viewer", NULL, 200},
    {"GET", "/v1/map", "viewer", NULL, 503}, // no body in this test
};

enum { ROUTES = sizeof routes / sizeof routes[0] };

static void test_every_route_against_every_attack(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    char *deep = calloc(1, 200001), *large = malloc(1100001);
    memset(deep, '[', 200000);
    memset(large, ' ', 1100000);
    large[1100000] = '\0';
    for (size_t i = 0; i < ROUTES; i++) {
        const char *t = bench_token(&b, routes[i].role), *body = routes[i].body;
        const ask plain = {routes[i].method, routes[i].path, NULL, t, NULL, body, false};
        print_message("%s %s\n", plain.method, plain.path);
        const int before = b.changes;
        const bool writes = body != NULL;
        struct {
            const char *what;
            ask a;
            int want, or ;
        } attacks[] = {
            {"no token", plain, 401, 401},
            {"wrong token", plain, 401, 401},
            {"a token's beginning", plain, 401, 401},
            {"foreign host", plain, 403, 403},
            {"two hosts", plain, 400, 403},
            {"foreign origin", plain, 403, 403},
            {"null origin", plain, 403, 403},
            {"a form", plain, writes ? 415 : routes[i].ok, 0},
            {"text", plain, writes ? 415 : routes[i].ok, 0},
            {"bad JSON", plain, writes ? 400 : routes[i].ok, 0},
            {"deep JSON", plain, writes ? 400 : routes[i].ok, 0},
            {"oversize", plain, writes ? 413 : routes[i].ok, 0},
            {"another method", plain, 405, 405},
            {"traversal", plain, 400, 404},
            {"encoded traversal", plain, 400, 404},
            {"a zero", plain, 400, 404},
        };
        attacks[0].a.token = NULL;
        attacks[1].a.token = "0000000000000000000000000000000000000000000000000000000000000000";
        char part[33];
        snprintf(part, sizeof part, "%.32s", t);
        attacks[2].a.token = part;
        attacks[3].a.host = "evil.example";
        attacks[4].a.headers = "Host: evil.example\r\n";
        attacks[5].a.headers = "Origin: http://evil.example\r\n";
        attacks[6].a.headers = "Origin: null\r\n";
        attacks[7].a.headers = "Content-Type: application/x-www-form-urlencoded\r\n";
        attacks[8].a.headers = "Content-Type: text/plain\r\n";
        attacks[9].a.body = writes ? "{\"text\":" : NULL;
        attacks[10].a.body = writes ? deep : NULL;
        attacks[11].a.body = writes ? large : NULL;
        attacks[12].a.method = "PATCH";
        char path[128];
        snprintf(path, sizeof path, "/v1/../v1%s", routes[i].path + 3);
        attacks[13].a.path = path;
        char encoded[128];
        snprintf(encoded, sizeof encoded, "/v1/%%2e%%2e/v1%s", routes[i].path + 3);
        attacks[14].a.path = encoded;
        char zero[128];
        snprintf(zero, sizeof zero, "%s%%00", routes[i].path);
        attacks[15].a.path = zero;
        for (size_t k = 0; k < sizeof attacks / sizeof attacks[0]; k++) {
            const int got = bench_status(&b, &attacks[k].a);
            if (got != attacks[k].want && got != attacks[k].or) {
                fail_msg("%s %s, %s: %d", plain.method, plain.path, attacks[k].what, got);
            }
        }
        assert_int_equal(b.changes, before); // nothing of it reached the robot
        assert_int_equal(bench_status(&b, &plain), routes[i].ok);
        assert_int_equal(b.changes, before + writes);
        // Less than the role that a route wants is not enough, more is.
        ask other = plain;
        other.token = bench_token(&b, "viewer");
        assert_int_equal(bench_status(&b, &other), writes ? 403 : routes[i].ok);
        other.token = bench_token(&b, "admin");
        assert_int_equal(bench_status(&b, &other), routes[i].ok);
    }
    free(deep);
    free(large);
    bench_close(&b);
}

static void test_doors(void **state)
{
    bench b;
    struct stat st;
    pons_error err = PONS_ERROR_INIT;
    (void)state;
    bench_open(&b);
    assert_int_equal(stat(b.tokens, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    char name[64], kept[65];
    snprintf(name, sizeof name, "localhost:%d", b.port);
    snprintf(kept, sizeof kept, "%s", bench_token(&b, "viewer"));
    assert_int_equal(strlen(kept), 64);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/v1/state", name, kept, NULL, NULL, false}),
                     200);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/v1/nothing", NULL, kept, NULL, NULL, false}),
                     404);
    // The page's own origin is told so, and no other is.
    char origin[128];
    snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%d\r\n", b.port);
    char *r = bench_reply(&b, &(ask){"GET", "/v1/state", NULL, kept, origin, NULL, false});
    assert_int_equal(bench_code(r), 200);
    assert_non_null(strstr(r, "Access-Control-Allow-Origin: http://127.0.0.1:"));
    assert_non_null(strstr(r, "Content-Security-Policy: default-src 'self'"));
    assert_non_null(strstr(r, "X-Request-Id: "));
    free(r);
    r = bench_reply(
        &b, &(ask){"OPTIONS", "/v1/say", NULL, NULL, "Origin: http://evil\r\n", NULL, false});
    assert_int_equal(bench_code(r), 403);
    assert_null(strstr(r, "Access-Control-Allow"));
    free(r);
    // A token twice, also the right one beside nothing worth having; an origin on two lines.
    char twice[256];
    snprintf(twice, sizeof twice, "x-api-key: %s\r\nx-api-key: none\r\n", kept);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/v1/state", NULL, NULL, twice, NULL, false}),
                     401);
    snprintf(twice, sizeof twice, "x-api-key: none\r\nx-api-key: %s\r\n", kept);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/v1/state", NULL, NULL, twice, NULL, false}),
                     401);
    snprintf(twice, sizeof twice, "Authorization: Bearer %s\r\nAuthorization: Bearer %s\r\n", kept,
             kept);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/v1/state", NULL, NULL, twice, NULL, false}),
                     401);
    const char *const folds[] = {
        "Origin:\r\n http://evil.example",         "Origin: null\r\n .evil",
        "Origin: http://evil.example\r\n\tbeside", "Origin : http://evil.example",
        "X: y\r\n Origin: http://evil.example",    "Content-Length : 5"};
    for (size_t i = 0; i < sizeof folds / sizeof folds[0]; i++) {
        char folded[192];
        snprintf(folded, sizeof folded, "%s\r\n", folds[i]);
        r = bench_reply(&b, &(ask){"GET", "/v1/state", NULL, kept, folded, NULL, false});
        assert_int_equal(bench_code(r), 400);
        assert_null(strstr(r, "Access-Control-Allow"));
        free(r);
    }
    // The tokens are kept; a file that others may read is refused.
    pons_serve_close(b.serve);
    bench_start(&b);
    assert_string_equal(bench_token(&b, "viewer"), kept);
    pons_serve_close(b.serve);
    b.serve = NULL;
    assert_int_equal(chmod(b.tokens, 0644), 0);
    assert_int_equal(pons_serve_open(&b.o, &b.serve, &err), PONS_EREFUSED);
    assert_int_equal(chmod(b.tokens, 0600), 0);
    FILE *f = fopen(b.tokens, "w");
    fputs("viewer abc\n", f);
    fclose(f);
    assert_int_equal(pons_serve_open(&b.o, &b.serve, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, ":1:"));
    unlink(b.tokens);
    // Beyond this machine it takes a certificate.
    b.o.address = "0.0.0.0";
    assert_int_equal(pons_serve_open(&b.o, &b.serve, &err), PONS_EREFUSED);
    b.o.address = NULL;
    // An origin that was admitted; open doors.
    static const char *const origins[] = {"https://chat.example"};
    b.o.origins = origins;
    b.o.n_origins = 1;
    b.o.open_doors = true;
    bench_start(&b);
    r = bench_reply(&b, &(ask){"GET", "/v1/state", NULL, NULL, "Origin: https://chat.example\r\n",
                               NULL, false});
    assert_int_equal(bench_code(r), 200);
    assert_non_null(strstr(r, "Access-Control-Allow-Origin: https://chat.example"));
    free(r);
    assert_int_equal(
        bench_status(&b, &(ask){"POST", "/v1/say", NULL, NULL, NULL, "{\"text\":\"x\"}", false}),
        202);
    assert_int_equal(bench_status(&b, &(ask){"POST", "/v1/say", NULL, NULL,
                                             "Origin: http://evil\r\n", "{\"text\":\"x\"}", false}),
                     403);
    bench_close(&b);
}

// A certificate of its own: the page, events and Stop by https, and nothing in the clear.
static char *by_tls(const bench *b, int port, const char *request)
{
    char line[512];
    pons_buf out = PONS_BUF_INIT;
    snprintf(line, sizeof line,
             "printf '%s\\r\\nHost: 127.0.0.1:%d\\r\\n\\r\\n' | openssl s_client -quiet -connect "
             "127.0.0.1:%d -CAfile %s/cert.pem -verify_return_error 2>/dev/null",
             request, port, port, b->dir);
    FILE *f = popen(line, "r");
    assert_non_null(f);
    for (int c = fgetc(f); c != EOF; c = fgetc(f)) {
        pons_buf_byte(&out, (uint8_t)c);
    }
    pclose(f);
    pons_buf_byte(&out, 0);
    return pons_buf_take(&out, NULL);
}

static char *text_of(const bench *b, const char *name)
{
    char path[128], *text = calloc(1, 8192);
    snprintf(path, sizeof path, "%s/%s", b->dir, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, 8191, f) > 0);
    fclose(f);
    unlink(path);
    return text;
}

static void test_https(void **state)
{
    bench b;
    char line[512], path[128];
    (void)state;
    bench_open(&b);
    pons_serve_close(b.serve);
    b.serve = NULL;
    snprintf(line, sizeof line,
             "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes "
             "-keyout key.pem -out cert.pem -days 2 -subj /CN=pons -addext "
             "subjectAltName=IP:127.0.0.1 2>/dev/null && cp cert.pem served.pem",
             b.dir);
    assert_int_equal(system(line), 0);
    char *cert = text_of(&b, "served.pem"), *key = text_of(&b, "key.pem");
    b.o.certificate = cert;
    b.o.key = key;
    b.o.address = "0.0.0.0"; // which is allowed with a certificate
    static const char *const hosts[] = {"127.0.0.1"};
    b.o.hosts = hosts;
    b.o.n_hosts = 1;
    bench_start(&b);
    char *r = by_tls(&b, b.port, "GET / HTTP/1.0");
    assert_int_equal(bench_code(r), 200);
    free(r);
    r = by_tls(&b, b.port, "GET /v1/state HTTP/1.0");
    assert_int_equal(bench_code(r), 401);
    free(r);
    r = by_tls(&b, b.stop_port, "POST /stop HTTP/1.0");
    assert_int_equal(bench_code(r), 200);
    free(r);
    assert_int_equal(b.stops, 1);
    // In the clear there is no answer.
    assert_int_equal(bench_status(&b, &(ask){"GET", "/", NULL, NULL, NULL, NULL, false}), 0);
    snprintf(path, sizeof path, "%s/cert.pem", b.dir);
    unlink(path);
    bench_close(&b);
    free(cert);
    free(key);
}

// ---- the stream of events -----------------------------------------------------------------------

// Every "id: N" in a text, in order; false when one is not the last one and one.
static bool ids_follow(const char *text, int64_t *last)
{
    for (const char *at = strstr(text, "\nid: "); at; at = strstr(at + 1, "\nid: ")) {
        const int64_t id = strtoll(at + 5, NULL, 10);
        if (id != *last + 1) {
            return false;
        }
        *last = id;
    }
    return true;
}

static char *listen_until(const bench *b, const char *query, const char *last, const char *what)
{
    char header[64] = "", path[128];
    snprintf(path, sizeof path, "/v1/events%s", query);
    if (last) {
        snprintf(header, sizeof header, "Last-Event-ID: %s\r\n", last);
    }
    const int fd =
        bench_send(b, &(ask){"GET", path, NULL, bench_token(b, "viewer"), header, NULL, false});
    char *r = bench_until(fd, what);
    close(fd);
    return r;
}

static void test_a_stream_that_is_cut_anywhere_loses_nothing(void **state)
{
    enum { EVENTS = 1200 }; // more than the hub keeps
    bench b;
    (void)state;
    bench_open(&b);
    for (int i = 0; i < EVENTS; i += 10) {
        bench_commit(&b, 10);
    }
    // From the first on, in one go.
    char want[32];
    snprintf(want, sizeof want, "\nid: %d\n", EVENTS);
    char *r = listen_until(&b, "?after=0", NULL, want);
    int64_t last = 0;
    assert_true(ids_follow(r, &last));
    assert_int_equal(last, EVENTS);
    assert_non_null(strstr(r, "event: hello\n"));
    assert_non_null(strstr(r, "\"payload\":{\"a\":1}"));
    free(r);
    // Cut after each of some, and gone on from there.
    for (int at = 1; at < EVENTS; at += 97) {
        char id[32];
        snprintf(id, sizeof id, "%d", at);
        last = at;
        r = listen_until(&b, "", id, want);
        assert_true(ids_follow(r, &last));
        assert_int_equal(last, EVENTS);
        free(r);
    }
    // Who comes without a number hears only what is new; and over a restart of the server.
    const int fd = bench_send(
        &b, &(ask){"GET", "/v1/events", NULL, bench_token(&b, "viewer"), NULL, NULL, false});
    free(bench_until(fd, "event: hello"));
    bench_commit(&b, 1);
    snprintf(want, sizeof want, "id: %d\n", EVENTS + 1);
    r = bench_until(fd, want);
    assert_non_null(strstr(r, want));
    free(r);
    pons_serve_close(b.serve);
    free(bench_until(fd, NULL)); // it ends
    close(fd);
    b.serve = NULL;
    bench_commit(&b, 3); // while there is no server
    bench_start(&b);
    snprintf(want, sizeof want, "\nid: %d\n", EVENTS + 4);
    char id[32];
    snprintf(id, sizeof id, "%d", EVENTS + 1);
    r = listen_until(&b, "", id, want);
    last = EVENTS + 1;
    assert_true(ids_follow(r, &last));
    assert_int_equal(last, EVENTS + 4);
    free(r);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/v1/events", NULL, bench_token(&b, "viewer"),
                                             "Last-Event-ID: abc\r\n", NULL, false}),
                     422);
    bench_close(&b);
}

static void test_live_events_and_heartbeats(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    const int fd = bench_send(
        &b, &(ask){"GET", "/v1/events", NULL, bench_token(&b, "viewer"), NULL, NULL, false});
    const int other = bench_send(&b, &(ask){"GET", "/v1/events?thread=other", NULL,
                                            bench_token(&b, "viewer"), NULL, NULL, false});
    free(bench_until(fd, "event: hb"));
    free(bench_until(other, "event: hb"));
    pons_autovalue payload = pons_object("text", json_string("a\nb\r\n\ndata: c"), NULL);
    const pons_event ev = {
        .thread = "main", .ns = "react", .type = "skill.feedback", .payload = payload};
    pons_serve_event(b.serve, &ev);
    char *r = bench_until(fd, "skill.feedback\"");
    assert_non_null(strstr(r, "a\\nb\\r\\n\\ndata: c"));
    assert_null(strstr(r, "\nid: ")); // it has no number
    free(r);
    r = bench_until(other, "event: hb");
    assert_null(strstr(r, "skill.feedback"));
    free(r);
    close(fd);
    close(other);
    bench_close(&b);
}

// ---- stop ---------------------------------------------------------------------------------------

// It stops first. What cannot be read of the reason is left out.
static void test_stop_whatever_its_body_is(void **state)
{
    static const char json[] = "Content-Type: application/json\r\n";
    char longer[90 * 1024];
    const struct {
        const char *headers, *body, *reason;
    } all[] = {
        {json, "{\"reason\":\"a hand\"}", "a hand"},
        {"Content-Type: application/x-www-form-urlencoded\r\n", "{}", "the page"},
        {"Content-Type: application/x-www-form-urlencoded\r\n", "reason=now", "the page"},
        {"Content-Type: \r\n", "stop", "the page"},
        {json, "{\"reason\":", "the page"},
        {json, "{\"reason\":\"\xff\"}", "the page"},
        {json, "{\"reason\":\"\\u0000\"}", "the page"},
        {json, "{\"reason\":{\"reason\":[]}}", "the page"},
        {json, "[]", "the page"},
        {json, longer, "the page"},
        {"Expect: 100-continue\r\n", longer, "the page"},
    };
    bench b;
    (void)state;
    memset(longer, ' ', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    bench_open(&b);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        b.reason[0] = '\0';
        assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", NULL, NULL, all[i].headers,
                                                 all[i].body, true}),
                         all[i].headers[0] == 'E' ? 100 : 200);
        assert_int_equal(b.stops, (int)i + 1);
        assert_string_equal(b.reason, all[i].reason);
    }
    // One whose body never comes, and a chunked one that has no end.
    for (int i = 0; i < 2; i++) {
        char head[256];
        const int fd = bench_connect(b.stop_port), had = b.stops;
        snprintf(head, sizeof head, "POST /stop HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s\r\n\r\n",
                 b.stop_port, i ? "Transfer-Encoding: chunked" : "Content-Length: 20");
        assert_int_equal(send(fd, head, strlen(head), MSG_NOSIGNAL), (ssize_t)strlen(head));
        for (int k = 0; i && k < 3; k++) {
            assert_int_equal(send(fd, "800\r\n", 5, MSG_NOSIGNAL), 5);
            assert_int_equal(send(fd, longer, 0x800, MSG_NOSIGNAL), 0x800);
            assert_int_equal(send(fd, "\r\n", 2, MSG_NOSIGNAL), 2);
        }
        shutdown(fd, SHUT_WR);
        free(bench_until(fd, NULL));
        close(fd);
        assert_int_equal(bench_status(&b, &(ask){"GET", "/ping", NULL, NULL, NULL, NULL, true}),
                         200); // by the same thread, after it
        assert_int_equal(b.stops, had + 1);
    }
    bench_close(&b);
}

static void test_stop_while_everything_else_is_busy(void **state)
{
    enum { BUSY = 64 };
    bench b;
    int fds[BUSY];
    (void)state;
    bench_open(&b);
    for (int i = 0; i < BUSY; i++) { // streams, and requests that never become whole
        fds[i] = i % 2 ? bench_connect(b.port)
                       : bench_send(&b, &(ask){"GET", "/v1/events", NULL, bench_token(&b, "viewer"),
                                               NULL, NULL, false});
    }
    char *r =
        bench_reply(&b, &(ask){"POST", "/stop", NULL, NULL, NULL, "{\"reason\":\"a hand\"}", true});
    assert_int_equal(bench_code(r), 200);
    assert_non_null(strstr(r, "\"latched\":true"));
    free(r);
    assert_int_equal(b.stops, 1);
    assert_string_equal(b.reason, "a hand");
    // Without a token, without a body, with a token that is none; from the page's origin.
    char origin[64];
    snprintf(origin, sizeof origin, "Origin: http://127.0.0.1:%d\r\n", b.port);
    assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", NULL, NULL, NULL, NULL, true}), 200);
    assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", NULL, "wrong", NULL, NULL, true}),
                     200);
    r = bench_reply(&b, &(ask){"POST", "/stop", NULL, NULL, origin, "{}", true});
    assert_int_equal(bench_code(r), 200);
    assert_non_null(strstr(r, "Access-Control-Allow-Origin: http://127.0.0.1:"));
    free(r);
    assert_int_equal(b.stops, 4);
    assert_int_equal(bench_status(&b, &(ask){"OPTIONS", "/stop", NULL, NULL, origin, NULL, true}),
                     204);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/ping", NULL, NULL, NULL, NULL, true}), 200);
    // Foreign pages may not, and nothing else is there.
    assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", NULL, NULL, "Origin: http://evil\r\n",
                                             "{}", true}),
                     403);
    assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", "evil", NULL, NULL, NULL, true}),
                     403);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/v1/state", NULL, bench_token(&b, "admin"),
                                             NULL, NULL, true}),
                     404);
    assert_int_equal(b.stops, 4);
    // One that is not on the disk says so.
    r = bench_reply(&b,
                    &(ask){"POST", "/stop", NULL, NULL, NULL, "{\"reason\":\"no disk\"}", true});
    assert_int_equal(bench_code(r), 500);
    assert_non_null(strstr(r, "\"latched\":false"));
    assert_non_null(strstr(r, "\"stopped\":true"));
    free(r);
    for (int i = 0; i < BUSY; i++) {
        close(fds[i]);
    }
    bench_close(&b);
}

// ---- the page -----------------------------------------------------------------------------------

static void test_a_client_begins_some_events_back(void **state)
{
    (void)state;
    static const struct {
        const char *path, *hello;
    } table[] = {{"/v1/events", "\"seq\":12,\"newest\":12"},
                 {"/v1/events?last=5", "\"seq\":7,\"newest\":12"},
                 {"/v1/events?last=50", "\"seq\":0,\"newest\":12"},
                 {"/v1/events?last=-3", "\"seq\":12,\"newest\":12"}};
    bench b;
    bench_open(&b);
    bench_commit(&b, 12);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const ask a = {"GET", table[i].path, NULL, bench_token(&b, "viewer"), NULL, NULL, false};
        const int fd = bench_send(&b, &a);
        char *text = bench_until(fd, table[i].hello);
        assert_non_null(strstr(text, table[i].hello));
        free(text);
        close(fd);
    }
    const ask bad = {"GET", "/v1/events?last=x", NULL, bench_token(&b, "viewer"), NULL, NULL,
                     false};
    assert_int_equal(bench_status(&b, &bad), 422);
    bench_close(&b);
}

// ---- files --------------------------------------------------------------------------------------

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_files_of_the_workspace_and_no_others(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int status;
        const char *has; // in the reply
    } table[] = {
        {"", 200, "\"name\":\"notes\""},
        {"notes", 200, "\"name\":\"a.md\""},
        {"notes/a.md", 200, "\"text\":\"hello\""},
        {"notes/raw", 200, "\"text\":null"},
        {"run/serve.token", 404, NULL},
        {"run", 404, NULL},
        {"config", 404, NULL},
        {"pons.db-wal", 404, NULL},
        {"notes/../run/serve.token", 404, NULL},
        {"..", 404, NULL},
        {"/etc/passwd", 404, NULL},
        {"notes//a.md", 404, NULL},
        {"notes/link", 404, NULL},
        {"out/passwd", 404, NULL},
        {"notes/none", 404, NULL},
        {".hidden", 404, NULL},
        {"notes/hard", 404, NULL}, // another name of run/serve.token
        {"NOTES", 404, NULL},
        {"Run/serve.token", 404, NULL},
        {"mcp.json", 404, NULL},
        {"notes/mcp-hard", 404, NULL},   // of mcp.json
        {"private/diary.md", 404, NULL}, // hidden by the configuration
        {"private", 404, NULL},
        {"notes/diary", 404, NULL}, // another name of that
        {"notes/store", 404, NULL}, // of pons.db-wal
    };
    pons_autovalue hides = NULL;
    bench b;
    char ws[64], at[128];
    snprintf(ws, sizeof ws, "/tmp/pons-files-XXXXXX");
    assert_non_null(mkdtemp(ws));
    static const char *const folders[] = {"notes", "run", "config", "private"};
    for (size_t i = 0; i < 4; i++) {
        snprintf(at, sizeof at, "%s/%s", ws, folders[i]);
        assert_int_equal(mkdir(at, 0700), 0);
    }
    write_file(ws, "notes/a.md", "hello");
    write_file(ws, "notes/raw", "\xff\xfe");
    write_file(ws, "run/serve.token", "secret");
    write_file(ws, "pons.db-wal", "secret");
    write_file(ws, ".hidden", "secret");
    write_file(ws, "mcp.json", "secret");
    write_file(ws, "private/diary.md", "secret");
    static const char *const links[][2] = {{"run/serve.token", "notes/hard"},
                                           {"mcp.json", "notes/mcp-hard"},
                                           {"private/diary.md", "notes/diary"},
                                           {"pons.db-wal", "notes/store"}};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++) {
        char from[128];
        snprintf(from, sizeof from, "%s/%s", ws, links[i][0]);
        snprintf(at, sizeof at, "%s/%s", ws, links[i][1]);
        assert_int_equal(link(from, at), 0);
    }
    hides = pons_object("workspace", json_string(ws), "hidden", json_pack("[s]", "private"), NULL);
    snprintf(at, sizeof at, "%s/notes/link", ws);
    assert_int_equal(symlink("/etc/passwd", at), 0);
    snprintf(at, sizeof at, "%s/out", ws);
    assert_int_equal(symlink("/etc", at), 0);
    bench_open(&b);
    pons_serve_close(b.serve);
    b.o.workspace = ws;
    b.o.tools = hides;
    bench_start(&b);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        snprintf(at, sizeof at, "/v1/files?path=%s", table[i].path);
        const ask a = {"GET", at, NULL, bench_token(&b, "operator"), NULL, NULL, false};
        char *reply = bench_reply(&b, &a);
        if (bench_code(reply) != table[i].status ||
            (table[i].has && !strstr(reply, table[i].has)) || strstr(reply, "secret") ||
            strstr(reply, "\"name\":\"run\"") || strstr(reply, "\"name\":\"link\"") ||
            strstr(reply, "hard\"") || strstr(reply, "\"name\":\"mcp.json\"") ||
            strstr(reply, "\"name\":\"private\"") || strstr(reply, "\"name\":\"diary\"")) {
            fail_msg("%s: %s", table[i].path, reply);
        }
        free(reply);
    }
    const ask viewer = {"GET", "/v1/files", NULL, bench_token(&b, "viewer"), NULL, NULL, false};
    assert_int_equal(bench_status(&b, &viewer), 403);
    bench_close(&b);
    static const char *const made[] = {
        "notes/a.md",  "notes/raw",      "notes/link",  "run/serve.token",
        "pons.db-wal", ".hidden",        "out",         "notes/hard",
        "mcp.json",    "notes/mcp-hard", "notes/diary", "private/diary.md",
        "notes/store"};
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        snprintf(at, sizeof at, "%s/%s", ws, made[i]);
        unlink(at);
    }
    for (size_t i = 0; i < 4; i++) {
        snprintf(at, sizeof at, "%s/%s", ws, folders[i]);
        rmdir(at);
    }
    rmdir(ws);
}

// ---- a hand -------------------------------------------------------------------------------------

static int drive(const bench *b, const char *pilot, int n, int64_t tick, int64_t *ret_tick)
{
    char body[256];
    snprintf(body, sizeof body, "{\"pilot\":\"%s\",\"n\":%d,\"tick\":%lld,\"v\":0.25,\"w\":0.5}",
             pilot, n, (long long)tick);
    const ask a = {"POST", "/v1/drive", NULL, bench_token(b, "operator"), NULL, body, false};
    char *reply = bench_reply(b, &a);
    const char *at = reply ? strstr(reply, "\"tick\":") : NULL;
    const int code = bench_code(reply);
    if (at) {
        *ret_tick = strtoll(at + 7, NULL, 10);
    }
    free(reply);
    return code;
}

static void body_says(pons_link *body, const char *skill)
{
    assert_int_equal(
        pons_link_send(body,
                       pons_object("type", json_string("telemetry"), "goal",
                                   pons_object("skill", json_string(skill), NULL), NULL),
                       NULL),
        PONS_OK);
}

// The velocity of the next steer that comes to the body.
static double steered(pons_link *body)
{
    struct pollfd p = {.fd = pons_link_fd(body), .events = POLLIN};
    pons_value *m = NULL;
    while (pons_link_recv(body, &m, NULL) != 1) {
        assert_true(poll(&p, 1, 120000) > 0);
    }
    assert_string_equal(pons_get_str(m, "type", ""), "steer");
    const double v = pons_get_num(m, "v", -1.0);
    pons_value_unref(m);
    return v;
}

static void test_one_hand_steers_and_only_what_is_fresh(void **state)
{
    (void)state;
    bench b;
    int64_t tick = 0, none = 0;
    bench_open(&b);
    b.body = true;
    int code = drive(&b, "ann", 1, 0, &none); // which wakes the observer
    assert_int_equal(code, 409);
    while (!b.body_fd) {
        usleep(1000);
    }
    pons_link *body = pons_link_from_fd(b.body_fd);
    body_says(body, "navigate_to_pose");
    assert_int_equal(drive(&b, "ann", 2, 0, &none), 409); // another goal has the base
    body_says(body, "drive_by_hand");
    int n = 3;
    while ((code = drive(&b, "ann", n++, 0, &tick)) == 409) { // until it is heard
        usleep(1000);
    }
    assert_int_equal(code, 202);
    assert_true(steered(body) == 0.0); // a velocity without a tick is none
    assert_int_equal(drive(&b, "ann", n, tick, &tick), 202);
    const double v = steered(body); // 0.25; on a very slow machine its tick may be old by now
    assert_true(v == 0.25 || v == 0.0);
    assert_int_equal(drive(&b, "ann", n, tick, &none), 409);            // overtaken by a later one
    assert_int_equal(drive(&b, "ann", n + 1, tick - 5000, &none), 202); // held back by a network
    assert_true(steered(body) == 0.0);
    assert_int_equal(drive(&b, "ann", n + 2, tick + 100000, &none), 202); // a clock made up
    assert_true(steered(body) == 0.0);
    code = drive(&b, "bob", 1, 0, &none); // the seat is taken, for a second of silence
    while (code == 409) {
        usleep(50000);
        code = drive(&b, "bob", 1, 0, &none);
    }
    assert_int_equal(code, 202);
    assert_true(steered(body) == 0.0);
    pons_link_close(body);
    bench_close(&b);
}

static void test_the_page(void **state)
{
    bench b;
    char header[128];
    (void)state;
    bench_open(&b);
    char *r = bench_reply(&b, &(ask){"GET", "/", NULL, NULL, NULL, NULL, false});
    assert_int_equal(bench_code(r), 200);
    assert_non_null(strstr(r, "Content-Type: text/html; charset=utf-8"));
    const char *etag = strstr(r, "ETag: ");
    assert_non_null(etag);
    snprintf(header, sizeof header, "If-None-Match: %.*s\r\n", (int)strcspn(etag + 6, "\r"),
             etag + 6);
    free(r);
    assert_int_equal(bench_status(&b, &(ask){"GET", "/", NULL, NULL, header, NULL, false}), 304);
    static const char *const none[] = {
        "/ui/none.js",       "/ui/..%2findex.html", "/ui/%2e%2e/CMakeLists.txt",
        "/ui/views/../x.js", "/ui//etc/passwd",     "/index.html"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        const int got = bench_status(&b, &(ask){"GET", none[i], NULL, NULL, NULL, NULL, false});
        assert_true(got == 404 || got == 400);
    }
    bench_close(&b);
}

// What cannot be a task reaches no orchestrator.
static void test_a_task_of_a_fleet_is_looked_at(void **state)
{
    static const char *const bad[] = {"{\"stops\":\"desk\"}",
                                      "{\"name\":\"tea\"}",
                                      "{\"name\":\"\",\"stops\":\"desk\"}",
                                      "{\"name\":\"tea\",\"stops\":[\"desk\"]}",
                                      "{\"name\":\"tea\",\"stops\":\"desk\",\"payload_kg\":-1}",
                                      "{\"name\":\"tea\",\"stops\":\"desk\",\"deadline_s\":1e300}",
                                      "{\"name\":\"tea\",\"stops\":\"desk\",\"needs\":7}"};
    bench b;
    (void)state;
    bench_open(&b);
    const int before = b.changes;
    ask a = {.method = "POST", .path = "/v1/fleet/tasks", .token = bench_token(&b, "operator")};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        a.body = bad[i];
        assert_int_equal(bench_status(&b, &a), 422);
    }
    assert_int_equal(b.changes, before);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_task_of_a_fleet_is_looked_at),
        cmocka_unit_test(test_every_route_against_every_attack),
        cmocka_unit_test(test_doors),
        cmocka_unit_test(test_https),
        cmocka_unit_test(test_a_stream_that_is_cut_anywhere_loses_nothing),
        cmocka_unit_test(test_live_events_and_heartbeats),
        cmocka_unit_test(test_stop_whatever_its_body_is),
        cmocka_unit_test(test_stop_while_everything_else_is_busy),
        cmocka_unit_test(test_a_client_begins_some_events_back),
        cmocka_unit_test(test_files_of_the_workspace_and_no_others),
        cmocka_unit_test(test_one_hand_steers_and_only_what_is_fresh),
        cmocka_unit_test(test_the_page),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
