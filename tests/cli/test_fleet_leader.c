// test_fleet_leader.c - several orchestrators on PostgreSQL: one leads, another one waits. The leader is killed, or
// stopped for longer than its lease and then goes on: the other one leads on, no task is lost, no stop is done
// twice, and who has lost the lead says so and ends, without a word to the robots.
#include "cli_bench.h"
#include "store/cluster.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need_server(void)
{
    static bool runs;
    runs = runs || cluster_start();
    if (!runs) {
        skip();
    }
}

static void fleet_of(bench *b)
{
    need_server();
    // A short lease, so that a takeover is not waited for.
    setenv("PONS_STORE", cluster_empty("#lease_ms=2000"), 1);
    bench_fleet(b);
    proc p = {0};
    bench_start(b, &p, NULL, "fleet assign water --stops kitchen,desk");
    bench_must_exit(&p, 0);
    bench_free(&p);
    assert_int_equal(bench_run(b, "fleet assign tidy --stops bedroom,kitchen"), 0);
}

// What a takeover broke off is begun again, as another goal: what counts is how often it was done.
static void all_done_once(bench *b)
{
    proc p = {0};
    bench_start(b, &p, NULL, "fleet status --all --json");
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "task", "state", "done"), 2);
    bench_free(&p);
    assert_int_equal(bench_fleet_count(b, "wait", 2, "done"), 4); // two stops each
}

static void the_leader_is_killed(void **state)
{
    (void)state;
    bench b;
    proc one = {0}, two = {0};
    fleet_of(&b);
    bench_start(&b, &one, NULL, "fleet run --once --json " QUICK);
    bench_await(&one, "task", "state", "assigned");
    bench_must_fail(&b, "fleet run", 3, "held by");
    bench_start(&b, &two, NULL, "fleet run --standby --once --json " QUICK);
    bench_await(&one, "task", "state", "started");
    bench_signal(&one, SIGKILL);
    bench_finish(&one);
    bench_must_exit(&two, 0);
    all_done_once(&b);
    bench_free(&one);
    bench_free(&two);
    bench_close(&b);
}

static void the_leader_is_away_and_comes_back(void **state)
{
    (void)state;
    bench b;
    proc one = {0}, two = {0};
    fleet_of(&b);
    bench_start(&b, &one, NULL, "fleet run --once --json " QUICK);
    bench_await(&one, "task", "state", "assigned");
    bench_start(&b, &two, NULL, "fleet run --standby --once --json " QUICK);
    bench_signal(&one, SIGSTOP);
    bench_await(&two, "task", "state", "done"); // it leads
    bench_signal(&one, SIGCONT);
    bench_must_exit(&two, 0);
    assert_int_not_equal(bench_finish(&one), 0);
    char *why = bench_stderr(&one);
    assert_non_null(strstr(why, "lease"));
    free(why);
    all_done_once(&b);
    bench_free(&one);
    bench_free(&two);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_leader_is_killed, bench_teardown),
        cmocka_unit_test_teardown(the_leader_is_away_and_comes_back, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli fleet leader", tests, NULL, NULL);
}
