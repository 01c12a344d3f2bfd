// test_mujoco.c - the robot in MuJoCo keeps the contract of simulated drivers (conformance.c); sees
// the same house as the kinematic one, beam by beam; and turns MuJoCo's ways of failing into a
// latched fault or a clear error, with nothing written beside it.
//
// Without the module (MuJoCo was not there at build time) everything is skipped, with a message.
// Bad models are written into a directory of their own, which is the working directory meanwhile.
#include "conformance.h"
#include "pons/clock.h"
#include "pons/drivers.h"
#include "pons/module.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const pons_robot_ops *ops; // from the module

static driver_traits traits = {
    .depth_m = 0.02,
    .odom_m = 0.03,
    .odom_rad = 0.05,
    .brake_more_m = 0.05,
};

static char scratch[] = "/tmp/pons-mujoco-XXXXXX";

static void write_model(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

// The house with another model, from the scratch directory.
static pons_value *world_with_model(const char *name, const char *text)
{
    write_model(name, text);
    pons_value *world = house_world();
    world_set(world, NULL, "dir", json_string(scratch));
    world_set(world, NULL, "mjcf", json_string(name));
    return world;
}

static int enter_scratch(void **unused)
{
    (void)unused;
    if (!mkdtemp(scratch) || chdir(scratch) < 0) {
        return -1;
    }
    return symlink(PONS_SOURCE_DIR "/worlds/robot.xml", "robot.xml"); // includes are relative
}

static int leave_scratch(void **unused)
{
    (void)unused;
    static const char *const files[] = {"bad.xml", "unstable.xml", "small.xml", "robot.xml"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        unlink(files[i]);
    }
    return chdir("/") < 0 || rmdir(scratch) < 0 ? -1 : 0; // nothing else may lie there
}

static void test_the_same_house_for_both(void **unused)
{
    (void)unused;
    static const pons_pose2 from[] = {
        {2.0, 1.6, 0.0},   {2.2, 2.7, 1.0},  {0.8, 1.5, -2.0}, {3.5, 3.95, 1.57}, {6.7, 6.4, 1.57},
        {6.9, 5.35, 0.3},  {3.2, 6.5, 3.14}, {5.0, 6.3, -1.0}, {5.3, 4.65, 0.0},  {0.65, 4.65, 3.1},
        {7.5, 2.4, -1.57}, {6.5, 3.2, 2.2},  {5.05, 3.2, 0.8}};
    for (int aside = 0; aside < 2; aside++) { // the lidar in the middle, and not
        pons_autovalue world = house_world();
        world_set(world, "lidar", "noise_m", json_real(0.0));
        if (aside) {
            world_set(world, "lidar", "pose",
                      json_pack("{s:f, s:f, s:f}", "x", 0.12, "y", -0.08, "yaw", 2.2));
        }
        int beams = 0, agree = 0;
        for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
            pons_scan scans[2];
            const pons_robot_ops *both[2] = {&pons_robot_kinematic, ops};
            for (int k = 0; k < 2; k++) {
                void *robot = open_at(both[k], world, from[i], 1);
                run_for(both[k], robot, 0.1, 0.0, 0.0);
                assert_true(both[k]->scan(robot, &scans[k]));
                both[k]->close(robot);
                assert_true(fabs(scans[k].from.x - (aside ? 0.12 : 0.0)) < 1e-9);
                assert_true(fabs(scans[k].from.yaw - (aside ? 2.2 : 0.0)) < 1e-9);
            }
            assert_int_equal(scans[0].n, scans[1].n);
            for (int b = 0; b < scans[0].n; b++) {
                const float x = scans[0].ranges[b], y = scans[1].ranges[b];
                agree += (isinf(x) && isinf(y)) || fabsf(x - y) < 0.03f;
                beams++;
            }
        }
        print_message("%d of %d beams agree within 3 cm (%.1f %%)\n", agree, beams,
                      100.0 * agree / beams);
        assert_true(agree >= 0.97 * beams);
    }
}

static void test_bad_models_are_explained(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"<mujoco><worldbody><geom type=\"bx\" size=\"1\"/></worldbody></mujoco>", "bx"},
        {"<mujoco><worldbody>", "XML"},
        {"<mujoco><include file=\"nowhere.xml\"/></mujoco>", "nowhere.xml"},
        {"<mujoco/>", "body base"},
        {"<mujoco><worldbody><body name=\"base\"><freejoint/><geom size=\"1\"/></body></worldbody>"
         "</mujoco>",
         "wheel_left"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pons_autovalue world = world_with_model("bad.xml", bad[i].text);
        void *robot = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(ops->open(world, NULL, &robot, &err), PONS_EINVAL);
        assert_null(robot);
        if (!strstr(err.message, bad[i].says)) {
            fail_msg("%s: not about %s", err.message, bad[i].says);
        }
        assert_null(strchr(err.message, '\n'));
        assert_non_null(strstr(err.source, "bad.xml"));
    }
    pons_autovalue world = house_world();
    world_set(world, NULL, "mjcf", json_string("nothing.xml"));
    void *robot = NULL;
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(ops->open(world, NULL, &robot, &err), PONS_EINVAL);
    assert_non_null(strstr(err.source, "nothing.xml"));
}

// Another robot in the world file than in the model would drive with the wrong numbers.
static void test_a_model_of_another_robot(void **unused)
{
    (void)unused;
    static const char *const keys[] = {"track_m", "wheel_radius_m", "radius_m"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        pons_autovalue world = house_world();
        world_set(world, "robot", keys[i], json_real(0.3));
        void *robot = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(ops->open(world, NULL, &robot, &err), PONS_EINVAL);
        assert_non_null(strstr(err.message, keys[i]));
        assert_non_null(strstr(err.source, "house.xml"));
    }
}

// Without an MJCF of its own a world's model is made of its boxes: the empty world, and the house.
static void test_a_model_of_boxes(void **unused)
{
    (void)unused;
    pons_autovalue empty = world_from(PONS_SOURCE_DIR "/worlds/empty.yaml", scratch);
    void *robot = open_at(ops, empty, (pons_pose2){1.5, 3.0, 0.0}, 1);
    run_for(ops, robot, 5.0, 0.6, 0.0); // to the pillar, which stands at an angle
    pons_pose2 truth;
    ops->truth(robot, &truth);
    assert_null(ops->fault(robot));
    assert_true(truth.x > 2.7 && truth.x < 3.6 - 0.3 - 0.22 + 0.03);
    ops->close(robot);

    pons_autovalue house = house_world();
    world_set(house, "lidar", "noise_m", json_real(0.0));
    pons_autovalue made = json_deep_copy(house);
    json_object_del(made, "mjcf");
    pons_scan scans[2];
    for (int i = 0; i < 2; i++) {
        robot = open_at(ops, i ? made : house, (pons_pose2){6.7, 6.4, 1.0}, 1);
        run_for(ops, robot, 0.2, 0.0, 0.0);
        assert_true(ops->scan(robot, &scans[i]));
        ops->close(robot);
    }
    for (int b = 0; b < scans[0].n; b++) {
        assert_true(fabsf(scans[0].ranges[b] - scans[1].ranges[b]) < 0.01f);
    }
}

// Steps until the fault, then looks at what a faulty robot does.
static void expect_fault(const char *name, const char *text, const char *says)
{
    pons_autovalue world = world_with_model(name, text);
    void *robot = open_at(ops, world, (pons_pose2){2.0, 4.65, 0.0}, 1);
    pons_error err = PONS_ERROR_INIT;
    int rc = PONS_OK;
    for (int i = 0; i < 1000 && rc == PONS_OK; i++) {
        rc = ops->step(robot, 10 * PONS_NS_PER_MS, &err);
    }
    assert_int_equal(rc, PONS_EIO);
    const char *fault = ops->fault(robot);
    assert_non_null(fault);
    print_message("latched: %s\n", fault);
    if (!strstr(fault, says)) {
        fail_msg("%s: not about %s", fault, says);
    }
    assert_non_null(strstr(err.message, fault));

    // The clock stands, the last good state stays readable, and nothing is saved from it.
    const int64_t stopped = ops->time_ns(robot);
    assert_int_equal(ops->step(robot, 10 * PONS_NS_PER_MS, NULL), PONS_EIO);
    assert_int_equal(ops->time_ns(robot), stopped);
    pons_robot_state state;
    pons_pose2 truth;
    pons_value *saved = NULL;
    ops->read(robot, &state);
    ops->truth(robot, &truth);
    assert_int_equal(state.stamp_ns, stopped);
    assert_true(isfinite(state.odom_from_base.x) && isfinite(truth.x));
    assert_int_equal(ops->save(robot, &saved, NULL), PONS_EIO);
    assert_null(saved);
    assert_ptr_equal(ops->fault(robot), fault);
    ops->close(robot);

    // Another robot in the same process is not touched by it.
    pons_autovalue house = house_world();
    void *good = open_at(ops, house, (pons_pose2){2.0, 4.65, 0.0}, 1);
    run_for(ops, good, 0.5, 0.3, 0.0);
    assert_null(ops->fault(good));
    ops->close(good);
}

#define WITH_ROBOT "<mujoco><include file=\"robot.xml\"/>"

static void test_a_nan_latches(void **unused)
{
    (void)unused;
    // A joint that gains speed by its own motion.
    expect_fault("unstable.xml",
                 WITH_ROBOT "<worldbody><body pos=\"0 0 9\"><joint type=\"hinge\" axis=\"0 1 0\" "
                            "damping=\"-9\"/><geom size=\".1\" pos=\".3 0 0\"/></body></worldbody>"
                            "</mujoco>",
                 "unstable");
}

static void test_an_error_inside_latches(void **unused)
{
    (void)unused;
    // The model compiles, but its stack has no room for so many joints once it is stepped.
    char text[4096] = WITH_ROBOT "<size nstack=\"4000\"/><worldbody>";
    for (int i = 0; i < 20; i++) {
        char ball[160];
        snprintf(ball, sizeof ball,
                 "<body pos=\"%d 9 1\"><freejoint/><geom size=\".1\" contype=\"4\"/></body>", i);
        strcat(text, ball);
    }
    strcat(text, "</worldbody></mujoco>");
    expect_fault("small.xml", text, "overflow");
}

// A robot that pushes against a wall turns its wheels: odometry counts what the robot has not gone.
static void test_wheels_slip(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    void *robot = open_at(ops, world, (pons_pose2){6.7, 6.7, M_PI / 2}, 1);
    run_for(ops, robot, 10.0, 0.5, 0.0);
    pons_robot_state state;
    pons_pose2 truth;
    ops->read(robot, &state);
    ops->truth(robot, &truth);
    assert_true(fabs(truth.y - (7.3 - 0.22)) < 0.03); // at the counter
    assert_true(state.odom_from_base.x > truth.y - 6.7 + 0.1);
    assert_null(ops->fault(robot));
    ops->close(robot);
}

// Physics steps are 2 ms; what is asked for in other pieces adds up.
static void test_odd_steps_add_up(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    void *robot = open_at(ops, world, (pons_pose2){2.0, 4.65, 0.0}, 1);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(ops->step(robot, 3 * PONS_NS_PER_MS, NULL), PONS_OK);
    }
    assert_int_equal(ops->time_ns(robot), 300 * PONS_NS_PER_MS);
    ops->close(robot);
}

static void test_realtime(void **unused)
{
    (void)unused;
    print_realtime(ops, 20.0);
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
        char line[1024];
        fprintf(stderr, "%s\n", pons_error_line(&err, line, sizeof line));
        return 1;
    }
    traits.ops = ops = loaded;
    static const struct CMUnitTest own[] = {
        cmocka_unit_test(test_the_same_house_for_both),
        cmocka_unit_test(test_bad_models_are_explained),
        cmocka_unit_test(test_a_model_of_another_robot),
        cmocka_unit_test(test_a_model_of_boxes),
        cmocka_unit_test(test_a_nan_latches),
        cmocka_unit_test(test_an_error_inside_latches),
        cmocka_unit_test(test_wheels_slip),
        cmocka_unit_test(test_odd_steps_add_up),
        cmocka_unit_test(test_realtime),
    };
    const int failed = conformance_run(&traits);
    return failed + cmocka_run_group_tests_name("mujoco alone", own, enter_scratch, leave_scratch);
}
