// test_sight.c - `pons sight` beside a run, and `pons seen`: a robot in a world with a simulated detector drives to the
// kitchen; what it saw is asked for while it runs, after the process that remembers was killed, and when all is over.
#include "cli_bench.h"
#include "serve_client.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The house with a detector, as worlds/seen.yaml of the workspace.
static void put_world(bench *b)
{
    bench_shell("mkdir -p %s/worlds && sed -e 's/^lidar:/sight: {hz: 5, range_m: 4.5, miss: 0.2, "
                "false_alarm: 0.02, noise_m: 0.05}\\n\\nlidar:/' -e '/^mjcf:/d' "
                "%s/worlds/house.yaml > %s/worlds/seen.yaml",
                b->workspace, PONS_SOURCE_DIR, b->workspace);
}

static pid_t sight_of(const proc *run, pid_t not )
{
    int64_t since = 0;
    pid_t pid = 0;
    while ((pid = bench_child(run->pid, "sight")) == 0 || pid == not ) {
        bench_again(&since, "pons sight");
    }
    return pid;
}

static void await_seen(bench *b, const char *words)
{
    int64_t since = 0;
    while (bench_run(b, words) != 0) {
        bench_again(&since, words);
    }
}

static void remembered(void **state)
{
    (void)state;
    bench b;
    proc run = {0}, p = {0};
    bench_open(&b);
    put_world(&b);
    assert_int_equal(bench_run(&b, "seen cup"), 1); // and there is no store yet
    bench_start(&b, &run, NULL,
                "run --json --thread t --driver kinematic --seed 3 --speed 4 --world seen "
                "'go to the kitchen' 'wait 60 seconds'");
    const pid_t first = sight_of(&run, 0);
    await_seen(&b, "seen cup --near kitchen --world seen");
    bench_must_fail(&b, "sight", 3, "another process");
    assert_int_equal(kill(first, SIGKILL), 0);
    sight_of(&run, first); // the run has another one
    await_seen(&b, "seen 苹果");
    bench_signal(&run, SIGINT);
    bench_finish(&run);
    assert_int_equal(bench_child(run.pid, "sight"), 0); // it ended with its run
    bench_free(&run);

    pons_autovalue cup = NULL;
    assert_int_equal(bench_run_json(&b, "seen mug --limit 1 --json", &cup), 0);
    assert_string_equal(pons_get_str(cup, "zone", ""), "kitchen");
    assert_true(pons_get_int(cup, "seen", 0) >= 2);
    bench_start(&b, &p, NULL, "seen cup");
    const char *line = bench_line(&p);
    assert_non_null(strstr(line, "cup in kitchen, seen "));
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_int_equal(bench_run(&b, "seen unicorn"), 1);
    assert_int_equal(bench_run(&b, "seen cup --near bedroom"), 1);
    bench_must_fail(&b, "seen cup --near kitchn", 2, "did you mean 'kitchen'");
    bench_must_fail(&b, "seen cup --since yesterday", 2, "--since needs a time like");
    bench_close(&b);
}

static void asked_over_http(bench *b)
{
    proc server = {0};
    bench_start(b, &server, NULL, SERVE "--llm rules");
    const serve_at at = serve_ready(b, &server);
    serve_must(&at, at.port, "GET", "/v1/objects?what=mug", "", 200, "\"zone\":\"kitchen\"");
    serve_must(&at, at.port, "GET", "/v1/objects?what=unicorn", "", 200, "{\"objects\":[]}");
    serve_must(&at, at.port, "GET", "/v1/objects?zone=bedroom&what=cup", "", 200,
               "{\"objects\":[]}");
    serve_must(&at, at.port, "GET", "/v1/objects?what=cup&since_ms=9000000000000", "", 200,
               "{\"objects\":[]}");
    serve_must(&at, at.port, "GET", "/v1/objects?limit=1", "", 200, "\"id\":\"obj-");
    serve_must(&at, at.port, "GET", "/v1/objects?limit=many", "", 422, "?limit");
    serve_must(&at, at.port, "GET", "/v1/objects?limit=-1", "", 422, "?limit");
    serve_must(&at, at.port, "GET", "/v1/objects?since_ms=yesterday", "", 422, "?since_ms");
    const serve_at stranger = {.port = at.port, .stop_port = at.stop_port, .token = "none"};
    serve_must(&stranger, at.port, "GET", "/v1/objects", "", 401, "");
    bench_signal(&server, SIGINT);
    bench_finish(&server);
    bench_free(&server);
}

// Its tools answer from the memory, without a body.
static void asked_by_an_agent(bench *b)
{
    proc p = {0};
    char line[512];
    bench_file(b, "script.yaml",
               "replies:\n"
               "- tool_calls: [{name: where_is, arguments: {what: mug}}]\n"
               "- tool_calls: [{name: what_is_in, arguments: {zone: kitchen}}]\n"
               "- tool_calls: [{name: what_is_in, arguments: {zone: garage}}]\n"
               "- content: That is all.\n");
    snprintf(line, sizeof line,
             "agent 'where is the mug?' --json --world seen --llm script:%s/script.yaml", b->dir);
    bench_start(b, &p, NULL, line);
    bench_must_exit(&p, 0);
    assert_non_null(strstr(p.text, "cup in kitchen, seen "));
    assert_non_null(strstr(p.text, "nothing was seen"));
    bench_free(&p);
}

static void asked_by_mcp(bench *b)
{
    proc p = {0};
    bench_start(
        b, &p,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"where_is\","
        "\"arguments\":{\"what\":\"杯子\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/"
        "call\",\"params\":{\"name\":\"what_is_in\","
        "\"arguments\":{\"zone\":\"bedroom\"}}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":\"where_is\","
        "\"arguments\":{}}}\n",
        "mcp serve --world seen");
    bench_finish(&p);
    assert_non_null(strstr(p.text, "cup in kitchen, seen "));
    assert_non_null(strstr(p.text, "\"isError\":true"));
    bench_free(&p);
}

static void flags(bench *b)
{
    pons_autovalue all = NULL;
    assert_int_equal(bench_run_json(b, "seen --limit 1 --json", &all), 0);
    assert_string_equal(pons_get_str(all, "type", ""), "object");
    assert_int_equal(bench_run(b, "seen cup --since 2h"), 0);
    assert_int_equal(bench_run(b, "seen --near kitchen --since 3d --limit 5"), 0);
    assert_int_equal(bench_run(b, "seen --near 厨房 杯子"), 0); // by the world's names
    assert_int_equal(bench_run(b, "seen cup --since 0.001s"), 1);
    bench_must_fail(b, "seen --limit 0", 2, "--limit takes a number from 1 to 10000");
    bench_must_fail(b, "seen --limit some", 2, "--limit takes a number");
    bench_must_fail(b, "seen cup --since 2 h", 1, "nothing of that kind");
    bench_must_fail(b, "seen cup --since -5m", 2, "--since needs a time like");
}

// It goes through the house until it has seen the thing, says where, and remembers: what is asked then moves nothing.
static void found(void **state)
{
    (void)state;
    bench b;
    proc run = {0}, ask = {0};
    bench_open(&b);
    put_world(&b);
    bench_must_fail(&b, "run " FAST " --world seen 'find the unicorn'", 2, "unknown object");
    bench_must_fail(&b, "run " FAST " --world seen 'pick up the laptop'", 2, "unknown object");
    bench_start(&b, &run, NULL,
                "run --json --thread t --driver kinematic --seed 3 --speed 6 --world seen "
                "'find the cup'");
    bench_await(&run, "task.done", "status", "succeeded");
    assert_true(bench_count(&run, "effect", "skill", "navigate_to_pose") > 0);
    bench_must_exit(&run, 0);
    bench_free(&run);
    assert_int_equal(bench_run(&b, "seen cup --near kitchen"), 0);
    bench_start(&b, &ask, NULL,
                "run --json --thread u --driver kinematic --seed 3 --speed 6 --world seen "
                "'杯子在哪'");
    const pons_value *told = bench_await(&ask, "task.done", "status", "succeeded");
    assert_non_null(strstr(pons_get_str(told, "reason", ""), "我上次看到杯子是在厨房"));
    assert_int_equal(bench_count(&ask, "effect", NULL, NULL), 0); // nothing moves
    bench_must_exit(&ask, 0);
    bench_free(&ask);
    asked_over_http(&b);
    asked_by_an_agent(&b);
    asked_by_mcp(&b);
    flags(&b);
    bench_close(&b);
}

// Nobody looks where nothing can be seen, and a file that is wrong is said before anything begins.
static void not_started(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "run " FAST " 'wait 1 seconds'"),
                     0); // the house has no detector
    bench_must_fail(&b, "logs sight", 3, "there is no log of sight");
    bench_shell("mkdir %s/config", b.workspace);
    bench_put(&b, "config/sight.yaml", "detectors: [{name: sim}]\nhalf_life_s: {cup: 0}\n");
    bench_must_fail(&b, "run " FAST " 'wait 1 seconds'", 2, "config/sight.yaml:2:");
    bench_put(&b, "config/sight.yaml", "detectors: []\n");
    assert_int_equal(bench_run(&b, "sight"), 3);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(remembered, bench_teardown),
        cmocka_unit_test_teardown(found, bench_teardown),
        cmocka_unit_test_teardown(not_started, bench_teardown),
    };
    return bench_together("sight", tests, sizeof tests / sizeof *tests);
}
