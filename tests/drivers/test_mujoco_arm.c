// test_mujoco_arm.c - the arm in MuJoCo keeps the contract (arm_conformance.c), and its model, which
// is made of the URDF, has its tool where the kinematics say: MuJoCo's own forward kinematics against
// pons/arm.h over 1,000 configurations.
//
// Without MuJoCo at build time everything is skipped, with a message.
#include "arm_conformance.h"
#include "conformance.h"
#include "pons/arm.h"
#include "pons/module.h"
#include "pons/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<mujoco/mujoco.h>)
#include "drivers/mujoco/mjcf_world.h"

static void test_forward_kinematics(void **unused)
{
    (void)unused;
    pons_autovalue world =
        world_from(PONS_SOURCE_DIR "/worlds/tabletop.yaml", PONS_SOURCE_DIR "/worlds");
    pons_autoarm arm = NULL;
    assert_int_equal(
        pons_arm_load(PONS_SOURCE_DIR "/worlds/arm7.urdf", "link0", "tool", &arm, NULL), PONS_OK);
    const pons_pose3 mount = pons_pose3_of(0, 0, 0.4, 0, 0, 0);
    pons__mj_source source;
    char why[PONS__MJ_ERROR_BYTES];
    assert_int_equal(pons__mj_source_init(&source, world, 1, arm, &mount, NULL), PONS_OK);
    mjModel *m = pons__mj_source_load(&source, why);
    assert_non_null(m);
    mjData *d = mj_makeData(m);
    const int site = mj_name2id(m, mjOBJ_SITE, "tool"), base = mj_name2id(m, mjOBJ_BODY, "link0");
    pons_rand r;
    pons_rand_seed(&r, 11);
    double worst_m = 0.0, worst_rad = 0.0;
    for (int k = 0; k < 1000; k++) {
        double q[PONS_ARM_JOINTS], turn[3];
        for (int i = 0; i < arm->n; i++) {
            const pons_arm_joint *j = pons_arm_joint_of(arm, i);
            q[i] = j->lower + pons_rand_unit(&r) * (j->upper - j->lower);
            d->qpos[m->jnt_qposadr[mj_name2id(m, mjOBJ_JOINT, j->name)]] = q[i];
        }
        mj_kinematics(m, d);
        pons_pose3 root, is, ours;
        memcpy(root.p, d->xpos + 3 * base, sizeof root.p);
        memcpy(root.r, d->xmat + 9 * base, sizeof root.r);
        memcpy(is.p, d->site_xpos + 3 * site, sizeof is.p);
        memcpy(is.r, d->site_xmat + 9 * site, sizeof is.r);
        pons_arm_forward(arm, q, &ours);
        ours = pons_pose3_compose(&root, &ours);
        pons_pose3_turn(&ours, &is, turn);
        for (int i = 0; i < 3; i++) {
            worst_m = fmax(worst_m, fabs(is.p[i] - ours.p[i]));
            worst_rad = fmax(worst_rad, fabs(turn[i]));
        }
    }
    print_message("1000 configurations: at most %.2g m and %.2g rad apart\n", worst_m, worst_rad);
    assert_true(worst_m < 1e-9 && worst_rad < 1e-7);
    mj_deleteData(d);
    mj_deleteModel(m);
    pons__mj_source_fini(&source);
}
#endif

static const pons_robot_ops *driver;

// OSMesa keeps some bytes of its own for each process that ever drew.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libOSMesa";
}

// The camera in front sees the apple's red where it is, and nearer than the wall behind it.
static void test_pictures(void **unused)
{
    (void)unused;
    const pons_robot_camera_ops *eyes = pons_robot_cameras(driver);
    pons_autovalue world =
        world_from(PONS_SOURCE_DIR "/worlds/tabletop.yaml", PONS_SOURCE_DIR "/worlds");
    pons_autovalue config = pons_object("seed", json_integer(1), NULL);
    pons_camera_caps caps[PONS_ROBOT_CAMERAS];
    pons_picture_raw p = {0};
    pons_error err = PONS_ERROR_INIT;
    void *robot = NULL;
    assert_int_equal(driver->open(world, config, &robot, NULL), PONS_OK);
    assert_int_equal(eyes->list(robot, caps, PONS_ROBOT_CAMERAS), 2);
    assert_string_equal(caps[0].name, "front");
    assert_int_equal(eyes->take(robot, "moon", false, &p, &err), PONS_ENOTFOUND);
    const int rc = eyes->take(robot, "front", true, &p, &err);
    if (rc == PONS_EENV) { // built without OSMesa
        print_message("skipped: %s\n", err.message);
        driver->close(robot);
        return;
    }
    assert_int_equal(rc, PONS_OK);
    assert_int_equal(p.width, 640);
    assert_int_equal(p.height, 480);
    int red = 0;
    double near = INFINITY, far = 0.0;
    for (int i = 0; i < p.width * p.height; i++) {
        const uint8_t *c = p.rgb + 3 * i;
        red += c[0] > 90 && c[0] > 3 * c[1] && c[0] > 3 * c[2];
        if (c[0] > 90 && c[0] > 3 * c[1] && c[0] > 3 * c[2]) {
            near = fmin(near, (double)p.depth[i]);
        }
        far = fmax(far, isfinite(p.depth[i]) ? (double)p.depth[i] : 0.0);
    }
    assert_true(red > 100 && red < 5000);
    assert_true(near > 1.2 && near < 2.0 && far > 2.5); // it stands 1.4 m and 0.9 m higher
    free(p.rgb);
    free(p.depth);
    assert_int_equal(eyes->take(robot, "wrist", false, &p, &err), PONS_OK);
    assert_int_equal(p.width, 320);
    assert_null(p.depth);
    free(p.rgb);
    driver->close(robot);
}

int main(void)
{
    pons_error err = PONS_ERROR_INIT;
    const void *loaded = NULL;
    const int rc = pons_module_load("driver", "mujoco", &loaded, &err);
    if (rc == PONS_ENOTFOUND) {
        printf("skipped: built without MuJoCo (%s)\n", err.message);
        return 0;
    }
    if (rc < 0) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    driver = loaded;
    int failed = arm_conformance_run(loaded);
    static const struct CMUnitTest pictures[] = {cmocka_unit_test(test_pictures)};
    failed += cmocka_run_group_tests_name("pictures", pictures, NULL, NULL);
#if __has_include(<mujoco/mujoco.h>)
    static const struct CMUnitTest own[] = {cmocka_unit_test(test_forward_kinematics)};
    failed += cmocka_run_group_tests_name("mujoco's kinematics", own, NULL, NULL);
#endif
    return failed;
}
