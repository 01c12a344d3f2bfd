// test_localization_jump.c - the robot's own localization corrects itself under way, by little or much, for good or for a
// moment. The robot still arrives. A goal in a wall ends at once.
//
// The driver is the kinematic robot with a localization of its own, which knows the truth but for an error that the test
// changes while the robot is on its way.
#include "body/core/body.h"
#include "body_bench.h"
#include "pons/drivers.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HOUSE PONS_SOURCE_DIR "/worlds/house.yaml"

static bench t;
static pons_pose2 error; // in map, of what the localization says

static bool lacks(void *self, char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    (void)self;
    ret_why[0] = '\0';
    return false;
}

static bool place(void *self, pons_robot_place *ret)
{
    pons_robot_state s;
    pons_pose2 truth;
    pons_robot_kinematic.read(self, &s);
    pons_robot_kinematic.truth(self, &truth);
    const pons_pose2 says = {truth.x + error.x, truth.y + error.y,
                             pons_wrap_angle(truth.yaw + error.yaw)};
    *ret = (pons_robot_place){true, pons_pose_compose(says, pons_pose_inverse(s.odom_from_base)),
                              0.05};
    return true;
}

static void open_robot(pons_pose2 wrong_by)
{
    static const pons_robot_outside_ops outside = {.lacks = lacks, .place = place};
    static pons_robot_ops ops;
    ops = pons_robot_kinematic;
    ops.outside = &outside;
    error = wrong_by;
    bench_open_with(&t, HOUSE, &ops, 7);
    bench_hello(&t);
    bench_step(&t, 0.5);
}

// The robot arrives, and its speed never jumps, however its pose does.
static void arrives(const char *what, double limit_mps)
{
    const char *result = "";
    double was = bench_speed(&t);
    for (double s = 0.0; s < 120.0 && !*result; s += 0.05) {
        result = bench_until_result(&t, "go", 0.05);
        const double now = bench_speed(&t);
        if (fabs(now - was) > limit_mps) {
            fail_msg("%s: from %.2f to %.2f m/s", what, was, now);
        }
        was = now;
    }
    assert_string_equal(result, "done 0");
    assert_true(bench_truth_to(&t, 6.7, 6.4) < 0.15);
    assert_int_equal(t.risks, 0);
}

// The localization's error vanishes at once; or an error appears for some time, and then vanishes.
static void it_arrives_whatever_the_map_does(void **state)
{
    (void)state;
    static const pons_pose2 errors[] = {{0.3, 0, 0},    {0.6, 0.3, 0}, {-1.0, 0, 0},
                                        {0, -1.5, 0.3}, {3, 3, 0},     {0, 0, 0.4}};
    static const double for_s[] = {0.0, 0.2, 1.5};
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
            char what[64];
            snprintf(what, sizeof what, "%g %g %g for %g s", errors[i].x, errors[i].y,
                     errors[i].yaw, for_s[k]);
            open_robot(k ? (pons_pose2){0} : errors[i]);
            bench_goal(&t, "go", "navigate_to_pose", "{\"zone\":\"kitchen\"}");
            bench_step(&t, 7.0);
            error = k ? errors[i] : (pons_pose2){0};
            bench_step(&t, for_s[k]);
            error = (pons_pose2){0};
            arrives(what, 2.0 * 0.06); // it brakes with 2 m/s²; telemetry is 50 ms apart
            bench_close(&t);
        }
    }
}

// A wall of the map does not go away by clearing, turning and waiting, so none is tried, even with movable obstacles near.
static void a_goal_in_a_wall_ends_at_once(void **state)
{
    (void)state;
    open_robot((pons_pose2){0});
    bench_send(&t, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "type", "world.spawn", "id", "box",
                             "x", 2.0, "y", 2.6, "sx", 0.3, "sy", 0.3));
    bench_step(&t, 1.0);
    assert_true(t.body->grid->n_seen > 0);
    bench_goal(&t, "go", "navigate_to_pose", "{\"pose\":{\"x\":0.05,\"y\":3.0}}");
    assert_string_equal(bench_until_result(&t, "go", 1.0), "failed 206");
    assert_non_null(strstr(pons_get_str(pons_get(t.results, "go"), "error_msg", ""),
                           "goal (0.05, 3.00) lies in a wall or a box of the map"));
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_arrives_whatever_the_map_does),
        cmocka_unit_test(a_goal_in_a_wall_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
