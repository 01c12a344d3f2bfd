// test_deaths.c - what dies is resumed: the brain killed at random moments (the seed is
// printed) with the body's ledger as the judge; the body killed; the model's
// server gone. Real processes; the tests run at the same time, as they mostly wait for a robot.
#include "cli_bench.h"
#include "pons/random.h"
#include "rounds.h"
#include "unit.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const pons_value *last_event(const proc *p)
{
    return json_array_get(p->events, json_array_size(p->events) - 1);
}

static void finish_after_kills(bench *b, proc *p, pons_rand *r, int kills)
{
    int left = kills;
    for (;;) {
        if (left > 0) {
            bench_rest((int64_t)pons_rand_below(r, 900));
            if (bench_alive(p)) {
                bench_signal(p, SIGKILL);
            }
            left--;
        }
        const int status = bench_finish(p);
        if (status == 0) {
            return;
        }
        assert_int_equal(status, 128 + SIGKILL);
        bench_free(p);
        bench_start(b, p, NULL, "resume --json killed");
    }
}

static void kill_and_resume_until_done(void **state)
{
    (void)state;
    const int n = (int)rounds(ROUNDS_kills);
    for (int i = 0; i < n; i++) {
        const uint64_t seed = 1000 + (uint64_t)i;
        pons_rand r;
        pons_rand_seed(&r, seed);
        bench b;
        proc p = {0};
        bench_open(&b);
        bench_start(&b, &p, NULL,
                    "run --json --thread killed --driver kinematic --seed 3 --speed 12 去厨房 "
                    "'go back to the living room'");
        bench_await(&p, "run.started", NULL, NULL); // from here on the goals are safe
        const int kills = 2 + (int)pons_rand_below(&r, 4);
        print_message("seed %llu: %d kills\n", (unsigned long long)seed, kills);
        finish_after_kills(&b, &p, &r, kills);
        const pons_value *done = last_event(&p);
        assert_string_equal(pons_get_str(done, "type", ""), "run.done");
        assert_string_equal(pons_get_str(done, "status", ""), "succeeded");
        size_t k;
        json_t *task;
        assert_int_equal(json_array_size(pons_get(done, "tasks")), 2);
        json_array_foreach(pons_get(done, "tasks"), k, task) {
            assert_string_equal(pons_get_str(task, "status", ""), "succeeded");
        }
        bench_ledger_check(&b);
        bench_free(&p);
        bench_close(&b);
    }
}

static void a_killed_body_leaves_an_unknown_outcome(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t --driver kinematic --seed 3 --speed 5 去厨房");
    const pons_value *accepted = bench_await(&p, "effect", "state", "accepted");
    char first[64];
    snprintf(first, sizeof first, "%s", pons_get_str(accepted, "goal_id", ""));
    bench_end_body(&b);
    bench_await(&p, "effect", "state", "outcome_unknown");
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    // The next body booted latched, the rules lifted that, and the way was begun anew.
    assert_int_equal(bench_ledger_count(&b, first, "started"), 1);
    assert_int_equal(bench_ledger_count(&b, first, "done"), 0);
    bench_ledger_check(&b);
    const pons_value *newest = NULL;
    size_t i;
    json_t *ev;
    json_array_foreach(p.events, i, ev) {
        if (strcmp(pons_get_str(ev, "skill", ""), "navigate_to_pose") == 0 &&
            strcmp(pons_get_str(ev, "state", ""), "done") == 0) {
            newest = ev;
        }
    }
    assert_non_null(newest);
    assert_string_not_equal(pons_get_str(newest, "goal_id", ""), first);
    bench_free(&p);
    bench_close(&b);
}

// A run that joined another's body is resumed with that one's driver, where the robot stood.
static void a_joined_body_is_started_again_as_it_was(void **state)
{
    (void)state;
    bench b;
    proc body = {0}, p = {0};
    char path[160];
    bench_open(&b);
    bench_start_body(&b, &body, "--driver kinematic --seed 3 --speed 5");
    const pid_t old = bench_body_pid(&b);
    assert_true(old > 0);
    bench_start(&b, &p, NULL, "run --json --thread t 去厨房"); // would start MuJoCo
    bench_await(&p, "effect", "state", "accepted");
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_end_body(&b);
    bench_start(&b, &p, NULL, "resume --json t");
    bench_await(&p, "effect", "state", "outcome_unknown"); // the next body is there
    assert_int_not_equal(bench_body_pid(&b), old);
    snprintf(path, sizeof path, "%s/run/body.json", b.workspace);
    pons_autovalue now = NULL;
    assert_int_equal(pons_value_load(path, &now, NULL), PONS_OK);
    assert_string_equal(pons_get_str(now, "driver", ""), "kinematic");
    bench_signal(&p, SIGKILL);
    bench_finish(&p);
    bench_free(&p);
    bench_finish(&body);
    bench_free(&body);
    bench_end_body(&b);
    bench_close(&b);
}

// A limit on the size of files stands for a disk that is full while the robot drives: the brain says so and
// lets go of the body, which holds; once there is room it goes on, and no goal is started twice.
static void a_file_that_may_not_grow_is_waited_for(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    struct rlimit r;
    bench_open(&b);
    bench_start(&b, &p, NULL, "run --json --thread t --driver kinematic --seed 3 --speed 5 去厨房");
    bench_await(&p, "effect", "state", "accepted");
    assert_int_equal(prlimit(p.pid, RLIMIT_FSIZE, NULL, &r), 0);
    r.rlim_cur = 4096;
    assert_int_equal(prlimit(p.pid, RLIMIT_FSIZE, &r, NULL), 0);
    bench_err_await(&p, "the robot holds: store: cannot commit to thread t [pons.db]");
    r.rlim_cur = r.rlim_max;
    assert_int_equal(prlimit(p.pid, RLIMIT_FSIZE, &r, NULL), 0);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    bench_free(&p);
    pons_autovalue rows = bench_ledger(&b);
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        if (strcmp(pons_get_str(row, "state", ""), "started") == 0) {
            const char *id = pons_get_str(row, "goal_id", "");
            assert_int_equal(bench_ledger_count(&b, id, "started"), 1);
        }
    }
    bench_end_body(&b);
    bench_close(&b);
}

static void the_rules_carry_on_without_the_model(void **state)
{
    (void)state;
    if (bench_no_model_module()) {
        skip();
    }
    bench b;
    proc model = {0}, p = {0};
    char words[256];
    bench_open(&b);
    const int port = bench_start_model(&b, &model, "--rules --die-after 2");
    snprintf(words, sizeof words,
             "run --json --thread t --llm http://127.0.0.1:%d/v1 --driver kinematic --seed 3 "
             "--speed 5 去厨房 'go back to the living room'",
             port);
    bench_start(&b, &p, NULL, words);
    bench_await(&p, "run.done", "status", "succeeded");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "decision", "source", "llm"), 2);
    assert_true(bench_count(&p, "decision", "source", "rule_engine") >= 2);
    bool said = false;
    size_t i;
    json_t *ev;
    json_array_foreach(p.events, i, ev) {
        const char *why = pons_get_str(ev, "fallback", NULL);
        said = said || (why && strstr(why, "the rules decide"));
    }
    assert_true(said);
    bench_ledger_check(&b);
    assert_int_equal(bench_finish(&model), 1);
    bench_free(&model);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(kill_and_resume_until_done, bench_teardown),
        cmocka_unit_test_teardown(a_killed_body_leaves_an_unknown_outcome, bench_teardown),
        cmocka_unit_test_teardown(a_joined_body_is_started_again_as_it_was, bench_teardown),
        cmocka_unit_test_teardown(a_file_that_may_not_grow_is_waited_for, bench_teardown),
        cmocka_unit_test_teardown(the_rules_carry_on_without_the_model, bench_teardown),
    };
    pons_value_init();
    return bench_together("cli", tests, sizeof tests / sizeof tests[0]);
}
