// test_fleet_killed.c - tasks that real bodies do under their brains, one orchestrator at a time; killed at any moment, no
// task is lost and the bodies' ledgers have each stop of each task started once; what is cancelled or blocked stays so.
#include "cli_bench.h"
#include "pons/workspace.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROBOTS 2

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(done_once_whatever_is_killed_when, bench_teardown),
        cmocka_unit_test_teardown(cancelled_at_work, bench_teardown),
        cmocka_unit_test_teardown(blocked_by_a_person, bench_teardown),
        cmocka_unit_test_teardown(cancelled_before_anybody_heard_of_it, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli fleet killed", tests, NULL, NULL);
}
