// test_arm.c - an arm by its URDF: what is read and refused, where the tool is, how it gets there.
//
// Kinematics against another's: tests/drivers/test_arm_mujoco.c.
#include "pons/arm.h"
#include "pons/random.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define URDF PONS_SOURCE_DIR "/worlds/arm7.urdf"

static const double HOME[] = {0, -M_PI_4, 0, -3 * M_PI_4, 0, M_PI_2, M_PI_4};

static pons_arm *arm(void)
{
    pons_error err = PONS_ERROR_INIT;
    pons_arm *a = NULL;
    if (pons_arm_load(URDF, "link0", "tool", &a, &err) < 0) {
        fail_msg("%s (%s)", err.message, err.source);
    }
    return a;
}

static void random_q(const pons_arm *a, pons_rand *r, double *q)
{
    for (int i = 0; i < a->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(a, i);
        q[i] = j->lower + pons_rand_unit(r) * (j->upper - j->lower);
    }
}

static void test_what_is_read(void **unused)
{
    (void)unused;
    pons_autoarm a = arm();
    assert_int_equal(a->n, 7);
    assert_string_equal(pons_arm_joint_of(a, 0)->name, "joint1");
    assert_string_equal(pons_arm_joint_of(a, 6)->name, "joint7");
    assert_true(fabs(pons_arm_joint_of(a, 3)->upper + 0.0698) < 1e-12);
    const int right = pons_arm_find_joint(a, "finger_right");
    assert_int_equal(a->joints[right].mimic, pons_arm_find_joint(a, "finger_left"));
    pons_pose3 at;
    pons_arm_forward(a, HOME, &at); // the hand looks down, before the arm
    assert_true(fabs(at.p[1]) < 1e-9 && at.p[0] > 0.25 && at.p[2] > 0.3);
    assert_true(fabs(at.r[8] + 1.0) < 1e-9);
}

static void refuse(const char *text, const char *source, const char *message)
{
    char path[] = "/tmp/pons-arm-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    pons_error err = PONS_ERROR_INIT;
    pons_arm *a = NULL;
    assert_int_equal(pons_arm_load(path, "a", "b", &a, &err), PONS_EINVAL);
    assert_null(a);
    if (!strstr(err.message, message) || !strstr(err.source, source)) {
        fail_msg("%s: %s", err.source, err.message);
    }
    unlink(path);
}

static void test_what_is_refused(void **unused)
{
    (void)unused;
#define LINKS "<robot name='x'><link name='a'/><link name='b'/>\n"
#define LIMIT "<limit lower='-1' upper='1' velocity='1' effort='1'/>"
    refuse("<robot", ":1:", "unclosed");
    refuse("<house/>", ":1:1", "expected <robot>");
    refuse("<!DOCTYPE robot [<!ENTITY a 'aaaa'>]><robot name='&a;'/>", ":1:", "no document type");
    refuse("<robot><xacro:include filename='x'/></robot>", ":1:8", "expand it first");
    refuse("<robot><link name='${side}_a'/></robot>", ":1:8", "expand it first");
    refuse("<robot><link/></robot>", ":1:8", "a name");
    refuse("<robot><link name='a'/><link name='a'/></robot>", ":1:24", "two links a");
    refuse(LINKS "<joint name='j' type='ball'/></robot>", ":2:1", "not ball");
    refuse(LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='c'/>" LIMIT
                 "</joint></robot>",
           ":2:1", "not there");
    refuse(LINKS
           "<joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint></robot>",
           ":2:1", "needs a limit");
    refuse(LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>\n"
                 "<limit lower='nan' upper='1' velocity='1' effort='1'/></joint></robot>",
           ":3:1", "expected 1 number");
    refuse(LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>"
                 "<limit lower='2' upper='1' velocity='1' effort='1'/></joint></robot>",
           ":2:1", "not below");
    refuse(LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>\n"
                 "<origin xyz='1 2'/>" LIMIT "</joint></robot>",
           ":3:1", "3 numbers");
    refuse(LINKS "<joint name='j' type='revolute'><parent link='a'/><child link='b'/>" LIMIT
                 "</joint><joint name='k' type='revolute'><parent link='b'/><child link='a'/>" LIMIT
                 "</joint></robot>",
           "", "circle");
    refuse(LINKS "<joint name='j' type='revolute'><axis xyz='0 0 0'/></joint></robot>", ":2:33",
           "an axis of length 0");
    refuse(LINKS "<joint name='j' type='fixed'><parent link='a'/><child link='b'/>"
                 "<axis xyz='0 0 0'/></joint></robot>",
           "", "nothing moves between"); // whose axis is nothing
    refuse(LINKS "</robot>", "", "does not carry");
    refuse(
        "<robot><link name='a'><collision><geometry>\n<mesh filename='x'/></geometry></collision>"
        "</link></robot>",
        ":2:1", "mesh");
}

// The Jacobian is what forward kinematics does to a small turn of each joint.
static void test_jacobian(void **unused)
{
    (void)unused;
    pons_autoarm a = arm();
    pons_rand r;
    pons_rand_seed(&r, 5);
    for (int k = 0; k < 50; k++) {
        double q[PONS_ARM_JOINTS], j[6 * PONS_ARM_JOINTS];
        random_q(a, &r, q);
        pons_arm_jacobian(a, q, j);
        for (int i = 0; i < a->n; i++) {
            pons_pose3 before, after;
            double turn[3];
            pons_arm_forward(a, q, &before);
            q[i] += 1e-6;
            pons_arm_forward(a, q, &after);
            q[i] -= 1e-6;
            pons_pose3_turn(&before, &after, turn);
            for (int d = 0; d < 3; d++) {
                assert_true(fabs((after.p[d] - before.p[d]) / 1e-6 - j[d * a->n + i]) < 1e-4);
                assert_true(fabs(turn[d] / 1e-6 - j[(3 + d) * a->n + i]) < 1e-4);
            }
        }
    }
}

// Poses that some configuration has are found, within the limits, from home.
static void test_inverse(void **unused)
{
    (void)unused;
    pons_autoarm a = arm();
    pons_rand r;
    pons_rand_seed(&r, 17);
    const pons_arm_ik_options o = {.position_m = 2e-4,
                                   .angle_rad = 1e-3,
                                   .iterations = 120,
                                   .starts = 12,
                                   .limit_margin = 0.01,
                                   .rest = HOME};
    int found = 0;
    for (int k = 0; k < 1000; k++) {
        double q[PONS_ARM_JOINTS], got[PONS_ARM_JOINTS], turn[3];
        pons_pose3 target, at;
        random_q(a, &r, q);
        pons_arm_forward(a, q, &target);
        if (pons_arm_inverse(a, &target, HOME, &o, got, NULL) < 0) {
            continue;
        }
        found++;
        assert_true(pons_arm_within(a, got, 0.0));
        pons_arm_forward(a, got, &at);
        pons_pose3_turn(&at, &target, turn);
        for (int d = 0; d < 3; d++) {
            assert_true(fabs(at.p[d] - target.p[d]) <= 2e-4);
            assert_true(fabs(turn[d]) <= 1e-3);
        }
    }
    print_message("inverse kinematics: %d of 1000 random poses\n", found);
    assert_true(found >= 980);
}

static void test_inverse_refuses(void **unused)
{
    (void)unused;
    pons_autoarm a = arm();
    pons_arm_ik_options o = PONS_ARM_IK_OPTIONS_INIT;
    double q[PONS_ARM_JOINTS] = {7};
    pons_error err = PONS_ERROR_INIT;
    const pons_pose3 far = pons_pose3_of(1.5, 0, 0.3, M_PI, 0, 0);
    pons_pose3 none = far;
    none.p[1] = NAN;
    assert_int_equal(pons_arm_inverse(a, &far, HOME, &o, q, &err), PONS_ENOTFOUND);
    assert_non_null(strstr(err.message, "reach"));
    assert_int_equal(pons_arm_inverse(a, &none, HOME, &o, q, &err), PONS_EINVAL);
    assert_true(q[0] == 7.0);
}

static void test_clearance(void **unused)
{
    (void)unused;
    pons_autoarm a = arm();
    const pons_arm_box table = {0.5, 0, -0.05, 0, {0.4, 0.5, 0.05}};
    const pons_arm_room room = {.boxes = &table, .n = 1, .floor = -INFINITY, .others = 0.04};
    bool self = true;
    assert_true(pons_arm_clearance(a, HOME, &room, &self) > 0.02);
    const double folded[] = {0, -1.7, 0, -3.05, 0, 0.0, 0}; // the hand at the elbow
    assert_true(pons_arm_clearance(a, folded, &room, &self) < 0.03);
    assert_true(self);
    // The finger tips go down with the tool: 13.4 mm beyond it.
    pons_arm_ik_options o = PONS_ARM_IK_OPTIONS_INIT;
    o.rest = HOME;
    const double heights[] = {0.06, 0.04, 0.02};
    for (size_t i = 0; i < sizeof heights / sizeof heights[0]; i++) {
        const pons_pose3 down = pons_pose3_of(0.5, 0, heights[i], M_PI, 0, 0);
        double q[PONS_ARM_JOINTS];
        assert_int_equal(pons_arm_inverse(a, &down, HOME, &o, q, NULL), PONS_OK);
        const double is = pons_arm_clearance(a, q, &room, &self);
        assert_true(!self && fabs(is - (heights[i] - 0.0134)) < 1e-3);
        const pons_arm_room bare = {.floor = 0,
                                    .others = 0.04}; // the same over a floor at that height
        const double over = pons_arm_clearance(a, q, &bare, &self);
        assert_true(!self && fabs(over - is) < 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read),    cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_jacobian),        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_inverse_refuses), cmocka_unit_test(test_clearance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
