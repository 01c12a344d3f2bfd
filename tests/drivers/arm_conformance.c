// arm_conformance.c - see arm_conformance.h.
#include "arm_conformance.h"

#include "conformance.h"
#include "pons/arm.h"

#include <math.h>
#include <string.h>

static const pons_robot_ops *ops;
static const pons_robot_arm_ops *arm;
static pons_arm *model;

static pons_value *tabletop(void)
{
    return world_from(PONS_SOURCE_DIR "/worlds/tabletop.yaml", PONS_SOURCE_DIR "/worlds");
}

static void *open_seed(const pons_value *world, int64_t seed)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autovalue config = pons_object("seed", json_integer(seed), NULL);
    void *robot = NULL;
    if (ops->open(world, config, &robot, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
    return robot;
}

static void *open_table(int64_t seed)
{
    pons_autovalue world = tabletop();
    return open_seed(world, seed);
}

static void run(void *robot, double seconds)
{
    for (int i = 0; i < (int)lround(seconds * 100.0); i++) {
        assert_int_equal(ops->step(robot, 10000000, NULL), PONS_OK);
    }
}

static pons_robot_arm_state state_of(void *robot)
{
    pons_robot_arm_state s;
    arm->state(robot, &s);
    return s;
}

static pons_robot_object object(void *robot, const char *id)
{
    pons_robot_object all[PONS_ROBOT_OBJECTS];
    const int n = arm->objects(robot, all, PONS_ROBOT_OBJECTS);
    for (int i = 0; i < n; i++) {
        if (strcmp(all[i].id, id) == 0) {
            return all[i];
        }
    }
    fail_msg("%s is not seen", id);
    return all[0];
}

static void test_caps(void **unused)
{
    (void)unused;
    void *robot = open_table(1);
    pons_robot_arm_caps c;
    assert_true(arm->caps(robot, &c));
    assert_string_equal(c.tool_link, "tool");
    assert_true(c.width_max_m == 0.08 && c.force_max_n == 25.0);
    const pons_robot_arm_state s = state_of(robot);
    assert_int_equal(s.n, model->n);
    for (int i = 0; i < s.n; i++) {
        assert_true(fabs(s.q[i] - c.home[i]) < 1e-6);
    }
    ops->close(robot);
}

// A robot without an arm says so.
static void test_no_arm(void **unused)
{
    (void)unused;
    pons_autovalue house = house_world();
    void *robot = open_seed(house, 1);
    pons_robot_arm_caps c;
    assert_false(arm->caps(robot, &c));
    ops->close(robot);
}

// It hangs where it is, against gravity, for as long as nothing is asked.
static void test_holds_still(void **unused)
{
    (void)unused;
    void *robot = open_table(1);
    const pons_robot_arm_state before = state_of(robot);
    run(robot, 5.0);
    const pons_robot_arm_state after = state_of(robot);
    for (int i = 0; i < after.n; i++) {
        assert_true(fabs(after.q[i] - before.q[i]) < 2e-3);
        assert_true(fabs(after.qd[i]) < 1e-3);
    }
    ops->close(robot);
}

static void test_follows_velocities(void **unused)
{
    (void)unused;
    for (int joint = 0; joint < model->n; joint++) {
        void *robot = open_table(1);
        double qd[PONS_ARM_JOINTS] = {0};
        const double from = state_of(robot).q[joint];
        qd[joint] = joint == 1 ? -0.3 : 0.3; // away from the table
        arm->write(robot, qd);
        run(robot, 1.0);
        assert_true(fabs(state_of(robot).q[joint] - from - qd[joint]) < 0.02);
        const double sign = qd[joint];
        qd[joint] = 0.0;
        arm->write(robot, qd);
        run(robot, 0.5);
        const double at = state_of(robot).q[joint];
        assert_true(fabs(at - from - sign) < 0.02); // it stopped there
        run(robot, 1.0);
        assert_true(fabs(state_of(robot).q[joint] - at) < 2e-3);
        ops->close(robot);
    }
}

static void test_stays_in_its_limits(void **unused)
{
    (void)unused;
    void *robot = open_table(1);
    const double qd[PONS_ARM_JOINTS] = {100, 0, 0, 0, 0, -100, 100}; // more than it can
    arm->write(robot, qd);
    for (int i = 0; i < 400; i++) {
        run(robot, 0.01);
        const pons_robot_arm_state s = state_of(robot);
        if (!pons_arm_within(model, s.q, 0.05)) {
            fail_msg("%d: %g %g %g", i, s.q[0], s.q[5], s.q[6]);
        }
        if (s.qd[0] > 1.15 * pons_arm_joint_of(model, 0)->speed_max) {
            fail_msg("%d: %g", i, s.qd[0]);
        }
    }
    assert_null(ops->fault(robot));
    ops->close(robot);
}

static void test_nonsense_is_nothing(void **unused)
{
    (void)unused;
    void *robot = open_table(1);
    const pons_robot_arm_state before = state_of(robot);
    const double qd[PONS_ARM_JOINTS] = {NAN, INFINITY, -INFINITY, NAN, NAN, NAN, NAN};
    arm->write(robot, qd);
    arm->grip(robot, NAN, INFINITY);
    run(robot, 1.0);
    const pons_robot_arm_state after = state_of(robot);
    for (int i = 0; i < after.n; i++) {
        assert_true(fabs(after.q[i] - before.q[i]) < 2e-3);
    }
    assert_null(ops->fault(robot));
    ops->close(robot);
}

static void test_gripper(void **unused)
{
    (void)unused;
    void *robot = open_table(1);
    assert_true(fabs(state_of(robot).width_m - 0.08) < 2e-3);
    arm->grip(robot, 0.04, 20.0);
    run(robot, 2.0);
    assert_true(fabs(state_of(robot).width_m - 0.04) < 3e-3);
    arm->grip(robot, 0.0, 20.0);
    run(robot, 2.0);
    assert_true(state_of(robot).width_m < 2e-3);
    arm->grip(robot, 1.0, 20.0); // as far as it opens
    run(robot, 2.0);
    assert_true(fabs(state_of(robot).width_m - 0.08) < 3e-3);
    ops->close(robot);
}

static void test_objects_lie_still(void **unused)
{
    (void)unused;
    for (int seed = 1; seed <= 5; seed++) {
        void *robot = open_table(seed);
        run(robot, 1.0);
        const pons_robot_object apple = object(robot, "apple"), cup = object(robot, "cup"),
                                basket = object(robot, "basket");
        run(robot, 3.0);
        static const char *const ids[] = {"apple", "cup", "basket"};
        const pons_robot_object *then[] = {&apple, &cup, &basket};
        for (int i = 0; i < 3; i++) {
            const pons_robot_object now = object(robot, ids[i]);
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(now.pose.p[k] - then[i]->pose.p[k]) < 2e-3);
            }
            assert_true(fabs(now.pose.p[2] - 0.4 - now.half[2]) < 2e-3); // on the table
        }
        assert_int_equal(apple.shape, PONS_SHAPE_BALL);
        assert_int_equal(basket.shape, PONS_SHAPE_BASKET);
        assert_true(fabs(apple.mass_kg - 0.15) < 1e-9);
        ops->close(robot);
    }
}

static void test_seeds_place_objects(void **unused)
{
    (void)unused;
    void *one = open_table(1), *again = open_table(1), *other = open_table(2);
    const pons_robot_object a = object(one, "apple"), b = object(again, "apple"),
                            c = object(other, "apple");
    assert_true(a.pose.p[0] == b.pose.p[0] && a.pose.p[1] == b.pose.p[1]);
    assert_true(hypot(a.pose.p[0] - c.pose.p[0], a.pose.p[1] - c.pose.p[1]) > 1e-4);
    assert_true(fabs(c.pose.p[0] - 0.48) <= 0.05 && fabs(c.pose.p[1] - 0.22) <= 0.05);
    ops->close(one);
    ops->close(again);
    ops->close(other);
}

// A restored robot has its joints, its grip and the objects where they were; its motion is forgotten.
static void test_save_and_restore(void **unused)
{
    (void)unused;
    void *robot = open_table(3), *other = open_table(4);
    const double qd[PONS_ARM_JOINTS] = {0.4, -0.2};
    arm->write(robot, qd);
    arm->grip(robot, 0.03, 10.0);
    run(robot, 1.0);
    pons_autovalue saved = NULL;
    assert_int_equal(ops->save(robot, &saved, NULL), PONS_OK);
    assert_int_equal(ops->restore(other, saved, NULL), PONS_OK);
    const pons_robot_arm_state a = state_of(robot), b = state_of(other);
    for (int i = 0; i < a.n; i++) {
        assert_true(fabs(a.q[i] - b.q[i]) < 1e-12);
    }
    assert_true(fabs(object(robot, "apple").pose.p[1] - object(other, "apple").pose.p[1]) < 1e-9);
    run(other, 1.0);
    assert_true(fabs(state_of(other).q[0] - b.q[0]) < 0.05);
    assert_true(fabs(state_of(other).width_m - 0.03) < 3e-3);
    pons_autovalue damaged = json_deep_copy(saved);
    json_object_del(json_object_get(damaged, "mujoco"), "arm");
    assert_int_equal(ops->restore(other, damaged, NULL), PONS_EINVAL);
    ops->close(robot);
    ops->close(other);
}

static void refused(const char *key, pons_value *v, const char *says)
{
    pons_autovalue world = tabletop();
    pons_autovalue config = pons_object("seed", json_integer(1), NULL);
    pons_error err = PONS_ERROR_INIT;
    void *robot = NULL;
    json_object_set_new(json_object_get(json_object_get(world, "robot"), "arm"), key, v);
    assert_true(ops->open(world, config, &robot, &err) < 0);
    assert_null(robot);
    if (!strstr(err.message, says)) {
        fail_msg("%s: %s", key, err.message);
    }
}

static void test_bad_arms_are_refused(void **unused)
{
    (void)unused;
    refused("urdf", json_string("nothing.urdf"), "cannot read");
    refused("tool_link", json_string("toe"), "no link toe");
    refused("home", json_array(), "robot.arm.home");
    refused("mount", json_string("there"), "robot.arm.mount");
}

int arm_conformance_run(const pons_robot_ops *driver)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caps),
        cmocka_unit_test(test_no_arm),
        cmocka_unit_test(test_holds_still),
        cmocka_unit_test(test_follows_velocities),
        cmocka_unit_test(test_stays_in_its_limits),
        cmocka_unit_test(test_nonsense_is_nothing),
        cmocka_unit_test(test_gripper),
        cmocka_unit_test(test_objects_lie_still),
        cmocka_unit_test(test_seeds_place_objects),
        cmocka_unit_test(test_save_and_restore),
        cmocka_unit_test(test_bad_arms_are_refused),
    };
    ops = driver;
    arm = pons_robot_arm(driver);
    if (!arm ||
        pons_arm_load(PONS_SOURCE_DIR "/worlds/arm7.urdf", "link0", "tool", &model, NULL) < 0) {
        return 1;
    }
    const int failed = cmocka_run_group_tests_name("arm conformance", tests, NULL, NULL);
    pons_arm_destroy(model);
    return failed;
}
