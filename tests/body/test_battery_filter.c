// test_battery_filter.c - one wild reading of the battery changes nothing; a charge that stays is believed.
#include "body/core/body.h"
#include "body/sensing/battery_filter.h"
#include "body_bench.h"
#include "pons/drivers.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOUSE PONS_SOURCE_DIR "/worlds/house.yaml"

enum { READINGS_MAX = 12 };

// Readings at equal intervals, ended by one below -9, and the accepted charge after each.
static const struct {
    const char *what;
    double every_s, said[READINGS_MAX], holds[READINGS_MAX];
} rows[] = {
    {"one low reading", 1.0, {80, 3, 80, 79, -10}, {80, 80, 80, 79}},
    {"two of them", 1.0, {80, 3, 4, 80, -10}, {80, 80, 80, 80}},
    {"two real ones, and one that is wild", 1.0, {80, 74, 74, 3, 74, -10}, {80, 80, 80, 74, 74}},
    {"charging, and one that is wild", 1.0, {20, 26, 27, 100, 27, -10}, {20, 20, 20, 26, 27}},
    {"one full reading while it is low", 1.0, {15, 80, 15, 14, -10}, {15, 15, 15, 14}},
    {"low for good", 1.0, {80, 3, 3, 3, 2, -10}, {80, 80, 80, 3, 2}},
    {"low for good, seldom told", 10.0, {80, 3, 3, 3, -10}, {80, 80, 80, 3}},
    {"low for good, often told", 0.5, {80, 3, 3, 3, 3, 3, 3, -10}, {80, 80, 80, 80, 80, 3, 3}},
    {"wild, each otherwise", 1.0, {80, 3, 40, 100, 60, 3, 80, -10}, {80, 80, 80, 80, 80, 80, 80}},
    {"empties fast", 1.0, {80, 74, 68, 62, 56, 50, 44, -10}, {80, 80, 80, 74, 74, 74, 56}},
    {"low, and noisy", 1.0, {80, 17, 23, 17, 23, 17, 23, -10}, {80, 80, 80, 23, 23, 23, 23}},
    {"changed for a full one", 1.0, {20, 99, 98, 99, -10}, {20, 20, 20, 98}},
    {"no number", 1.0, {80, NAN, -1, 101, INFINITY, 80, -10}, {80, 80, 80, 80, 80, 80}},
    {"no number in between", 1.0, {80, 3, NAN, 3, NAN, 3, -10}, {80, 80, 80, 80, 80, 3}},
    {"nothing yet", 1.0, {NAN, NAN, 70, -10}, {NAN, NAN, 70}},
    {"as fast as one is charged", 1.0, {10, 15, 20, 25, 30, -10}, {10, 15, 20, 25, 30}},
    {"a share, and per cent", 1.0, {0.8, 80, 0.8, 0.79, -10}, {0.8, 0.8, 0.8, 0.79}},
};

// Polled many times between two readings, which a driver numbers.
static void what_holds_after_each_reading(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        pons__battery_filter c = {0};
        int64_t now_ns = 100 * PONS_NS_PER_S;
        for (int i = 0; !(rows[r].said[i] < -9.0); i++) {
            const int64_t next_ns = now_ns + (int64_t)(rows[r].every_s * 1e9);
            for (; now_ns < next_ns; now_ns += 10 * PONS_NS_PER_MS) {
                pons_robot_state s = {
                    .stamp_ns = now_ns, .battery_pct = rows[r].said[i], .battery_number = i + 1};
                pons__battery_filter_apply(&c, &s, now_ns);
                const double holds = rows[r].holds[i];
                if (isnan(holds) ? !isnan(s.battery_pct) : s.battery_pct != holds) {
                    fail_msg("%s: %g holds after reading %d", rows[r].what, s.battery_pct, i);
                }
            }
        }
    }
}

// A gauge that reports only changes: its last reading is accepted after 30 s, whether readings are numbered or not.
static void one_that_is_not_told_again(void **state)
{
    (void)state;
    for (int numbered = 0; numbered < 2; numbered++) {
        pons__battery_filter c = {0};
        for (int ms = 0; ms < 60000; ms += 50) {
            pons_robot_state s = {.stamp_ns = ms * PONS_NS_PER_MS,
                                  .battery_pct = ms < 20000 ? 80 : 8,
                                  .battery_number = numbered * (1 + (ms >= 20000))};
            pons__battery_filter_apply(&c, &s, s.stamp_ns);
            assert_true(s.battery_pct == (ms < 50000 ? 80 : 8));
        }
    }
}

static bench t;
static double says = NAN;

static void read_wild(void *self, pons_robot_state *ret)
{
    pons_robot_kinematic.read(self, ret);
    ret->battery_pct = isnan(says) ? ret->battery_pct : says;
}

static double told(void)
{
    return pons_get_num(t.telemetry, "battery_pct", NAN);
}

// A driver that numbers no readings: one that stays is accepted after 30 s. A charge set in a simulation holds at once.
static void telemetry_tells_what_holds(void **state)
{
    (void)state;
    static pons_robot_ops ops;
    ops = pons_robot_kinematic;
    ops.read = read_wild;
    bench_open_with(&t, HOUSE, &ops, 7);
    bench_hello(&t);
    bench_step(&t, 1.0);
    const double had = told();
    assert_true(had > 50.0);
    says = 3.0;
    bench_step(&t, 29.9);
    assert_float_equal(told(), had, 0.1);
    bench_step(&t, 0.2);
    assert_float_equal(told(), 3.0, 1e-9);
    says = NAN;
    bench_step(&t, 0.1);
    assert_float_equal(told(), 3.0, 1e-9);
    bench_send(&t, json_pack("{s:s, s:f}", "type", "world.battery", "pct", 30.0));
    bench_step(&t, 0.1);
    assert_float_equal(told(), 30.0, 0.1);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_holds_after_each_reading),
        cmocka_unit_test(one_that_is_not_told_again),
        cmocka_unit_test(telemetry_tells_what_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
