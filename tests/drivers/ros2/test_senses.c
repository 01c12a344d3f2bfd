// test_senses.c - what the driver makes of a robot's topics: a robot is played behind them (peer.c), in this
// process. What is missing is said by its name and its reason, and no longer when it is there; time that goes
// back is not the body's; velocities and poses go out as the configuration says.
#include "../conformance.h"
#include "peer.h"
#include "pons/clock.h"
#include "pons/drivers.h"
#include "ros2.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG 20000 // looks, each of a millisecond or more

typedef struct both {
    peer robot;
    void *driver;
    char ns[64];
} both;

// What is old is so soon; but where a sense must not be missing in between, after the usual time.
static const char *const PLAIN =
    "use_sim_time: true\nnavigation: pons\nlimits: {odom_s: 0.15, scan_s: 0.15}\n";
static const char *const USUAL = "use_sim_time: true\nnavigation: pons\n";

static void open_driver(both *b, const char *more)
{
    static int nth;
    char yaml[1024];
    pons_error err = PONS_ERROR_INIT;
    *b = (both){.driver = NULL};
    snprintf(b->ns, sizeof b->ns, "%s/s%d", peer_ns, nth++);
    snprintf(yaml, sizeof yaml,
             "namespace: %s\ndomain: %u\ntopics: {tf: tf, tf_static: tf_static, clock: clock}\n%s",
             b->ns, peer_domain, more);
    pons_autovalue world = house_world();
    if (peer_driver_open(yaml, world, NULL, &b->driver, &err) < 0) {
        fail_msg("%s [%s]", err.message, err.source);
    }
}

static void open_both(both *b, const char *more, bool stamped)
{
    open_driver(b, more);
    pons_autovalue world = house_world();
    peer_open(&b->robot, world, NULL, b->ns, peer_domain, stamped);
    b->robot.shift_ns = 1000 * PONS_NS_PER_S; // ROS's time is not the robot's
}

static void close_both(both *b)
{
    ros2->close(b->driver);
    if (b->robot.sim) {
        peer_close(&b->robot);
    }
}

static void lacks(both *b, const char *expected)
{
    peer_until_lacks(b->driver, expected, peer_wait, &b->robot);
}

static void test_time_that_jumps_is_not_the_bodys(void **state)
{
    static const int64_t by_s[] = {-500,
                                   5000}; // the simulation began anew; it is another one's clock
    (void)state;
    both b;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    int64_t was = ros2->time_ns(b.driver);
    assert_true(was > 0);
    for (size_t k = 0; k < sizeof by_s / sizeof by_s[0]; k++) {
        b.robot.shift_ns += by_s[k] * PONS_NS_PER_S;
        lacks(&b, "clock jumped: the senses begin anew");
        for (int i = 0; i < 100; i++) {
            const int64_t now = ros2->time_ns(b.driver);
            assert_true(now >= was);
            assert_true(now - was < 10 * PONS_NS_PER_S);
            was = now;
            peer_step(&b.robot, PEER_STEP_NS);
        }
        lacks(&b, "");
    }
    assert_true(ros2->time_ns(b.driver) >= was);
    pons_robot_state s;
    ros2->read(b.driver, &s);
    assert_true(s.stamp_ns >= was - PONS_NS_PER_S); // by the new clock, as the body counts it
    close_both(&b);
}

// A step forward and back, as messages of two publishers have it, is no beginning.
static void test_a_jitter_of_the_clock_is_nothing(void **state)
{
    (void)state;
    both b;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    for (int i = 0; i < 50; i++) {
        const int64_t was = ros2->time_ns(b.driver);
        b.robot.shift_ns += (i % 2 ? 1 : -1) * 100 * PONS_NS_PER_MS;
        peer_step(&b.robot, PEER_STEP_NS);
        char why[PONS_OUTSIDE_TEXT_MAX];
        assert_false(ros2->outside->lacks(b.driver, why) && strstr(why, "jumped"));
        assert_true(ros2->time_ns(b.driver) >= was);
    }
    close_both(&b);
}

static void gets(both *b, pons_twist2 cmd)
{
    for (int i = 0; i < LONG; i++) {
        ros2->write_velocity(b->driver, cmd);
        peer_take(&b->robot);
        if (b->robot.cmds > 0 && fabs(b->robot.cmd.v - cmd.v) < 1e-6 &&
            fabs(b->robot.cmd.w - cmd.w) < 1e-6) {
            return;
        }
        dds_sleepfor(DDS_MSECS(1));
    }
    fail_msg("the robot got %f, %f", b->robot.cmd.v, b->robot.cmd.w);
}

static void test_velocities_with_a_stamp(void **state)
{
    (void)state;
    both b;
    char yaml[256];
    snprintf(yaml, sizeof yaml, "%scmd_vel_stamped: true\n", PLAIN);
    open_both(&b, yaml, true);
    lacks(&b, "");
    gets(&b, (pons_twist2){0.25, -0.5});
    assert_string_equal(b.robot.cmd_frame, "base_link");
    pons_robot_state s;
    pons_robot_kinematic.read(b.robot.sim, &s);
    assert_true(llabs(b.robot.cmd_stamp_ns - (s.stamp_ns + b.robot.shift_ns)) < PONS_NS_PER_S);
    close_both(&b);
}

static void test_a_stamp_that_is_expected_and_missing_is_named(void **state)
{
    (void)state;
    both b;
    open_both(&b, PLAIN, true); // the base wants TwistStamped, the driver has Twist
    lacks(&b, "cmd_vel is geometry_msgs/msg/TwistStamped there, geometry_msgs/msg/Twist is needed");
    close_both(&b);
}

static void test_namespaces_keep_robots_apart(void **state)
{
    (void)state;
    both a, b;
    open_both(&a, PLAIN, false);
    open_both(&b, PLAIN, false);
    lacks(&a, "");
    lacks(&b, "");
    gets(&a, (pons_twist2){0.3, 0});
    gets(&b, (pons_twist2){-0.1, 0.2});
    gets(&a, (pons_twist2){0.3, 0});
    close_both(&a);
    close_both(&b);
}

// Whoever writes no velocities any more has the robot standing.
static void test_a_silent_gate_is_a_stop(void **state)
{
    (void)state;
    both b;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    gets(&b, (pons_twist2){0.3, 0});
    for (int i = 0; i < LONG && b.robot.cmd.v != 0.0; i++) {
        peer_take(&b.robot);
        dds_sleepfor(DDS_MSECS(1));
    }
    assert_true(b.robot.cmd.v == 0.0);
    gets(&b, (pons_twist2){0.3, 0}); // and goes on with the next
    gets(&b, (pons_twist2){0, 0});
    ros2->write_velocity(b.driver, (pons_twist2){0.3, 0});
    ros2->write_velocity(b.driver, (pons_twist2){NAN, 0}); // is none
    const uint64_t had = b.robot.cmds;
    while (b.robot.cmds < had + 3) {
        ros2->write_velocity(b.driver, (pons_twist2){NAN, 0});
        peer_take(&b.robot);
        assert_true(isfinite(b.robot.cmd.v));
        dds_sleepfor(DDS_MSECS(1));
    }
    assert_true(b.robot.cmd.v == 0.0);
    close_both(&b);
}

static void test_where_a_person_says_it_is(void **state)
{
    (void)state;
    both b;
    bool came = false;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    while (!ros2_node_matched(b.robot.initialpose)) {
        dds_sleepfor(DDS_MSECS(1));
    }
    ros2->outside->reported(b.driver, (pons_pose2){3, -4, 1.2});
    for (int i = 0; i < LONG && !came; i++) {
        ROS2_TAKE(b.robot.initialpose, geometry_msgs_msg_dds__PoseWithCovarianceStamped_, m)
        {
            assert_string_equal(m->header.frame_id, "map");
            assert_true(fabs(m->pose.pose.position.x - 3) < 1e-9);
            assert_true(fabs(m->pose.pose.position.y + 4) < 1e-9);
            assert_true(fabs(m->pose.pose.orientation.z - sin(0.6)) < 1e-9);
            assert_true(m->pose.covariance[0] > 0 && m->pose.covariance[35] > 0);
            came = true;
        }
        dds_sleepfor(DDS_MSECS(1));
    }
    assert_true(came);
    close_both(&b);
}

static void test_poses_that_are_no_numbers(void **state)
{
    (void)state;
    both b;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    pons_robot_state before, s;
    ros2->read(b.driver, &before);
    const dds_entity_t odom = b.robot.odom;
    static const double bad[][3] = {
        {NAN, 0, 1}, {INFINITY, 0, 1}, {0, NAN, 1}, {0, 0, 0}, {0, 0, 9}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        for (int k = 0; k < 200; k++) { // until it is old
            nav_msgs_msg_dds__Odometry_ m = {.header = {{1000, 0}, (char *)"odom"},
                                             .child_frame_id = (char *)"base_link"};
            m.pose.pose.position.x = bad[i][0];
            m.twist.twist.linear.x = bad[i][1];
            m.pose.pose.orientation.w = bad[i][2];
            assert_int_equal(dds_write(odom, &m), 0);
            ros2->read(b.driver, &s);
            assert_true(isfinite(s.odom_from_base.x) && isfinite(s.twist.v));
            dds_sleepfor(DDS_MSECS(5));
            char why[PONS_OUTSIDE_TEXT_MAX];
            if (ros2->outside->lacks(b.driver, why) && strstr(why, "is no number")) {
                break;
            }
        }
        lacks(&b, "");
    }
    close_both(&b);
}

// The robot's newest time, so long ago, as ROS has it.
static builtin_interfaces_msg_dds__Time_ stamp(both *b, int64_t ago_ns)
{
    pons_robot_state s;
    pons_robot_kinematic.read(b->robot.sim, &s);
    const int64_t ns = s.stamp_ns + b->robot.shift_ns - ago_ns;
    return (builtin_interfaces_msg_dds__Time_){(int32_t)(ns / PONS_NS_PER_S),
                                               (uint32_t)(ns % PONS_NS_PER_S)};
}

// Messages that are older than what was there are left out, and that is what is missing.
static void test_stamps_that_go_back(void **state)
{
    (void)state;
    both b;
    float ranges[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    open_both(&b, PLAIN, false);
    for (int scans = 0; scans < 2; scans++) {
        pons_robot_state before, s;
        pons_scan scan_before, scan;
        lacks(&b, "");
        ros2->read(b.driver, &before);
        assert_true(ros2->scan(b.driver, &scan_before));
        char why[PONS_OUTSIDE_TEXT_MAX] = "";
        const char *const expected =
            scans ? "/scan: its time goes back" : "/odom: its time goes back";
        for (int i = 0; i < LONG && !strstr(why, expected); i++) {
            nav_msgs_msg_dds__Odometry_ m = {
                .header = {stamp(&b, scans ? 0 : PONS_NS_PER_S), (char *)"odom"},
                .child_frame_id = (char *)"base_link"};
            m.pose.pose.orientation.w = 1;
            const sensor_msgs_msg_dds__LaserScan_ l = {
                .header = {stamp(&b, PONS_NS_PER_S), (char *)"base_link"},
                .angle_increment = 0.7F,
                .range_max = 5.0F,
                .ranges = {._maximum = 8, ._length = 8, ._buffer = ranges}};
            assert_int_equal(dds_write(b.robot.odom, &m), 0);
            assert_int_equal(scans ? dds_write(b.robot.scan, &l) : 0, 0);
            dds_sleepfor(DDS_MSECS(5));
            ros2->read(b.driver, &s);
            assert_true(s.stamp_ns >= before.stamp_ns);
            assert_true(ros2->scan(b.driver, &scan) && scan.stamp_ns >= scan_before.stamp_ns);
            ros2->outside->lacks(b.driver, why);
        }
        if (!strstr(why, expected)) {
            fail_msg("'%s' is missing, not '%s'", why, expected);
        }
    }
    lacks(&b, ""); // what is newer again counts
    close_both(&b);
}

// A scan that says nothing of any direction is none, however many come.
static void test_scans_that_say_nothing(void **state)
{
    (void)state;
    static const struct {
        uint32_t n;
        float range, range_min, range_max, angle_min, step;
        const char *why;
        float angle_max;
    } bad[] = {
        {8, 1.0F, 0.1F, 5.0F, -3.0F, 0.1F, "/scan: it has fewer ranges than its angles say", 3.0F},
        {8, 1.0F, 0.1F, 5.0F, 3.0F, -0.1F, "/scan: it has fewer ranges than its angles say", -3.0F},
        {8, NAN, 0.1F, 5.0F, 0.0F, 0.7F, "/scan: its ranges are no numbers"},
        {8, -1.0F, 0.1F, 5.0F, 0.0F, 0.7F, "/scan: its ranges are no numbers"},
        {8, -INFINITY, -INFINITY, 5.0F, 0.0F, 0.7F, "/scan: its ranges are no numbers"},
        {8, 0.0F, 0.1F, 5.0F, 0.0F, 0.7F, "/scan: its ranges are no numbers"},
        {0, 1.0F, 0.1F, 5.0F, 0.0F, 0.7F, "/scan: its angles are no numbers"},
        {8, 1.0F, NAN, 5.0F, 0.0F, 0.7F, "/scan: its angles are no numbers"},
        {8, 1.0F, 0.1F, NAN, 0.0F, 0.7F, "/scan: its angles are no numbers"},
        {8, 1.0F, 0.1F, 5.0F, NAN, 0.7F, "/scan: its angles are no numbers"},
        {8, 1.0F, 0.1F, 5.0F, 0.0F, INFINITY, "/scan: its angles are no numbers"},
        {8, 1.0F, 0.1F, 5.0F, 0.0F, 0.0F, "/scan: its angles are no numbers"},
    };
    both b;
    open_both(&b, PLAIN, false);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        float ranges[8];
        for (int k = 0; k < 8; k++) {
            ranges[k] = bad[i].range;
        }
        pons_scan before, now;
        lacks(&b, "");
        assert_true(ros2->scan(b.driver, &before));
        char why[PONS_OUTSIDE_TEXT_MAX] = "";
        for (int k = 0; k < LONG && !strstr(why, bad[i].why); k++) {
            const sensor_msgs_msg_dds__LaserScan_ l = {
                .header = {stamp(&b, 0), (char *)"base_link"},
                .angle_min = bad[i].angle_min,
                .angle_max = bad[i].angle_max,
                .angle_increment = bad[i].step,
                .range_min = bad[i].range_min,
                .range_max = bad[i].range_max,
                .ranges = {._maximum = 8, ._length = bad[i].n, ._buffer = ranges}};
            nav_msgs_msg_dds__Odometry_ m = {.header = {stamp(&b, 0), (char *)"odom"},
                                             .child_frame_id = (char *)"base_link"};
            m.pose.pose.orientation.w = 1;
            assert_int_equal(dds_write(b.robot.odom, &m), 0);
            assert_int_equal(dds_write(b.robot.scan, &l), 0);
            dds_sleepfor(DDS_MSECS(5));
            (void)ros2->outside->lacks(b.driver, why);
        }
        assert_true(ros2->scan(b.driver, &now));
        if (!strstr(why, bad[i].why) || now.stamp_ns != before.stamp_ns) {
            fail_msg("%zu: '%s' is missing", i, why);
        }
    }
    close_both(&b);
}

static void test_a_place_that_is_no_number(void **state)
{
    (void)state;
    both b;
    pons_robot_place place;
    open_both(&b, PLAIN, false);
    b.robot.places = (pons_pose2){1, 2, 0};
    lacks(&b, "");
    b.robot.places.x = NAN;
    lacks(&b, "tf: odom in map is no number");
    assert_true(ros2->outside->place(b.driver, &place));
    assert_true(!place.known && isfinite(place.map_from_odom.x));
    b.robot.places.x = 3;
    lacks(&b, "");
    close_both(&b);
}

// How sure the localisation is of itself, as AMCL says it: latched, so that who comes late hears it too.
static void test_how_sure_the_place_is(void **state)
{
    (void)state;
    static const struct {
        double xx, yy, std;
    } all[] = {{0.09, 0.16, 0.5}, {NAN, 1, NAN}, {0.36, 0.64, 1.0}, {-4, 1, NAN}};
    both b;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    char full[128];
    pons_robot_place place;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    assert_true(ros2->outside->place(b.driver, &place));
    assert_true(place.known && isnan(place.std_m)); // nobody says
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    snprintf(full, sizeof full, "%s/amcl_pose", b.ns);
    const dds_entity_t w = ros2_node_writer(
        &n, "rt", full, NULL, &geometry_msgs_msg_dds__PoseWithCovarianceStamped__desc,
        (ros2_qos){.reliable = true, .transient = true, .depth = 1}, &err);
    assert_true(w > 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        geometry_msgs_msg_dds__PoseWithCovarianceStamped_ m = {
            .header = {stamp(&b, 0), (char *)"map"}};
        m.pose.pose.orientation.w = 1;
        m.pose.covariance[0] = all[i].xx;
        m.pose.covariance[7] = all[i].yy;
        assert_int_equal(dds_write(w, &m), 0);
        bool came = false;
        for (int k = 0; k < LONG && !came; k++) {
            peer_take(&b.robot);
            peer_step(&b.robot, PEER_STEP_NS);
            assert_true(ros2->outside->place(b.driver, &place));
            came = isnan(all[i].std) ? isnan(place.std_m) : fabs(place.std_m - all[i].std) < 1e-9;
            dds_sleepfor(DDS_MSECS(1));
        }
        assert_true(came);
    }
    ros2_node_close(&n);
    close_both(&b);
}

// Nav2's map is the house's, or another place, or the house with another origin.
static void test_a_map_of_another_place(void **state)
{
    (void)state;
    enum { W = 200, H = 160 };
    static int8_t cells[W * H];
    static const struct {
        double dx;
        float resolution;
        bool empty;
        uint32_t height;
        const char *lacks;
    } all[] = {{0, 0.05F, false, H, ""},
               {1.7, 0.05F, false, H, "/map: it is of another place than the world"},
               {0, 0.05F, false, H, ""},
               {0, 0.05F, true, H, "/map: it is of another place than the world"},
               {0, 0.05F, false, H, ""},
               {0, NAN, false, H, "/map: its size, its resolution or its origin"},
               {0, 0.05F, false, H, ""},
               {0, 0.05F, false, H + 1, "/map: its size, its resolution or its origin"},
               {0, 0.05F, false, H, ""},
               {0, 0.05F, false, 0, "/map: its size, its resolution or its origin"}};
    both b;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    char full[128];
    pons_autovalue world = house_world();
    const pons_value *boxes = pons_get(pons_get(world, "map"), "boxes"), *box;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    snprintf(full, sizeof full, "%s/map", b.ns);
    const dds_entity_t w =
        ros2_node_writer(&n, "rt", full, NULL, &nav_msgs_msg_dds__OccupancyGrid__desc,
                         (ros2_qos){.reliable = true, .transient = true, .depth = 1}, &err);
    assert_true(w > 0);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        memset(cells, 0, sizeof cells);
        size_t k;
        json_array_foreach(boxes, k, box) {
            const pons_box2 at = {pons_get_num(box, "x", 0), pons_get_num(box, "y", 0),
                                  pons_get_num(box, "yaw", 0), pons_get_num(box, "sx", 0),
                                  pons_get_num(box, "sy", 0)};
            for (int c = 0; c < W * H && !all[i].empty; c++) {
                if (pons_box2_distance(&at, (c % W + 0.5) * 0.05, (c / W + 0.5) * 0.05) < 0.03) {
                    cells[c] = 100;
                }
            }
        }
        nav_msgs_msg_dds__OccupancyGrid_ m = {
            .header = {stamp(&b, 0), (char *)"map"},
            .info = {.resolution = all[i].resolution, .width = W, .height = all[i].height},
            .data = {._maximum = W * H, ._length = all[i].height ? W * H : 0, ._buffer = cells}};
        m.info.origin.position.x = all[i].dx;
        m.info.origin.orientation.w = 1;
        assert_int_equal(dds_write(w, &m), 0);
        lacks(&b, all[i].lacks);
    }
    ros2_node_close(&n);
    close_both(&b);
}

// The driver alone, beside writers of the test's own.
static void writes(both *b, ros2_node *n, const char *name, const dds_topic_descriptor_t *d,
                   ros2_qos qos)
{
    char full[128];
    pons_error err = PONS_ERROR_INIT;
    snprintf(full, sizeof full, "%s/%s", b->ns, name);
    assert_true(ros2_node_writer(n, "rt", full, NULL, d, qos, &err) > 0);
}

static void test_wrong_types_and_qos_are_named(void **state)
{
    (void)state;
    const ros2_qos best = {.depth = 5}, sure = {.reliable = true, .depth = 10};
    both b;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    open_driver(&b, "navigation: pons\nqos: {odom: {reliability: reliable}}\n");
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    lacks(&b, "/odom: nobody publishes it");
    writes(&b, &n, "odom", &nav_msgs_msg_dds__Odometry__desc, best);
    lacks(&b, "/odom: reliability is offered as best_effort, reliable is wanted");
    ros2_node_close(&n);
    lacks(&b, "/odom: nobody publishes it");
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    writes(&b, &n, "odom", &geometry_msgs_msg_dds__Twist__desc, sure);
    lacks(&b, "/odom is geometry_msgs/msg/Twist there, nav_msgs/msg/Odometry is needed");
    ros2_node_close(&n);
    close_both(&b);
}

// A robot with Nav2 has hundreds of endpoints in its domain: the one that does not fit is found among them.
static void test_a_wrong_type_among_hundreds(void **state)
{
    (void)state;
    enum { OTHERS = 300 };
    const ros2_qos sure = {.reliable = true, .depth = 10};
    both b;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    open_driver(&b, "navigation: pons\n");
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    for (int i = 0; i < OTHERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "other%d", i);
        writes(&b, &n, name, &geometry_msgs_msg_dds__Twist__desc, sure);
    }
    writes(&b, &n, "odom", &geometry_msgs_msg_dds__Twist__desc, sure);
    lacks(&b, "/odom is geometry_msgs/msg/Twist there, nav_msgs/msg/Odometry is needed");
    ros2_node_close(&n);
    close_both(&b);
}

// A base that wants a velocity within a deadline, which nobody offers, never gets one.
static void test_a_deadline_is_named(void **state)
{
    (void)state;
    both b;
    char full[128];
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    dds_delete(b.robot.cmd_vel);
    snprintf(full, sizeof full, "rt%s/cmd_vel", b.ns);
    const dds_entity_t t = dds_create_topic(b.robot.node.participant,
                                            &geometry_msgs_msg_dds__Twist__desc, full, NULL, NULL);
    dds_qos_t *q = dds_create_qos();
    dds_qset_reliability(q, DDS_RELIABILITY_RELIABLE, DDS_MSECS(100));
    dds_qset_deadline(q, DDS_MSECS(200));
    b.robot.cmd_vel = dds_create_reader(b.robot.node.participant, t, q, NULL);
    dds_delete_qos(q);
    assert_true(b.robot.cmd_vel > 0);
    lacks(&b, "/cmd_vel: a deadline of 0.2 s is wanted, and not offered");
    close_both(&b);
}

// Who reaches the wheels past the gate is told, and the robot stands; it goes on when he has gone.
static void test_somebody_else_drives(void **state)
{
    (void)state;
    const ros2_qos sure = {.reliable = true, .depth = 10};
    both b;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    writes(&b, &n, "cmd_vel_of_others", &geometry_msgs_msg_dds__Twist__desc, sure);
    lacks(&b, "");
    writes(&b, &n, "cmd_vel", &geometry_msgs_msg_dds__Twist__desc, sure);
    lacks(&b, "/cmd_vel: somebody else publishes it too, past the gate");
    ros2_node_close(&n);
    lacks(&b, "");
    close_both(&b);
}

static dds_entity_t second(both *b, ros2_node *n, const char *name,
                           const dds_topic_descriptor_t *desc)
{
    char full[128];
    pons_error err = PONS_ERROR_INIT;
    snprintf(full, sizeof full, "%s/%s", b->ns, name);
    const dds_entity_t w = ros2_node_writer(n, "rt", full, NULL, desc,
                                            (ros2_qos){.reliable = true, .depth = 10}, &err);
    assert_true(w > 0);
    return w;
}

static void test_two_publishers_of_a_sense(void **state)
{
    (void)state;
    both b;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    float ranges[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    open_both(&b, PLAIN, false);
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    const dds_entity_t odom = second(&b, &n, "odom", &nav_msgs_msg_dds__Odometry__desc),
                       scan = second(&b, &n, "scan", &sensor_msgs_msg_dds__LaserScan__desc);
    for (int scans = 0; scans < 2; scans++) {
        const char *const expected = scans ? "/scan: two publish it" : "/odom: two publish it";
        char why[PONS_OUTSIDE_TEXT_MAX] = "";
        lacks(&b, "");
        for (int i = 0; i < LONG && !strstr(why, expected); i++) {
            nav_msgs_msg_dds__Odometry_ m = {.header = {stamp(&b, 0), (char *)"odom"},
                                             .child_frame_id = (char *)"base_link"};
            m.pose.pose.position.x = 400;
            m.pose.pose.orientation.w = 1;
            const sensor_msgs_msg_dds__LaserScan_ l = {
                .header = {stamp(&b, 0), (char *)"base_link"},
                .angle_increment = 0.7F,
                .range_max = 5.0F,
                .ranges = {._maximum = 8, ._length = 8, ._buffer = ranges}};
            assert_int_equal(scans ? dds_write(scan, &l) : dds_write(odom, &m), 0);
            peer_take(&b.robot);
            peer_step(&b.robot, PEER_STEP_NS);
            dds_sleepfor(DDS_MSECS(1));
            pons_robot_state s;
            ros2->read(b.driver, &s);
            assert_true(s.odom_from_base.x < 100); // the first one's counts meanwhile
            (void)ros2->outside->lacks(b.driver, why);
        }
        if (!strstr(why, expected)) {
            fail_msg("'%s' is missing, not '%s'", why, expected);
        }
    }
    lacks(&b, ""); // there is one again
    ros2_node_close(&n);
    close_both(&b);
}

// AMCL beside a SLAM: where the robot is nobody knows, until one of them is gone.
static void test_two_localisations(void **state)
{
    (void)state;
    both b;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    pons_robot_place place;
    open_both(&b, USUAL, false);
    b.robot.places = (pons_pose2){1, 2, 0};
    lacks(&b, "");
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    const dds_entity_t tf = second(&b, &n, "tf", &tf2_msgs_msg_dds__TFMessage__desc);
    static const char *const frames[] = {"/odom", "wheel"}; // of another child it says nothing
    for (int k = 0; k < 2; k++) {
        char why[PONS_OUTSIDE_TEXT_MAX] = "";
        for (int i = 0; i < (k == 0 ? LONG : 300) && !*why; i++) {
            geometry_msgs_msg_dds__TransformStamped_ t = {
                .header = {stamp(&b, 0), (char *)(uintptr_t)(k == 0 ? "map" : "base_link")},
                .child_frame_id = (char *)(uintptr_t)frames[k],
                .transform = {.translation = {9, 9, 0}, .rotation = {0, 0, 0, 1}}};
            const tf2_msgs_msg_dds__TFMessage_ m = {
                .transforms = {._maximum = 1, ._length = 1, ._buffer = &t, ._release = false}};
            assert_int_equal(dds_write(tf, &m), 0);
            peer_take(&b.robot);
            peer_step(&b.robot, PEER_STEP_NS);
            dds_sleepfor(DDS_MSECS(1));
            assert_true(ros2->outside->place(b.driver, &place));
            assert_true(place.map_from_odom.x < 8);
            (void)ros2->outside->lacks(b.driver, why);
        }
        if (k == 0) {
            assert_non_null(strstr(why, "two publish the transform map -> odom"));
            assert_false(place.known);
        } else {
            assert_string_equal(why, "");
            assert_true(place.known);
        }
        lacks(&b, ""); // the first one's counts again
    }
    ros2_node_close(&n);
    close_both(&b);
}

// A transform of a time that comes would stay the newest until then, whatever the localisation says meanwhile.
static void test_a_transform_from_the_future(void **state)
{
    (void)state;
    both b;
    pons_robot_place place;
    open_both(&b, PLAIN, false);
    b.robot.places = (pons_pose2){1, 2, 0};
    lacks(&b, "");
    geometry_msgs_msg_dds__TransformStamped_ t = {
        .header = {stamp(&b, -3600 * PONS_NS_PER_S), (char *)"map"},
        .child_frame_id = (char *)"odom",
        .transform = {.translation = {500, 500, 0}, .rotation = {0, 0, 0, 1}}};
    const tf2_msgs_msg_dds__TFMessage_ m = {
        .transforms = {._maximum = 1, ._length = 1, ._buffer = &t, ._release = false}};
    assert_int_equal(dds_write(b.robot.tf, &m), 0);
    b.robot.places = (pons_pose2){3, 4, 0};
    for (int i = 0; i < LONG; i++) {
        peer_step(&b.robot, PEER_STEP_NS);
        assert_true(ros2->outside->place(b.driver, &place));
        assert_true(place.map_from_odom.x < 100);
        if (place.known && place.map_from_odom.x == 3) {
            break;
        }
        dds_sleepfor(DDS_MSECS(1));
    }
    assert_true(place.known && place.map_from_odom.x == 3);
    close_both(&b);
}

static void test_numbers_that_are_no_robots(void **state)
{
    (void)state;
    both b;
    open_both(&b, PLAIN, false);
    lacks(&b, "");
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    for (int i = 0; i < LONG && !strstr(why, "its pose is beyond any place"); i++) {
        nav_msgs_msg_dds__Odometry_ m = {.header = {stamp(&b, 0), (char *)"odom"},
                                         .child_frame_id = (char *)"base_link"};
        m.pose.pose.position.x = 1e200;
        m.pose.pose.orientation.w = 1;
        assert_int_equal(dds_write(b.robot.odom, &m), 0);
        dds_sleepfor(DDS_MSECS(5));
        pons_robot_state s;
        ros2->read(b.driver, &s);
        assert_true(fabs(s.odom_from_base.x) < 1e6);
        (void)ros2->outside->lacks(b.driver, why);
    }
    assert_non_null(strstr(why, "its pose is beyond any place"));
    lacks(&b, "");
    b.robot.places.x = 1e200;
    lacks(&b, "the transform map -> odom is beyond any place");
    b.robot.places.x = 0;
    lacks(&b, "");
    // Covariances that are no numbers are as those that nobody says.
    pons_robot_state s = {.cov = {1}};
    for (int i = 0; i < LONG && s.odom_from_base.x != 0.125; i++) {
        nav_msgs_msg_dds__Odometry_ m = {.header = {stamp(&b, 0), (char *)"odom"},
                                         .child_frame_id = (char *)"base_link"};
        m.pose.pose.position.x = 0.125;
        m.pose.pose.orientation.w = 1;
        for (int k = 0; k < 36; k++) {
            m.pose.covariance[k] = k % 2 ? NAN : INFINITY;
        }
        assert_int_equal(dds_write(b.robot.odom, &m), 0);
        dds_sleepfor(DDS_MSECS(2));
        ros2->read(b.driver, &s);
    }
    assert_true(s.odom_from_base.x == 0.125);
    for (int k = 0; k < 9; k++) {
        assert_true(s.cov[k] == 0.0);
    }
    close_both(&b);
}

static void test_frames_that_do_not_connect(void **state)
{
    (void)state;
    both b;
    open_both(&b, "use_sim_time: true\nnavigation: pons\nframes: {map: the_map}\n", false);
    lacks(&b, "no frame the_map is in /tf");
    close_both(&b);
    open_both(&b, "use_sim_time: true\nnavigation: pons\nframes: {odom: wheels}\n", false);
    lacks(&b, "it is in the frame 'odom', not 'wheels'");
    close_both(&b);
    open_both(&b, "use_sim_time: true\nnavigation: pons\nframes: {base: base}\n", false);
    lacks(&b, "no frame base is in /tf");
    close_both(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_that_jumps_is_not_the_bodys),
        cmocka_unit_test(test_a_jitter_of_the_clock_is_nothing),
        cmocka_unit_test(test_velocities_with_a_stamp),
        cmocka_unit_test(test_a_stamp_that_is_expected_and_missing_is_named),
        cmocka_unit_test(test_namespaces_keep_robots_apart),
        cmocka_unit_test(test_a_silent_gate_is_a_stop),
        cmocka_unit_test(test_where_a_person_says_it_is),
        cmocka_unit_test(test_poses_that_are_no_numbers),
        cmocka_unit_test(test_a_place_that_is_no_number),
        cmocka_unit_test(test_how_sure_the_place_is),
        cmocka_unit_test(test_a_map_of_another_place),
        cmocka_unit_test(test_stamps_that_go_back),
        cmocka_unit_test(test_scans_that_say_nothing),
        cmocka_unit_test(test_wrong_types_and_qos_are_named),
        cmocka_unit_test(test_a_wrong_type_among_hundreds),
        cmocka_unit_test(test_a_deadline_is_named),
        cmocka_unit_test(test_somebody_else_drives),
        cmocka_unit_test(test_two_publishers_of_a_sense),
        cmocka_unit_test(test_two_localisations),
        cmocka_unit_test(test_a_transform_from_the_future),
        cmocka_unit_test(test_numbers_that_are_no_robots),
        cmocka_unit_test(test_frames_that_do_not_connect),
    };
    return cmocka_run_group_tests_name("drivers/ros2/senses", tests, peer_group_open,
                                       peer_group_close);
}
