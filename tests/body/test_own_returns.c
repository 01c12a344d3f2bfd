// test_own_returns.c - a lidar that sees its own robot: what is within the outline stops nobody and hides no more than what
// is behind it, what is just outside of it is named, and a lidar that is covered moves nothing.
//
// The driver is the kinematic one with parts of the robot drawn into its scans.
#include "body/core/body.h"
#include "body/safety/own_returns.h"
#include "body_bench.h"
#include "pons/drivers.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOUSE    PONS_SOURCE_DIR "/worlds/house.yaml"
#define RADIUS_M 0.22 // of its robot

typedef struct part { // between two directions, so far from the lidar
    double from_deg, to_deg, at_m;
} part;

static bench t;
static const part *parts; // up to one at no distance

static bool scan(void *self, pons_scan *ret)
{
    if (!pons_robot_kinematic.scan(self, ret)) {
        return false;
    }
    for (const part *p = parts; p->at_m > 0.0; p++) {
        for (int i = 0; i < ret->n; i++) {
            const double a =
                180.0 / M_PI *
                pons_wrap_angle((double)(ret->angle_min + (float)i * ret->angle_increment));
            if (a >= p->from_deg && a <= p->to_deg) {
                ret->ranges[i] = fminf(ret->ranges[i], (float)p->at_m);
            }
        }
    }
    return true;
}

static void open_robot(const part *of)
{
    pons_robot_ops ops = pons_robot_kinematic;
    static pons_robot_ops kept;
    ops.scan = scan;
    kept = ops;
    parts = of;
    bench_open_with(&t, HOUSE, &kept, 7);
    bench_hello(&t);
    bench_step(&t, 0.5);
}

static const char *message(const char *id)
{
    return pons_get_str(pons_get(t.results, id), "error_msg", "");
}

static const part posts[] = {{40, 50, 0.15}, {-50, -40, 0.15}, {85, 95, 0.19},
                             {-6, 6, 0.12},  {150, 180, 0.17}, {0, 0, 0}};

static void what_is_within_the_outline_stops_nobody(void **state)
{
    (void)state;
    open_robot(posts);
    bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    assert_string_equal(bench_until_result(&t, "go", 120.0), "done 0");
    assert_int_equal(pons_get_int(pons_get(pons_get(t.results, "go"), "metrics"), "recoveries", -1),
                     0);
    assert_int_equal(t.risks, 0);
    bench_close(&t);
}

// How far it comes straight ahead, of a metre.
static double ahead(const char *id)
{
    pons_pose2 was;
    assert_int_equal(pons_body_truth(t.body, &was, NULL), PONS_OK);
    bench_goal(&t, id, "drive_on_heading", "{\"distance_m\":1.0,\"speed_mps\":0.3}");
    assert_string_not_equal(bench_until_result(&t, id, 60.0), "done 0");
    return bench_truth_to(&t, was.x, was.y);
}

// A box behind a post, a foot that comes into the circle and what presses against the outline are obstacles.
static void nothing_else_is_left_out(void **state)
{
    (void)state;
    static const part pressed[] = {{-15, 15, RADIUS_M - 0.01}, {0, 0, 0}},
                      foot[] = {{-15, 15, 0.17}, {40, 50, 0.15}, {0, 0, 0}};
    open_robot(posts);
    bench_step(&t, 3.0);
    assert_true(ahead("unturned") <
                0.01); // a post may be a foot, until it has turned with the robot
    bench_goal(&t, "left", "spin", "{\"angle_rad\":1.2}");
    assert_string_equal(bench_until_result(&t, "left", 60.0), "done 0");
    bench_goal(&t, "right", "spin", "{\"angle_rad\":-1.2}");
    assert_string_equal(bench_until_result(&t, "right", 60.0), "done 0");
    pons_pose2 at;
    assert_int_equal(pons_body_truth(t.body, &at, NULL), PONS_OK);
    bench_send(&t, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "type", "world.spawn", "id", "box",
                             "x", at.x + 1.3 * cos(at.yaw), "y", at.y + 1.3 * sin(at.yaw), "sx",
                             0.3, "sy", 0.3));
    bench_step(&t, 0.5);
    const double free_m = 1.3 - 0.15 - RADIUS_M, went_m = ahead("box");
    assert_true(went_m > 0.05 && went_m < free_m);
    parts = pressed;
    bench_step(&t, 0.5);
    assert_true(ahead("pressed") < 0.01);
    parts = foot;
    bench_step(&t, 0.5);
    assert_true(ahead("foot") < 0.01);
    bench_close(&t);
}

// An outline with corners is drawn around the robot: an arm or a load that comes into it later is the robot's as well. A
// circle is not, and nothing is left out before it is known what is always there.
static void what_counts_as_within(void **state)
{
    (void)state;
    static const struct {
        const char *outline;
        bool cautious;
        int before;    // scans,
        bool with;     // with the same inside already,
        double turned; // in which the robot turns so far [rad]
        bool own;
    } rows[] = {{"[[0.3, 0.2], [0.3, -0.2], [-0.3, -0.2], [-0.3, 0.2]]", true, 0, false, 0, true},
                {"[[0.3, 0.2], [0.3, -0.2], [-0.3, -0.2], [-0.3, 0.2]]", true, 30, false, 0, true},
                {NULL, true, 0, false, 0, false},
                {NULL, true, 30, true, 0.9, false},
                {NULL, true, 30, true, 1.1, true},
                {NULL, true, 30, false, 1.1, false},
                {NULL, false, 0, false, 0, true},
                {NULL, false, 30, true, 0, true},
                {NULL, false, 30, false, 0, false}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        pons__own_returns o = {pons_footprint_circle(0.3), 0.3, .cautious = rows[k].cautious};
        pons_autovalue v = rows[k].outline ? json_string(rows[k].outline) : NULL;
        assert_null(v ? pons_footprint_read(v, &o.outline) : NULL);
        pons_scan s;
        for (int i = 0; i <= rows[k].before; i++) {
            s = (pons_scan){.n = 8, .angle_increment = (float)M_PI_4, .from = {0.1, 0.0, M_PI}};
            for (int b = 0; b < s.n; b++) {
                s.ranges[b] = 2.0F;
            }
            s.ranges[0] =
                rows[k].with || i == rows[k].before ? 0.2F : 2.0F; // ends 0.1 m behind the middle
            s.ranges[4] = 0.19F;                                   // 0.01 m inside, ahead
            const double share = rows[k].before ? (double)i / rows[k].before : 0.0;
            assert_true(pons__own_returns_drop(&o, 3.0 + share * rows[k].turned, &s));
        }
        assert_int_equal(isnan(s.ranges[0]), rows[k].own);
        assert_false(isnan(s.ranges[4]));
    }
}

// A bracket of 4 cm beside the outline: the goal's end says where, and what to do.
static void what_is_just_outside_is_named(void **state)
{
    (void)state;
    static const part bracket[] = {{20, 26, RADIUS_M + 0.04}, {0, 0, 0}};
    open_robot(bracket);
    bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\",\"timeout_s\":40}");
    assert_string_equal(bench_until_result(&t, "go", 60.0), "failed 9003");
    const char *says = message("go");
    assert_non_null(
        strstr(says, "something 0.04 m outside the robot's outline, from 21 to 24 deg"));
    assert_non_null(strstr(says, "draw robot.footprint around it"));
    bench_close(&t);
}

// What is as wide as a wall, or is not in every scan, is no part of the robot.
static void a_wall_is_not_named(void **state)
{
    (void)state;
    static const part walls[][2] = {{{60, 120, RADIUS_M + 0.04}, {0, 0, 0}},
                                    {{20, 26, RADIUS_M + 0.04}, {0, 0, 0}}},
                      none[] = {{0, 0, 0}};
    for (int i = 0; i < 2; i++) {
        open_robot(walls[i]);
        bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\",\"timeout_s\":10}");
        bench_step(&t, 5.0);
        parts = i == 0 ? walls[i] : none;
        bench_step(&t, 0.2);
        parts = walls[i];
        assert_string_equal(bench_until_result(&t, "go", 20.0), "failed 9003");
        assert_null(strstr(message("go"), "outline"));
        bench_close(&t);
    }
}

// From the start, or while it drives.
static void a_covered_lidar_moves_nothing(void **state)
{
    (void)state;
    static const part cloth[] = {{-180, 100, 0.1}, {0, 0, 0}}, none[] = {{0, 0, 0}};
    for (int late = 0; late < 2; late++) {
        open_robot(late ? none : cloth);
        bench_step(&t, 3.0);
        const pons_pose2 was = t.body->pose;
        bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
        bench_step(&t, 4.0);
        assert_true(late == (bench_truth_to(&t, was.x, was.y) > 0.2));
        parts = cloth;
        bench_step(&t, 1.0);
        assert_true(bench_speed(&t) < 0.01);
        if (!late) {
            assert_string_equal(bench_until_result(&t, "go", 20.0), "failed 9904");
            assert_non_null(strstr(message("go"), "the lidar is covered"));
        }
        bench_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_within_the_outline_stops_nobody),
        cmocka_unit_test(nothing_else_is_left_out),
        cmocka_unit_test(what_counts_as_within),
        cmocka_unit_test(what_is_just_outside_is_named),
        cmocka_unit_test(a_wall_is_not_named),
        cmocka_unit_test(a_covered_lidar_moves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
