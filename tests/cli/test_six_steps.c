// test_six_steps.c - the examples of a workspace's life, from its first file to its first lesson: the wheeled base in the
// house, and the arm at its table, whose apple lies in the basket at the end.
#include "cli_bench.h"
#include "pons/workspace.h"
#include "rounds.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void run_example(const bench *b, const char *script, const char *more)
{
    char command[1024];
    snprintf(command, sizeof command,
             "PONS=%s/pons PONS_SHARE=%s PONS_MODULE_PATH=%s/lib/pons "
             "%s/examples/workspace/%s %s %s >%s/six.log 2>&1 </dev/null || "
             "{ cat %s/six.log %s/watchdog.log; false; }",
             PONS_BINARY_DIR, PONS_SOURCE_DIR, PONS_BINARY_DIR, PONS_SOURCE_DIR, script,
             b->workspace, more, b->dir, b->dir, b->workspace);
    assert_int_equal(system(command), 0);
}

static void the_six_steps(void **state)
{
    (void)state;
    bench b;
    bench_open(&b);
    run_example(&b, "six_steps.sh", "");
    bench_ledger_check(&b);
    // Where the machine is slow and telemetry old, there are stops between them, and a drive may be begun anew.
    assert_int_equal(bench_ledger_in(&b, "navigate_to_pose", "done"), 3);
    bench_close(&b);
}

static double coordinate(const bench *b, const char *object, size_t axis)
{
    pons_ws_doc *d = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(pons_ws_load(PONS_WS_BY_PERSON, b->workspace, PONS_WS_ENVIRONMENT, &d, &err),
                     PONS_OK);
    const pons_ws_record *r = pons_ws_find(d, "object", object);
    assert_non_null(r);
    const pons_value *at = json_array_get(pons_get(r->value, "position"), axis);
    assert_true(json_is_number(at));
    const double m = json_number_value(at);
    pons_ws_destroy(d);
    return m;
}

// By physics, whatever anybody says: the apple lies inside of the basket's rim, above the table.
static void must_lie_in_the_basket(const bench *b)
{
    const double dx = coordinate(b, "apple", 0) - coordinate(b, "basket", 0),
                 dy = coordinate(b, "apple", 1) - coordinate(b, "basket", 1);
    assert_true(dx * dx + dy * dy < 0.1 * 0.1);
    assert_true(coordinate(b, "apple", 2) > 0.42 && coordinate(b, "apple", 2) < 0.48);
}

static void the_six_steps_of_an_arm(void **state)
{
    (void)state;
    if (access(PONS_BINARY_DIR "/lib/pons/driver-mujoco.so", F_OK) < 0) {
        skip();
    }
    const int seeds = (int)rounds(ROUNDS_arm_tables);
    for (int seed = 1; seed <= seeds; seed++) {
        bench b;
        char words[16];
        bench_open(&b);
        snprintf(words, sizeof words, "%d", seed);
        print_message("seed %d\n", seed);
        run_example(&b, "six_steps_arm.sh", words);
        must_lie_in_the_basket(&b);
        assert_true(coordinate(&b, "cup", 2) > 0.52); // on the shelf
        assert_int_equal(bench_ledger_count(&b, NULL, "started"), 4);
        bench_close(&b);
    }
}

// A model decides, and says twice that it is done before it is: what counts is where the apple lies.
static void a_model_puts_it_into_the_basket(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    char line[256];
    if (access(PONS_BINARY_DIR "/lib/pons/driver-mujoco.so", F_OK) < 0) {
        skip();
    }
    bench_open(&b);
    assert_int_equal(bench_run(&b, "onboard --world tabletop --robot arm_001"), 0);
    bench_file(&b, "script.yaml",
               "replies:\n"
               "- decision: {type: FINISH, reason: it looks fine}\n"
               "- decision: {type: CONTINUE, reason: first the apple, ops: [{op: dispatch, skill: "
               "pick, args: {object: apple}}]}\n"
               "- decision: {type: FINISH, reason: it is off the table}\n"
               "- decision: {type: CONTINUE, reason: into the basket, ops: [{op: dispatch, skill: "
               "place, args: {target: basket}}]}\n"
               "- decision: {type: FINISH, reason: it is in the basket}\n");
    snprintf(line, sizeof line,
             "run --world tabletop --seed 4 --speed 8 --json --llm script:%s/script.yaml 'put the "
             "apple into the basket'",
             b.dir);
    bench_start(&b, &p, NULL, line);
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "guard.refused", NULL, NULL), 2);
    assert_int_equal(bench_count(&p, "task.done", "status", "succeeded"), 1);
    bench_free(&p);
    must_lie_in_the_basket(&b);
    assert_int_equal(bench_ledger_skill(&b, "pick"), 1);
    assert_int_equal(bench_ledger_skill(&b, "place"), 1);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_six_steps, bench_teardown),
        cmocka_unit_test_teardown(the_six_steps_of_an_arm, bench_teardown),
        cmocka_unit_test_teardown(a_model_puts_it_into_the_basket, bench_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
