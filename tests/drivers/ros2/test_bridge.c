// test_bridge.c - the body as ROS 2 sees it: a body's process and the bridge run in threads of this test, and
// the test is a peer in DDS. What the body senses comes under ROS's names and frames; a goal is done once,
// whoever sends it how often; what is no goal is refused; a hand on cmd_vel moves the robot, silence
// stops it, also while somebody floods the bridge; a latched robot stays where it is, until it is reset.
// tests/ros2/shown.py asks the same of a binding that others wrote.
#include "drivers/dds/dds_node.h"
#include "peer.h"
#include "pons/body.h"
#include "pons/clock.h"
#include "pons/drivers.h"
#include "pons/ext/bridge.h"
#include "pons/link_message.h"
#include "pons/module.h"
#include "ros2.h"
#include "unit.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define HOUSE  PONS_SOURCE_DIR "/worlds/house.yaml"
#define LOST_S 120 // only a broken bridge takes this long
#define NAV(x) nav2_msgs_action_dds__NavigateToPose_##x

static const ros2_qos SURE = {.reliable = true, .depth = 50},
                      KEPT = {.reliable = true, .transient = true, .depth = 10};

static const pons_bridge_ops *bridge; // from the module
static char ns[32];
static uint32_t domain;
static struct {
    char workspace[64], run_dir[80];
    pons_value *world;
    pthread_t body, bridge;
    volatile sig_atomic_t body_quit, bridge_quit;
    _Atomic bool ready;
    _Atomic dds_entity_t flood; // the writer of bad poses; 0: none are written
    _Atomic int64_t bad_poses;
    int body_rc, bridge_rc;
    ros2_node node;
    dds_entity_t odom, scan, map, tf, tf_static, status, feedback, send_w, send_r, result_w,
        result_r, vel;
    int64_t seq;
} t;

static int64_t now_s(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec;
}

static void a_moment(int64_t since_s, const char *what)
{
    if (now_s() - since_s > LOST_S) {
        fail_msg("this did not come: %s", what);
    }
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

// ---- the body and the bridge --------------------------------------------------------------------

static void *run_body(void *arg)
{
    pons_body_options o = PONS_BODY_OPTIONS_INIT;
    char ledger[128];
    pons_error err = PONS_ERROR_INIT;
    (void)arg;
    snprintf(ledger, sizeof ledger, "%s/body.ledger", t.run_dir);
    o.robot = &pons_robot_kinematic;
    o.world = t.world;
    o.ledger_path = ledger;
    o.clock = pons_clock_real();
    o.seed = 1;
    t.body_rc = pons_body_run(&o, t.run_dir, &t.body_quit, &err);
    if (t.body_rc < 0) {
        print_error("body: %s\n", err.message);
    }
    return NULL;
}

static int world(void *user, const char *name, pons_value **ret, pons_error *err)
{
    (void)user, (void)err;
    assert_string_equal(name, pons_get_str(t.world, "name", ""));
    *ret = pons_value_ref(t.world);
    return PONS_OK;
}

static void ready(void *user)
{
    (void)user;
    atomic_store(&t.ready, true);
}

static void bad_pose(void) // none like another, so that each has its line
{
    char frame[32];
    const dds_entity_t w = atomic_load(&t.flood);
    snprintf(frame, sizeof frame, "nowhere%lld", (long long)atomic_fetch_add(&t.bad_poses, 1));
    const geometry_msgs_msg_dds__PoseStamped_ m = {.header.frame_id = frame,
                                                   .pose.orientation.w = 1.0};
    if (w > 0) {
        dds_write(w, &m);
    }
}

static void tell(void *user, const char *line) // on the bridge's loop
{
    (void)user;
    if (strstr(line, "goal_pose") && atomic_load(&t.flood) > 0) {
        bad_pose();
    }
}

static void *run_bridge(void *arg)
{
    const pons_bridge_options o = {.run_dir = t.run_dir,
                                   .workspace = t.workspace,
                                   .world = world,
                                   .ready = ready,
                                   .tell = tell,
                                   .quit = &t.bridge_quit};
    pons_error err = PONS_ERROR_INIT;
    (void)arg;
    t.bridge_rc = bridge->run(&o, &err);
    if (t.bridge_rc < 0) {
        print_error("bridge: %s\n", err.message);
    }
    return NULL;
}

static void name_of(const char *part, char ret[128])
{
    snprintf(ret, 128, "%s/%s", ns, part);
}

static dds_entity_t reader(const char *prefix, const char *part, const dds_topic_descriptor_t *d,
                           ros2_qos qos)
{
    char name[128];
    pons_error err = PONS_ERROR_INIT;
    name_of(part, name);
    const dds_entity_t e = ros2_node_reader(&t.node, prefix, name, NULL, d, qos, &err);
    if (e <= 0) {
        fail_msg("%s", err.message);
    }
    return e;
}

static dds_entity_t writer(const char *prefix, const char *part, const dds_topic_descriptor_t *d)
{
    char name[128];
    pons_error err = PONS_ERROR_INIT;
    name_of(part, name);
    const dds_entity_t e = ros2_node_writer(&t.node, prefix, name, NULL, d, SURE, &err);
    if (e <= 0) {
        fail_msg("%s", err.message);
    }
    return e;
}

// Each on the thread that it ends, as in a process of its own.
static void end_body(int number)
{
    (void)number;
    t.body_quit = 1;
}

static void end_bridge(int number)
{
    (void)number;
    t.bridge_quit = 1;
}

static int open_all(void **state)
{
    char yaml[256];
    pons_error err = PONS_ERROR_INIT;
    (void)state;
    snprintf(yaml, sizeof yaml,
             "namespace: %s\ndomain: %u\ntopics: {tf: tf, tf_static: tf_static, clock: clock}\n",
             ns + 1, domain);
    peer_workspace(yaml, t.workspace);
    snprintf(t.run_dir, sizeof t.run_dir, "%s/run", t.workspace);
    mkdir(t.run_dir, 0700);
    assert_int_equal(pons_world_load(HOUSE, &t.world, &err), PONS_OK);
    assert_int_equal(
        json_object_set_new(json_object_get(t.world, "lidar"), "pose",
                            json_pack("{s:f, s:f, s:f}", "x", 0.1, "y", -0.05, "yaw", 0.8)),
        0);
    assert_int_equal(ros2_node_open(&t.node, domain, &err), PONS_OK);
    t.odom = reader("rt", "odom", &nav_msgs_msg_dds__Odometry__desc, SURE);
    t.scan = reader("rt", "scan", &sensor_msgs_msg_dds__LaserScan__desc, SURE);
    t.tf = reader("rt", "tf", &tf2_msgs_msg_dds__TFMessage__desc, SURE);
    t.tf_static = reader("rt", "tf_static", &tf2_msgs_msg_dds__TFMessage__desc, KEPT);
    t.map = reader("rt", "map", &nav_msgs_msg_dds__OccupancyGrid__desc, KEPT);
    t.vel = writer("rt", "cmd_vel", &geometry_msgs_msg_dds__Twist__desc);
    t.send_w =
        writer("rqRequest", "navigate_to_pose/_action/send_goal", &NAV(SendGoal_Request__desc));
    t.send_r = reader("rrReply", "navigate_to_pose/_action/send_goal",
                      &NAV(SendGoal_Response__desc), SURE);
    t.result_w =
        writer("rqRequest", "navigate_to_pose/_action/get_result", &NAV(GetResult_Request__desc));
    t.result_r = reader("rrReply", "navigate_to_pose/_action/get_result",
                        &NAV(GetResult_Response__desc), SURE);
    signal(SIGUSR1, end_body);
    signal(SIGUSR2, end_bridge);
    pthread_create(&t.body, NULL, run_body, NULL);
    pthread_create(&t.bridge, NULL, run_bridge, NULL);
    const int64_t since = now_s();
    while (!atomic_load(&t.ready) || !ros2_node_matched(t.send_w) || !ros2_node_matched(t.send_r) ||
           !ros2_node_matched(t.result_w) || !ros2_node_matched(t.result_r) ||
           !ros2_node_matched(t.odom) || !ros2_node_matched(t.vel)) {
        a_moment(since, "the bridge's endpoints");
    }
    return 0;
}

static int close_all(void **state)
{
    char command[128];
    (void)state;
    atomic_store(&t.flood, 0);
    pthread_kill(t.bridge, SIGUSR2);
    pthread_join(t.bridge, NULL);
    pthread_kill(t.body, SIGUSR1);
    pthread_join(t.body, NULL);
    ros2_node_close(&t.node);
    pons_value_unref(t.world);
    snprintf(command, sizeof command, "rm -rf '%s'", t.workspace);
    return system(command) == 0 && t.body_rc == PONS_OK && t.bridge_rc == PONS_OK ? 0 : 1;
}

// ---- a peer -------------------------------------------------------------------------------------

static pons_twist2 newest; // of odometry
static pons_pose2 odom_at;

static void hear_odometry(void)
{
    bool any = false;
    for (const int64_t since = now_s(); !any; a_moment(since, "odometry")) {
        ROS2_TAKE(t.odom, nav_msgs_msg_dds__Odometry_, m)
        {
            assert_string_equal(m->header.frame_id, "odom");
            assert_string_equal(m->child_frame_id, "base_link");
            newest = (pons_twist2){m->twist.twist.linear.x, m->twist.twist.angular.z};
            odom_at = (pons_pose2){m->pose.pose.position.x, m->pose.pose.position.y, 0.0};
            any = true;
        }
    }
}

// Whether it was accepted; a reply that is another's is none.
static bool send_goal(uint8_t id, double x, double y, const char *frame, const char *tree)
{
    static const uint64_t me = 4711;
    NAV(SendGoal_Request_) r = {.guid_ = me, .seq_ = ++t.seq};
    r.goal_id.uuid[0] = id;
    r.goal.pose.header.frame_id = (char *)(uintptr_t)frame;
    r.goal.pose.pose.position.x = x;
    r.goal.pose.pose.position.y = y;
    r.goal.pose.pose.orientation.w = 1.0;
    r.goal.behavior_tree = (char *)(uintptr_t)tree;
    dds_write(t.send_w, &r);
    int answer = -1;
    for (const int64_t since = now_s(); answer < 0; a_moment(since, "an answer to a goal")) {
        ROS2_TAKE(t.send_r, NAV(SendGoal_Response_), m)
        {
            assert_true(m->guid_ == me && m->seq_ == t.seq);
            answer = m->accepted;
        }
    }
    return answer > 0;
}

static int result_of(uint8_t id, int *ret_code)
{
    NAV(GetResult_Request_) r = {.guid_ = 4711, .seq_ = ++t.seq};
    r.goal_id.uuid[0] = id;
    dds_write(t.result_w, &r);
    int status = -1;
    for (const int64_t since = now_s(); status < 0; a_moment(since, "a result")) {
        ROS2_TAKE(t.result_r, NAV(GetResult_Response_), m)
        {
            assert_int_equal(m->seq_, t.seq);
            status = m->status;
            *ret_code = m->result.error_code;
        }
    }
    return status;
}

static void push(double v)
{
    const geometry_msgs_msg_dds__Twist_ m = {.linear.x = v};
    dds_write(t.vel, &m);
}

// ---- tests --------------------------------------------------------------------------------------

static void hear_scan(bool *ret)
{
    ROS2_TAKE(t.scan, sensor_msgs_msg_dds__LaserScan_, m)
    {
        assert_string_equal(m->header.frame_id, "laser");
        assert_true(m->ranges._length > 100);
        for (uint32_t i = 0; i < m->ranges._length; i++) {
            assert_true(m->ranges._buffer[i] >= m->range_min); // or infinite
        }
        *ret = true;
    }
}

// Where the beams begin, by the world; never another place before that.
static void hear_laser(bool *ret)
{
    ROS2_TAKE(t.tf_static, tf2_msgs_msg_dds__TFMessage_, m)
    {
        const geometry_msgs_msg_dds__TransformStamped_ *x = &m->transforms._buffer[0];
        assert_int_equal(m->transforms._length, 1);
        assert_string_equal(x->header.frame_id, "base_link");
        assert_string_equal(x->child_frame_id, "laser");
        assert_true(fabs(x->transform.translation.x - 0.1) < 1e-9);
        assert_true(fabs(x->transform.translation.y + 0.05) < 1e-9);
        assert_true(fabs(2.0 * atan2(x->transform.rotation.z, x->transform.rotation.w) - 0.8) <
                    1e-9);
        *ret = true;
    }
}

static void hear_transforms(bool *ret_both)
{
    ROS2_TAKE(t.tf, tf2_msgs_msg_dds__TFMessage_, m)
    {
        assert_string_equal(m->transforms._buffer[0].header.frame_id, "odom");
        assert_string_equal(m->transforms._buffer[0].child_frame_id, "base_link");
        if (m->transforms._length == 2) {
            assert_string_equal(m->transforms._buffer[1].header.frame_id, "map");
            assert_string_equal(m->transforms._buffer[1].child_frame_id, "odom");
            *ret_both = true;
        }
    }
}

static void hear_map(bool *ret)
{
    ROS2_TAKE(t.map, nav_msgs_msg_dds__OccupancyGrid_, m)
    {
        assert_int_equal(m->info.width, 200);
        assert_int_equal(m->info.height, 160);
        assert_int_equal(m->data._length, 200 * 160);
        assert_int_equal(m->data._buffer[0], 100);           // the walls' corner
        assert_int_equal(m->data._buffer[40 + 32 * 200], 0); // where the robot starts
        *ret = true;
    }
}

static void test_the_senses_come_as_ros_has_them(void **state)
{
    bool scan = false, both = false, map = false, laser = false;
    (void)state;
    hear_odometry();
    for (const int64_t since = now_s(); !scan || !both || !map || !laser;
         a_moment(since, "the senses")) {
        hear_laser(&laser);
        hear_scan(&scan);
        hear_transforms(&both);
        hear_map(&map);
    }
}

static void test_what_is_no_goal_is_refused(void **state)
{
    (void)state;
    assert_false(send_goal(101, (double)NAN, 1.0, "map", ""));
    assert_false(send_goal(102, 1e308 * 10, 1.0, "map", ""));
    assert_false(send_goal(103, 2.2, 2.7, "nowhere", ""));
    assert_false(send_goal(104, 2.2, 2.7, "", ""));
    assert_false(send_goal(105, 2.2, 2.7, "map", "\xff\xfe")); // no text, so no tree either
}

static void test_a_goal_is_done_once(void **state)
{
    int code = -1;
    (void)state;
    assert_true(send_goal(1, 2.2, 2.7, "map", ""));
    assert_false(send_goal(1, 2.2, 2.7, "map", "")); // while it runs
    assert_int_equal(result_of(1, &code), 4);
    assert_int_equal(code, 0);
    assert_false(send_goal(1, 2.2, 2.7, "map", "")); // and after it
    assert_int_equal(result_of(1, &code), 4);
    assert_int_equal(result_of(99, &code), 0); // nobody has sent it
    // A newer goal takes over: nobody has canceled the older one.
    assert_true(send_goal(2, 6.7, 6.4, "map", ""));
    assert_true(send_goal(3, 2.2, 2.7, "map", ""));
    assert_int_equal(result_of(2, &code), 6);
    assert_int_equal(result_of(3, &code), 4);
}

static void test_a_hand_moves_it_and_silence_stops_it(void **state)
{
    (void)state;
    hear_odometry();
    const pons_pose2 before = odom_at;
    push((double)NAN);
    push(INFINITY);
    push(1e9);
    for (const int64_t since = now_s(); newest.v < 0.1; a_moment(since, "motion by cmd_vel")) {
        push(0.3);
        hear_odometry();
    }
    for (const int64_t since = now_s(); fabs(newest.v) > 0.005; a_moment(since, "standstill")) {
        hear_odometry();
    }
    assert_true(hypot(odom_at.x - before.x, odom_at.y - before.y) < 3.0); // none of the 1e9
}

// Whatever the bridge says of a bad pose, the next is there before it has said it.
static void test_a_flood_starves_nobody(void **state)
{
    (void)state;
    const dds_entity_t poses = writer("rt", "goal_pose", &geometry_msgs_msg_dds__PoseStamped__desc);
    for (const int64_t since = now_s(); !ros2_node_matched(poses);) {
        a_moment(since, "the bridge's reader of poses");
    }
    atomic_store(&t.flood, poses);
    bad_pose();
    for (const int64_t since = now_s(); atomic_load(&t.bad_poses) < 1000;) {
        a_moment(since, "a flood");
    }
    hear_odometry();
    newest = (pons_twist2){0};
    for (const int64_t since = now_s(); newest.v < 0.1; a_moment(since, "motion by cmd_vel")) {
        push(0.3);
        hear_odometry();
    }
    const int64_t before = atomic_load(&t.bad_poses);
    for (const int64_t since = now_s(); atomic_load(&t.bad_poses) == before;) {
        a_moment(since, "more of the flood"); // it was there all the time
    }
    atomic_store(&t.flood, 0);
    for (const int64_t since = now_s(); fabs(newest.v) > 0.005; a_moment(since, "standstill")) {
        hear_odometry();
    }
}

static void reset(void)
{
    char path[128];
    pons_link *link = NULL;
    bool done = false;
    pons_error err = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/body.sock", t.run_dir);
    assert_int_equal(pons_link_connect(path, &link, &err), PONS_OK);
    assert_true(pons_message_send(link, &(pons_message){.type = PONS_MESSAGE_RESET}, &err) >= 0);
    for (const int64_t since = now_s(); !done; a_moment(since, "the body's yes to a reset")) {
        pons_autovalue msg = NULL;
        if (pons_link_recv(link, &msg, &err) == 1) {
            done = strcmp(pons_get_str(msg, "type", ""), "ok") == 0;
        }
    }
    pons_link_close(link);
}

static void test_a_latched_robot_stays(void **state)
{
    pons_error err = PONS_ERROR_INIT;
    (void)state;
    assert_int_equal(pons_stop_send(t.run_dir, "a test", 60000, &err), PONS_OK);
    hear_odometry();
    for (const int64_t since = now_s(); fabs(newest.v) > 1e-6; a_moment(since, "standstill")) {
        hear_odometry();
    }
    const pons_pose2 before = odom_at;
    for (int i = 0; i < 20; i++) {
        push(0.3);
        hear_odometry();
    }
    assert_true(hypot(odom_at.x - before.x, odom_at.y - before.y) < 1e-3);
    assert_false(send_goal(4, 2.2, 2.7, "map", ""));
    // A person's reset counts from its ok on, whatever the bridge has heard by then.
    reset();
    assert_true(send_goal(5, 2.2, 2.7, "map", ""));
}

int main(void)
{
    const void *ops = NULL;
    pons_error err = PONS_ERROR_INIT;
    peer_surroundings(ns, &domain);
    if (pons_module_load("bridge", "ros2", &ops, &err) < 0) {
        print_error("%s\n", err.message);
        return 1;
    }
    bridge = ops;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_senses_come_as_ros_has_them),
        cmocka_unit_test(test_what_is_no_goal_is_refused),
        cmocka_unit_test(test_a_goal_is_done_once),
        cmocka_unit_test(test_a_hand_moves_it_and_silence_stops_it),
        cmocka_unit_test(test_a_flood_starves_nobody),
        cmocka_unit_test(test_a_latched_robot_stays),
    };
    return cmocka_run_group_tests_name("drivers/ros2/bridge", tests, open_all, close_all);
}
