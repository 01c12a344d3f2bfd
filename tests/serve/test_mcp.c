// The Model Context Protocol over HTTP as a client meets it that does not keep to the rules, loses
// connections, comes back, and shares the server with another one. What the official clients say to
// it is in tests/serve/peers.
#include "pons/buf.h"
#include "serve/serve_bench.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// ---- a provider of tools ------------------------------------------------------------------------

typedef struct shelf { // without `generation`: its list never changes
    pthread_mutex_t mtx;
    int fd;
    uint64_t slow[64]; // calls that go on until they are told to end
    size_t n_slow;
    pons_tool_event ready[256];
    size_t n_ready;
    int started, canceled;
} shelf;

static int list(void *self, pons_value **ret, pons_error *err)
{
    (void)self;
    (void)err;
    *ret = json_loads("[{\"name\":\"echo\",\"risk\":\"safe\",\"read_only\":true,\"parameters\":{"
                      "\"type\":\"object\"}},"
                      "{\"name\":\"slow\",\"risk\":\"warn\",\"parameters\":{\"type\":\"object\"}},"
                      "{\"name\":\"burn\",\"risk\":\"dangerous\",\"parameters\":{\"type\":"
                      "\"object\"}}]",
                      0, NULL);
    return PONS_OK;
}

static void ready(shelf *s, pons_tool_event ev)
{
    const uint64_t one = 1;
    assert_true(s->n_ready < 256);
    s->ready[s->n_ready++] = ev;
    assert_int_equal(write(s->fd, &one, sizeof one), sizeof one);
}

static int start(void *self, uint64_t call, const char *tool, const pons_value *args,
                 const char *key, pons_error *err)
{
    shelf *s = self;
    (void)key;
    (void)err;
    pthread_mutex_lock(&s->mtx);
    s->started++;
    if (strcmp(tool, "slow") == 0) {
        s->slow[s->n_slow++] = call;
    } else {
        ready(s,
              (pons_tool_event){.call = call,
                                .kind = PONS_TOOL_DONE,
                                .value = pons_object(
                                    "output", json_string(pons_get_str(args, "say", tool)), NULL)});
    }
    pthread_mutex_unlock(&s->mtx);
    return PONS_OK;
}

static void cancel(void *self, uint64_t call)
{
    shelf *s = self;
    (void)call;
    pthread_mutex_lock(&s->mtx);
    s->canceled++;
    pthread_mutex_unlock(&s->mtx);
}

static int event_fd(void *self)
{
    return ((const shelf *)self)->fd;
}

static bool next(void *self, pons_tool_event *ret)
{
    shelf *s = self;
    uint64_t n;
    pthread_mutex_lock(&s->mtx);
    const bool any = s->n_ready > 0;
    if (any) {
        *ret = s->ready[0];
        memmove(s->ready, s->ready + 1, --s->n_ready * sizeof *s->ready);
    } else if (read(s->fd, &n, sizeof n) < 0) {
        n = 0;
    }
    pthread_mutex_unlock(&s->mtx);
    return any;
}

static void close_shelf(void *self)
{
    (void)self;
}

// The oldest slow call says something, or ends.
static void slow_says(shelf *s, const char *progress)
{
    for (size_t there = 0; there == 0; usleep(1000)) { // the call may not have come yet
        pthread_mutex_lock(&s->mtx);
        there = s->n_slow;
        pthread_mutex_unlock(&s->mtx);
    }
    pthread_mutex_lock(&s->mtx);
    const uint64_t call = s->slow[0];
    if (progress) {
        ready(s, (pons_tool_event){
                     .call = call, .kind = PONS_TOOL_PROGRESS, .text = strdup(progress)});
    } else {
        ready(s, (pons_tool_event){.call = call,
                                   .kind = PONS_TOOL_DONE,
                                   .value = pons_object("output", json_string("at last"), NULL)});
        memmove(s->slow, s->slow + 1, --s->n_slow * sizeof *s->slow);
    }
    pthread_mutex_unlock(&s->mtx);
}

// ---- a bench with it ----------------------------------------------------------------------------

typedef struct tools_bench {
    bench b;
    shelf s;
    pons_tools tools;
    pons_mcp_server_options o;
} tools_bench;

static void open_bench(tools_bench *t)
{
    static const pons_tools_ops ops = {.abi = PONS_TOOL_ABI,
                                       .name = "shelf",
                                       .close = close_shelf,
                                       .list = list,
                                       .start = start,
                                       .cancel = cancel,
                                       .event_fd = event_fd,
                                       .next = next};
    memset(t, 0, sizeof *t);
    pthread_mutex_init(&t->s.mtx, NULL);
    t->s.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    t->tools = (pons_tools){&ops, &t->s};
    t->o = (pons_mcp_server_options){.tools = &t->tools,
                                     .n_tools = 1,
                                     .clock = pons_clock_real(),
                                     .name = "pons",
                                     .version = "1",
                                     .log_fd = -1};
    bench_open(&t->b);
    assert_int_equal(
        bench_status(&t->b, &(ask){"POST", "/mcp", NULL, bench_token(&t->b, "operator"), NULL,
                                   "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}", false}),
        404); // a server without tools
    pons_serve_close(t->b.serve);
    t->b.o.mcp = &t->o;
    bench_start(&t->b);
}

static void close_bench(tools_bench *t)
{
    bench_close(&t->b);
    close(t->s.fd);
    for (size_t i = 0; i < t->s.n_ready; i++) {
        pons_tool_event_clear(&t->s.ready[i]);
    }
    pthread_mutex_destroy(&t->s.mtx);
}

static int send_to(const tools_bench *t, const char *method, const char *session, const char *more,
                   const char *body)
{
    char headers[512];
    snprintf(headers, sizeof headers, "Accept: application/json, text/event-stream\r\n%s%s%s%s",
             session ? "Mcp-Session-Id: " : "", session ? session : "", session ? "\r\n" : "",
             more ? more : "");
    return bench_send(
        &t->b, &(ask){method, "/mcp", NULL, bench_token(&t->b, "operator"), headers, body, false});
}

static char *reply_of(const tools_bench *t, const char *method, const char *session,
                      const char *more, const char *body)
{
    const int fd = send_to(t, method, session, more, body);
    char *r = bench_until(fd, NULL);
    close(fd);
    return r;
}

static int status_of(const tools_bench *t, const char *method, const char *session,
                     const char *more, const char *body)
{
    char *r = reply_of(t, method, session, more, body);
    const int n = bench_code(r);
    free(r);
    return n;
}

static void begin(const tools_bench *t, const char *version, const char *capabilities, char ret[64])
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"t\","
             "\"version\":\"1\"}}}",
             version, capabilities);
    char *r = reply_of(t, "POST", NULL, NULL, body);
    assert_int_equal(bench_code(r), 200);
    assert_non_null(strstr(r, "\"serverInfo\""));
    const char *id = strstr(r, "Mcp-Session-Id: ");
    assert_non_null(id);
    snprintf(ret, 64, "%.*s", (int)strcspn(id + 16, "\r"), id + 16);
    assert_int_equal(strlen(ret), 32);
    free(r);
    assert_int_equal(status_of(t, "POST", ret, NULL,
                               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"),
                     202);
}

#define CALL(id, name, args)                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name    \
    "\",\"arguments\":" args ",\"_meta\":{\"progressToken\":\"p\"}}}"

// ---- tests --------------------------------------------------------------------------------------

static void test_a_session(void **state)
{
    tools_bench t;
    char one[64], two[64];
    (void)state;
    open_bench(&t);
    begin(&t, "2025-06-18", "{}", one);
    begin(&t, "2025-11-25", "{}", two);
    assert_string_not_equal(one, two);
    // A list is JSON, a call is a stream that ends with its answer; both clients use the same ids.
    char *r =
        reply_of(&t, "POST", one, NULL, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    assert_non_null(strstr(r, "Content-Type: application/json"));
    assert_non_null(strstr(r, "\"name\":\"echo\""));
    free(r);
    r = reply_of(&t, "POST", one, NULL, CALL("1", "echo", "{\"say\":\"one\"}"));
    assert_non_null(strstr(r, "Content-Type: text/event-stream"));
    assert_non_null(strstr(r, "id: 3-1\nevent: message\ndata: {"));
    assert_non_null(strstr(r, "\"text\":\"one\""));
    free(r);
    r = reply_of(&t, "POST", two, NULL, CALL("1", "echo", "{\"say\":\"two\"}"));
    assert_non_null(strstr(r, "\ndata: \n\n")); // to come back by, for a client of 2025-11-25
    assert_non_null(strstr(r, "\"text\":\"two\""));
    assert_null(strstr(r, "\"text\":\"one\""));
    free(r);
    // The protocol's doors.
    static const char ping[] = "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}";
    assert_int_equal(status_of(&t, "POST", one, NULL, ping), 200);
    assert_int_equal(status_of(&t, "POST", NULL, NULL, ping), 400);
    assert_int_equal(status_of(&t, "POST", "no-such-session", NULL, ping), 404);
    assert_int_equal(status_of(&t, "POST", one, "MCP-Protocol-Version: 2025-06-18\r\n", ping), 200);
    assert_int_equal(status_of(&t, "POST", one, "MCP-Protocol-Version: 1999-01-01\r\n", ping), 400);
    assert_int_equal(status_of(&t, "POST", one, NULL, "[]"), 422);
    assert_int_equal(status_of(&t, "POST", one, NULL, "{}"), 422);
    assert_int_equal(status_of(&t, "POST", one, NULL,
                               "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":"
                               "\"ping\"}"),
                     422);
    assert_int_equal(status_of(&t, "POST", one, "Origin: http://evil.example\r\n", ping), 403);
    assert_int_equal(status_of(&t, "PUT", one, NULL, ping), 405);
    // The end of one is not the end of the other.
    assert_int_equal(status_of(&t, "DELETE", one, NULL, NULL), 204);
    assert_int_equal(status_of(&t, "POST", one, NULL, ping), 404);
    assert_int_equal(status_of(&t, "GET", one, NULL, NULL), 404);
    assert_int_equal(status_of(&t, "POST", two, NULL, ping), 200);
    close_bench(&t);
}

static void test_a_cut_stream_goes_on(void **state)
{
    tools_bench t;
    char id[64], header[64];
    (void)state;
    open_bench(&t);
    begin(&t, "2025-11-25", "{}", id);
    int fd = send_to(&t, "POST", id, NULL, CALL("\"a\"", "slow", "{}"));
    slow_says(&t.s, "first");
    char *r = bench_until(fd, "\"message\":\"first\"");
    const char *last = r;
    for (const char *at = r; (at = strstr(at, "id: ")); at++) {
        last = at;
    }
    snprintf(header, sizeof header, "Last-Event-ID: %.*s\r\n", (int)strcspn(last + 4, "\n"),
             last + 4);
    free(r);
    close(fd); // the line breaks; the call goes on
    slow_says(&t.s, "second");
    fd = send_to(&t, "GET", id, header, NULL);
    r = bench_until(fd, "\"message\":\"second\"");
    assert_null(strstr(r, "\"message\":\"first\""));
    free(r);
    slow_says(&t.s, NULL);
    r = bench_until(fd, NULL);
    assert_non_null(strstr(r, "at last"));
    free(r);
    close(fd);
    // Whoever lost only the answer gets it again; and no more than once each time.
    r = reply_of(&t, "GET", id, header, NULL);
    assert_non_null(strstr(r, "second"));
    assert_non_null(strstr(r, "at last"));
    free(r);
    assert_int_equal(status_of(&t, "GET", id, "Last-Event-ID: x\r\n", NULL), 400);
    assert_int_equal(status_of(&t, "GET", id, "Last-Event-ID: 77-1\r\n", NULL), 404);
    assert_int_equal(status_of(&t, "GET", id, "Last-Event-ID: 0-99\r\n", NULL), 404);
    // What is not kept any more is not passed over.
    fd = send_to(&t, "POST", id, NULL, CALL("\"b\"", "slow", "{}"));
    for (int i = 0; i < 1100; i++) {
        char text[32];
        snprintf(text, sizeof text, "step %d.", i);
        slow_says(&t.s, text);
        snprintf(text, sizeof text, "step %d.\"", i);
        free(bench_until(fd, text));
    }
    close(fd);
    assert_int_equal(status_of(&t, "GET", id, header, NULL), 404);
    // The end of a session ends its calls.
    assert_int_equal(t.s.canceled, 0);
    assert_int_equal(status_of(&t, "DELETE", id, NULL, NULL), 204);
    for (int canceled = 0; canceled == 0; usleep(1000)) {
        pthread_mutex_lock(&t.s.mtx);
        canceled = t.s.canceled;
        pthread_mutex_unlock(&t.s.mtx);
    }
    close_bench(&t);
}

static void test_a_person_is_asked(void **state)
{
    tools_bench t;
    char id[64];
    (void)state;
    open_bench(&t);
    begin(&t, "2025-06-18", "{\"elicitation\":{}}", id);
    for (int yes = 0; yes < 2; yes++) {
        const int fd = send_to(&t, "POST", id, NULL, CALL("5", "burn", "{\"what\":\"paper\"}"));
        char *r = bench_until(fd, "\"requestedSchema\"");
        const char *q = strstr(r, "\"id\":\"q");
        assert_non_null(q);
        char body[256];
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":\"%.*s\",\"result\":{\"action\":\"%s\",\"content\":{"
                 "\"allow\":true}}}",
                 (int)strcspn(q + 6, "\""), q + 6, yes ? "accept" : "decline");
        free(r);
        assert_int_equal(t.s.started, 0);
        assert_int_equal(status_of(&t, "POST", id, NULL, body), 202);
        r = bench_until(fd, NULL);
        assert_non_null(strstr(r, yes ? "\"isError\":false" : "a person rejected burn"));
        free(r);
        close(fd);
    }
    assert_int_equal(t.s.started, 1);
    // Who cannot ask, and has nobody else: refused.
    begin(&t, "2025-06-18", "{}", id);
    char *r = reply_of(&t, "POST", id, NULL, CALL("5", "burn", "{}"));
    assert_non_null(strstr(r, "there is nobody to ask"));
    free(r);
    close_bench(&t);
}

static void test_too_many(void **state)
{
    enum { MOST = 64 };
    tools_bench t;
    char id[MOST][64];
    (void)state;
    open_bench(&t);
    for (int i = 0; i < MOST; i++) {
        begin(&t, "2025-11-25", "{}", id[i]);
    }
    static const char more[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
                               "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}}";
    assert_int_equal(status_of(&t, "POST", NULL, NULL, more), 503);
    assert_int_equal(status_of(&t, "DELETE", id[0], NULL, NULL), 204);
    int got = 503;
    for (int i = 0; i < 60000 && got == 503; i++) {
        got = status_of(&t, "POST", NULL, NULL, more);
    }
    assert_int_equal(got, 200);
    close_bench(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_session),
        cmocka_unit_test(test_a_cut_stream_goes_on),
        cmocka_unit_test(test_a_person_is_asked),
        cmocka_unit_test(test_too_many),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
