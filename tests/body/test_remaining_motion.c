// test_remaining_motion.c - how much of a motion is left when it is cut short: as the body says it, against where the robot
// then stands.
//
// What it rolls on while it brakes is a part of what was asked for. It is measured in the same way where the robot's
// own software drives (ext/outside.h), which says nothing of it.
#include "body_bench.h"
#include "pons/drivers.h"
#include "pons/ext/outside.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HALL PONS_SOURCE_DIR "/worlds/corridor.yaml"

static struct {
    pons_twist2 want;
    char goal_id[80];
} software; // of the robot

static bool lacks_nothing(void *self, char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    (void)self;
    ret_why[0] = '\0';
    return false;
}

static bool takes_motions(void *self, const char *skill)
{
    (void)self;
    return strcmp(skill, "spin") == 0 || strcmp(skill, "drive_on_heading") == 0 ||
           strcmp(skill, "back_up") == 0;
}

static void begin(void *self, const pons_external_goal_request *goal)
{
    (void)self;
    snprintf(software.goal_id, sizeof software.goal_id, "%s", goal->goal_id);
}

static void look(void *self, const char *goal_id, pons_external_goal *ret)
{
    (void)self;
    ret->state = strcmp(goal_id, software.goal_id) == 0 ? PONS_ERRAND_RUNS : PONS_ERRAND_NONE;
    ret->want = software.want;
}

static void end(void *self, const char *goal_id)
{
    (void)self;
    (void)goal_id;
    software.goal_id[0] = '\0';
}

static const pons_robot_outside_ops of_software = {
    .lacks = lacks_nothing, .takes = takes_motions, .begin = begin, .look = look, .end = end};

typedef struct row {
    const char *skill, *args;
    double asked;     // [m] or [rad]
    pons_twist2 want; // of the robot's software; else the body's own skill drives
    double for_s;     // until it is cut short
} row;

// How far it has come since, in the sense of the motion.
static double done(const row *r, pons_pose2 from, pons_pose2 to)
{
    return strcmp(r->skill, "spin") == 0 ? fabs(remainder(to.yaw - from.yaw, 2.0 * M_PI))
                                         : hypot(to.x - from.x, to.y - from.y);
}

static void cut_short(const row *r, const char *how)
{
    bench t;
    pons_robot_ops robot = pons_robot_kinematic;
    pons_pose2 from, to;
    const bool outside = r->want.v != 0.0 || r->want.w != 0.0;
    robot.outside = outside ? &of_software : NULL;
    software.want = r->want;
    bench_open_with(&t, HALL, &robot, 3);
    bench_hello(&t);
    bench_step(&t, 0.5);
    assert_int_equal(pons_body_truth(t.body, &from, NULL), PONS_OK);
    bench_goal(&t, "g", r->skill, r->args);
    bench_step(&t, r->for_s);
    if (strcmp(how, "cancel") == 0) {
        bench_send(&t, pons_object("type", json_string("cancel"), "goal_id", json_string("g"),
                                   "epoch", json_integer(t.epoch), NULL));
    } else {
        bench_send(&t,
                   pons_object("type", json_string("stop"), "reason", json_string("a hand"), NULL));
    }
    bench_step(&t, 2.0); // it stands
    assert_int_equal(pons_body_truth(t.body, &to, NULL), PONS_OK);
    const pons_value *metrics = pons_get(bench_last(&t, "result"), "metrics");
    const double left = pons_get_num(metrics, "remaining", NAN);
    const double is = r->asked - done(r, from, to), most = 0.02 * r->asked;
    if (!(fabs(left - is) <= most)) {
        fail_msg("%s %s, %s: %.3f left, and it says %.3f", r->skill, r->args, how, is, left);
    }
    bench_close(&t);
}

static void it_is_as_much_as_it_says(void **state)
{
    (void)state;
    static const row rows[] = {
        {"spin", "{\"angle_rad\":3.0}", 3.0, {0.0, 0.0}, 1.5},
        {"spin", "{\"angle_rad\":-3.0}", 3.0, {0.0, 0.0}, 1.5},
        {"drive_on_heading", "{\"distance_m\":2.0,\"speed_mps\":0.5}", 2.0, {0.0, 0.0}, 2.0},
        {"back_up", "{\"distance_m\":1.5}", 1.5, {0.0, 0.0}, 3.0},
        {"spin", "{\"angle_rad\":3.0}", 3.0, {0.0, 0.8}, 2.0},
        {"spin", "{\"angle_rad\":-3.0}", 3.0, {0.0, -0.8}, 2.0},
        {"drive_on_heading", "{\"distance_m\":2.0}", 2.0, {0.4, 0.0}, 2.0},
        {"back_up", "{\"distance_m\":1.5}", 1.5, {-0.15, 0.0}, 4.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cut_short(&rows[i], "cancel");
        cut_short(&rows[i], "stop");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_as_much_as_it_says),
    };
    return cmocka_run_group_tests_name("remaining", tests, NULL, NULL);
}
