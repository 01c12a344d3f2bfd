// test_fleet.c - `pons fleet`: a shared workspace and the robots' own; what a task is, by its stops or in words, and how
// slips in the files are said.
#include "cli_bench.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool there(const bench *b, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%.96s/%.120s", b->workspace, name);
    return access(path, F_OK) == 0;
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

// What is said in words, in either language, is the same task as its stops; what a fleet cannot do is told at once.
// A name of many bytes is cut between two characters.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(shared_and_own_workspaces, bench_teardown),
        cmocka_unit_test_teardown(a_stop_is_a_skill, bench_teardown),
        cmocka_unit_test_teardown(a_workspace_of_its_own, bench_teardown),
        cmocka_unit_test_teardown(a_slip_in_the_file, bench_teardown),
        cmocka_unit_test_teardown(told_in_words, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli fleet", tests, NULL, NULL);
}
