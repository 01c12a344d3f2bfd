// test_watching_a_run.c - a person at another terminal while the robot drives, and a brain that is frozen or
// left: stop, reset, pause, continue, say, Ctrl-C. The robot drives at its own pace, so that there
// is time to say something; the tests run at the same time, each in a workspace of its own.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_frozen_brain_is_a_hold(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    const pons_value *accepted = bench_await(&p, "effect", "state", "accepted");
    char goal[64];
    snprintf(goal, sizeof goal, "%s", pons_get_str(accepted, "goal_id", ""));
    bench_signal(&p, SIGSTOP);
    bench_ledger_await(&b, "held", 1);
    bench_signal(&p, SIGCONT);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_ledger_count(&b, goal, "started"), 1);
    assert_true(bench_ledger_count(&b, goal, "adopted") >= 1);
    assert_int_equal(bench_ledger_count(&b, goal, "done"), 1);
    bench_free(&p);
    bench_close(&b);
}

static void leaving_with_ctrl_c_is_no_end(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    const pons_value *accepted = bench_await(&p, "effect", "state", "accepted");
    char goal[64];
    snprintf(goal, sizeof goal, "%s", pons_get_str(accepted, "goal_id", ""));
    bench_signal(&p, SIGINT);
    bench_must_exit(&p, 1);
    char *err = bench_stderr(&p);
    assert_non_null(strstr(err, "pons resume t"));
    free(err);
    bench_free(&p);
    bench_start(&b, &p, NULL, "resume --json");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_ledger_count(&b, goal, "started"), 1);
    bench_ledger_check(&b);
    bench_free(&p);
    bench_close(&b);
}

static void stop_and_reset(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    assert_int_equal(bench_run(&b, "stop 'the cat'"), 0);
    const pons_value *stop = bench_await(&p, "stop", NULL, NULL);
    assert_true(pons_get_bool(stop, "latched", false));
    bench_await(&p, "mode", "mode", "SAFE");
    pons_autovalue status = NULL;
    assert_int_equal(bench_run_json(&b, "status --json", &status), 0);
    assert_true(pons_get_bool(pons_get(status, "stop"), "latched", false));
    assert_non_null(strstr(pons_get_str(pons_get(status, "stop"), "reason", ""), "the cat"));
    bench_must_fail(&b, "continue", 2, "reset"); // it would be one that the reset sets in motion
    assert_int_equal(bench_run(&b, "reset"), 0);
    const int64_t starts = bench_ledger_count(&b, NULL, "started");
    bench_await(&p, "mode", "mode", "IDLE");
    assert_int_equal(bench_ledger_count(&b, NULL, "started"), starts); // nothing moved
    assert_int_equal(bench_run(&b, "continue"), 0); // at once: no telemetry is too old for it
    bench_await(&p, "mode", "mode", "EXEC");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_ledger_check(&b);
    bench_free(&p);
    bench_close(&b);
}

static void pause_continue_say(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t " WATCHABLE " 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    assert_int_equal(bench_run(&b, "pause"), 0);
    bench_await(&p, "mode", "mode", "IDLE");
    bench_await(&p, "effect", "state", "canceled");
    assert_int_equal(bench_run(&b, "say 去卧室 --thread t"), 0);
    bench_await(&p, "task.queued", NULL, NULL);
    assert_int_equal(bench_run(&b, "continue --thread t"), 0);
    bench_await(&p, "mode", "mode", "EXEC");
    bench_await(&p, "task.done", "text", "去厨房");
    assert_int_equal(bench_run(&b, "say stop"), 0); // as `pons stop`: it latches, the task waits
    bench_await(&p, "mode", "mode", "SAFE");
    assert_int_equal(bench_count(&p, "task.done", NULL, NULL), 1);
    bench_must_fail(&b, "cancel task-9", 2, "task-2"); // there is none; that one there is
    assert_int_equal(bench_run(&b, "cancel task-2"), 0);
    bench_await(&p, "task.done", "status", "cancelled");
    bench_await(&p, "run.done", "status", "cancelled");
    bench_must_exit(&p, 1);
    bench_ledger_check(&b);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_frozen_brain_is_a_hold, bench_teardown),
        cmocka_unit_test_teardown(leaving_with_ctrl_c_is_no_end, bench_teardown),
        cmocka_unit_test_teardown(stop_and_reset, bench_teardown),
        cmocka_unit_test_teardown(pause_continue_say, bench_teardown),
    };
    pons_value_init();
    return bench_together("cli", tests, sizeof tests / sizeof tests[0]);
}
