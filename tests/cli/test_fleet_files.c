// test_fleet_files.c - each robot of a fleet is judged by its own EMBODIED.md: what a person forbids or lowers there holds
// for this robot from then on, while it runs, and for no other; whose file nobody can read takes no motion.
#include "cli_bench.h"
#include "unit.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRIVES "drive_on_heading{\"distance_m\":0.1,\"speed_mps\":0.4}"

static void own_of(const bench *b, int robot, bench *ret)
{
    *ret = *b;
    snprintf(ret->workspace, sizeof ret->workspace, "%.60s/robots/r%d", b->workspace, robot);
}

// What `pons fleet status` says of a robot or of a task.
static pons_value *said(bench *b, const char *type, const char *key, const char *value)
{
    proc p = {0};
    pons_value *found = NULL;
    size_t i;
    json_t *v;
    bench_start(b, &p, NULL, "fleet status --all --json");
    bench_finish(&p);
    json_array_foreach(p.events, i, v) {
        if (strcmp(pons_get_str(v, "type", ""), type) == 0 &&
            strcmp(pons_get_str(v, key, ""), value) == 0) {
            pons_value_unref(found);
            found = pons_value_ref(v);
        }
    }
    bench_free(&p);
    return found;
}

static void must_say(bench *b, const char *type, const char *key, const char *value, const char *of,
                     const char *words)
{
    pons_autovalue v = said(b, type, key, value);
    const char *is = pons_get_str(v, of, "");
    if (*words ? !strstr(is, words) : *is != '\0') {
        fail_msg("%s %s: %s is '%s', not '%s'", type, value, of, is, words);
    }
}

// Of a robot, until it says so; words "": nothing.
static void await_why(bench *b, const char *robot, const char *words)
{
    for (int64_t since = 0;;) {
        pons_autovalue v = said(b, "robot", "id", robot);
        const char *why = pons_get_str(v, "why", "");
        if (v && (*words ? strstr(why, words) != NULL : !*why)) {
            return;
        }
        bench_again(&since, *words ? words : "a robot that may drive");
    }
}

static int drove(const bench *b, int robot)
{
    bench own;
    own_of(b, robot, &own);
    return bench_ledger_in(&own, "navigate_to_pose", "started");
}

// As a process does that is stopped while it writes this file of the orchestrator's workspace.
static int hold_file(const bench *b, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/.pons/%s.lock", b->workspace, name);
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    return fd;
}

static void forbidden_and_allowed_while_it_runs(void **state)
{
    (void)state;
    bench b, own;
    proc p = {0};
    bench_fleet(&b);
    own_of(&b, 2, &own);
    bench_start(&b, &p, NULL, "fleet run --json " QUICK);
    await_why(&b, "r2", "");
    const int held = hold_file(&b, "ORCHESTRATOR.md"); // the fleet does not wait for who writes it
    bench_edit(&own, "EMBODIED.md", "| move_to ", "| another_thing ");
    bench_edit(&own, "EMBODIED.md", "| target_navigation ", "| something_else ");
    await_why(&b, "r2", "r2 may not drive by its EMBODIED.md");
    assert_int_equal(bench_run(&b, "fleet assign lift --stops desk --needs manipulation"), 0);
    assert_int_equal(bench_run(&b, "fleet assign water --stops kitchen,desk"), 0);
    bench_await(&p, "task", "state", "done");
    must_say(&b, "task", "name", "water", "state", "done"); // the others go on
    must_say(&b, "task", "name", "water", "robot", "r1");
    must_say(&b, "task", "name", "lift", "state", "waiting");
    assert_true(drove(&b, 1) > 0);
    assert_int_equal(drove(&b, 2), 0);
    close(held);
    bench_edit(&own, "EMBODIED.md", "| another_thing ", "| move_to ");
    bench_await(&p, "task", "state", "done");
    must_say(&b, "task", "name", "lift", "robot", "r2");
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

// It ends the step that it is at, and gives the next zone back, which others may want to go through.
static void forbidden_on_its_way(void **state)
{
    (void)state;
    bench b, own;
    proc p = {0};
    bench_fleet(&b);
    own_of(&b, 2, &own);
    assert_int_equal(bench_run(&b, "fleet assign lift --stops desk --needs manipulation"), 0);
    bench_start(&b, &p, NULL, "fleet run --json --speed 8");
    bench_await(&p, "task", "state", "assigned");
    while (drove(&b, 2) == 0) {
        bench_rest(20);
    }
    bench_edit(&own, "EMBODIED.md", "| move_to ", "| another_thing ");
    bench_edit(&own, "EMBODIED.md", "| target_navigation ", "| something_else ");
    await_why(&b, "r2", "r2 may not drive by its EMBODIED.md");
    pons_autovalue v = said(&b, "robot", "id", "r2");
    for (int64_t since = 0; !json_is_null(pons_get(v, "next"));) {
        bench_again(&since, "the next zone to be given back");
        pons_value_unref(v);
        v = said(&b, "robot", "id", "r2");
    }
    const int steps = drove(&b, 2);
    must_say(&b, "task", "name", "lift", "state", "waiting");
    assert_int_equal(drove(&b, 2), steps);
    bench_edit(&own, "EMBODIED.md", "| another_thing ", "| move_to ");
    bench_await(&p, "task", "state", "done");
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

static void a_limit_holds_for_its_robot(void **state)
{
    (void)state;
    bench b, own;
    proc p = {0};
    bench_fleet(&b);
    own_of(&b, 2, &own);
    bench_edit(&b, "fleet.yaml", "capabilities: [mobile]", "capabilities: [mobile, scales]");
    bench_edit(&own, "EMBODIED.md", "**Max Speed**: 0.6", "**Max Speed**: 0.3");
    assert_int_equal(bench_run(&b, "fleet assign one --needs scales --stops 'kitchen:" DRIVES "'"),
                     0);
    assert_int_equal(
        bench_run(&b, "fleet assign two --needs manipulation --stops 'desk:" DRIVES "'"), 0);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_must_exit(&p, 0);
    bench_free(&p);
    must_say(&b, "task", "name", "one", "state", "done");
    must_say(&b, "task", "name", "two", "state", "failed");
    must_say(&b, "task", "name", "two", "reason", "max 0.3 m/s");
    assert_int_equal(bench_ledger_in(&own, "drive_on_heading", "started"), 0);
    bench_close(&b);
}

// Since the beginning, or in its limits.
static void who_cannot_be_read_takes_no_motion(void **state)
{
    (void)state;
    static const char *const says[] = {"EMBODIED.md cannot be read", "must be a number"};
    for (int i = 0; i < 2; i++) {
        bench b, own;
        proc p = {0};
        char path[160];
        bench_fleet(&b);
        own_of(&b, 1, &own);
        if (i == 0) {
            snprintf(path, sizeof path, "%s/EMBODIED.md", own.workspace);
            assert_int_equal(unlink(path), 0);
            assert_int_equal(mkdir(path, 0700), 0);
        } else {
            bench_edit(&own, "EMBODIED.md", "**Max Speed**: 0.6", "**Max Speed**: banana");
        }
        assert_int_equal(bench_run(&b, "fleet assign water --stops kitchen,desk"), 0);
        bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
        bench_must_exit(&p, 0);
        bench_free(&p);
        must_say(&b, "task", "name", "water", "robot", "r2");
        must_say(&b, "task", "name", "water", "state", "done");
        must_say(&b, "robot", "id", "r1", "why", "r1 may not drive by its EMBODIED.md");
        must_say(&b, "robot", "id", "r1", "why", says[i]);
        assert_int_equal(drove(&b, 1), 0);
        bench_close(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(forbidden_and_allowed_while_it_runs, bench_teardown),
        cmocka_unit_test_teardown(forbidden_on_its_way, bench_teardown),
        cmocka_unit_test_teardown(a_limit_holds_for_its_robot, bench_teardown),
        cmocka_unit_test_teardown(who_cannot_be_read_takes_no_motion, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli fleet files", tests, NULL, NULL);
}
