// conformance.c - the one suite for robot drivers; see conformance.h.
#include "conformance.h"

#include "pons/clock.h"
#include "pons/random.h"
#include "pons/yaml.h"
#include "rounds.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPS          traits->ops
#define STEP_NS      (10 * PONS_NS_PER_MS)
#define ASSERT_OK(e) assert_int_equal((e), PONS_OK)

static const driver_traits *traits; // of the driver under test

static const pons_pose2 IN_CORRIDOR = {2.0, 4.65, 0.0}; // seven metres of free floor ahead

#define ASSERT_NEAR(a, b, tol) assert_near((a), (b), (tol), #a)

static void assert_near(double a, double b, double tolerance, const char *what)
{
    if (!(fabs(a - b) <= tolerance)) {
        fail_msg("%s is %.6f, expected %.6f ± %g", what, a, b, tolerance);
    }
}

pons_value *world_from(const char *path, const char *dir)
{
    pons_error err = PONS_ERROR_INIT;
    pons_yaml *yaml = NULL;
    if (pons_yaml_load(path, &yaml, &err) < 0) {
        fail_msg("%s: %s [%s]", path, err.message, err.source);
    }
    pons_value *world = json_deep_copy((json_t *)pons_yaml_value(yaml));
    pons_yaml_destroy(yaml);
    world_set(world, NULL, "dir", json_string(dir));
    world_set(world, NULL, "path", json_string(path));
    return world;
}

pons_value *house_world(void)
{
    return world_from(PONS_SOURCE_DIR "/worlds/house.yaml", PONS_SOURCE_DIR "/worlds");
}

void world_set(pons_value *world, const char *section, const char *key, pons_value *value)
{
    pons_value *object = section ? json_object_get(world, section) : world;
    assert_int_equal(json_object_set_new(object, key, value), 0);
}

void *open_at(const pons_robot_ops *ops, const pons_value *world, pons_pose2 start, uint64_t seed)
{
    pons_autovalue config =
        pons_object("seed", json_integer((json_int_t)seed), "start",
                    pons_object("x", json_real(start.x), "y", json_real(start.y), "yaw",
                                json_real(start.yaw), NULL),
                    NULL);
    pons_error err = PONS_ERROR_INIT;
    void *robot = NULL;
    if (ops->open(world, config, &robot, &err) < 0) {
        fail_msg("open: %s [%s] %s", err.message, err.source, err.cause);
    }
    return robot;
}

static void *open_house_at(pons_pose2 start)
{
    pons_autovalue world = house_world();
    return open_at(OPS, world, start, 7);
}

// The house with a lidar that makes no errors.
static void *open_exact_at(pons_pose2 start)
{
    pons_autovalue world = house_world();
    world_set(world, "lidar", "noise_m", json_real(0.0));
    return open_at(OPS, world, start, 7);
}

static void step(const pons_robot_ops *ops, void *robot)
{
    pons_error err = PONS_ERROR_INIT;
    if (ops->step(robot, STEP_NS, &err) < 0) {
        fail_msg("step: %s", err.message);
    }
}

void run_for(const pons_robot_ops *ops, void *robot, double seconds, double v, double w)
{
    const int steps = (int)lround(seconds * 1e9 / (double)STEP_NS);
    ops->write_velocity(robot, (pons_twist2){v, w});
    for (int i = 0; i < steps; i++) {
        step(ops, robot);
    }
}

static pons_pose2 truth_of(void *robot)
{
    pons_pose2 truth;
    OPS->truth(robot, &truth);
    return truth;
}

static pons_robot_state state_of(void *robot)
{
    pons_robot_state state;
    OPS->read(robot, &state);
    return state;
}

static pons_scan scan_of(void *robot)
{
    pons_scan scan;
    assert_true(OPS->scan(robot, &scan));
    return scan;
}

// The beam nearest to an angle in base.
static double range_towards(const pons_scan *scan, double angle)
{
    const double turns = pons_wrap_angle(angle - scan->angle_min);
    const int i = (int)lround((turns < 0 ? turns + 2.0 * M_PI : turns) / scan->angle_increment);
    return scan->ranges[i % scan->n];
}

static double distance(pons_pose2 a, pons_pose2 b)
{
    return hypot(a.x - b.x, a.y - b.y);
}

// Distance from a point to the nearest box of a world.
static double room_at(const pons_value *world, double x, double y)
{
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes");
    double nearest = INFINITY;
    for (size_t i = 0; i < json_array_size(boxes); i++) {
        const pons_value *b = json_array_get(boxes, i);
        const pons_box2 box = {pons_get_num(b, "x", 0), pons_get_num(b, "y", 0),
                               pons_get_num(b, "yaw", 0), pons_get_num(b, "sx", 0),
                               pons_get_num(b, "sy", 0)};
        nearest = fmin(nearest, pons_box2_distance(&box, x, y));
    }
    return nearest;
}

static void test_caps_are_the_worlds(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    void *robot = open_at(OPS, world, IN_CORRIDOR, 1);
    pons_robot_caps caps;
    OPS->caps(robot, &caps);
    assert_string_equal(caps.robot_id, "pons-1");
    ASSERT_NEAR(caps.radius_m, 0.22, 0);
    ASSERT_NEAR(caps.speed_max_mps, 0.6, 0);
    ASSERT_NEAR(caps.reverse_max_mps, 0.3, 0);
    ASSERT_NEAR(caps.brake_max_mps2, 2.0, 0);
    ASSERT_NEAR(caps.scan_hz, 10.0, 0);
    assert_int_equal(caps.simulated, !traits->foreign);
    assert_int_equal(caps.can_charge, !traits->foreign);
    assert_null(OPS->fault(robot));
    OPS->close(robot);
    OPS->close(NULL);
}

static void test_time_is_what_was_stepped(void **unused)
{
    (void)unused;
    void *robot = open_house_at(IN_CORRIDOR);
    pons_scan scan;
    const int64_t begun_ns = OPS->time_ns(robot);
    if (!traits->remote) {
        assert_int_equal(begun_ns, 0);
        assert_false(OPS->scan(robot, &scan));
    }
    int64_t seen = -1;
    int scans = 0;
    for (int i = 1; i <= 200; i++) {
        step(OPS, robot);
        assert_int_equal(OPS->time_ns(robot), begun_ns + i * STEP_NS);
        assert_int_equal(state_of(robot).stamp_ns, begun_ns + i * STEP_NS);
        if (OPS->scan(robot, &scan) && scan.stamp_ns != seen) {
            assert_true(scan.stamp_ns > seen && scan.stamp_ns <= begun_ns + i * STEP_NS);
            seen = scan.stamp_ns;
            scans++;
        }
    }
    assert_in_range(scans, 20, 21); // 10 Hz for 2 s, and one at the beginning
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(OPS->step(robot, -1, &err), PONS_EINVAL);
    OPS->close(robot);
}

static void test_one_metre_straight(void **unused)
{
    (void)unused;
    void *robot = open_house_at(IN_CORRIDOR);
    OPS->write_velocity(robot, (pons_twist2){0.5, 0.0});
    for (int i = 0; i < 1000 && state_of(robot).odom_from_base.x < 0.94; i++) {
        step(OPS, robot);
    }
    run_for(OPS, robot, 1.0, 0.0, 0.0);
    const pons_pose2 truth = truth_of(robot);
    const pons_robot_state state = state_of(robot);
    ASSERT_NEAR(state.odom_from_base.x, 1.0, 0.06);
    ASSERT_NEAR(truth.x - IN_CORRIDOR.x, state.odom_from_base.x, traits->odom_m);
    ASSERT_NEAR(truth.y, IN_CORRIDOR.y, traits->odom_m);
    ASSERT_NEAR(truth.yaw, 0.0, traits->odom_rad);
    ASSERT_NEAR(state.twist.v, 0.0, 0.005);
    assert_true(state.cov[0] > 0.0);
    OPS->close(robot);
}

static void test_quarter_turns(void **unused)
{
    (void)unused;
    for (int sign = -1; sign <= 1; sign += 2) {
        void *robot = open_house_at(IN_CORRIDOR);
        OPS->write_velocity(robot, (pons_twist2){0.0, sign * 0.8});
        for (int i = 0; i < 1000 && sign * state_of(robot).odom_from_base.yaw < M_PI / 2 - 0.08;
             i++) {
            step(OPS, robot);
        }
        run_for(OPS, robot, 1.0, 0.0, 0.0);
        const pons_pose2 truth = truth_of(robot);
        ASSERT_NEAR(state_of(robot).odom_from_base.yaw, sign * M_PI / 2, 0.1);
        ASSERT_NEAR(truth.yaw, state_of(robot).odom_from_base.yaw, traits->odom_rad);
        ASSERT_NEAR(distance(truth, IN_CORRIDOR), 0.0, 0.03);
        OPS->close(robot);
    }
}

// A circle of 0.5 m: forward and around at once.
static void test_follows_an_arc(void **unused)
{
    (void)unused;
    void *robot = open_house_at((pons_pose2){7.5, 2.2, 0.0});
    run_for(OPS, robot, 4.0, 0.25, 0.5);
    run_for(OPS, robot, 1.0, 0.0, 0.0);
    const pons_pose2 truth = truth_of(robot), odom = state_of(robot).odom_from_base;
    ASSERT_NEAR(truth.x - 7.5, odom.x, 0.05);
    ASSERT_NEAR(truth.y - 2.2, odom.y, 0.05);
    ASSERT_NEAR(odom.yaw, 2.0, 0.15);
    ASSERT_NEAR(truth.y - 2.2, 0.5 * (1.0 - cos(truth.yaw)), 0.06); // it is a circle's arc
    OPS->close(robot);
}

static void test_respects_its_limits(void **unused)
{
    (void)unused;
    void *robot = open_house_at(IN_CORRIDOR);
    run_for(OPS, robot, 0.3, 9.0, 0.0);
    assert_true(state_of(robot).twist.v <= 0.35); // 1 m/s² for 0.3 s
    run_for(OPS, robot, 1.7, 9.0, 0.0);
    ASSERT_NEAR(state_of(robot).twist.v, 0.6, 0.03);
    run_for(OPS, robot, 2.0, -9.0, 0.0);
    ASSERT_NEAR(state_of(robot).twist.v, -0.3, 0.03);
    run_for(OPS, robot, 2.0, 0.0, 99.0);
    ASSERT_NEAR(state_of(robot).twist.w, 1.5, 0.1);
    run_for(OPS, robot, 2.0, NAN, 1.0); // not a command: stop
    ASSERT_NEAR(state_of(robot).twist.w, 0.0, 0.01);
    assert_null(OPS->fault(robot));
    OPS->close(robot);
}

static void test_brakes_in_time(void **unused)
{
    (void)unused;
    void *robot = open_house_at(IN_CORRIDOR);
    run_for(OPS, robot, 2.0, 0.6, 0.0);
    const double v = state_of(robot).twist.v;
    const pons_pose2 before = truth_of(robot);
    run_for(OPS, robot, 0.45, 0.0, 0.0);
    ASSERT_NEAR(state_of(robot).twist.v, 0.0, 0.02);
    const double took = distance(before, truth_of(robot));
    assert_true(took <= v * v / (2.0 * 2.0) + traits->brake_more_m);
    assert_true(took >= v * v / (2.0 * 2.0) * 0.7); // and not like a wall either
    OPS->close(robot);
}

// Drives at full speed into walls and furniture from several places and directions.
static void test_walls_are_solid(void **unused)
{
    (void)unused;
    static const pons_pose2 from[] = {
        {2.0, 1.6, 0.0},  {2.0, 1.6, 1.9},  {2.2, 2.7, M_PI}, {6.7, 6.4, 0.3},  {6.7, 6.4, 2.5},
        {3.2, 6.5, -3.0}, {7.5, 2.4, -0.2}, {6.6, 1.7, -2.3}, {1.2, 4.65, 3.1}, {8.9, 4.65, -0.05}};
    pons_autovalue world = house_world();
    const size_t all = sizeof from / sizeof from[0], asked = (size_t)rounds(ROUNDS_drivers_walls),
                 n = asked < all ? asked : all;
    for (size_t k = 0; k < n; k++) {
        const size_t i = k * all / n;
        void *robot = open_at(OPS, world, from[i], 3);
        OPS->write_velocity(robot, (pons_twist2){0.6, 0.0});
        double least = INFINITY;
        pons_pose2 was = {0};
        for (int s = 0, stands = 0; s < 800 && stands < 100; s++) { // a second of pressing on
            step(OPS, robot);
            const pons_pose2 at = truth_of(robot);
            least = fmin(least, room_at(world, at.x, at.y));
            stands = distance(was, at) < 1e-4 ? stands + 1 : 0;
            was = at;
        }
        if (least < 0.22 - traits->depth_m || least > 0.25) {
            fail_msg("from (%g, %g, %g): nearest to a wall was %.3f m", from[i].x, from[i].y,
                     from[i].yaw, least);
        }
        // It stands, or slides along; and it can get away again.
        const pons_pose2 stuck = truth_of(robot);
        run_for(OPS, robot, 2.0, -0.3, 0.0);
        assert_true(distance(stuck, truth_of(robot)) > 0.2);
        if (OPS->save) {
            pons_value *saved = NULL;
            ASSERT_OK(OPS->save(robot, &saved, NULL));
            const int64_t bumps = pons_get_int(saved, "bumps", 0);
            assert_in_range(bumps, 1, 20); // pressing on is not bumping again
            pons_value_unref(saved);
        }
        OPS->close(robot);
    }
}

// Along each beam, goes on by the distance to the nearest box until there is one.
static double marched(const pons_value *world, pons_pose2 from, double angle, double most)
{
    double r = 0.0;
    while (r < most) {
        const double room =
            room_at(world, from.x + r * cos(from.yaw + angle), from.y + r * sin(from.yaw + angle));
        if (room < 1e-4) {
            return r;
        }
        r += room;
    }
    return INFINITY;
}

static void test_scan_is_what_stands_there(void **unused)
{
    (void)unused;
    static const pons_pose2 from[] = {{2.0, 4.65, 0.0},
                                      {2.2, 2.7, 0.7},
                                      {6.7, 6.4, -2.0},
                                      {3.2, 6.5, 3.0},
                                      {7.5, 2.4, -M_PI / 2}};
    pons_autovalue world = house_world();
    for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
        void *robot = open_exact_at(from[i]);
        run_for(OPS, robot, 0.5, 0.0, 0.0);
        const pons_pose2 at = truth_of(robot); // physics settles a little
        const pons_scan scan = scan_of(robot);
        assert_int_equal(scan.n, 120);
        ASSERT_NEAR(scan.angle_increment, 2.0 * M_PI / 120, 1e-6);
        int wrong = 0;
        for (int b = 0; b < scan.n; b++) {
            const double expected =
                marched(world, at, scan.angle_min + b * (double)scan.angle_increment, 10.0);
            const bool same =
                isinf(expected) ? isinf(scan.ranges[b]) : fabs(scan.ranges[b] - expected) < 0.02;
            wrong += !same; // a beam that grazes a corner may fall on either side of it
        }
        assert_true(wrong <= 3);
        OPS->close(robot);
    }
}

static void test_scan_noise_is_seeded(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    void *exact = open_exact_at(IN_CORRIDOR);
    void *noisy = open_at(OPS, world, IN_CORRIDOR, 5);
    double sum = 0.0, squares = 0.0;
    int n = 0;
    for (int i = 0; i < 20; i++) {
        run_for(OPS, exact, 0.1, 0.0, 0.0);
        run_for(OPS, noisy, 0.1, 0.0, 0.0);
        const pons_scan a = scan_of(exact), b = scan_of(noisy);
        for (int k = 0; k < a.n; k++) {
            const double off = (double)b.ranges[k] - (double)a.ranges[k];
            if (!isfinite(off)) {
                continue;
            }
            sum += off;
            squares += off * off;
            n++;
        }
    }
    ASSERT_NEAR(sum / n, 0.0, 0.002);
    ASSERT_NEAR(sqrt(squares / n), 0.01, 0.003);
    OPS->close(exact);
    OPS->close(noisy);
}

static void test_battery_drains(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    world_set(world, "battery", "idle_pct_per_s", json_real(0.1));
    world_set(world, "battery", "motion_pct_per_m", json_real(2.0));
    void *robot = open_at(OPS, world, IN_CORRIDOR, 1);
    ASSERT_NEAR(state_of(robot).battery_pct, 90.0, traits->battery_pct);
    assert_int_equal(state_of(robot).battery, PONS_BATTERY_DISCHARGING);
    run_for(OPS, robot, 10.0, 0.0, 0.0);
    ASSERT_NEAR(state_of(robot).battery_pct, 89.0, 0.02);
    run_for(OPS, robot, 5.0, 0.5, 0.0);
    run_for(OPS, robot, 1.0, 0.0, 0.0);
    const double way = distance(truth_of(robot), IN_CORRIDOR);
    ASSERT_NEAR(state_of(robot).battery_pct, 89.0 - 0.6 - 2.0 * way, 0.1);

    if (!OPS->set_battery) {
        OPS->close(robot);
        return;
    }
    OPS->set_battery(robot, 0.05);
    ASSERT_NEAR(state_of(robot).battery_pct, 0.05, traits->battery_pct);
    run_for(OPS, robot, 3.0, 0.5, 0.0);
    run_for(OPS, robot, 1.0, 0.5, 0.0);
    ASSERT_NEAR(state_of(robot).battery_pct, 0.0, traits->battery_pct); // never below
    const pons_pose2 flat = truth_of(robot);
    run_for(OPS, robot, 2.0, 0.5, 0.0); // and an empty one does not drive
    ASSERT_NEAR(distance(flat, truth_of(robot)), 0.0, 0.01);
    OPS->close(robot);
}

static void test_battery_charges_on_the_charger(void **unused)
{
    (void)unused;
    pons_error err = PONS_ERROR_INIT;
    const pons_pose2 dock = {0.65, 4.65, M_PI};
    void *robot = open_house_at(dock);
    assert_true(state_of(robot).on_charger);
    assert_int_equal(state_of(robot).battery, PONS_BATTERY_NOT_CHARGING);
    ASSERT_OK(OPS->charge(robot, true, &err));
    run_for(OPS, robot, 5.0, 0.0, 0.0);
    assert_int_equal(state_of(robot).battery, PONS_BATTERY_CHARGING);
    ASSERT_NEAR(state_of(robot).battery_pct, 90.0 + 5.0 - 0.05, 0.05);
    run_for(OPS, robot, 7.0, 0.0, 0.0);
    assert_int_equal(state_of(robot).battery, PONS_BATTERY_FULL);
    assert_true(state_of(robot).battery_pct > 99.9);
    ASSERT_OK(OPS->charge(robot, false, &err));
    run_for(OPS, robot, 0.1, 0.0, 0.0);
    assert_int_equal(state_of(robot).battery, PONS_BATTERY_NOT_CHARGING);

    ASSERT_OK(OPS->charge(robot, true, &err));
    run_for(OPS, robot, 2.0, -0.3, 0.0); // leaves backwards
    assert_false(state_of(robot).on_charger);
    assert_int_equal(state_of(robot).battery, PONS_BATTERY_DISCHARGING);
    run_for(OPS, robot, 1.0, 0.0, 0.0);
    run_for(OPS, robot, (truth_of(robot).x - dock.x) / 0.3, 0.3, 0.0); // and comes back
    run_for(OPS, robot, 1.0, 0.0, 0.0);
    assert_true(state_of(robot).on_charger);
    assert_int_equal(state_of(robot).battery, PONS_BATTERY_NOT_CHARGING); // until asked again
    OPS->close(robot);

    robot = open_house_at((pons_pose2){dock.x, dock.y, M_PI / 2}); // on it, but across
    assert_false(state_of(robot).on_charger);
    OPS->close(robot);
}

static void spawn(void *robot, int expected, const char *json)
{
    pons_autovalue what = NULL;
    pons_error err = PONS_ERROR_INIT;
    ASSERT_OK(pons_value_parse(json, strlen(json), &what, &err));
    const int got = OPS->spawn(robot, what, &err);
    if (got != expected) {
        fail_msg("spawn %s: %d, expected %d: %s", json, got, expected, err.message);
    }
    assert_true(got == PONS_OK || err.message[0]);
}

static void test_charges_by_itself(void **unused)
{
    (void)unused;
    pons_error err = PONS_ERROR_INIT;
    void *robot = open_house_at(IN_CORRIDOR);
    assert_int_equal(OPS->charge(robot, true, &err), PONS_EUNSUPPORTED);
    assert_true(*err.message);
    assert_false(state_of(robot).on_charger);
    OPS->close(robot);
}

static void test_spawned_obstacles(void **unused)
{
    (void)unused;
    void *robot = open_exact_at(IN_CORRIDOR);
    run_for(OPS, robot, 0.2, 0.0, 0.0);
    pons_scan scan = scan_of(robot);
    const double free_ahead = range_towards(&scan, 0.0);
    assert_true(free_ahead > 5.0);

    spawn(robot, PONS_OK, "{\"id\":\"box\",\"x\":3.5,\"y\":4.65,\"sx\":0.4,\"sy\":0.4}");
    run_for(OPS, robot, 0.2, 0.0, 0.0);
    scan = scan_of(robot);
    ASSERT_NEAR(range_towards(&scan, 0.0), 1.3, 0.02);
    spawn(robot, PONS_OK, "{\"id\":\"box\",\"x\":4.0,\"y\":4.65,\"sx\":0.2,\"sy\":0.4}"); // moves
    run_for(OPS, robot, 0.2, 0.0, 0.0);
    scan = scan_of(robot);
    ASSERT_NEAR(range_towards(&scan, 0.0), 1.9, 0.02);
    run_for(OPS, robot, 6.0, 0.6, 0.0); // and is solid
    ASSERT_NEAR(truth_of(robot).x, 3.9 - 0.22, 0.03);
    run_for(OPS, robot, 0.5, 0.0, 0.0);
    spawn(robot, PONS_OK, "{\"id\":\"box\",\"remove\":true}");
    spawn(robot, PONS_ENOTFOUND, "{\"id\":\"box\",\"remove\":true}");
    run_for(OPS, robot, 0.2, 0.0, 0.0);
    scan = scan_of(robot);
    assert_true(range_towards(&scan, 0.0) > 3.0);
    OPS->close(robot);
}

static void test_spawn_refuses_nonsense(void **unused)
{
    (void)unused;
    void *robot = open_house_at(IN_CORRIDOR);
    static const char *const bad[] = {
        "{}",
        "{\"x\":1,\"y\":1,\"sx\":1,\"sy\":1}",
        "{\"id\":\"a\"}",
        "{\"id\":\"a\",\"x\":1,\"y\":1,\"sx\":0,\"sy\":1}",
        "{\"id\":\"a\",\"x\":1,\"y\":\"1\",\"sx\":1,\"sy\":1}",
        "{\"id\":\"a\",\"x\":1,\"y\":1,\"sx\":1,\"sy\":1,\"height\":-1}",
        "{\"id\":\"0123456789012345678901234567890123456789012345678901234567890123\",\"x\":1,"
        "\"y\":1,\"sx\":1,\"sy\":1}",
        "[]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        spawn(robot, PONS_EINVAL, bad[i]);
    }
    char text[128];
    int made = 0;
    for (; made < 100; made++) {
        pons_autovalue what = NULL;
        snprintf(text, sizeof text, "{\"id\":\"n%d\",\"x\":9,\"y\":7,\"sx\":0.1,\"sy\":0.1}", made);
        ASSERT_OK(pons_value_parse(text, strlen(text), &what, NULL));
        if (OPS->spawn(robot, what, NULL) == PONS_EBUSY) {
            break;
        }
    }
    assert_in_range(made, 8, 99);
    spawn(robot, PONS_OK, "{\"id\":\"n0\",\"remove\":true}"); // makes room for one
    spawn(robot, PONS_OK, "{\"id\":\"again\",\"x\":9,\"y\":7,\"sx\":0.1,\"sy\":0.1}");
    step(OPS, robot);
    OPS->close(robot);
}

// Everything that a reader can see, over a drive of random commands, as one hash.
typedef struct digest {
    uint64_t fnv;
} digest;

static void digest_add(digest *d, const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        d->fnv = (d->fnv ^ ((const uint8_t *)data)[i]) * 0x100000001b3u;
    }
}

static uint64_t drive_randomly(void *robot, uint64_t seed, int steps)
{
    pons_rand rand;
    pons_rand_seed(&rand, seed);
    digest d = {0xcbf29ce484222325u};
    for (int i = 0; i < steps; i++) {
        if (i % 25 == 0) {
            OPS->write_velocity(robot, (pons_twist2){pons_rand_unit(&rand) * 0.9 - 0.3,
                                                     pons_rand_unit(&rand) * 3.0 - 1.5});
        }
        step(OPS, robot);
        pons_robot_state state = state_of(robot);
        const pons_pose2 truth = truth_of(robot);
        pons_scan scan;
        state.battery_number = 0; // how often it was told of
        digest_add(&d, &state, sizeof state);
        digest_add(&d, &truth, sizeof truth);
        if (OPS->scan(robot, &scan)) {
            digest_add(&d, &scan, sizeof scan);
        }
    }
    return d.fnv;
}

static void test_same_seed_same_bytes(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    uint64_t hash[3];
    static const uint64_t seeds[3] = {11, 11, 12};
    for (int i = 0; i < 3; i++) {
        void *robot = open_at(OPS, world, IN_CORRIDOR, seeds[i]);
        hash[i] = drive_randomly(robot, 99, 1500);
        OPS->close(robot);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] != hash[2]);
}

static void test_save_and_restore(void **unused)
{
    (void)unused;
    pons_autovalue world = house_world();
    void *robot = open_at(OPS, world, IN_CORRIDOR, 21);
    spawn(robot, PONS_OK, "{\"id\":\"box\",\"x\":5,\"y\":4.3,\"sx\":0.3,\"sy\":0.3,\"yaw\":0.4}");
    (void)drive_randomly(robot, 1, 731);
    pons_value *saved = NULL;
    ASSERT_OK(OPS->save(robot, &saved, NULL));
    const pons_robot_state then = state_of(robot);
    const pons_pose2 truth = truth_of(robot);

    // Through text, as a file would carry it.
    char *text = NULL;
    const long n = pons_value_dump(saved, &text);
    pons_value_unref(saved);
    pons_autovalue read = NULL;
    ASSERT_OK(pons_value_parse(text, (size_t)n, &read, NULL));
    free(text);

    // Into the robot that went on, and into one that was only just opened, with another seed.
    ASSERT_OK(OPS->restore(robot, read, NULL));
    const pons_robot_state again = state_of(robot);
    assert_memory_equal(&then, &again, sizeof then);
    const pons_pose2 truth_again = truth_of(robot);
    assert_memory_equal(&truth, &truth_again, sizeof truth);
    assert_int_equal(OPS->time_ns(robot), then.stamp_ns);
    pons_scan scan;
    assert_false(OPS->scan(robot, &scan)); // what was seen belongs to another time
    const uint64_t first = drive_randomly(robot, 2, 700);
    ASSERT_OK(OPS->restore(robot, read, NULL));
    const uint64_t second = drive_randomly(robot, 2, 700);
    void *other = open_at(OPS, world, (pons_pose2){2.2, 2.7, 1.0}, 22);
    (void)drive_randomly(other, 3, 50);
    ASSERT_OK(OPS->restore(other, read, NULL));
    const uint64_t third = drive_randomly(other, 2, 700);
    assert_true(first == second);
    assert_true(first == third);
    OPS->close(other);
    OPS->close(robot);
}

// Takes members out, and puts nonsense in: refused, and the robot is as it was.
static void test_restore_refuses_damage(void **unused)
{
    (void)unused;
    static const char *const keys[] = {"driver",      "version", "world",       "time_ns",
                                       "battery_pct", "odom",    "odom_scales", "cov",
                                       "twist",       "rand",    "obstacles"};
    void *robot = open_house_at(IN_CORRIDOR);
    (void)drive_randomly(robot, 1, 100);
    pons_autovalue saved = NULL;
    ASSERT_OK(OPS->save(robot, &saved, NULL));
    (void)drive_randomly(robot, 2, 100);
    const pons_robot_state before = state_of(robot);
    for (size_t i = 0; i < 2 * sizeof keys / sizeof keys[0]; i++) {
        pons_autovalue bad = json_deep_copy(saved);
        if (i % 2) {
            json_object_del(bad, keys[i / 2]);
        } else {
            json_object_set_new(bad, keys[i / 2], json_string("?"));
        }
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(OPS->restore(robot, bad, &err), PONS_EINVAL);
        assert_true(err.message[0]);
        const pons_robot_state after = state_of(robot);
        assert_memory_equal(&before, &after, sizeof before);
    }
    assert_int_equal(OPS->restore(robot, NULL, NULL), PONS_EINVAL);
    pons_autovalue elsewhere = json_deep_copy(saved);
    json_object_set_new(elsewhere, "world", json_string("moon"));
    pons_error err = PONS_ERROR_INIT;
    assert_int_equal(OPS->restore(robot, elsewhere, &err), PONS_EINVAL);
    assert_non_null(strstr(err.message, "moon"));
    ASSERT_OK(OPS->restore(robot, saved, NULL));
    OPS->close(robot);
}

// jansson's allocations, of which one fails.
static int allocations_left = -1; // < 0: all succeed

static void *scarce_malloc(size_t n)
{
    if (allocations_left == 0) {
        return NULL;
    }
    allocations_left -= allocations_left > 0;
    return malloc(n);
}

// Whichever allocation fails, saving says so or is whole; never half a state.
static void test_save_without_memory(void **unused)
{
    (void)unused;
    void *robot = open_house_at(IN_CORRIDOR);
    spawn(robot, PONS_OK, "{\"id\":\"box\",\"x\":5,\"y\":4.3,\"sx\":0.3,\"sy\":0.3}");
    (void)drive_randomly(robot, 1, 30);
    json_malloc_t usual_malloc;
    json_free_t usual_free;
    json_get_alloc_funcs(&usual_malloc, &usual_free);
    int rc = PONS_ENOMEM, n = 0;
    for (; n < 2000 && rc != PONS_OK; n++) {
        pons_value *saved = NULL;
        pons_error err = PONS_ERROR_INIT;
        allocations_left = n;
        json_set_alloc_funcs(scarce_malloc, free);
        rc = OPS->save(robot, &saved, &err);
        json_set_alloc_funcs(usual_malloc, usual_free);
        if (rc != PONS_OK) {
            assert_int_equal(rc, PONS_ENOMEM);
            assert_null(saved);
            continue;
        }
        ASSERT_OK(OPS->restore(robot, saved, &err));
        pons_value_unref(saved);
    }
    assert_int_equal(rc, PONS_OK);
    assert_true(n > 50); // it did fail, at many places
    OPS->close(robot);
}

static void test_open_refuses_bad_worlds(void **unused)
{
    (void)unused;
    static const struct {
        const char *section, *key, *value, *says;
    } bad[] = {
        {"robot", "radius_m", "0", "radius_m"},
        {"robot", "track_m", "\"wide\"", "track_m"},
        {"robot", "reverse_max_mps", "-1", "reverse_max_mps"},
        {"lidar", "beams", "0", "beams"},
        {"lidar", "beams", "361", "beams"},
        {"lidar", "angle_max", "-4", "angle_max"},
        {"lidar", "range_max", "0.01", "range_m"},
        {"lidar", "hz", "0", "hz"},
        {"lidar", "noise_m", "-1", "noise_m"},
        {"battery", "initial_pct", "101", "initial_pct"},
        {"battery", "charge_pct_per_s", "null", "battery"},
        {"charger", "contact_m", "0", "contact_m"},
        {"charger", "pose", "[]", "charger.pose"},
        {"map", "boxes", "{}", "boxes"},
        {"map", "boxes", "[{\"id\":\"a\",\"x\":1,\"y\":1,\"sx\":1}]", "boxes"},
        {NULL, "start", "{\"x\":1}", "start"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pons_autovalue world = house_world();
        world_set(world, bad[i].section, bad[i].key,
                  json_loads(bad[i].value, JSON_DECODE_ANY, NULL));
        void *robot = NULL;
        pons_error err = PONS_ERROR_INIT;
        assert_int_equal(OPS->open(world, NULL, &robot, &err), PONS_EINVAL);
        assert_null(robot);
        if (!strstr(err.message, bad[i].says)) {
            fail_msg("%s: not about %s", err.message, bad[i].says);
        }
        assert_non_null(strstr(err.source, "house.yaml"));
    }
    pons_autovalue nothing = json_object();
    void *robot = NULL;
    assert_int_equal(OPS->open(nothing, NULL, &robot, NULL), PONS_EINVAL);
}

// Threads that read, scan, command and charge while the robot is stepped, as the body has them.
typedef struct bystander {
    void *robot;
    _Atomic bool *quit;
    const char *complaint;  // NULL: all was well
    _Atomic int64_t rounds; // that it has made
} bystander;

static void *watch(void *arg)
{
    bystander *b = arg;
    int64_t state_ns = 0, scan_ns = 0;
    for (double v = 0.0; !atomic_load(b->quit); v = v > 0.5 ? 0.0 : v + 0.01) {
        pons_robot_state state;
        pons_scan scan;
        OPS->read(b->robot, &state);
        if (state.stamp_ns < state_ns) {
            b->complaint = "the state's stamp went back";
        }
        if (!(state.cov[0] == state.cov[4]) || state.battery_pct > 100.0) {
            b->complaint = "a state of two writes";
        }
        state_ns = state.stamp_ns;
        if (OPS->scan(b->robot, &scan)) {
            if (scan.stamp_ns < scan_ns) {
                b->complaint = "the scan's stamp went back";
            }
            if (scan.n != 120 || scan.range_max != 10.0f) {
                b->complaint = "a scan of two writes";
            }
            scan_ns = scan.stamp_ns;
            OPS->read(b->robot, &state);
            if (state.stamp_ns < scan_ns && !traits->foreign) {
                b->complaint = "the state is older than the scan";
            }
        }
        if (OPS->time_ns(b->robot) < state_ns && !traits->foreign) {
            b->complaint = "the clock is behind the state";
        }
        OPS->write_velocity(b->robot, (pons_twist2){v, 0.5 - v});
        OPS->charge(b->robot, v > 0.25, NULL);
        if (OPS->fault(b->robot)) {
            b->complaint = OPS->fault(b->robot);
        }
        atomic_fetch_add(&b->rounds, 1);
    }
    return NULL;
}

static void *meddle(void *arg) // what the loop thread does
{
    bystander *b = arg;
    pons_autovalue box =
        pons_object("id", json_string("b"), "x", json_real(9.0), "y", json_real(2.9), "sx",
                    json_real(0.2), "sy", json_real(0.2), NULL);
    while (!atomic_load(b->quit)) {
        pons_pose2 truth;
        OPS->truth(b->robot, &truth);
        if (OPS->spawn(b->robot, box, NULL) < 0) {
            b->complaint = "cannot spawn";
        }
        if (OPS->set_battery) {
            OPS->set_battery(b->robot, 50.0 + truth.x);
        }
        atomic_fetch_add(&b->rounds, 1);
    }
    return NULL;
}

static void test_others_may_look_while_it_steps(void **unused)
{
    (void)unused;
    void *robot = open_house_at(IN_CORRIDOR);
    _Atomic bool quit = false;
    bystander people[3] = {
        {robot, &quit, NULL, 0}, {robot, &quit, NULL, 0}, {robot, &quit, NULL, 0}};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, i < 2 ? watch : meddle, &people[i]), 0);
    }
    bool enough = false;
    for (int i = 0; i < 300 || !enough; i++) {
        step(OPS, robot);
        sched_yield(); // the lock is not fair, and the meddler needs it
        enough = atomic_load(&people[0].rounds) >= 200 && atomic_load(&people[1].rounds) >= 200 &&
                 atomic_load(&people[2].rounds) >= 5;
    }
    atomic_store(&quit, true);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int i = 0; i < 3; i++) {
        if (people[i].complaint) {
            fail_msg("%s", people[i].complaint);
        }
    }
    OPS->close(robot);
}

void print_realtime(const pons_robot_ops *ops, double seconds)
{
    pons_autovalue world = house_world();
    void *robot = open_at(ops, world, IN_CORRIDOR, 1);
    struct timespec begun, ended;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    for (double t = 0.0; t < seconds; t += 4.0) {
        run_for(ops, robot, 4.0, 0.3, (int)(t / 4.0) % 2 ? -0.8 : 0.8);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    const double took =
        (double)(ended.tv_sec - begun.tv_sec) + (double)(ended.tv_nsec - begun.tv_nsec) * 1e-9;
    print_message("%s: %.0f s of robot time in %.3f s of processor time, %.0f times real time\n",
                  ops->name, seconds, took, seconds / took);
    ops->close(robot);
}

// Why a driver has not all cases, in the words of the run.
static int left_out(const char *cases, const char *why)
{
    print_message("%s: left out: %s: %s\n", OPS->name, cases, why);
    return 0;
}

// ---- the simulated detector ---------------------------------------------------------------------

enum { LOOKS = 400 };

typedef struct looks { // of a robot that stands
    int apples, others, n;
    double error_m; // of the apple's place, the root of the mean square
} looks;

// In the kitchen, the table with the apple ahead. Nothing but the time moves.
static looks look_for(void *robot, double seconds)
{
    looks l = {0};
    int64_t last = -1;
    for (double t = 0.0; t < seconds; t += 0.05) {
        pons_robot_sight s;
        assert_int_equal(OPS->step(robot, 50 * PONS_NS_PER_MS, NULL), PONS_OK);
        if (!pons_robot_see(OPS, robot, &s) || s.stamp_ns == last) {
            continue;
        }
        last = s.stamp_ns;
        l.n++;
        for (int i = 0; i < s.n; i++) {
            const double *at = s.found[i].position;
            const double off = hypot(at[0] - 1.2, at[1] + 0.2);
            assert_true(s.found[i].score > 0.0 && s.found[i].score <= 1.0);
            if (strcmp(s.found[i].label, "apple") == 0 && off < 0.4) {
                l.apples++;
                l.error_m += off * off;
            } else {
                l.others++;
            }
        }
    }
    l.error_m = l.apples ? sqrt(l.error_m / l.apples) : 0.0;
    return l;
}

static pons_value *sight_world(double miss, double false_alarm, double noise_m)
{
    pons_value *world = house_world();
    json_object_set_new(world, "sight",
                        pons_object("hz", json_real(20.0), "fov_deg", json_real(90.0), "range_m",
                                    json_real(3.0), "height_m", json_real(1.1), "miss",
                                    json_real(miss), "false_alarm", json_real(false_alarm),
                                    "noise_m", json_real(noise_m), NULL));
    return world;
}

static const pons_pose2 BEFORE_TABLE = {7.0, 6.4,
                                        0.0}; // the apple is 1.2 m ahead, 0.2 m to the right

static void test_sees_what_is_in_view(void **unused)
{
    (void)unused;
    pons_autovalue blind = house_world();
    pons_autovalue world = sight_world(0.0, 0.0, 0.0);
    pons_robot_sight s;
    void *robot = open_at(OPS, blind, BEFORE_TABLE, 1);
    assert_int_equal(look_for(robot, 0.5).n, 0); // this world has no detector
    OPS->close(robot);
    robot = open_at(OPS, world, BEFORE_TABLE, 1);
    assert_false(pons_robot_see(OPS, robot, &s)); // it has not looked yet
    looks l = look_for(robot, 1.0);
    assert_true(l.n >= 19 && l.n <= 21);
    assert_int_equal(l.apples, l.n);
    assert_int_equal(l.others, l.n); // the cup; the basket is beside the view
    assert_true(l.error_m < 0.02);
    pons_autovalue away = json_pack("{s:s,s:f,s:f}", "id", "apple_01", "x", 8.8, "y", 6.35);
    assert_int_equal(OPS->spawn(robot, away, NULL), PONS_OK);
    look_for(robot, 0.2);
    l = look_for(robot, 0.5);
    assert_int_equal(l.others, 2 * l.n); // it is seen there now, as the cup is
    pons_autovalue back = json_pack("{s:s,s:f,s:f}", "id", "apple_01", "x", 8.2, "y", 6.2);
    assert_int_equal(OPS->spawn(robot, back, NULL), PONS_OK);
    pons_autovalue screen = json_pack("{s:s,s:f,s:f,s:f,s:f,s:f}", "id", "screen", "x", 7.5, "y",
                                      6.4, "sx", 0.1, "sy", 1.6, "height", 2.0);
    assert_int_equal(OPS->spawn(robot, screen, NULL), PONS_OK);
    look_for(robot, 0.2);
    assert_int_equal(look_for(robot, 0.5).apples, 0); // something stands before it
    OPS->close(robot);
    robot = open_at(OPS, world, (pons_pose2){7.0, 6.4, M_PI}, 1);
    l = look_for(robot, 0.5);
    assert_int_equal(l.apples + l.others, 0); // the other way
    OPS->close(robot);
}

static void test_misses_and_is_wrong(void **unused)
{
    (void)unused;
    pons_autovalue world = sight_world(0.2, 0.1, 0.05);
    void *robot = open_at(OPS, world, BEFORE_TABLE, 3);
    const looks l = look_for(robot, LOOKS / 20.0);
    const double cups = l.others - 0.1 * LOOKS; // about: false alarms are among them
    assert_int_equal(l.n, LOOKS);
    assert_true(l.apples > 0.72 * LOOKS && l.apples < 0.9 * LOOKS);
    assert_true(cups > 0.68 * LOOKS && cups < 0.92 * LOOKS);
    assert_true(l.error_m > 0.05 && l.error_m < 0.25);
    OPS->close(robot);
}

// What is seen changes nothing else, and goes on after a restore as it would have.
static void test_sight_is_apart(void **unused)
{
    (void)unused;
    pons_autovalue world = sight_world(0.2, 0.1, 0.05);
    pons_autovalue blind = house_world();
    pons_autovalue saved = NULL;
    pons_robot_state a, b;
    void *seeing = open_at(OPS, world, BEFORE_TABLE, 5),
         *other = open_at(OPS, blind, BEFORE_TABLE, 5);
    run_for(OPS, seeing, 2.0, 0.1, 0.3);
    run_for(OPS, other, 2.0, 0.1, 0.3);
    OPS->read(seeing, &a);
    OPS->read(other, &b);
    assert_memory_equal(&a, &b, sizeof a);
    pons_autovalue moved = json_pack("{s:s,s:f,s:f}", "id", "cup_01", "x", 8.0, "y", 6.6);
    assert_int_equal(OPS->spawn(seeing, moved, NULL), PONS_OK);
    assert_int_equal(OPS->save(seeing, &saved, NULL), PONS_OK);
    OPS->close(other);
    other = open_at(OPS, world, BEFORE_TABLE, 99);
    assert_int_equal(OPS->restore(other, saved, NULL), PONS_OK);
    for (int i = 0; i < 40; i++) {
        pons_robot_sight one = {0}, two = {0};
        run_for(OPS, seeing, 0.05, 0.0, 0.1);
        run_for(OPS, other, 0.05, 0.0, 0.1);
        assert_int_equal(pons_robot_see(OPS, seeing, &one), pons_robot_see(OPS, other, &two));
        assert_memory_equal(&one, &two, sizeof one);
    }
    OPS->close(seeing);
    OPS->close(other);
}

int conformance_run(const driver_traits *driver)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_caps_are_the_worlds),
        cmocka_unit_test(test_time_is_what_was_stepped),
        cmocka_unit_test(test_one_metre_straight),
        cmocka_unit_test(test_quarter_turns),
        cmocka_unit_test(test_follows_an_arc),
        cmocka_unit_test(test_respects_its_limits),
        cmocka_unit_test(test_brakes_in_time),
        cmocka_unit_test(test_walls_are_solid),
        cmocka_unit_test(test_scan_is_what_stands_there),
        cmocka_unit_test(test_scan_noise_is_seeded),
        cmocka_unit_test(test_battery_drains),
        cmocka_unit_test(test_spawned_obstacles),
        cmocka_unit_test(test_spawn_refuses_nonsense),
        cmocka_unit_test(test_open_refuses_bad_worlds),
        cmocka_unit_test(test_others_may_look_while_it_steps),
    };
    // Of what only a simulated robot has, only one that the same seed repeats, and only one that is saved.
    static const struct CMUnitTest simulated[] = {
        cmocka_unit_test(test_battery_charges_on_the_charger),
    };
    static const struct CMUnitTest foreign[] = {
        cmocka_unit_test(test_charges_by_itself),
    };
    static const struct CMUnitTest repeated[] = {
        cmocka_unit_test(test_same_seed_same_bytes),
    };
    static const struct CMUnitTest saved[] = {
        cmocka_unit_test(test_save_and_restore),
        cmocka_unit_test(test_sight_is_apart),
        cmocka_unit_test(test_restore_refuses_damage),
        cmocka_unit_test(test_save_without_memory),
    };
    const struct CMUnitTest seeing[] = {
        cmocka_unit_test(test_sees_what_is_in_view),
        cmocka_unit_test(test_misses_and_is_wrong),
    };
    const pons_robot_camera_ops *cameras = pons_robot_cameras(driver->ops);
    traits = driver;
    int failed = cmocka_run_group_tests_name(driver->ops->name, tests, NULL, NULL);
    failed += driver->foreign
                  ? left_out("charging", "the robot does it by itself, which is a case of its own")
                  : cmocka_run_group_tests_name("simulated", simulated, NULL, NULL);
    failed += driver->foreign ? cmocka_run_group_tests_name("foreign", foreign, NULL, NULL) : 0;
    failed += driver->remote
                  ? left_out("the same bytes by the same seed", "another program has the physics")
                  : cmocka_run_group_tests_name("repeated", repeated, NULL, NULL);
    failed += driver->foreign || driver->remote
                  ? left_out("save and restore", "the robot, or its simulation, is elsewhere")
                  : cmocka_run_group_tests_name("saved", saved, NULL, NULL);
    failed += cameras && cameras->abi >= 2u && cameras->see
                  ? cmocka_run_group_tests_name("seeing", seeing, NULL, NULL)
                  : left_out("what is seen", "the driver detects nothing by itself");
    return failed;
}
