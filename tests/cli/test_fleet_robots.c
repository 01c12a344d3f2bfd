// test_fleet_robots.c - the robots of a fleet that runs: they see each other, charge by themselves, and are stopped all
// together.
#include "cli_bench.h"
#include "pons/ledger_format.h"
#include "pons/link_message.h"
#include "unit.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROBOTS 2

static bool there(const bench *b, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%.96s/%.120s", b->workspace, name);
    return access(path, F_OK) == 0;
}

// How many of the robots' bodies say that their stop is latched.
static int latched(const bench *b)
{
    int n = 0;
    for (int i = 1; i <= ROBOTS; i++) {
        bench own = *b;
        pons_value *is = NULL;
        snprintf(own.workspace, sizeof own.workspace, "%.60s/robots/r%d", b->workspace, i);
        assert_int_equal(bench_run_json(&own, "status --json", &is), 0);
        n += pons_get_bool(pons_get(is, "stop"), "latched", false);
        pons_value_unref(is);
    }
    return n;
}

// The lidar of one sees the other one: each has a world of its own, and the other one is in it.
static void robots_see_each_other(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --fleet"), 0);
    bench_edit(&b, "map.yaml", "  - {id: p1,",
               "  - {id: p4, kind: park, x: 2.2, y: 3.5, at: living}\n  - {id: p1,");
    bench_edit(&b, "fleet.yaml", "start: p2", "start: p4");
    bench_start(&b, &p, NULL, "fleet run --json " QUICK);
    char path[256];
    snprintf(path, sizeof path, "%.96s/robots/r1/run/body.sock", b.workspace);
    pons_link *link = NULL;
    pons_error err = PONS_ERROR_INIT;
    while (pons_link_connect(path, &link, &err) < 0) {
        bench_rest(20);
    }
    const pons_message hello = {.type = PONS_MESSAGE_HELLO,
                                .as.hello = {.protocol = PONS_LINK_PROTOCOL, .name = "test"}};
    assert_int_equal(pons_message_send(link, &hello, &err), 0);
    for (bool seen = false; !seen;) {
        pons_autovalue message = NULL;
        const int rc = pons_link_recv(link, &message, &err);
        assert_true(rc >= 0);
        const pons_value *all = pons_get(message, "obstacles");
        for (size_t i = 0; i < json_array_size(all); i++) {
            const pons_value *o = json_array_get(all, i);
            seen =
                seen || hypot(pons_get_num(o, "x", 0) - 2.2, pons_get_num(o, "y", 0) - 3.5) < 0.4;
        }
        if (rc == 0) {
            bench_rest(20);
        }
    }
    pons_link_close(link);
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

// A battery that is low is charged at the dock of the map, without a task.
static void a_low_battery_is_charged(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char from[512], to[256], line[1024];
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --fleet"), 0);
    for (int i = 0; i < 2; i++) { // a house where batteries begin at 30 %, and r1 in it
        snprintf(from, sizeof from, "%s/%s", i ? b.workspace : PONS_SOURCE_DIR,
                 i ? "fleet.yaml" : "worlds/house.yaml");
        snprintf(to, sizeof to, "%s/%s", b.workspace, i ? "fleet.new" : "low.yaml");
        FILE *in = fopen(from, "r"), *out = fopen(to, "w");
        assert_true(in && out);
        while (fgets(line, sizeof line, in)) {
            char *house = strstr(line, "world: house");
            if (i == 0 && strstr(line, "initial_pct:")) {
                fputs("  initial_pct: 30\n", out);
            } else if (i == 1 && strstr(line, "id: r1") && house) {
                fprintf(out, "%.*sworld: %s/low.yaml%s", (int)(house - line), line, b.workspace,
                        house + strlen("world: house"));
            } else if (!strstr(line, "mjcf:")) {
                fputs(line, out);
            }
        }
        fclose(in);
        fclose(out);
    }
    assert_int_equal(rename(to, from), 0);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_must_exit(&p, 0);
    assert_int_equal(bench_fleet_count(&b, "dock_to_charger", 0, "started"), 1);
    bench_free(&p);
    bench_start(&b, &p, NULL, "fleet status --json");
    assert_true(pons_get_int(bench_await(&p, "robot", "id", "r1"), "battery_pct", 0) > 80);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_close(&b);
}

// A stop in the shared workspace is every robot's; a fleet.yaml that somebody is editing keeps it from none.
static void stopped_all_together(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    pons_value *said = NULL;
    char path[256], broken[256];
    bench_fleet(&b);
    bench_must_fail(&b, "stop", 3, "no robot's body runs");
    assert_int_equal(bench_run(&b, "fleet assign water --stops kitchen"), 0);
    bench_start(&b, &p, NULL, "fleet run --json " QUICK);
    const pons_value *task = bench_await(&p, "task", "state", "assigned");
    char continues[64];
    snprintf(continues, sizeof continues, "continue --thread fleet-%s",
             pons_get_str(task, "robot", ""));
    for (int n = 0; n < ROBOTS;) { // both bodies are there
        n = 0;
        for (int i = 1; i <= ROBOTS; i++) {
            snprintf(path, sizeof path, "robots/r%d/run/stop.sock", i);
            n += there(&b, path);
        }
        bench_rest(20);
    }
    assert_int_equal(bench_run_json(&b, "stop enough --json", &said), 0);
    assert_true(pons_get_bool(said, "durable", false));
    pons_value_unref(said);
    for (int i = 1; i <= ROBOTS; i++) {
        snprintf(path, sizeof path, "robots/r%d/run/body.epoch", i);
        assert_true(there(&b, path));
    }
    assert_int_equal(latched(&b), ROBOTS);
    bench_must_fail(&b, continues, 2, "reset"); // that robot's own body is looked at
    assert_int_equal(bench_run(&b, "reset"), 0);
    assert_int_equal(latched(&b), 0);
    assert_int_equal(bench_run(&b, continues), 0);
    bench_await(&p, "task", "state", "done");
    snprintf(path, sizeof path, "%s/fleet.yaml", b.workspace);
    snprintf(broken, sizeof broken, "%s/fleet.yaml.was", b.workspace);
    assert_int_equal(rename(path, broken), 0);
    FILE *f = fopen(path, "w");
    fputs("robots: [", f);
    fclose(f);
    bench_must_fail(&b, "stop", 3, "fleet.yaml"); // who else there is, is not known …
    assert_int_equal(latched(&b), ROBOTS);        // … but those that are have stopped
    assert_int_equal(rename(broken, path), 0);
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(robots_see_each_other, bench_teardown),
        cmocka_unit_test_teardown(a_low_battery_is_charged, bench_teardown),
        cmocka_unit_test_teardown(stopped_all_together, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli fleet robots", tests, NULL, NULL);
}
