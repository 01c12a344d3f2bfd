// test_mcp.c - `pons mcp` as clients and people meet it: the real program, spoken to by pons's own
// client and, where it is there, by the official one.
//
// What is shown: tools over the wire; a dangerous call whose client cannot ask waits for `pons
// approve`, runs once, and a rejection is told with its reason; the robot's skills with progress
// and cancel; `pons mcp tools` and doctor on good and bad files. $PONS_MCP_PEERS (./dev test
// --mcp-peers) adds the official client.
#include "cli_bench.h"
#include "pons/mcp.h"
#include "unit.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HANG_MS (BENCH_LIMIT_S * 1000)

// A client of `pons mcp serve` in the bench's workspace: its tools are p.NAME.
typedef struct client {
    pons_tools tools;
    uint64_t calls;
    int progress; // of the newest call
} client;

static void client_open(client *c, const bench *b, const char *more)
{
    char text[1024];
    pons_error err = PONS_ERROR_INIT;
    const pons_clock clock = pons_clock_real();
    snprintf(text, sizeof text,
             "{\"workspace\":\"%s\",\"timeout_s\":%d,\"start_s\":%d,\"servers\":{\"p\":{"
             "\"command\":\"%s\","
             "\"args\":[\"mcp\",\"serve\",\"--workspace\",\"%s\"%s],\"env\":{\"PONS_SHARE\":\"%s\","
             "\"ASAN_OPTIONS\":\"detect_leaks=1:intercept_tls_get_addr=0\"}}}}",
             b->dir, BENCH_LIMIT_S, BENCH_LIMIT_S, PONS_BINARY_DIR "/pons", b->workspace, more,
             PONS_SOURCE_DIR);
    pons_autovalue config = NULL;
    assert_int_equal(pons_value_parse(text, strlen(text), &config, &err), PONS_OK);
    *c = (client){.calls = 0};
    if (pons_mcp_open(config, &clock, &c->tools, &err) < 0) {
        fail_msg("%s", err.message);
    }
}

static void client_close(client *c)
{
    c->tools.ops->close(c->tools.self);
}

static void client_wait(client *c)
{
    struct pollfd p = {.fd = c->tools.ops->event_fd(c->tools.self), .events = POLLIN};
    assert_int_equal(poll(&p, 1, HANG_MS), 1);
}

static void client_await_tool(client *c, const char *name)
{
    for (;;) {
        pons_error err = PONS_ERROR_INIT;
        pons_autovalue list = NULL;
        assert_int_equal(c->tools.ops->list(c->tools.self, &list, &err), PONS_OK);
        size_t i;
        json_t *t;
        json_array_foreach(list, i, t) {
            if (strcmp(pons_get_str(t, "name", ""), name) == 0) {
                return;
            }
        }
        client_wait(c);
        pons_tool_event ev;
        while (c->tools.ops->next(c->tools.self, &ev)) {
            pons_tool_event_clear(&ev);
        }
    }
}

static uint64_t client_start(client *c, const char *tool, const char *args)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue a = NULL;
    assert_int_equal(pons_value_parse(args, strlen(args), &a, &err), PONS_OK);
    if (c->tools.ops->start(c->tools.self, ++c->calls, tool, a, NULL, &err) < 0) {
        fail_msg("%s: %s", tool, err.message);
    }
    return c->calls;
}

// The last event of a call, or with `first` its first one.
static pons_tool_event client_event(client *c, uint64_t call, bool first)
{
    pons_tool_event ev;
    c->progress = 0;
    for (;;) {
        client_wait(c);
        while (c->tools.ops->next(c->tools.self, &ev)) {
            if (ev.call == call && (first || ev.kind != PONS_TOOL_PROGRESS)) {
                return ev;
            }
            c->progress += ev.call == call;
            pons_tool_event_clear(&ev);
        }
    }
}

static pons_tool_event client_call(client *c, const char *tool, const char *args)
{
    return client_event(c, client_start(c, tool, args), false);
}

static void client_works(client *c, const char *tool, const char *args, const char *says)
{
    pons_tool_event ev = client_call(c, tool, args);
    if (ev.kind != PONS_TOOL_DONE || !strstr(pons_get_str(ev.value, "output", ""), says)) {
        fail_msg("%s %s: %s%s", tool, args, ev.error.message, pons_get_str(ev.value, "output", ""));
    }
    pons_tool_event_clear(&ev);
}

static void client_fails(client *c, const char *tool, const char *args, const char *says)
{
    pons_tool_event ev = client_call(c, tool, args);
    if (ev.kind != PONS_TOOL_FAILED || !strstr(ev.error.message, says)) {
        fail_msg("%s %s: %s%s, expected \"%s\"", tool, args, ev.error.message,
                 pons_get_str(ev.value, "output", ""), says);
    }
    pons_tool_event_clear(&ev);
}

static bool exists(const bench *b, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", b->workspace, name);
    return access(path, F_OK) == 0;
}

// The id of the one question that waits; waits for it.
static void question(bench *b, char *ret, size_t cap)
{
    for (;;) {
        pons_autovalue q = NULL;
        const int status = bench_run_json(b, "mcp questions --json", &q);
        if (status == 4) {
            snprintf(ret, cap, "%s", pons_get_str(q, "id", ""));
            assert_string_equal(pons_get_str(q, "tool", ""), "terminal");
            return;
        }
        assert_int_equal(status, 0);
        bench_rest(20);
    }
}

static void a_person_is_asked(void **state)
{
    bench b;
    client c;
    char id[64], words[160];
    (void)state;
    bench_open(&b);
    client_open(&c, &b, ",\"--tools\",\"core\",\"--approval-wait\",\"0.05\"");
    client_await_tool(&c, "p.terminal");
    client_works(&c, "p.write_file", "{\"path\":\"n/a.md\",\"content\":\"x\"}", "wrote n/a.md");
    client_works(&c, "p.terminal", "{\"command\":\"ls n\"}", "a.md"); // safe: not asked
    client_fails(&c, "p.terminal", "{\"command\":\"rm -rf /\"}", "terminal is blocked: it would");
    client_fails(&c, "p.read_file", "{\"path\":5}", "arguments are not right: /path");
    assert_int_equal(bench_run(&b, "mcp questions"), 0);

    // Nobody answers in time: the call ends, the question stays, and the next call finds its
    // answer.
    client_fails(&c, "p.terminal", "{\"command\":\"touch one\"}", "waits for a person's approval");
    question(&b, id, sizeof id);
    snprintf(words, sizeof words, "approve %s", id);
    assert_int_equal(bench_run(&b, words), 4);
    snprintf(words, sizeof words, "approve %s edit '{}'", id);
    bench_must_fail(&b, words, 2, "approved or rejected as it is");
    snprintf(words, sizeof words, "approve %s answer no", id);
    bench_must_fail(&b, words, 2, "approved or rejected as it is");
    assert_false(exists(&b, "one"));
    snprintf(words, sizeof words, "approve %s approve", id);
    assert_int_equal(bench_run(&b, words), 0);
    bench_must_fail(&b, words, 2, "has an answer already");
    client_fails(&c, "p.terminal", "{\"command\":\"touch two\"}", "waits for"); // another call
    assert_false(exists(&b, "two"));
    client_works(&c, "p.terminal", "{\"command\":\"touch one\"}", "");
    assert_true(exists(&b, "one"));
    bench_must_fail(&b, words, 2, "waits for nobody"); // once
    client_fails(&c, "p.terminal", "{\"command\":\"touch one\"}", "waits for");
    client_close(&c);

    // The questions outlive the server; a rejection is told with its reason, while the call waits.
    bench_must_fail(&b, "approve mcp-0123456789ab approve", 2, "waits for nobody");
    bench_must_fail(&b, "approve mcp-../../x approve", 2, "no question");
    assert_int_equal(bench_run(&b, "mcp questions"), 4);
    client_open(&c, &b, ",\"--tools\",\"core\",\"--approval-wait\",\"1000\"");
    client_await_tool(&c, "p.terminal");
    for (int i = 0; i < 2; i++) { // the two that are open
        question(&b, id, sizeof id);
        snprintf(words, sizeof words, "approve %s reject 'not today'", id);
        assert_int_equal(bench_run(&b, words), 0);
    }
    client_fails(&c, "p.terminal", "{\"command\":\"touch two\"}", "rejected terminal: not today");
    const uint64_t call = client_start(&c, "p.terminal", "{\"command\":\"touch three\"}");
    question(&b, id, sizeof id);
    snprintf(words, sizeof words, "approve %s approve", id);
    assert_int_equal(bench_run(&b, words), 0);
    pons_tool_event ev = client_event(&c, call, false);
    assert_int_equal(ev.kind, PONS_TOOL_DONE);
    pons_tool_event_clear(&ev);
    assert_true(exists(&b, "three"));
    assert_false(exists(&b, "two"));
    client_close(&c);
    bench_close(&b);
}

static void the_robot_is_driven(void **state)
{
    bench b;
    client c;
    proc body = {0};
    (void)state;
    bench_open(&b);
    client_open(&c, &b, ",\"--driver\",\"kinematic\"");
    client_await_tool(&c, "p.query_world"); // no body yet: what it knows is little
    client_works(&c, "p.query_world", "{}", "\"connected\":false");
    bench_start(&b, &body, NULL, "body " FAST);
    client_await_tool(&c, "p.navigate_to_pose"); // its skills come with it
    for (bool connected = false; !connected;) {  // and a moment later where it is
        pons_tool_event ev = client_call(&c, "p.query_world", "{}");
        assert_int_equal(ev.kind, PONS_TOOL_DONE);
        connected = pons_get_bool(pons_get(ev.value, "data"), "connected", false);
        pons_tool_event_clear(&ev);
    }
    client_fails(&c, "p.navigate_to_pose", "{\"zone\":\"atlantis\"}", "atlantis");
    client_fails(&c, "p.navigate_to_pose", "{}", "arguments are not right");
    client_works(&c, "p.navigate_to_pose", "{\"zone\":\"kitchen\"}", "");
    assert_true(c.progress > 0);
    const uint64_t call = client_start(&c, "p.navigate_to_pose", "{\"zone\":\"living_room\"}");
    pons_tool_event ev = client_event(&c, call, true);
    assert_int_equal(ev.kind, PONS_TOOL_PROGRESS);
    pons_tool_event_clear(&ev);
    c.tools.ops->cancel(c.tools.self, call);
    bench_ledger_await(&b, "canceled", 1);
    bench_ledger_check(&b);
    client_close(&c);
    bench_signal(&body, SIGTERM);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

static void servers_are_looked_at(void **state)
{
    bench b;
    char path[256], text[1024];
    (void)state;
    bench_open(&b);
    bench_must_fail(&b, "mcp fly", 2, "there is no 'fly'");
    bench_must_fail(&b, "mcp serve --tools wings", 2, "--tools takes");
    assert_int_equal(bench_run(&b, "mcp questions"), 0);
    snprintf(text, sizeof text, "mkdir -p %s/inner", b.workspace);
    assert_int_equal(system(text), 0); // NOLINT(cert-env33-c)
    bench_must_fail(&b, "mcp tools", 2, "there is no mcp.json");
    snprintf(path, sizeof path, "%s/mcp.json", b.workspace);
    FILE *f = fopen(path, "w");
    fputs("{\n  \"mcpServers\": 1\n}\n", f);
    fclose(f);
    bench_must_fail(&b, "mcp tools", 2, "mcp.json:2:");
    proc p = {0};
    f = fopen(path,
              "w"); // one entry with a fault: one line, and the others are none the worse for it
    fprintf(
        f,
        "{\"mcpServers\": {\"bad\": {\"command\": \"x\", \"env\": {\"K\": \"${PONS_NOT_SET}\"}},\n"
        "\"inner\": {\"command\": \"%s\", \"args\": [\"mcp\", \"serve\", \"--tools\", \"core\", "
        "\"--workspace\", \"%s/inner\"], \"env\": {\"PONS_SHARE\": \"%s\"}}}}",
        PONS_BINARY_DIR "/pons", b.workspace, PONS_SOURCE_DIR);
    fclose(f);
    bench_start(&b, &p, NULL, "mcp tools");
    assert_int_equal(bench_finish(&p), 3);
    assert_non_null(strstr(p.text, "inner (stdio): ready"));
    assert_non_null(strstr(p.text,
                           "bad (stdio): refused, mcp: /mcpServers/bad/env/K: the environment "
                           "has no PONS_NOT_SET ["));
    bench_free(&p);
    snprintf(text, sizeof text, "%s/script.yaml", b.dir);
    f = fopen(text, "w");
    fputs("replies: [{content: hello}]\n", f);
    fclose(f);
    snprintf(text, sizeof text, "agent hi --llm script:%s/script.yaml", b.dir);
    bench_start(&b, &p, NULL, text);
    bench_must_exit(&p, 0);
    char *err = bench_stderr(&p), *line = strstr(err, "/mcpServers/bad/env/K: ");
    assert_non_null(line);
    assert_non_null(strstr(line, "; bad is left out\n"));
    assert_null(strstr(line + 1, "/mcpServers/bad"));
    free(err);
    bench_free(&p);
    f = fopen(path, "w"); // pons as a server of pons, and a program that is not there
    fprintf(f,
            "{\"mcpServers\": {\"inner\": {\"command\": \"%s\", \"args\": [\"mcp\", \"serve\", "
            "\"--tools\", "
            "\"core\", \"--workspace\", \"%s/inner\"], \"env\": {\"PONS_SHARE\": \"%s\"}}}}",
            PONS_BINARY_DIR "/pons", b.workspace, PONS_SOURCE_DIR);
    fclose(f);
    bench_start(&b, &p, NULL, "mcp tools --json");
    bench_await(&p, "server", "state", "ready");
    bench_await(&p, "tool", "name", "inner.search_knowledge");
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_start(&b, &p, NULL, "doctor");
    bench_finish(&p);
    assert_non_null(strstr(p.text, "mcp inner"));
    assert_non_null(strstr(p.text, "pons 0."));
    bench_free(&p);
    f = fopen(path, "w");
    fputs("{\"mcpServers\": {\"gone\": {\"command\": \"no-such-program\"}}}", f);
    fclose(f);
    bench_start(&b, &p, NULL, "mcp tools");
    assert_int_equal(bench_finish(&p), 3);
    assert_non_null(strstr(p.text, "there is no program no-such-program"));
    bench_free(&p);
    bench_close(&b);
}

static void without_a_word_it_says_what_there_is(void **state)
{
    bench b;
    proc p = {0};
    (void)state;
    bench_open(&b);
    bench_start(&b, &p, NULL, "mcp");
    assert_int_equal(bench_finish(&p), 0);
    assert_non_null(strstr(p.text, "pons mcp serve"));
    bench_free(&p);
    bench_close(&b);
}

static void the_official_client(void **state)
{
    bench b;
    proc body = {0}, node = {0};
    (void)state;
    const char *peers = getenv("PONS_MCP_PEERS");
    if (!peers || !*peers) {
        print_message("skipped: no client from npm; ./dev test --mcp-peers installs it\n");
        skip();
    }
    bench_open(&b);
    bench_start_body(&b, &body, FAST);
    char words[512];
    snprintf(words, sizeof words, "node " PONS_SOURCE_DIR "/tests/mcp/official_client.mjs %s %s",
             PONS_BINARY_DIR "/pons", b.workspace);
    bench_start_program(&b, &node, "/usr/bin/env", words);
    const int status = bench_finish(&node);
    char *err = bench_stderr(&node);
    print_message("%s%s", node.text ? node.text : "", err);
    assert_int_equal(status, 0);
    free(err);
    bench_free(&node);
    bench_signal(&body, SIGTERM);
    bench_finish(&body);
    bench_free(&body);
    bench_close(&b);
}

int main(void)
{
    pons_value_init();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_person_is_asked, bench_teardown),
        cmocka_unit_test_teardown(the_robot_is_driven, bench_teardown),
        cmocka_unit_test_teardown(servers_are_looked_at, bench_teardown),
        cmocka_unit_test_teardown(without_a_word_it_says_what_there_is, bench_teardown),
        cmocka_unit_test_teardown(the_official_client, bench_teardown),
    };
    return bench_together("mcp", tests, sizeof tests / sizeof tests[0]);
}
