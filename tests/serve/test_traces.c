// What a collector of OpenTelemetry traces gets: spans with their parents, times and ends, by OTLP over
// HTTP as JSON; and what happens when it is away.
#include "llm/fake_server.h"
#include "pons/buf.h"
#include "pons/functional.h"
#include "pons/traces.h"
#include "serve/serve_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAKEN "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
#define BUSY  "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

static void say(const bench *b, const char *thread, const char *type, int64_t ts_ms,
                const char *payload)
{
    pons_autovalue v = json_loads(payload, 0, NULL);
    assert_non_null(v);
    const pons_event ev = {
        .seq = 1, .thread = thread, .ns = "x", .type = type, .ts_ms = ts_ms, .payload = v};
    pons_serve_event(b->serve, &ev);
}

// A server whose spans go to the port.
static void begin(bench *b, int port, char url[64])
{
    pons_error err = PONS_ERROR_INIT;
    static const char *const headers[] = {"x-team: robots", NULL};
    bench_open(b);
    pons_serve_close(b->serve);
    snprintf(url, 64, "http://127.0.0.1:%d/v1/traces", port);
    const pons_traces_options o = {.clock = pons_clock_real(), .url = url, .headers = headers};
    if (pons_traces_open(&o, &b->o.traces, &err) < 0) {
        fail_msg("%s", err.message);
    }
    bench_start(b);
}

static void end(bench *b) // what is there still goes out
{
    bench_close(b);
    pons_traces_close(b->o.traces);
}

static void a_turn_and_a_task(const bench *b)
{
    say(b, "s1", "llm_start", 1000, "{\"call_id\":\"c1\",\"node\":\"agent\",\"model\":\"m\"}");
    say(b, "s1", "llm_end", 1400,
        "{\"call_id\":\"c1\",\"node\":\"agent\",\"model\":\"m\",\"input\":\"a "
        "secret\",\"duration_ms\":"
        "400,\"tokens\":{\"prompt\":12,\"completion\":7}}");
    say(b, "s1", "tool_end", 1600,
        "{\"tool\":\"read_file\",\"output\":\"a secret\",\"duration_ms\":150}");
    say(b, "s1", "done", 1700, "{\"status\":\"success\",\"content\":\"a secret\"}");
    say(b, "main", "task.active", 2000, "{\"task\":{\"id\":\"task-1\",\"text\":\"a secret\"}}");
    say(b, "main", "observation", 2010, "{}");
    say(b, "main", "decision", 2050,
        "{\"decision\":{\"type\":\"CONTINUE\"},\"source\":\"llm\",\"model\":{\"calls\":1,"
        "\"tokens\":30}}");
    say(b, "main", "effect", 2100,
        "{\"goal_id\":\"g1\",\"skill\":\"navigate_to_pose\",\"state\":\"dispatched\"}");
    say(b, "main", "effect", 2110,
        "{\"goal_id\":\"g1\",\"skill\":\"navigate_to_pose\",\"state\":\"accepted\"}");
    say(b, "main", "effect", 9100,
        "{\"goal_id\":\"g1\",\"skill\":\"navigate_to_pose\",\"state\":\"failed\"}");
    say(b, "main", "task.done", 9200, "{\"task_id\":\"task-1\",\"status\":\"failed\"}");
}

// What a companion lives.
static void lives(const bench *b, const char *type, int64_t minute, const char *payload)
{
    pons_autovalue v = json_loads(payload, 0, NULL);
    assert_non_null(v);
    const pons_event ev = {.thread = "companion",
                           .ns = PONS_TRACES_LIFE,
                           .type = type,
                           .ts_ms = minute * 60000,
                           .payload = v};
    pons_traces_event(b->o.traces, &ev);
}

// All spans that the collector has, in one list.
static pons_value *spans_of(fake_server *f)
{
    pons_value *all = json_array();
    for (size_t i = 0; fake_server_body(f, i); i++) {
        pons_autovalue body = json_loads(fake_server_body(f, i), 0, NULL);
        assert_non_null(body);
        const json_t *resource = json_array_get(pons_get(body, "resourceSpans"), 0);
        const json_t *scope = json_array_get(pons_get(resource, "scopeSpans"), 0);
        json_array_extend(all, (json_t *)(uintptr_t)pons_get(scope, "spans"));
    }
    return all;
}

static const pons_value *span(const pons_value *all, const char *name)
{
    for (size_t i = 0; i < json_array_size(all); i++) {
        if (strcmp(pons_get_str(json_array_get(all, i), "name", ""), name) == 0) {
            return json_array_get(all, i);
        }
    }
    fail_msg("no span %s", name);
    return NULL;
}

static const char *text_of(const pons_value *of, const char *key)
{
    const pons_value *list = pons_get(of, "attributes");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_value *a = json_array_get(list, i), *v = pons_get(a, "value");
        if (strcmp(pons_get_str(a, "key", ""), key) == 0) {
            return pons_get_str(v, "stringValue", pons_get_str(v, "intValue", ""));
        }
    }
    return "";
}

static void is_child(const pons_value *child, const pons_value *parent)
{
    assert_string_equal(pons_get_str(child, "traceId", "c"), pons_get_str(parent, "traceId", "p"));
    assert_string_equal(pons_get_str(child, "parentSpanId", "c"),
                        pons_get_str(parent, "spanId", "p"));
}

static void test_spans(void **state)
{
    static const fake_step steps[] = {{.bytes = TAKEN}};
    fake_server *f = fake_server_start(steps, 1);
    bench b;
    char url[64];
    (void)state;
    begin(&b, fake_server_port(f), url);
    a_turn_and_a_task(&b);
    end(&b);
    pons_autovalue all = spans_of(f);
    assert_int_equal(json_array_size(all), 6);
    assert_non_null(strstr(fake_server_head(f, 0), "POST /v1/traces HTTP/1.1"));
    assert_non_null(strstr(fake_server_head(f, 0), "x-team: robots"));
    for (size_t i = 0; fake_server_body(f, i); i++) { // what was said is nobody's there
        assert_null(strstr(fake_server_body(f, i), "a secret"));
    }
    const pons_value *turn = span(all, "invoke_agent agent"), *chat = span(all, "chat m");
    assert_null(pons_get(turn, "parentSpanId"));
    assert_int_equal(strlen(pons_get_str(turn, "traceId", "")), 32);
    assert_int_equal(strlen(pons_get_str(turn, "spanId", "")), 16);
    assert_string_equal(pons_get_str(turn, "startTimeUnixNano", ""), "1000000000");
    assert_string_equal(pons_get_str(turn, "endTimeUnixNano", ""), "1700000000");
    assert_string_equal(text_of(turn, "gen_ai.conversation.id"), "s1");
    is_child(chat, turn);
    assert_string_equal(text_of(chat, "gen_ai.operation.name"), "chat");
    assert_string_equal(text_of(chat, "gen_ai.usage.input_tokens"), "12");
    const pons_value *tool = span(all, "execute_tool read_file");
    is_child(tool, turn);
    assert_string_equal(pons_get_str(tool, "startTimeUnixNano", ""), "1450000000");
    const pons_value *task = span(all, "invoke_agent robot");
    assert_string_not_equal(pons_get_str(task, "traceId", ""), pons_get_str(turn, "traceId", ""));
    assert_int_equal(pons_get_int(pons_get(task, "status"), "code", 0), 2);
    is_child(span(all, "chat"), task);
    const pons_value *skill = span(all, "execute_tool navigate_to_pose");
    is_child(skill, task);
    assert_string_equal(text_of(skill, "error.type"), "failed");
    fake_server_stop(f);
}

static void test_a_collector_that_is_busy_or_away(void **state)
{
    static const fake_step steps[] = {{.bytes = BUSY}, {.bytes = TAKEN}};
    fake_server *f = fake_server_start(steps, 2);
    bench b;
    char url[64];
    (void)state;
    begin(&b, fake_server_port(f), url);
    a_turn_and_a_task(&b);
    end(&b);
    assert_true(fake_server_requests(f) >= 2);
    assert_string_equal(fake_server_body(f, 0), fake_server_body(f, 1)); // the same once more
    const int port = fake_server_port(f);
    fake_server_stop(f);
    // Away: nothing waits for it, and nothing but spans is lost.
    begin(&b, port, url);
    for (int i = 0; i < 2000; i++) {
        a_turn_and_a_task(&b);
    }
    assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", NULL, NULL, NULL, "{}", true}), 200);
    end(&b);
}

// A collector that takes the connection and never answers: who ends does not wait until it has.
static void test_a_collector_that_hangs(void **state)
{
    static const fake_step steps[] = {{.bytes = NULL, .hold = true}};
    fake_server *f = fake_server_start(steps, 1);
    bench b;
    char url[64];
    (void)state;
    begin(&b, fake_server_port(f), url);
    a_turn_and_a_task(&b);
    fake_server_wait_requests(f, 1); // it is at it
    say(&b, "s1", "done", 1800, "{\"status\":\"success\"}");
    bench_close(&b);
    // A request has ten seconds, and a reply of http twice that; a broken close waits as long.
    alarm(8);
    pons_traces_close(b.o.traces);
    alarm(0);
    fake_server_wait_hangups(f, 1);
    fake_server_stop(f);
}

// What the environment says of a collector is sent as it is meant, and what cannot be ends nothing.
static void test_the_environment(void **state)
{
    static const fake_step steps[] = {{.bytes = TAKEN}};
    static const char *const wrong[][2] = {{"http://127.0.0.1:1", "a=b,Bearer s3cret"},
                                           {"http://127.0.0.1:1", "a=b%0d%0ac: d"},
                                           {"ftp://127.0.0.1", ""},
                                           {"localhost", ""}};
    fake_server *f = fake_server_start(steps, 1);
    pons_error err = PONS_ERROR_INIT;
    pons_traces *t = NULL;
    char url[64];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        setenv("OTEL_EXPORTER_OTLP_ENDPOINT", wrong[i][0], 1);
        setenv("OTEL_EXPORTER_OTLP_HEADERS", wrong[i][1], 1);
        assert_int_equal(pons_traces_from_environment(&t, &err), PONS_OK);
        assert_null(t);
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", fake_server_port(f));
    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url, 1);
    setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20YWI%3d, x-team = robots ,", 1);
    assert_int_equal(pons_traces_from_environment(&t, &err), PONS_OK);
    const pons_event ev[] = {{.thread = "s", .ns = "x", .type = "llm_start", .ts_ms = 1},
                             {.thread = "s", .ns = "x", .type = "done", .ts_ms = 2}};
    for (size_t i = 0; i < 2; i++) {
        pons_event one = ev[i];
        pons_autovalue v = json_pack("{ssss}", "call_id", "c", "status", "success");
        one.payload = v;
        pons_traces_event(t, &one);
    }
    pons_traces_close(t);
    unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
    unsetenv("OTEL_EXPORTER_OTLP_HEADERS");
    assert_true(fake_server_requests(f) >= 1);
    assert_non_null(strstr(fake_server_head(f, 0), "\r\nauthorization: Basic YWI=\r\n"));
    assert_non_null(strstr(fake_server_head(f, 0), "\r\nx-team: robots\r\n"));
    fake_server_stop(f);
}

// ---- graphs -------------------------------------------------------------------------------------

static int half(pons_cx *cx, void *user, const pons_value *input, pons_value **ret, pons_error *err)
{
    (void)user;
    if (json_integer_value(input) % 2) {
        return pons_error_set(err, PONS_EIO, "test", "node %s: a secret", pons_cx_node(cx));
    }
    *ret = json_integer(json_integer_value(input) / 2);
    return PONS_OK;
}

static int halves(pons_cx *cx, void *user, const pons_value *input, pons_value **ret,
                  pons_error *err)
{
    (void)user;
    pons_future f;
    const pons_value *v = NULL;
    int st = pons_call(cx, "half", pons_value_ref(input), &f, err);
    st = st == PONS_OK ? pons_future_result(cx, f, &v, err) : st;
    *ret = st == PONS_OK ? pons_value_ref(v) : NULL;
    return st;
}

// A library's user gives the observer to a thread: a span for each run, each task, and what it called.
static void test_nodes_are_spans(void **state)
{
    static const fake_step steps[] = {{.bytes = TAKEN}};
    fake_server *f = fake_server_start(steps, 1);
    pons_error err = PONS_ERROR_INIT;
    char url[64];
    pons_traces *t = NULL;
    pons_thread *thread = NULL;
    pons_graph *g = NULL;
    (void)state;
    snprintf(url, sizeof url, "http://127.0.0.1:%d", fake_server_port(f));
    setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url, 1);
    setenv("OTEL_SERVICE_NAME", "mine", 1);
    assert_int_equal(pons_traces_from_environment(&t, &err), PONS_OK);
    assert_non_null(t);
    unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
    pons_traces *none = t;
    assert_int_equal(pons_traces_from_environment(&none, &err), PONS_OK);
    assert_null(none);
    pons_graph_builder *b = pons_graph_builder_create("halves");
    pons_graph_entrypoint(b, halves, NULL);
    pons_graph_task(b, "half", half, NULL);
    assert_int_equal(pons_graph_compile(b, NULL, &g, &err), PONS_OK);
    pons_graph_builder_destroy(b);
    const pons_thread_options o = {.clock = pons_clock_real(),
                                   .on_event = pons_traces_event,
                                   .on_task = pons_traces_task,
                                   .user = t};
    assert_int_equal(pons_thread_open((pons_store){0}, "t1", &o, &thread, &err), PONS_OK);
    for (int i = 0; i < 2; i++) { // the second one fails
        pons_run *r = NULL;
        pons_autovalue input = json_pack("{si}", "input", 8 + i);
        assert_int_equal(pons_run_start(thread, g, "", input, NULL, &r, &err), PONS_OK);
        assert_int_equal(pons_run_advance(r, &err), PONS_OK);
        pons_run_destroy(r);
    }
    pons_thread_close(thread);
    pons_graph_destroy(g);
    pons_traces_close(t);
    pons_autovalue all = spans_of(f);
    assert_int_equal(json_array_size(all), 6);
    assert_non_null(strstr(fake_server_head(f, 0), "POST /v1/traces HTTP/1.1"));
    assert_non_null(strstr(fake_server_body(f, 0), "\"mine\""));
    assert_null(strstr(fake_server_body(f, 0), "a secret"));
    const pons_value *run = span(all, "invoke_workflow halves");
    const pons_value *node = span(all, "node halves"), *task = span(all, "node half");
    assert_null(pons_get(run, "parentSpanId"));
    is_child(node, run);
    is_child(task, node);
    assert_string_equal(text_of(run, "gen_ai.conversation.id"), "t1");
    assert_string_equal(text_of(node, "pons.superstep"), "1");
    assert_string_equal(text_of(run, "error.type"), "");
    const pons_value *failed = json_array_get(all, 3); // in the order of their ends
    assert_string_equal(pons_get_str(failed, "name", ""), "node half");
    assert_string_equal(text_of(failed, "error.type"), pons_status_word(PONS_EIO));
    assert_int_equal(pons_get_int(pons_get(json_array_get(all, 5), "status"), "code", 0), 2);
    fake_server_stop(f);
}

static void test_a_companion(void **state)
{
    static const fake_step steps[] = {{.bytes = TAKEN}};
    fake_server *f = fake_server_start(steps, 1);
    bench b;
    char url[64];
    (void)state;
    begin(&b, fake_server_port(f), url);
    lives(&b, "decision", 1, "{\"action\":null,\"branch\":\"routine\"}");
    lives(&b, "decision", 2,
          "{\"action\":{\"type\":\"sleep\"},\"branch\":\"model\",\"model\":{\"said\":\"a "
          "secret\"}}");
    lives(&b, "action.started", 2, "{\"action\":{\"type\":\"sleep\"},\"rationale\":\"a secret\"}");
    lives(&b, "decision", 3, "{\"action\":{\"type\":\"read\"},\"branch\":\"emergency\"}");
    lives(&b, "action.ended", 3, "{\"action\":{\"type\":\"sleep\"},\"status\":\"interrupted\"}");
    lives(&b, "action.started", 3, "{\"action\":{\"type\":\"read\"}}");
    lives(&b, "action.ended", 3, "{\"action\":{\"type\":\"read\"},\"status\":\"done\"}");
    lives(&b, "action.ended", 9,
          "{\"action\":{\"type\":\"walk\"},\"status\":\"done\"}"); // begun before
    end(&b);
    pons_autovalue all = spans_of(f);
    assert_int_equal(json_array_size(all), 7);
    for (size_t i = 0; fake_server_body(f, i); i++) {
        assert_null(strstr(fake_server_body(f, i), "a secret"));
    }
    const pons_value *slept = span(all, "execute_tool sleep"), *chat = span(all, "chat");
    const pons_value *root = span(all, "invoke_agent companion"),
                     *done = span(all, "execute_tool read");
    is_child(slept, root);
    is_child(chat, root);
    assert_null(pons_get(root, "parentSpanId"));
    assert_string_not_equal(pons_get_str(done, "traceId", ""), pons_get_str(root, "traceId", ""));
    assert_string_equal(pons_get_str(slept, "startTimeUnixNano", ""), "120000000000");
    assert_string_equal(pons_get_str(slept, "endTimeUnixNano", ""), "180000000000");
    assert_string_equal(text_of(slept, "error.type"), "interrupted");
    assert_string_equal(text_of(done, "error.type"), "");
    fake_server_stop(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_nodes_are_spans),
        cmocka_unit_test(test_a_companion),
        cmocka_unit_test(test_a_collector_that_is_busy_or_away),
        cmocka_unit_test(test_a_collector_that_hangs),
        cmocka_unit_test(test_the_environment),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
