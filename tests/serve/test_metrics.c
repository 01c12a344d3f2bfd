// What Prometheus reads: text of the format, with each number where it belongs, whatever events say.
#include "pons/buf.h"
#include "pons/store.h"
#include "serve/serve_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const bench *b, const char *type, int64_t ts_ms, const char *payload)
{
    pons_autovalue v = json_loads(payload, 0, NULL);
    assert_non_null(v);
    const pons_event ev = {
        .thread = "main", .ns = "react", .type = type, .ts_ms = ts_ms, .payload = v};
    pons_serve_event(b->serve, &ev);
}

static char *scrape(const bench *b)
{
    char *r = bench_reply(
        b, &(ask){"GET", "/metrics", NULL, bench_token(b, "viewer"), NULL, NULL, false});
    assert_int_equal(bench_code(r), 200);
    assert_non_null(strstr(r, "Content-Type: text/plain; version=0.0.4"));
    char *text = strdup(strstr(r, "\r\n\r\n") + 4);
    free(r);
    return text;
}

static void has(const char *text, const char *line)
{
    pons_autobuf whole = PONS_BUF_INIT;
    pons_buf_printf(&whole, "\n%s\n", line);
    pons_buf_byte(&whole, 0);
    if (!strstr(text, whole.data)) {
        fail_msg("no '%s' in\n%s", line, text);
    }
}

// The format's rules that a scraper stands on: each family is described once, before its samples,
// and its samples stand together.
static void is_exposition(const char *text)
{
    char family[128] = "", seen[8192] = " ";
    for (const char *at = text; *at; at = strchr(at, '\n') + 1) {
        char name[128];
        const size_t n = strcspn(at, "\n");
        assert_int_equal(at[n], '\n');
        if (strncmp(at, "# HELP ", 7) == 0) {
            snprintf(family, sizeof family, "%.*s", (int)strcspn(at + 7, " "), at + 7);
            snprintf(name, sizeof name, " %s ", family);
            assert_null(strstr(seen, name));
            assert_true(strlen(seen) + strlen(name) < sizeof seen);
            strcat(seen, name);
            continue;
        }
        if (strncmp(at, "# TYPE ", 7) == 0) {
            assert_int_equal(strncmp(at + 7, family, strlen(family)), 0);
            continue;
        }
        assert_int_equal(strncmp(at, family, strlen(family)), 0); // a sample of this family
        const char *value = at;
        for (bool quoted = false; value < at + n && (quoted || *value != ' '); value++) {
            quoted ^= *value == '"';
            value += *value == '\\';
        }
        char *end = NULL;
        strtod(value + 1, &end);
        assert_ptr_equal(end, at + n);
    }
}

static void test_what_happens_is_counted(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    say(&b, "observation", 1000, "{}");
    say(&b, "decision", 1030,
        "{\"decision\":{\"type\":\"EXECUTE\"},\"source\":\"llm\",\"model\":{\"calls\":2,"
        "\"tokens\":70}}");
    say(&b, "effect", 2000, "{\"goal_id\":\"g1\",\"state\":\"dispatched\"}");
    say(&b, "effect", 2010, "{\"goal_id\":\"g1\",\"state\":\"accepted\"}");
    say(&b, "effect", 6000, "{\"goal_id\":\"g1\",\"state\":\"done\"}");
    say(&b, "guard.refused", 6000, "{\"rules\":[{\"rule\":\"zone\"},{\"rule\":\"speed\"}]}");
    say(&b, "stop", 6100, "{\"latched\":true,\"reason\":\"a hand\"}");
    say(&b, "llm_end", 6200,
        "{\"node\":\"agent\",\"duration_ms\":900,\"tokens\":{\"prompt\":11,\"completion\":5}}");
    say(&b, "tool_end", 6300, "{\"tool\":\"read_file\",\"duration_ms\":2}");
    pons_serve_commit(b.serve, PONS_OK, 700000);
    pons_serve_commit(b.serve, PONS_EIO, 700000);
    assert_int_equal(bench_status(&b, &(ask){"POST", "/stop", NULL, NULL, NULL, "{}", true}), 200);
    char *t = scrape(&b);
    int scrapes = 1;
    for (; !strstr(t, "pons_stop_requests_total{code=\"200\"} 1");
         scrapes++) { // counted behind its answer
        free(t);
        t = scrape(&b);
    }
    is_exposition(t);
    has(t, "pons_decisions_total{type=\"EXECUTE\",source=\"llm\"} 1");
    has(t, "pons_llm_calls_total{node=\"brain\"} 2");
    has(t, "pons_llm_tokens_total{node=\"brain\",kind=\"total\"} 70");
    has(t, "pons_llm_tokens_total{node=\"agent\",kind=\"prompt\"} 11");
    has(t, "pons_decision_seconds_bucket{le=\"0.025\"} 0");
    has(t, "pons_decision_seconds_bucket{le=\"0.1\"} 1");
    has(t, "pons_effects_total{state=\"done\"} 1");
    has(t, "pons_effect_seconds_count 1");
    has(t, "pons_effect_seconds_sum 4");
    has(t, "pons_guard_refusals_total{rule=\"speed\"} 1");
    has(t, "pons_safety_stops_total 1");
    has(t, "pons_safety_resets_total 0");
    has(t, "pons_tool_calls_total{tool=\"read_file\"} 1");
    has(t, "pons_store_commits_total{result=\"ok\"} 1");
    has(t, "pons_store_commits_total{result=\"failed\"} 1");
    has(t, "pons_store_commit_seconds_count 2");
    has(t, "pons_stop_requests_total{code=\"200\"} 1");
    has(t, "pons_stop_seconds_count 1");
    has(t, "pons_up 1");
    for (long counted = 0; counted < 1; scrapes++) { // they count themselves, behind their answers
        free(t);
        t = scrape(&b);
        const char *line = strstr(t, "pons_http_requests_total{code=\"200\"} ");
        counted = line ? strtol(strchr(line, ' '), NULL, 10) : 0;
        assert_true(counted <= scrapes);
    }
    free(t);
    bench_close(&b);
}

// Names that somebody chose: they stay labels, and cost no more than what there is room for.
static void test_hostile_names(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    say(&b, "tool_end", 1,
        "{\"tool\":\"a\\\"} 1\\nevil_total 7\\n# TYPE \\\\\",\"duration_ms\":-5}");
    say(&b, "tool_end", 1, "{\"tool\":7,\"duration_ms\":\"x\"}");
    say(&b, "decision", 1, "[]");
    say(&b, "effect", 1, "{\"goal_id\":\"\",\"state\":\"done\"}");
    for (int i = 0; i < 2000; i++) {
        char payload[64];
        snprintf(payload, sizeof payload, "{\"tool\":\"tool-%d\"}", i);
        say(&b, "tool_end", 1, payload);
    }
    char *t = scrape(&b);
    is_exposition(t);
    assert_null(strstr(t, "\nevil_total"));
    has(t, "pons_tool_calls_total{tool=\"a\\\"} 1\\nevil_total 7\\n# TYPE \\\\\"} 1");
    has(t, "pons_events_total{type=\"tool_end\"} 2002");
    size_t lines = 0;
    for (const char *at = t; *at; at++) {
        lines += *at == '\n';
    }
    assert_true(lines < 600);
    assert_non_null(strstr(t, "pons_tool_calls_total{other=\"1\"} "));
    free(t);
    bench_close(&b);
}

static void test_streams_are_told(void **state)
{
    bench b;
    (void)state;
    bench_open(&b);
    const int fd = bench_send(
        &b, &(ask){"GET", "/v1/events", NULL, bench_token(&b, "viewer"), NULL, NULL, false});
    free(bench_until(fd, "event: hb"));
    char *t = scrape(&b);
    has(t, "pons_http_streams{feed=\"events\"} 1");
    free(t);
    close(fd);
    bool gone = false;
    for (int i = 0; i < 600 && !gone; i++) { // it shows at the next heartbeat
        t = scrape(&b);
        gone = strstr(t, "pons_http_streams{feed=\"events\"} 0\n") != NULL;
        free(t);
        usleep(gone ? 0 : 100000);
    }
    assert_true(gone);
    bench_close(&b);
}

// ---- the store's commits ------------------------------------------------------------------------

static void reported(void *user, int rc, int64_t ns)
{
    int *n = user;
    assert_true(ns >= 0);
    n[rc < 0]++;
}

static void test_a_watched_store_is_the_store(void **state)
{
    int n[2] = {0};
    int64_t last = 0;
    pons_store store, plain;
    pons_lease lease;
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    (void)state;
    assert_int_equal(pons_store_memory_open(&store, &err), PONS_OK);
    plain = store;
    assert_int_equal(pons_store_watch(&store, &clock, reported, n, &err), PONS_OK);
    // Every op that there was is there.
    void *const *was = (void *const *)(const void *)plain.ops;
    void *const *is = (void *const *)(const void *)store.ops;
    for (size_t i = 1; i < sizeof *plain.ops / sizeof *was; i++) {
        assert_int_equal(was[i] == NULL, is[i] == NULL);
    }
    assert_int_equal(store.ops->lease_acquire(store.self, "t", &lease, &err), PONS_OK);
    pons_event_row row = {.ns = "k", .ts_ms = 1, .type = "x", .payload = {"{}", 2}};
    pons_commit c = {.lease = &lease, .ns = "k", .events = &row, .n_events = 1};
    assert_int_equal(store.ops->commit(store.self, &c, &err), PONS_OK);
    assert_int_equal(row.seq, 1);
    assert_int_equal(store.ops->event_last(store.self, "t", &last, &err), PONS_OK);
    assert_int_equal(last, 1);
    pons_lease stale = lease;
    stale.epoch = 0;
    c.lease = &stale;
    assert_int_equal(store.ops->commit(store.self, &c, &err), PONS_ESTALE);
    assert_int_equal(n[0], 1);
    assert_int_equal(n[1], 1);
    store.ops->lease_release(store.self, &lease);
    pons_store_close(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_happens_is_counted),
        cmocka_unit_test(test_hostile_names),
        cmocka_unit_test(test_streams_are_told),
        cmocka_unit_test(test_a_watched_store_is_the_store),
    };
    pons_value_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
