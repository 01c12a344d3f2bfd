// test_kinematic.c - the kinematic robot keeps the contract of simulated drivers (conformance.c),
// and what it promises beyond: exact arcs, a lidar of any span, low obstacles that block unseen.
#include "conformance.h"
#include "pons/clock.h"
#include "pons/drivers.h"

#include <math.h>
#include <string.h>

static const pons_robot_ops *const ops = &pons_robot_kinematic;

static const driver_traits traits = {
    .ops = &pons_robot_kinematic,
    .depth_m = 1e-6,
    .odom_m = 0.03,
    .odom_rad = 0.06,
    .brake_more_m = 0.01,
};

// Where the robot stands does not depend on how its time was cut, up to the ramps' corners.
static void test_step_length_hardly_matters(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    pons_pose2 ends[3];
    static const int64_t dt_ms[3] = {2, 10, 100};
    for (int i = 0; i < 3; i++) {
        void *robot = open_at(ops, world, (pons_pose2){7.5, 2.2, 0.0}, 1);
        ops->write_velocity(robot, (pons_twist2){0.25, 0.5});
        for (int64_t t = 0; t < 4000; t += dt_ms[i]) {
            assert_int_equal(ops->step(robot, dt_ms[i] * PONS_NS_PER_MS, NULL), PONS_OK);
        }
        ops->truth(robot, &ends[i]);
        ops->close(robot);
    }
    for (int i = 1; i < 3; i++) {
        assert_true(hypot(ends[i].x - ends[0].x, ends[i].y - ends[0].y) < 2e-3);
        assert_true(fabs(ends[i].yaw - ends[0].yaw) < 2e-3);
    }
}

// A lidar that looks ahead only, over the seam of ±π, and one beam.
static void test_lidar_spans(void **unused)
{
    (void)unused;
    static const struct {
        double from, to;
        int beams;
    } spans[] = {{-1.0, 1.0, 40}, {2.0, 4.5, 31}, {-4.0, 2.0, 90}, {0.0, 0.1, 1}};
    for (size_t s = 0; s < sizeof spans / sizeof spans[0]; s++) {
        pons_autovalue world = house_world();
        world_set(world, "lidar", "noise_m", json_real(0.0));
        pons_autovalue full = json_deep_copy(world);
        world_set(world, "lidar", "angle_min", json_real(spans[s].from));
        world_set(world, "lidar", "angle_max", json_real(spans[s].to));
        world_set(world, "lidar", "beams", json_integer(spans[s].beams));
        void *robot = open_at(ops, world, (pons_pose2){2.2, 2.7, 0.4}, 1);
        run_for(ops, robot, 0.1, 0.0, 0.0);
        pons_scan scan;
        assert_true(ops->scan(robot, &scan));
        assert_int_equal(scan.n, spans[s].beams);
        // Each beam again, as beam 0 of a robot that is turned its way.
        for (int i = 0; i < scan.n; i++) {
            const double angle = spans[s].from + i * (spans[s].to - spans[s].from) / spans[s].beams;
            world_set(full, "lidar", "angle_min", json_real(0.0));
            world_set(full, "lidar", "angle_max", json_real(2.0 * M_PI));
            void *turned = open_at(ops, full, (pons_pose2){2.2, 2.7, 0.4 + angle}, 1);
            run_for(ops, turned, 0.1, 0.0, 0.0);
            pons_scan straight;
            assert_true(ops->scan(turned, &straight));
            assert_true(fabsf(scan.ranges[i] - straight.ranges[0]) < 1e-3f);
            ops->close(turned);
        }
        ops->close(robot);
    }
}

static void test_low_obstacles_are_not_seen(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    void *robot = open_at(ops, world, (pons_pose2){2.0, 4.65, 0.0}, 1);
    pons_autovalue sill =
        pons_object("id", json_string("sill"), "x", json_real(3.0), "y", json_real(4.65), "sx",
                    json_real(0.1), "sy", json_real(1.3), "height", json_real(0.1), NULL);
    assert_int_equal(ops->spawn(robot, sill, NULL), PONS_OK);
    run_for(ops, robot, 4.0, 0.6, 0.0);
    pons_scan scan;
    pons_pose2 truth;
    assert_true(ops->scan(robot, &scan));
    ops->truth(robot, &truth);
    assert_true(scan.ranges[60] > 5.0f);
    assert_true(fabs(truth.x - (2.95 - 0.22)) < 1e-3);
    ops->close(robot);
}

// Something is put on top of the robot: it may leave, but not go deeper.
static void test_escapes_from_an_obstacle(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    void *robot = open_at(ops, world, (pons_pose2){4.0, 4.65, 0.0}, 1);
    pons_autovalue box =
        pons_object("id", json_string("box"), "x", json_real(4.3), "y", json_real(4.65), "sx",
                    json_real(0.4), "sy", json_real(0.4), NULL);
    assert_int_equal(ops->spawn(robot, box, NULL), PONS_OK);
    pons_pose2 truth;
    run_for(ops, robot, 2.0, 0.5, 0.0);
    ops->truth(robot, &truth);
    assert_true(fabs(truth.x - 4.0) < 1e-3);
    run_for(ops, robot, 2.0, -0.3, 0.0);
    ops->truth(robot, &truth);
    assert_true(truth.x < 3.6);
    ops->close(robot);
}

static void test_realtime(void **unused)
{
    (void)unused;
    print_realtime(ops, 400.0);
}

int main(void)
{
    static const struct CMUnitTest own[] = {
        cmocka_unit_test(test_step_length_hardly_matters),
        cmocka_unit_test(test_lidar_spans),
        cmocka_unit_test(test_low_obstacles_are_not_seen),
        cmocka_unit_test(test_escapes_from_an_obstacle),
        cmocka_unit_test(test_realtime),
    };
    const int failed = conformance_run(&traits);
    return failed + cmocka_run_group_tests_name("kinematic", own, NULL, NULL);
}
