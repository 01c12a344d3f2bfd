// test_relocalization.c - a robot that is carried away, or turned round, behind its odometry's back: it
// sees that, and says so; nothing is called done where it is not; the pose is found again in the
// whole map where one place fits, and asked for where several do. With both simulated robots.
//
// The robot is carried by saving the simulated world, writing another pose into it, and restoring.
#include "body/body_bench.h"
#include "body/core/body.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "rounds.h"
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

// A corridor of 12 × 2 m, closed at both ends, and the same from either: a box in each corner of
// one diagonal.
static int open_corridor(void **state)
{
    (void)state;
    static const double boxes[][4] = {{6, 0.05, 12, 0.1},   {6, 1.95, 12, 0.1},
                                      {0.05, 1, 0.1, 2},    {11.95, 1, 0.1, 2},
                                      {2.0, 0.3, 0.6, 0.4}, {10.0, 1.7, 0.6, 0.4}};
    bench_open(&t, PONS_SOURCE_DIR "/worlds/house.yaml");
    pons_value *list = json_array();
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        json_array_append_new(list, json_pack("{s:s+, s:f, s:f, s:f, s:f, s:s}", "id", "b",
                                              (const char[]){(char)('0' + i), '\0'}, "x",
                                              boxes[i][0], "y", boxes[i][1], "sx", boxes[i][2],
                                              "sy", boxes[i][3], "kind", "wall"));
    }
    json_object_del(t.world, "mjcf");
    json_object_del(t.world, "objects");
    json_object_set_new(t.world, "bounds", json_pack("[i,i,i,i]", 0, 0, 12, 2));
    json_object_set_new(t.world, "start",
                        json_pack("{s:f,s:f,s:f}", "x", 3.0, "y", 1.2, "yaw", 0.0));
    json_object_set_new(json_object_get(t.world, "map"), "boxes", list);
    t.opts.robot = driver;
    bench_reboot(&t);
    bench_hello(&t);
    bench_step(&t, 0.5);
    return 0;
}

static int close_it(void **state)
{
    (void)state;
    bench_close(&t);
    return 0;
}

static void carry(double x, double y, double yaw)
{
    pons_value *saved = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(t.body->robot->save(t.body->self, &saved, &err), PONS_OK);
    assert_non_null(pons_get(saved, "pose"));
    json_object_set_new(saved, "pose", json_pack("{s:f,s:f,s:f}", "x", x, "y", y, "yaw", yaw));
    assert_int_equal(t.body->robot->restore(t.body->self, saved, &err), PONS_OK);
    pons_value_unref(saved);
    assert_true(bench_truth_to(&t, x, y) < 1e-6);
}

static const char *trust(void)
{
    return pons_get_str(pons_get(t.telemetry, "localization"), "state", "");
}

static double pose_error(double *ret_yaw)
{
    pons_pose2 truth;
    assert_int_equal(pons_body_truth(t.body, &truth, NULL), PONS_OK);
    const pons_value *p = pons_get(t.telemetry, "pose");
    *ret_yaw = fabs(pons_wrap_angle(pons_get_num(p, "yaw", NAN) - truth.yaw));
    return hypot(pons_get_num(p, "x", NAN) - truth.x, pons_get_num(p, "y", NAN) - truth.y);
}

static void assert_found(void)
{
    double yaw;
    const double off = pose_error(&yaw);
    if (strcmp(trust(), "sure") != 0 || off > 0.1 || yaw > 0.06) {
        fail_msg("%s, %.2f m and %.2f rad off", trust(), off, yaw);
    }
    assert_true(pons_get_num(t.telemetry, "pose_std_m", 9.0) < 0.1);
}

// Steps until the localiser's state is this one; fails after so long.
static void until(const char *word, double seconds)
{
    for (double s = 0.0; strcmp(trust(), word) != 0; s += 0.05) {
        if (s > seconds) {
            fail_msg("%s, not %s, after %.1f s", trust(), word, seconds);
        }
        bench_step(&t, 0.05);
    }
}

// Steps until the localiser is sure, or says that it cannot be, or so long.
static void until_settled(double seconds)
{
    for (double s = 0.0; s < seconds && strcmp(trust(), "doubtful") == 0; s += 0.1) {
        bench_step(&t, 0.1);
    }
}

static void at_rest_it_knows_itself(void **state)
{
    (void)state;
    bench_step(&t, 2.0);
    assert_string_equal(trust(), "sure");
    assert_true(pons_get_num(pons_get(t.telemetry, "localization"), "agreement", 0.0) > 0.9);
}

// 4.6 m away, in the middle of a journey, while the pose is known to 2 cm.
static void carried_under_way(void **state)
{
    (void)state;
    const char *id = bench_goal(&t, "g", "navigate_to_pose", "{\"zone\":\"bedroom\"}");
    bench_step(&t, 3.0);
    assert_true(pons_get_num(t.telemetry, "pose_std_m", 9.0) < 0.03);
    carry(6.4, 2.9, -1.0);
    until("doubtful", 5.0);
    assert_true(pons_get_num(t.telemetry, "pose_std_m", 0.0) > 0.2);
    assert_true(bench_truth_to(&t, 6.4, 2.9) < 0.6);
    assert_string_equal(bench_until_result(&t, id, 120.0), "done 0");
    assert_true(bench_truth_to(&t, 3.2, 6.5) < 0.2);
    assert_found();
}

// At the very moment of the arrival.
static void carried_at_the_goal(void **state)
{
    (void)state;
    const char *id = bench_goal(&t, "g", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
    for (int i = 0; i < 600 && bench_truth_to(&t, 6.7, 6.4) > 0.25; i++) {
        bench_step(&t, 0.1);
        assert_string_equal(t.result, "");
    }
    carry(3.2, 2.8, 0.5);
    const char *end = bench_until_result(&t, id, 120.0);
    assert_true(strcmp(end, "failed 9907") == 0 || bench_truth_to(&t, 6.7, 6.4) < 0.2);
    assert_string_equal(end, "done 0");
}

// Turned by half a turn where it stands.
static void turned_round(void **state)
{
    (void)state;
    pons_pose2 at;
    pons_body_truth(t.body, &at, NULL);
    carry(at.x, at.y, pons_wrap_angle(at.yaw + M_PI));
    bench_step(&t, 1.0);
    until_settled(20.0);
    assert_found();
    const char *id = bench_goal(&t, "g", "navigate_to_pose", "{\"zone\":\"study\"}");
    assert_string_equal(bench_until_result(&t, id, 120.0), "done 0");
    assert_true(bench_truth_to(&t, 7.5, 2.4) < 0.2);
}

// From many places to many others: found, or in doubt, and never sure of a wrong place.
static void carried_anywhere(void **state)
{
    (void)state;
    pons_rand r;
    pons_rand_seed(&r, 5);
    print_message("seed 5\n");
    const int tries = (int)rounds(ROUNDS_body_carries);
    int found = 0, tried = 0, unsure = 0;
    while (tried < tries) {
        const double x = 0.4 + 9.2 * pons_rand_unit(&r), y = 0.4 + 7.2 * pons_rand_unit(&r);
        const double yaw = 2.0 * M_PI * (pons_rand_unit(&r) - 0.5);
        if (pons__costmap_clearance(t.body->grid, x, y) < 0.35) {
            continue;
        }
        tried++;
        carry(x, y, yaw);
        bench_step(&t, 1.5);
        until_settled(20.0);
        double turned;
        const double off = pose_error(&turned);
        const bool right = off < 0.1 && turned < 0.06;
        found += right && strcmp(trust(), "sure") == 0;
        unsure += strcmp(trust(), "sure") != 0;
    }
    print_message("%d of %d found, %d unsure\n", found, tried, unsure);
    assert_int_equal(found + unsure, tried);
    assert_true(found >= tried - 2);
}

// Boxes all around: nothing is seen of the map, and nothing contradicts it.
static void enclosed_is_not_lost(void **state)
{
    (void)state;
    static const double boxes[][4] = {
        {2.6, 1.6, 0.1, 1.3}, {1.4, 1.6, 0.1, 1.3}, {2.0, 2.2, 1.3, 0.1}, {2.0, 1.02, 1.3, 0.05}};
    for (size_t i = 0; i < 4; i++) {
        bench_send(&t, json_pack("{s:s, s:s+, s:f, s:f, s:f, s:f}", "type", "world.spawn", "id",
                                 "b", (const char[]){(char)('0' + i), '\0'}, "x", boxes[i][0], "y",
                                 boxes[i][1], "sx", boxes[i][2], "sy", boxes[i][3]));
    }
    for (int i = 0; i < 100; i++) {
        bench_step(&t, 0.1);
        assert_string_equal(trust(), "sure");
    }
    double yaw;
    assert_true(pose_error(&yaw) < 0.05);
}

static void put_box(int k, double x, double y, double sx, double sy)
{
    bench_send(&t, json_pack("{s:s, s:s+, s:f, s:f, s:f, s:f}", "type", "world.spawn", "id", "b",
                             (const char[]){(char)('0' + k), '\0'}, "x", x, "y", y, "sx", sx, "sy",
                             sy));
}

static void take_boxes(int n)
{
    for (int k = 0; k < n; k++) {
        bench_send(&t, json_pack("{s:s, s:s+, s:b}", "type", "world.spawn", "id", "b",
                                 (const char[]){(char)('0' + k), '\0'}, "remove", 1));
    }
    bench_step(&t, 0.1);
}

// Boxes come to stand beside it, one or two, anywhere: what they hide of the map makes no other place of
// this one.
static void boxes_beside_it(void **state)
{
    (void)state;
    const int tries = (int)rounds(ROUNDS_body_boxes);
    pons_rand r;
    pons_rand_seed(&r, 11);
    print_message("seed 11\n");
    int unsure = 0;
    for (int tried = 0; tried < tries;) {
        const double x = 0.4 + 9.2 * pons_rand_unit(&r), y = 0.4 + 7.2 * pons_rand_unit(&r);
        const double yaw = 2.0 * M_PI * (pons_rand_unit(&r) - 0.5);
        if (pons__costmap_clearance(t.body->grid, x, y) < 0.35) {
            continue;
        }
        tried++;
        carry(x, y, yaw);
        bench_send(
            &t, json_pack("{s:s, s:f, s:f, s:f}", "type", "set_pose", "x", x, "y", y, "yaw", yaw));
        bench_step(&t, 1.0);
        assert_found();
        const int boxes = 1 + (int)(2.0 * pons_rand_unit(&r));
        for (int k = 0; k < boxes; k++) {
            const double side = 2.0 * M_PI * pons_rand_unit(&r);
            const double sx = 0.3 + pons_rand_unit(&r), sy = 0.3 + pons_rand_unit(&r);
            const double far = 0.3 + hypot(sx, sy) / 2.0;
            put_box(k, x + far * cos(side), y + far * sin(side), sx, sy);
        }
        for (int i = 0; i < 50; i++) { // 5 s: what is looked for aside is found by then
            bench_step(&t, 0.1);
            double turned;
            const double off = pose_error(&turned);
            if (strcmp(trust(), "sure") == 0 && (off > 0.15 || turned > 0.1)) {
                fail_msg("%.2f %.2f %.2f: sure of a place %.2f m off", x, y, yaw, off);
            }
        }
        unsure += strcmp(trust(), "sure") != 0;
        take_boxes(boxes);
    }
    print_message("unsure in %d of %d\n", unsure, tries);
    assert_true(unsure <= 1);
}

// What stands close by hides the most of its room, and what is left of it looks as another does, better than
// this one: it stays where it is.
static void a_corner_that_looks_like_another(void **state)
{
    (void)state;
    if (driver != &pons_robot_kinematic) {
        return; // there the box touches it, and moves it
    }
    carry(2.26, 2.24, 1.14);
    bench_send(&t, json_pack("{s:s, s:f, s:f, s:f}", "type", "set_pose", "x", 2.26, "y", 2.24,
                             "yaw", 1.14));
    bench_step(&t, 1.0);
    assert_found();
    put_box(0, 2.2, 1.6, 0.6, 1.1);
    for (int i = 0; i < 120; i++) {
        bench_step(&t, 0.1);
        double turned;
        const double off = pose_error(&turned);
        if (strcmp(trust(), "sure") != 0 || off > 0.15) {
            fail_msg("%s, %.2f m off", trust(), off);
        }
    }
}

// Who was closed in and is free again drives as ever.
static void what_was_looked_into_is_over(void **state)
{
    (void)state;
    put_box(0, 2.6, 1.6, 0.1, 1.3);
    put_box(1, 1.4, 1.6, 0.1, 1.3);
    put_box(2, 2.0, 2.2, 1.3, 0.1);
    put_box(3, 2.0, 1.02, 1.3, 0.05);
    bench_step(&t, 8.0);
    assert_string_equal(trust(), "sure");
    take_boxes(4);
    bench_step(&t, 2.0);
    const char *id = bench_goal(&t, "g", "navigate_to_pose", "{\"pose\":{\"x\":2.5,\"y\":2.6}}");
    const char *end = bench_until_result(&t, id, 20.0);
    if (strcmp(end, "done 0") != 0) {
        fail_msg("%s: %s, %s", end, pons_get_str(pons_get(t.results, "g"), "error_msg", ""),
                 trust());
    }
}

// Two places fit: it guesses none of them, does nothing, and is told.
static void two_places_fit(void **state)
{
    (void)state;
    bench_step(&t, 1.0);
    assert_string_equal(trust(), "sure");
    carry(7.5, 0.9, 0.4);
    bench_step(&t, 1.0);
    const char *id = bench_goal(&t, "g1", "navigate_to_pose", "{\"pose\":{\"x\":5.0,\"y\":1.0}}");
    assert_string_equal(bench_until_result(&t, id, 30.0), "failed 9907");
    const pons_value *result = pons_get(t.results, "g1");
    assert_non_null(strstr(pons_get_str(result, "error_msg", ""), "LOCALIZATION_LOST"));
    assert_string_equal(trust(), "ambiguous");
    bench_step(&t, 10.0);
    assert_string_equal(trust(), "ambiguous");
    assert_true(bench_truth_to(&t, 7.5, 0.9) < 0.05); // it has not moved
    // A person says where, roughly.
    bench_send(
        &t, json_pack("{s:s, s:f, s:f, s:f}", "type", "set_pose", "x", 7.2, "y", 1.1, "yaw", 0.25));
    bench_step(&t, 2.0);
    assert_string_equal(pons_get_str(bench_last(&t, "ok"), "re", ""), "set_pose");
    assert_found();
    id = bench_goal(&t, "g2", "navigate_to_pose", "{\"pose\":{\"x\":5.0,\"y\":1.0}}");
    assert_string_equal(bench_until_result(&t, id, 60.0), "done 0");
    assert_true(bench_truth_to(&t, 5.0, 1.0) < 0.2);
}

// What a person says is no more than a hint: the scans contradict.
static void a_wrong_word_is_contradicted(void **state)
{
    (void)state;
    bench_send(
        &t, json_pack("{s:s, s:f, s:f, s:f}", "type", "set_pose", "x", 6.7, "y", 6.4, "yaw", 0.0));
    until("doubtful", 1.0);
    until_settled(20.0);
    assert_found();
    static const double bad[][3] = {{5.0, 0.05, 0}, {-3.0, 2.0, 0}, {1e9, 1e9, 0}};
    for (size_t i = 0; i < 3; i++) {
        bench_send(&t, json_pack("{s:s, s:f, s:f, s:f}", "type", "set_pose", "x", bad[i][0], "y",
                                 bad[i][1], "yaw", bad[i][2]));
        bench_step(&t, 0.1);
        assert_string_equal(pons_get_str(bench_last(&t, "error"), "code", ""), "bad_args");
        assert_string_equal(trust(), "sure");
    }
}

#define IN(place, test) cmocka_unit_test_setup_teardown(test, open_##place, close_it)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        IN(house, at_rest_it_knows_itself),
        IN(house, carried_under_way),
        IN(house, carried_at_the_goal),
        IN(house, turned_round),
        IN(house, carried_anywhere),
        IN(house, enclosed_is_not_lost),
        IN(house, a_corner_that_looks_like_another),
        IN(house, boxes_beside_it),
        IN(house, what_was_looked_into_is_over),
        IN(corridor, two_places_fit),
        IN(house, a_wrong_word_is_contradicted),
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
