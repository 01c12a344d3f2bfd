// test_fleet.c - `pons fleet`: a shared workspace and the robots' own, tasks that real bodies do under their
// brains, one orchestrator at a time; killed at any moment, no task is lost and the bodies' ledgers have
// each stop of each task started once.
#include "cli_bench.h"
#include "pons/ledger_line.h"
#include "pons/link_message.h"
#include "pons/workspace.h"
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

static size_t count(const bench *b, pons_ws_file file, const char *kind)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    size_t n = 0, found = 0;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, file, &d, &err), PONS_OK);
    const pons_ws_record *r = pons_ws_records(d, &n);
    for (size_t i = 0; i < n; i++) {
        found += strcmp(r[i].kind, kind) == 0;
    }
    pons_ws_destroy(d);
    return found;
}

static void shared_and_own_workspaces(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --fleet"), 0);
    assert_true(there(&b, "fleet.yaml") && there(&b, "ORCHESTRATOR.md") && there(&b, "ROBOTS.md"));
    assert_true(there(&b, "ENVIRONMENT.md") && there(&b, "TASK.md") && there(&b, "LESSONS.md"));
    assert_false(there(&b, "ACTION.md") || there(&b, "EMBODIED.md"));
    assert_true(there(&b, "robots/r1/ACTION.md") && there(&b, "robots/r2/EMBODIED.md"));
    assert_false(there(&b, "robots/r1/TASK.md"));
    assert_false(there(&b, "robots/r3")); // not enabled
    bench_edit(&b, "robots/r1/EMBODIED.md", "wheeled base",
               "wheeled base of ours"); // the driver's profile
    bench_edit(&b, "fleet.yaml", "enabled: false", "enabled: true, profile: franka");
    assert_int_equal(bench_run(&b, "onboard --fleet"), 0);
    bench_edit(&b, "robots/r3/EMBODIED.md", "Franka", "Franka");
    bench_edit(&b, "robots/r1/EMBODIED.md", "wheeled base of ours",
               "wheeled base"); // what people write stays
    bench_edit(&b, "fleet.yaml", "profile: franka", "profile: frank");
    bench_must_fail(&b, "fleet assign x --stops desk", 2, "no profile 'frank'");
    bench_edit(&b, "fleet.yaml", "profile: frank", "profile: franka");
    bench_must_fail(&b, "fleet assign x --stops nowhere", 2, "nowhere");
    bench_must_fail(&b, "fleet assign x --stops desk --needs wings", 2, "wings");
    bench_must_fail(&b, "fleet assign", 2, "--stops");
    bench_close(&b);
}

static void done_once_whatever_is_killed_when(void **state)
{
    (void)state;
    bench b;
    bench_fleet(&b);
    assert_int_equal(bench_run(&b, "fleet assign water --stops kitchen,desk --priority high"), 0);
    assert_int_equal(bench_run(&b, "fleet assign tidy --stops bedroom,kitchen"), 0);
    static const char *const until[] = {"assigned", "started", "started", "done"};
    for (size_t i = 0; i < sizeof until / sizeof until[0]; i++) {
        proc p = {0};
        bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
        bench_await(&p, "task", "state", until[i]);
        if (i == 1) {
            bench_must_fail(&b, "fleet run", 3, "held by"); // one leads
            assert_int_equal(count(&b, PONS_WS_ORCHESTRATOR, "pool"), ROBOTS);
            assert_int_equal(count(&b, PONS_WS_ROBOTS, "robot"), ROBOTS);
            assert_true(count(&b, PONS_WS_ORCHESTRATOR, "assignment") > 0);
        }
        bench_signal(&p, SIGKILL);
        bench_finish(&p);
        bench_free(&p);
    }
    proc p = {0};
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_start(&b, &p, NULL, "fleet status --all --json");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "task", "state", "done"), 2);
    bench_free(&p);
    assert_int_equal(bench_fleet_count(&b, "wait", 2, "started"), 4); // two stops each
    bench_close(&b);
}

// A stop is a skill with its arguments; a skill that the robot has not fails its task, and no other one.
static void a_stop_is_a_skill(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_fleet(&b);
    bench_must_fail(&b, "fleet assign x --stops 'kitchen:speak{\"text\":'", 2, "no JSON");
    bench_must_fail(&b, "fleet assign x --stops 'kitchen:{}'", 2, "which skill");
    assert_int_equal(
        bench_run(&b, "fleet assign say --stops 'kitchen:speak{\"text\":\"a, b\"},desk'"), 0);
    assert_int_equal(bench_run(&b, "fleet assign fly --stops 'bedroom:fly{}'"), 0);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "task", "state", "done"), 1);
    bench_free(&p);
    bench_start(&b, &p, NULL, "fleet status --all --json");
    assert_non_null(
        strstr(pons_get_str(bench_await(&p, "task", "state", "failed"), "reason", ""), "fly"));
    bench_must_exit(&p, 0);
    assert_int_equal(bench_fleet_count(&b, "speak", 0, "started"), 1);
    assert_int_equal(bench_fleet_count(&b, "wait", 2, "started"), 1);
    bench_free(&p);
    bench_close(&b);
}

// Two robots have two workspaces, however the path is spelt; and none has the shared one.
static void a_workspace_of_its_own(void **state)
{
    (void)state;
    bench b;
    char path[256], other[256];
    static const char *const spelt[] = {
        "robots/r1", "robots//r1", "./robots/r1/", "robots/./r1", "robots/../lab2", "robots/link",
        ".",         "./"};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --fleet"), 0);
    snprintf(path, sizeof path, "%.96s/robots/r1", b.workspace);
    snprintf(other, sizeof other, "%.96s/robots/link", b.workspace);
    assert_int_equal(symlink(path, other), 0);
    const char *was = "workspace: robots/r2, start: p2";
    for (size_t i = 0; i < sizeof spelt / sizeof spelt[0]; i++) {
        char is[64];
        snprintf(is, sizeof is, "workspace: %s, start: p2", spelt[i]);
        bench_edit(&b, "fleet.yaml", was, is);
        bench_must_fail(&b, "fleet assign x --stops desk", 2, "fleet.yaml:5:");
        bench_edit(&b, "fleet.yaml", is, was);
    }
    assert_int_equal(bench_run(&b, "fleet assign x --stops desk"), 0);
    bench_close(&b);
}

// What is said in words, in either language, is the same task as its stops; what a fleet cannot do is told at once.
// A name of many bytes is cut between two characters.
// A slip in fleet.yaml is said with its place, and is no default.
static void a_slip_in_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *is, *says;
    } slips[] = {{"capabilites: [mobile]", "no `capabilites`"},
                 {"enabled: maybe", "true or false"},
                 {"speed_mps: fast", "a number"},
                 {"speed_mps: -1", "a number"},
                 {"speed_mps: 1e300", "a number"},
                 {"pct_per_m: -5", "a number"},
                 {"payload_kg: -0.1", "a number"},
                 {"world: 7", "is text"},
                 {"capabilities: mobile", "a list"},
                 {"id: \"r\\e[31m\"", "a robot's `id`"}};
    bench b;
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --fleet"), 0);
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/fleet.yaml", b.workspace);
        FILE *f = fopen(path, "w");
        fprintf(f, "map: map.yaml\nrobots:\n  - {%s%s}\n",
                strncmp(slips[i].is, "id", 2) == 0 ? "" : "id: r1, ", slips[i].is);
        fclose(f);
        bench_must_fail(&b, "fleet assign x --stops desk", 2, slips[i].says);
        bench_must_fail(&b, "fleet run", 2, "fleet.yaml:3:");
    }
    static const char *const starts[] = {"start: mars", "start: living", "start: p1"};
    static const char *const say[] = {"has not", "a lane", "one zone"};
    for (size_t i = 0; i < 3; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/fleet.yaml", b.workspace);
        FILE *f = fopen(path, "w");
        fprintf(f, "map: map.yaml\nrobots:\n  - {id: a1, start: p1}\n  - {id: a2, %s}\n",
                starts[i]);
        fclose(f);
        bench_must_fail(&b, "fleet run", 2, say[i]);
    }
    bench_close(&b);
}

static void told_in_words(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_fleet(&b);
    bench_must_fail(&b, "fleet assign 'go to the moon'", 2, "unknown zone \"moon\"");
    bench_must_fail(&b, "fleet assign 'say hello'", 2, "which station");
    bench_must_fail(&b, "fleet assign 'bring me the apple'", 2, "to which station");
    bench_must_fail(&b, "fleet assign 'charge'", 2, "by themselves");
    bench_must_fail(&b, "fleet assign 'stop'", 2, "said to robots");
    assert_int_equal(
        bench_run(&b, "fleet assign 'go to the kitchen and say tea is ready, then the desk'"), 0);
    assert_int_equal(bench_run(&b, "fleet assign '去卧室等3秒，然后去厨房'"), 0);
    assert_int_equal(bench_run(&b, "fleet assign 'bring the apple to the desk'"), 0);
    assert_int_equal(
        bench_run(&b, "fleet assign "
                      "x清理桌面清理桌面清理桌面清理桌面清理桌面清理桌面清理桌面清理桌面清理桌面 "
                      "--stops desk --priority low"),
        0);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "task", "state", "done"), 3);
    bench_free(&p);
    bench_start(&b, &p, NULL, "fleet status --all --json"); // no robot of this house has an arm
    const pons_value *apple = bench_await(&p, "task", "name", "bring the apple to the desk");
    assert_string_equal(pons_get_str(apple, "state", ""), "failed");
    assert_non_null(strstr(pons_get_str(apple, "reason", ""), "pick"));
    assert_string_equal(pons_get_str(apple, "requirements", ""), "manipulation");
    assert_string_equal(json_string_value(json_array_get(pons_get(apple, "stops"), 0)), "kitchen");
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_int_equal(bench_fleet_count(&b, "speak", 0, "started"), 1);
    assert_int_equal(bench_fleet_count(&b, "wait", 2, "started"), 3);
    bench_close(&b);
}

// What its robot is at work at ends there, also when the orchestrator dies between the word and the end.
static void cancelled_at_work(void **state)
{
    (void)state;
    bench b;
    pons_value *said = NULL;
    char words[64];
    bench_fleet(&b);
    assert_int_equal(
        bench_run_json(&b, "fleet assign long --stops 'kitchen:wait{\"s\":3600}' --json", &said),
        0);
    proc p = {0};
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_await(&p, "task", "working", "true");
    snprintf(words, sizeof words, "fleet cancel %s", pons_get_str(said, "id", ""));
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    assert_int_equal(bench_run(&b, words), 0);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_await(&p, "task", "cancelling", "true");
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_must_exit(&p, 0);
    bench_free(&p);
    bench_start(&b, &p, NULL, "fleet status --all --json"); // it may have ended in any of the lives
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "task", "state", "cancelled"), 1);
    assert_true(bench_fleet_count(&b, "wait", 3600, "started") <=
                1); // 0: it died before its brain had sent it
    bench_free(&p);
    pons_value_unref(said);
    bench_close(&b);
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

// Nobody goes where a person has said that nobody goes, also after the orchestrator has begun again.
static void blocked_by_a_person(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --fleet"), 0);
    bench_must_fail(&b, "fleet block nowhere", 2, "no zone 'nowhere'");
    assert_int_equal(bench_run(&b, "fleet block corridor-2"), 0);
    assert_int_equal(bench_run(&b, "fleet assign far --stops kitchen"), 0);
    for (int life = 0; life < 2; life++) {
        // --standby: a body that was about to begin may hold what a killed leader held, until it is another program.
        bench_start(&b, &p, NULL, "fleet run --standby --once --json " QUICK);
        bench_await(&p, "task", "state", life == 0 ? "waiting" : "assigned");
        if (life == 1) {
            assert_int_equal(bench_run(&b, "fleet unblock corridor-2"), 0);
            bench_must_exit(&p, 0);
            assert_int_equal(bench_count(&p, "task", "state", "done"), 1);
        } else {
            assert_int_equal(bench_fleet_count(&b, "wait", 2, "started"), 0);
            bench_signal(&p, SIGKILL);
            bench_finish(&p);
        }
        bench_free(&p);
    }
    bench_close(&b);
}

static void cancelled_before_anybody_heard_of_it(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_fleet(&b);
    pons_value *said = NULL;
    assert_int_equal(bench_run_json(&b, "fleet assign water --stops kitchen --json", &said), 0);
    char words[64];
    snprintf(words, sizeof words, "fleet cancel %s", pons_get_str(said, "id", ""));
    assert_int_equal(bench_run(&b, words), 0);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "task", "state", "cancelled"), 1);
    assert_int_equal(bench_fleet_count(&b, "wait", 2, "started"), 0);
    bench_free(&p);
    pons_value_unref(said);
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
        cmocka_unit_test_teardown(shared_and_own_workspaces, bench_teardown),
        cmocka_unit_test_teardown(done_once_whatever_is_killed_when, bench_teardown),
        cmocka_unit_test_teardown(a_stop_is_a_skill, bench_teardown),
        cmocka_unit_test_teardown(a_workspace_of_its_own, bench_teardown),
        cmocka_unit_test_teardown(a_slip_in_the_file, bench_teardown),
        cmocka_unit_test_teardown(told_in_words, bench_teardown),
        cmocka_unit_test_teardown(cancelled_at_work, bench_teardown),
        cmocka_unit_test_teardown(robots_see_each_other, bench_teardown),
        cmocka_unit_test_teardown(a_low_battery_is_charged, bench_teardown),
        cmocka_unit_test_teardown(blocked_by_a_person, bench_teardown),
        cmocka_unit_test_teardown(stopped_all_together, bench_teardown),
        cmocka_unit_test_teardown(cancelled_before_anybody_heard_of_it, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli fleet", tests, NULL, NULL);
}
