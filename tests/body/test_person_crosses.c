// test_person_crosses.c - somebody walks across the robot's way: it slows down or stands, touches nobody,
// and goes on. With both simulated robots.
#include "body/body_bench.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "unit.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const pons_robot_ops *driver;
static bench t;

static int open_house(void **state)
{
    (void)state;
    bench_open(&t, PONS_SOURCE_DIR "/worlds/house.yaml");
    t.opts.robot = driver;
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.5);
    return 0;
}

static int close_house(void **state)
{
    (void)state;
    bench_close(&t);
    return 0;
}

static const double SIDE_M = 0.4;

static void put(double x, double y)
{
    bench_send(&t, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "type", "world.spawn", "id",
                             "somebody", "x", x, "y", y, "sx", SIDE_M, "sy", SIDE_M));
}

// Between the robot's middle and the box.
static double distance_to(double x, double y)
{
    pons_pose2 p;
    assert_int_equal(pons_body_truth(t.body, &p, NULL), PONS_OK);
    return hypot(fmax(fabs(p.x - x) - 0.5 * SIDE_M, 0.0), fmax(fabs(p.y - y) - 0.5 * SIDE_M, 0.0));
}

// Through the door of the living room, in which somebody appears when the robot is near, stays for a
// while and walks on into the corridor.
static void it_gives_way_and_goes_on(void **state)
{
    (void)state;
    const char *id = bench_goal(&t, "g", "navigate_to_pose", "{\"zone\":\"bedroom\"}");
    pons_pose2 p;
    for (int i = 0; i < 600; i++) {
        bench_step(&t, 0.05);
        pons_body_truth(t.body, &p, NULL);
        if (p.y > 2.7) {
            break;
        }
    }
    assert_true(p.y > 2.7);
    const double fast = bench_speed(&t);
    assert_true(fast > 0.1);
    // Across the door, half a metre a second; then it stands in the way for six seconds; then on.
    double slowest = fast, nearest = INFINITY, x = 2.6, y = 4.1;
    for (double s = 0.0; s < 20.0; s += 0.05) {
        x = s < 2.0 ? 2.6 + 0.45 * s : s < 8.0 ? 3.5 : fmin(3.5 + 0.45 * (s - 8.0), 6.0);
        y = s < 8.0 ? 4.1 : fmin(4.1 + 0.3 * (s - 8.0), 4.95);
        put(x, y);
        bench_step(&t, 0.05);
        slowest = fmin(slowest, fabs(bench_speed(&t)));
        nearest = fmin(nearest, distance_to(x, y));
    }
    print_message("from %.2f m/s down to %.3f, never nearer than %.3f m\n", fast, slowest, nearest);
    assert_true(slowest < 0.25);        // it stands, or turns round to the other way
    assert_true(nearest > 0.22 + 0.01); // its radius, and room
    bench_send(&t,
               json_pack("{s:s, s:s, s:b}", "type", "world.spawn", "id", "somebody", "remove", 1));
    assert_string_equal(bench_until_result(&t, id, 120.0), "done 0");
    assert_true(bench_truth_to(&t, 3.2, 6.5) < 0.2);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_gives_way_and_goes_on, open_house, close_house),
    };
    driver = &pons_robot_kinematic;
    int failed = cmocka_run_group_tests_name("kinematic", tests, NULL, NULL);
    const void *ops = NULL;
    if (pons_module_load("driver", "mujoco", &ops, NULL) < 0) {
        print_message("MuJoCo is not here: left out\n");
        return failed;
    }
    driver = ops;
    return failed + cmocka_run_group_tests_name("mujoco", tests, NULL, NULL);
}
