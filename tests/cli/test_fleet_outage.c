// test_fleet_outage.c - the PostgreSQL of a fleet goes away and comes back, while an orchestrator leads and while one waits.
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

// The database goes away while it leads, and comes back: the robots hold, and what was begun goes on.
static void the_database_is_away(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    fleet_of(&b);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bench_await(&p, "task", "state", "started");
    cluster_fail();
    bench_err_await(&p, "tries again");
    assert_true(bench_alive(&p));
    cluster_again();
    bench_must_exit(&p, 0);
    all_done_once(&b);
    bench_free(&p);
    bench_close(&b);
}

// The same while another one leads and this one waits: it waits through the outage, and leads when the other is gone.
static void the_database_is_away_for_who_waits(void **state)
{
    (void)state;
    bench b;
    proc one = {0}, two = {0};
    fleet_of(&b);
    bench_start(&b, &one, NULL, "fleet run --once --json " QUICK);
    bench_await(&one, "task", "state", "assigned");
    bench_start(&b, &two, NULL, "fleet run --standby --once --json " QUICK);
    bench_err_await(&two, "this one waits");
    bench_await(&one, "task", "state", "started");
    cluster_fail();
    bench_err_await(&two, "tries again");
    bench_signal(&one, SIGKILL);
    bench_finish(&one);
    cluster_again();
    bench_must_exit(&two, 0);
    all_done_once(&b);
    bench_free(&one);
    bench_free(&two);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_database_is_away, bench_teardown),
        cmocka_unit_test_teardown(the_database_is_away_for_who_waits, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli fleet outage", tests, NULL, NULL);
}
