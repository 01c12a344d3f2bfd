// test_fleet_asks.c - what a robot's brain would ask a person, in a fleet: whether to try a way once more is not for a
// person to say, and nobody waits for that; what a person has to permit is shown, and waited for.
#include "cli_bench.h"
#include "unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fleet_of(bench *b)
{
    bench_fleet(b);
    assert_int_equal(bench_run(b, "fleet assign water --stops kitchen,desk"), 0);
}

#define ASKS_AT_ONCE                                                                               \
    "  other_ways: 1 # failures after which another way is tried\n  waits: 1",                     \
        "  other_ways: 0\n  waits: 0"

// A body dies on its way: what became of it is not known, and a brain of its own asks whether to try again.
static void a_body_dies_on_its_way(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    fleet_of(&b);
    bench_share(&b, ASKS_AT_ONCE);
    bench_start(&b, &p, NULL, "fleet run --once --json --speed 10");
    for (int deaths = 0; deaths < 2; deaths++) {
        const int before = bench_fleet_count(&b, "navigate_to_pose", 0, "started");
        while (bench_fleet_count(&b, "navigate_to_pose", 0, "started") == before) {
            bench_rest(10);
        }
        for (int i = 1; i <= 2; i++) {
            bench own = b;
            snprintf(own.workspace, sizeof own.workspace, "%.60s/robots/r%d", b.workspace, i);
            const pid_t pid = bench_body_pid(&own);
            if (pid > 0) {
                kill(pid, SIGKILL);
            }
        }
    }
    bench_must_exit(&p, 0);
    assert_int_equal(bench_count(&p, "task", "state", "done"), 1);
    bench_free(&p);
    bench_close(&b);
}

static void what_a_person_has_to_permit(void **state)
{
    (void)state;
    bench b;
    proc p = {0};
    fleet_of(&b);
    bench_share(&b, BENCH_ASKS);
    bench_start(&b, &p, NULL, "fleet run --once --json " QUICK);
    bool asked = false, again = false;
    for (int tries = 0; tries < 4000 && !again; tries++) {
        proc s = {0};
        bench_start(&b, &s, NULL, "fleet status");
        bench_finish(&s);
        const char *asks =
            s.text ? strstr(s.text, "waits for a person (pons approve fleet-r") : NULL;
        if (asks) {
            char words[64];
            again = asked;
            asked = true;
            snprintf(words, sizeof words, "approve fleet-r%c approve",
                     asks[strlen("waits for a person (pons approve fleet-r")]);
            bench_run(&b, words); // 0, or it was answered already
        }
        bench_free(&s);
        bench_rest(50);
    }
    assert_true(asked && again); // each way is asked for
    assert_true(bench_alive(&p));
    bench_signal(&p, SIGTERM);
    bench_finish(&p);
    bench_free(&p);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_body_dies_on_its_way, bench_teardown),
        cmocka_unit_test_teardown(what_a_person_has_to_permit, bench_teardown),
    };
    return cmocka_run_group_tests_name("cli fleet asks", tests, NULL, NULL);
}
