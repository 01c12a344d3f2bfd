// How a simulated world keeps to the host's clock, with the clock in the test's hand.
#include "body/core/pace.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#define MS PONS_NS_PER_MS

// Steps like the simulation's thread: 4 ms at a time up to what is due. The time reached.
static int64_t live(pons__pace *p, int64_t host_ns, int64_t robot_ns)
{
    const int64_t due_ns = pons__pace_due(p, host_ns, robot_ns);
    assert_true(due_ns - robot_ns <= PONS__PACE_ROBOT_NS);
    while (robot_ns + 4 * MS <= due_ns) {
        robot_ns += 4 * MS;
    }
    return robot_ns;
}

static void it_keeps_to_the_clock_at_every_speed(void **state)
{
    (void)state;
    static const double speeds[] = {0.5, 1.0, 5.0, 20.0, 100.0};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        pons__pace p;
        int64_t robot_ns = 7 * PONS_NS_PER_S;
        pons__pace_start(&p, speeds[i], 1000, robot_ns);
        for (int64_t ms = 1; ms <= 10000; ms++) {
            robot_ns = live(&p, 1000 + ms * MS, robot_ns);
        }
        const double lived_s = (double)(robot_ns - 7 * PONS_NS_PER_S) / 1e9;
        assert_true(lived_s > 10.0 * speeds[i] - 0.01 && lived_s <= 10.0 * speeds[i] + 1e-6);
        assert_int_equal(p.lost_ns, 0);
    }
}

// Ten seconds of the host pass at once: at most 150 ms of robot time follow them, in that wake and
// in all later ones together, and the pace goes on from there.
static void time_that_the_process_did_not_run_is_lost(void **state)
{
    (void)state;
    static const double speeds[] = {0.5, 1.0, 5.0, 20.0};
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        pons__pace p;
        int64_t robot_ns = 0, host_ns = 0;
        pons__pace_start(&p, speeds[i], host_ns, robot_ns);
        robot_ns = live(&p, host_ns += 2 * MS, robot_ns);
        const int64_t before_ns = robot_ns;
        host_ns += 10 * PONS_NS_PER_S;
        robot_ns = live(&p, host_ns, robot_ns);
        assert_true(robot_ns - before_ns <= PONS__PACE_ROBOT_NS);
        for (int ms = 0; ms < 1000; ms++) {
            robot_ns = live(&p, host_ns += MS, robot_ns);
        }
        const double lived_s = (double)(robot_ns - before_ns) / 1e9;
        assert_true(lived_s <= speeds[i] * 1.0 + 0.15 + 1e-6);
        assert_true(lived_s >= speeds[i] * 1.0 - 0.01);
        assert_true((double)p.lost_ns / 1e9 >= 10.0 * speeds[i] - 0.2);
    }
}

// Steps that are always slower than the clock slow the world down, and owe nothing for ever.
static void a_slow_machine_slows_the_world(void **state)
{
    (void)state;
    pons__pace p;
    int64_t robot_ns = 0, host_ns = 0;
    pons__pace_start(&p, 1.0, host_ns, robot_ns);
    for (int i = 0; i < 1000; i++) {
        const int64_t due_ns = pons__pace_due(&p, host_ns, robot_ns);
        assert_true(due_ns - robot_ns <= PONS__PACE_ROBOT_NS);
        robot_ns += due_ns > robot_ns ? 4 * MS : 0; // one step is all that it manages
        host_ns += 20 * MS;                         // in five times its time
    }
    assert_true(robot_ns > 3 * PONS_NS_PER_S && robot_ns < 5 * PONS_NS_PER_S);
    assert_true(pons__pace_wake(&p, robot_ns + 4 * MS) <= host_ns + 4 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_keeps_to_the_clock_at_every_speed),
        cmocka_unit_test(time_that_the_process_did_not_run_is_lost),
        cmocka_unit_test(a_slow_machine_slows_the_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
