// test_ros2_network.c - the driver on a network of others, each participant a process of its own on the loopback
// interface: one robot is found among fifty, or as many as are asked for, and all of them find the driver; where no participant index is
// left, that is said; odometry, scans and velocities at 1 kHz come without a loss.
//
// All processes are begun before this one uses DDS, and wait for their turn.
#include "../conformance.h"
#include "drivers/ros2/senses.h"
#include "peer.h"
#include "pons/clock.h"
#include "ros2.h"
#include "rounds.h"

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    CROWD = 48,
    ROBOT = CROWD,
    PUBLISHER,
    PROCESSES
}; // with the driver: 50 that are there at once
enum { DEPTH = 3000, BEAMS = 360 };

#define STEP_NS   (10 * PONS_NS_PER_MS)
#define RATE_NS   PONS_NS_PER_MS
#define LONG      60000 // looks, each of a millisecond or more
#define ELSEWHERE 1000.0

static pid_t pids[PROCESSES];
static int crowd, samples; // how many are asked for

static struct shared { // with all processes
    _Atomic bool go[PROCESSES], there[PROCESSES], drives[PROCESSES];
    _Atomic uint64_t cmds; // that the publisher got
    _Atomic double newest; // of them
    _Atomic bool disordered, written, received;
} *shared;

static const ros2_qos SURE = {.reliable = true, .depth = 10},
                      DEEP = {.reliable = true, .depth = DEPTH};

// ---- the others ---------------------------------------------------------------------------------

static dds_entity_t endpoint(ros2_node *n, bool reads, const char *topic,
                             const dds_topic_descriptor_t *desc, ros2_qos qos)
{
    pons_error err = PONS_ERROR_INIT;
    const dds_entity_t e = reads ? ros2_node_reader(n, "rt", topic, NULL, desc, qos, &err)
                                 : ros2_node_writer(n, "rt", topic, NULL, desc, qos, &err);
    if (!e) {
        fprintf(stderr, "%s\n", err.message);
        _exit(1);
    }
    return e;
}

static ros2_node joined(void)
{
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    if (ros2_node_open(&n, peer_domain, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        _exit(1);
    }
    return n;
}

static nav_msgs_msg_dds__Odometry_ odometry(double x)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    nav_msgs_msg_dds__Odometry_ m = {
        .header = {{(int32_t)t.tv_sec, (uint32_t)t.tv_nsec}, (char *)"odom"},
        .child_frame_id = (char *)"base_link"};
    m.pose.pose.position.x = x;
    m.pose.pose.orientation.w = 1;
    return m;
}

// Another robot, elsewhere, that listens to who drives ours.
static void be_one_of_many(int i)
{
    char topic[64];
    ros2_node n = joined();
    snprintf(topic, sizeof topic, "%s/crowd/cmd_vel", peer_ns);
    const dds_entity_t r = endpoint(&n, true, topic, &geometry_msgs_msg_dds__Twist__desc, SURE);
    snprintf(topic, sizeof topic, "%s/other%d/odom", peer_ns, i);
    const dds_entity_t w = endpoint(&n, false, topic, &nav_msgs_msg_dds__Odometry__desc, SURE);
    atomic_store(&shared->there[i], true);
    while (shared->go[i]) {
        const nav_msgs_msg_dds__Odometry_ m = odometry(ELSEWHERE + i);
        dds_write(w, &m);
        ROS2_TAKE(r, geometry_msgs_msg_dds__Twist_, cmd)
        {
            if (cmd->linear.x > 0) {
                atomic_store(&shared->drives[i], true);
            }
        }
        dds_sleepfor(DDS_MSECS(50));
    }
    ros2_node_close(&n);
}

static void be_the_robot(void)
{
    char ns[64];
    peer p;
    pons_autovalue world = house_world();
    snprintf(ns, sizeof ns, "%s/crowd", peer_ns);
    peer_open(&p, world, NULL, ns, peer_domain, false);
    atomic_store(&shared->there[ROBOT], true);
    while (shared->go[ROBOT]) {
        peer_take(&p);
        peer_step(&p, STEP_NS);
        if (p.cmd.v > 0) {
            atomic_store(&shared->drives[ROBOT], true);
        }
        dds_sleepfor(DDS_MSECS(5));
    }
    peer_close(&p);
}

// So many at 1 kHz; meanwhile, and after, velocities are counted.
static void be_the_publisher(void)
{
    char topic[64];
    float ranges[BEAMS];
    ros2_node n = joined();
    snprintf(topic, sizeof topic, "%s/fast/odom", peer_ns);
    const dds_entity_t odom = endpoint(&n, false, topic, &nav_msgs_msg_dds__Odometry__desc, DEEP);
    snprintf(topic, sizeof topic, "%s/fast/scan", peer_ns);
    const dds_entity_t scan =
        endpoint(&n, false, topic, &sensor_msgs_msg_dds__LaserScan__desc, DEEP);
    snprintf(topic, sizeof topic, "%s/fast/cmd_vel", peer_ns);
    const dds_entity_t cmd = endpoint(&n, true, topic, &geometry_msgs_msg_dds__Twist__desc, DEEP);
    for (int i = 0; i < BEAMS; i++) {
        ranges[i] = 2.0F;
    }
    atomic_store(&shared->there[PUBLISHER], true);
    struct timespec next;
    bool begun = false;
    for (int k = 0; shared->go[PUBLISHER];) {
        if (!begun && ros2_node_matched(odom) && ros2_node_matched(scan)) {
            begun = true;
            clock_gettime(CLOCK_MONOTONIC, &next);
        }
        if (begun && k < samples) {
            k++;
            const nav_msgs_msg_dds__Odometry_ m = odometry(0.001 * k);
            const sensor_msgs_msg_dds__LaserScan_ s = {
                .header = {m.header.stamp, (char *)"base_link"},
                .angle_min = -3.14F,
                .angle_increment = 6.28F / BEAMS,
                .range_min = 0.1F,
                .range_max = 8.0F,
                .ranges = {._maximum = BEAMS, ._length = BEAMS, ._buffer = ranges}};
            dds_write(odom, &m);
            dds_write(scan, &s);
            atomic_store(&shared->written, k == samples);
        }
        ROS2_TAKE(cmd, geometry_msgs_msg_dds__Twist_, m)
        {
            const double v = m->linear.x;
            if (v < atomic_load(&shared->newest)) {
                atomic_store(&shared->disordered, true);
            }
            atomic_store(&shared->newest, v);
            atomic_fetch_add(&shared->cmds, 1);
        }
        atomic_store(&shared->received, ros2_node_matched(cmd));
        if (begun && k < samples) { // by the clock: what is late is made up for
            next.tv_nsec += RATE_NS;
            next.tv_sec += next.tv_nsec / PONS_NS_PER_S;
            next.tv_nsec %= PONS_NS_PER_S;
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        } else {
            dds_sleepfor(DDS_USECS(200));
        }
    }
    ros2_node_close(&n);
}

static void begin_all(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        exit(1);
    }
    for (int i = 0; i < PROCESSES; i++) {
        if (i >= crowd && i < CROWD) {
            continue;
        }
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (!shared->go[i]) {
                dds_sleepfor(DDS_MSECS(20));
            }
            i < CROWD ? be_one_of_many(i) : i == ROBOT ? be_the_robot() : be_the_publisher();
            _exit(0);
        }
    }
}

static void go(int from, int to)
{
    for (int i = from; i < to; i++) {
        atomic_store(&shared->go[i], true);
    }
    for (int i = from; i < to; i++) {
        while (!shared->there[i]) {
            if (waitpid(pids[i], NULL, WNOHANG) != 0) {
                fail_msg("process %d has ended", i);
            }
            dds_sleepfor(DDS_MSECS(5));
        }
    }
}

static void end(int from, int to)
{
    for (int i = from; i < to; i++) {
        int status;
        atomic_store(&shared->go[i], false);
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_int_equal(status, 0);
    }
}

// ---- the driver ---------------------------------------------------------------------------------

static int open_driver(const char *ns, const char *more, void **ret, pons_error *err)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml, "namespace: %s/%s\ndomain: %u\nnavigation: pons\n%s", peer_ns, ns,
             peer_domain, more);
    pons_autovalue world = house_world();
    return peer_driver_open(yaml, world, NULL, ret, err);
}

static const char *const SIMULATED =
    "use_sim_time: true\ntopics: {tf: tf, tf_static: tf_static, clock: clock}\n";

static void test_a_robot_among_fifty(void **state)
{
    (void)state;
    void *robot = NULL;
    char why[PONS_OUTSIDE_TEXT_MAX] = "", uri[1024];
    pons_error err = PONS_ERROR_INIT;
    go(0, crowd / 2);
    go(ROBOT, ROBOT + 1);
    // Fewer indexes than there are participants: no place for one more, and that is what is said.
    snprintf(uri, sizeof uri, "%s", getenv("CYCLONEDDS_URI"));
    char *few = strdup(uri), *at = strstr(few, ">60<");
    assert_non_null(at);
    memcpy(at, "> 9<", 4);
    setenv("CYCLONEDDS_URI", few, 1);
    free(few);
    assert_int_equal(open_driver("crowd", SIMULATED, &robot, &err), PONS_EENV);
    assert_non_null(strstr(err.message, "MaxAutoParticipantIndex"));
    setenv("CYCLONEDDS_URI", uri, 1);
    if (open_driver("crowd", SIMULATED, &robot, &err) < 0) {
        fail_msg("%s", err.message);
    }
    go(crowd / 2, crowd); // and those who come later
    int found = 0;
    for (int i = 0; i < LONG && found < crowd + 1; i++) {
        ros2->write_velocity(robot, (pons_twist2){0.1 + 1e-6 * i, 0.05});
        found = 0;
        for (int k = 0; k <= ROBOT; k++) {
            found += shared->drives[k];
        }
        dds_sleepfor(DDS_MSECS(1));
    }
    assert_int_equal(found, crowd + 1);
    bool lacks = true;
    for (int i = 0; i < LONG && lacks; i++) {
        lacks = ros2->outside->lacks(robot, why);
        ros2->write_velocity(robot, (pons_twist2){0.1, 0.05});
        dds_sleepfor(DDS_MSECS(1));
    }
    if (lacks) {
        fail_msg("%s", why);
    }
    pons_robot_state s;
    ros2->read(robot, &s);
    assert_true(s.stamp_ns > 0 && fabs(s.odom_from_base.x) < ELSEWHERE / 2); // nobody else's
    ros2->close(robot);
    end(0, crowd);
    end(ROBOT, ROBOT + 1);
}

static void test_a_thousand_a_second(void **state)
{
    (void)state;
    char yaml[1024], workspace[64];
    ros2_config c = {.domain = 0};
    ros2_senses *senses = NULL;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    uint64_t odom = 0, scans = 0;
    go(PUBLISHER, PUBLISHER + 1);
    snprintf(yaml, sizeof yaml,
             "namespace: %s/fast\ndomain: %u\nnavigation: pons\n"
             "qos: {odom: {reliability: reliable, depth: %d}, scan: {reliability: reliable, depth: "
             "%d}}\n",
             peer_ns, peer_domain, DEPTH, DEPTH);
    peer_workspace(yaml, workspace);
    assert_int_equal(ros2_config_load(workspace, &c, &err), PONS_OK);
    peer_workspace_remove(workspace);
    assert_int_equal(ros2_node_open(&n, peer_domain, &err), PONS_OK);
    assert_int_equal(ros2_senses_open(&n, &c, &senses, &err), PONS_OK);
    for (int i = 0; i < LONG && (odom < (uint64_t)samples || scans < (uint64_t)samples);
         i++) { // as the driver's reader does
        dds_attach_t woken[16];
        dds_waitset_wait(n.waitset, woken, 16, DDS_MSECS(20));
        ros2_senses_take(senses, 1);
        ros2_senses_good(senses, &odom, &scans);
    }
    assert_int_equal(odom, samples);
    assert_int_equal(scans, samples);
    pons_robot_state s;
    ros2_senses_state(senses, &s);
    assert_true(fabs(s.odom_from_base.x - 0.001 * samples) < 1e-9);
    ros2_senses_close(senses);
    ros2_node_close(&n);
    ros2_config_fini(&c);
}

static void wait_for(double v)
{
    for (int i = 0; i < LONG && atomic_load(&shared->newest) != (double)(float)v; i++) {
        dds_sleepfor(DDS_USECS(100));
    }
    assert_true(atomic_load(&shared->newest) == (double)(float)v);
}

static void test_a_thousand_velocities_a_second(void **state)
{
    (void)state;
    char yaml[128];
    void *robot = NULL;
    pons_error err = PONS_ERROR_INIT;
    snprintf(yaml, sizeof yaml, "qos: {cmd_vel: {depth: %d}}\n", DEPTH);
    assert_int_equal(open_driver("fast", yaml, &robot, &err), PONS_OK);
    while (!shared->received) {
        dds_sleepfor(DDS_MSECS(1));
    }
    const double one = 1e-4;
    ros2->write_velocity(robot, (pons_twist2){one, 0});
    wait_for(one);
    const uint64_t had = shared->cmds;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int k = 2; k <= samples + 1; k++) {
        next.tv_nsec += RATE_NS;
        next.tv_sec += next.tv_nsec / PONS_NS_PER_S;
        next.tv_nsec %= PONS_NS_PER_S;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        ros2->write_velocity(robot, (pons_twist2){one * k, 0});
    }
    wait_for(one * (samples + 1));
    // Each change is published once; where the writer was late, with the newest velocity.
    for (int i = 0; i < LONG && shared->cmds < had + (uint64_t)samples; i++) {
        dds_sleepfor(DDS_MSECS(1));
    }
    assert_true(shared->cmds >= had + (uint64_t)samples);
    assert_false(shared->disordered);
    // And one after the other, each of them.
    for (int k = samples + 2; k < samples + 200; k++) {
        ros2->write_velocity(robot, (pons_twist2){one * k, 0});
        wait_for(one * k);
    }
    ros2->close(robot);
    end(PUBLISHER, PROCESSES);
}

static int begin(void **state)
{
    if (peer_load(state) < 0) {
        return -1;
    }
    crowd = (int)rounds(ROUNDS_drivers_crowd);
    crowd = crowd < 24 ? 24 : crowd > CROWD ? CROWD : crowd;
    samples = (int)rounds(ROUNDS_drivers_samples);
    samples = samples < DEPTH ? samples : DEPTH;
    begin_all();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_robot_among_fifty),
        cmocka_unit_test(test_a_thousand_a_second),
        cmocka_unit_test(test_a_thousand_velocities_a_second),
    };
    return cmocka_run_group_tests_name("drivers/ros2/network", tests, begin, NULL);
}
