// bench_ros2.c - the driver of ROS 2 robots beside raw Cyclone DDS, on the loopback interface (docs/internals/benchmarks.md).
//
//   ros2.raw.*      a Twist to another process and its Odometry back, by two loops that do nothing but DDS
//   ros2.driver.*   the same through the driver: from write_velocity until read has what came back
//   ros2.lost.*     of 30 s at 1 kHz: odometries and scans that the senses did not take, velocities that
//                   did not arrive; reliable, a second deep on both sides
//
//     raw:     main ------------- DDS --> echo         driver:  main - gate --> writer - DDS --> echo
//              main <------------ DDS --- echo                  main <- lock -- reader <- DDS -- echo
//
// The other process is the same one. It is begun before this one uses DDS.
#include "bench.h"
#include "bench_share.h"
#include "drivers/ros2/senses.h"
#include "pons/body.h"
#include "pons/clock.h"
#include "pons/module.h"
#include "ros2.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum {
    ROUNDS = 5000,
    WARM = 500,
    RATE = 1000,
    SECONDS = 30,
    SAMPLES = RATE * SECONDS,
    BEAMS = 360
};

#define DOMAIN 87

static const ros2_qos SURE = {.reliable = true, .depth = 10},
                      DEEP = {.reliable = true, .depth = RATE};

static struct shared { // with the other process
    _Atomic bool publish, published, hears;
    _Atomic uint64_t cmds;
    _Atomic double newest;
} *shared;

static pid_t other;

typedef struct wire { // both ways
    dds_entity_t cmd, odom;
} wire;

static dds_entity_t endpoint(ros2_node *n, bool reads, const char *ns, const char *name,
                             const dds_topic_descriptor_t *desc, ros2_qos qos)
{
    char topic[64];
    pons_error err = PONS_ERROR_INIT;
    snprintf(topic, sizeof topic, "%s/%s", ns, name);
    const dds_entity_t e = reads ? ros2_node_reader(n, "rt", topic, NULL, desc, qos, &err)
                                 : ros2_node_writer(n, "rt", topic, NULL, desc, qos, &err);
    bench_must(e ? PONS_OK : PONS_EENV, &err);
    return e;
}

static wire open_wire(ros2_node *n, bool robot, const char *ns, ros2_qos qos)
{
    return (wire){endpoint(n, robot, ns, "cmd_vel", &geometry_msgs_msg_dds__Twist__desc, qos),
                  endpoint(n, !robot, ns, "odom", &nav_msgs_msg_dds__Odometry__desc, qos)};
}

static nav_msgs_msg_dds__Odometry_ odometry(double v)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (nav_msgs_msg_dds__Odometry_){
        .header = {{(int32_t)t.tv_sec, (uint32_t)t.tv_nsec}, (char *)(uintptr_t) "odom"},
        .child_frame_id = (char *)(uintptr_t) "base_link",
        .pose.pose.orientation.w = 1,
        .twist.twist.linear.x = v};
}

// ---- the other process --------------------------------------------------------------------------

static void echo(const wire *w)
{
    ROS2_TAKE(w->cmd, geometry_msgs_msg_dds__Twist_, m)
    {
        const nav_msgs_msg_dds__Odometry_ o = odometry(m->linear.x);
        dds_write(w->odom, &o);
    }
}

static void count(const wire *w)
{
    ROS2_TAKE(w->cmd, geometry_msgs_msg_dds__Twist_, m)
    {
        atomic_store(&shared->newest, m->linear.x);
        atomic_fetch_add(&shared->cmds, 1);
    }
}

// Until the next millisecond of a beat; what is late is made up for.
static void beat(struct timespec *next)
{
    next->tv_nsec += PONS_NS_PER_S / RATE;
    next->tv_sec += next->tv_nsec / PONS_NS_PER_S;
    next->tv_nsec %= PONS_NS_PER_S;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

static void publish(const wire *w, dds_entity_t scan)
{
    static float ranges[BEAMS];
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int i = 0; i < BEAMS; i++) {
        ranges[i] = 2.0F;
    }
    for (int k = 0; k < SAMPLES; k++) {
        const nav_msgs_msg_dds__Odometry_ o = odometry(0.1);
        const sensor_msgs_msg_dds__LaserScan_ s = {
            .header = {o.header.stamp, (char *)(uintptr_t) "base_link"},
            .angle_min = -3.14F,
            .angle_increment = 6.28F / BEAMS,
            .range_min = 0.1F,
            .range_max = 8.0F,
            .ranges = {._maximum = BEAMS, ._length = BEAMS, ._buffer = ranges}};
        dds_write(w->odom, &o);
        dds_write(scan, &s);
        beat(&next);
    }
    dds_wait_for_acks(w->odom, DDS_SECS(10));
    dds_wait_for_acks(scan, DDS_SECS(10));
}

static void be_the_robot(void)
{
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    bench_must(ros2_node_open(&n, DOMAIN, &err), &err);
    const wire raw = open_wire(&n, true, "/raw", SURE),
               driver = open_wire(&n, true, "/driver", SURE),
               fast = open_wire(&n, true, "/fast", DEEP);
    const dds_entity_t scan =
        endpoint(&n, false, "/fast", "scan", &sensor_msgs_msg_dds__LaserScan__desc, DEEP);
    for (;;) {
        dds_attach_t woken[8];
        dds_waitset_wait(n.waitset, woken, 8, DDS_MSECS(20));
        echo(&raw);
        echo(&driver);
        count(&fast);
        atomic_store(&shared->hears, ros2_node_matched(fast.cmd));
        if (atomic_load(&shared->publish) && ros2_node_matched(fast.odom) &&
            ros2_node_matched(scan)) {
            atomic_store(&shared->publish, false);
            publish(&fast, scan);
            atomic_store(&shared->published, true);
        }
    }
}

// ---- the figures --------------------------------------------------------------------------------

static void print_trips(const char *name, double *us)
{
    char line[64];
    snprintf(line, sizeof line, "%s.p50", name);
    bench_print(line, bench_quantile(us, ROUNDS, 0.5), "us");
    snprintf(line, sizeof line, "%s.p99", name);
    bench_print(line, bench_quantile(us, ROUNDS, 0.99), "us");
}

static void give_up(const char *what)
{
    fprintf(stderr, "bench: ros2: %s\n", what);
    exit(1);
}

static double velocity(int k) // none like the one before, and a float
{
    return (double)(float)(0.001 * (1 + k % 100));
}

static void trips_raw(void)
{
    static double us[ROUNDS];
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    bench_must(ros2_node_open(&n, DOMAIN, &err), &err);
    const wire w = open_wire(&n, false, "/raw", SURE);
    while (!ros2_node_matched(w.cmd) || !ros2_node_matched(w.odom)) {
        bench_sleep_s(0.01);
    }
    for (int k = -WARM; k < ROUNDS; k++) {
        const double v = velocity(k + WARM), from = bench_now_s();
        const geometry_msgs_msg_dds__Twist_ cmd = {.linear.x = v};
        dds_write(w.cmd, &cmd);
        for (bool back = false; !back;) {
            sched_yield();
            ROS2_TAKE(w.odom, nav_msgs_msg_dds__Odometry_, m)
            {
                back = back || m->twist.twist.linear.x == v;
            }
            if (bench_now_s() - from > 30) {
                give_up("the echo is silent");
            }
        }
        if (k >= 0) {
            us[k] = (bench_now_s() - from) * 1e6;
        }
    }
    ros2_node_close(&n);
    print_trips("ros2.raw", us);
}

static void write_config(const char *dir, const char *ns, const char *more)
{
    char path[300];
    snprintf(path, sizeof path, "%s/config", dir);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/config/ros2.yaml", dir);
    FILE *f = fopen(path, "we");
    if (!f) {
        give_up("no place for a configuration");
    }
    fprintf(f, "namespace: %s\ndomain: %d\nnavigation: pons\nlocalization: pons\n%s", ns, DOMAIN,
            more);
    fclose(f);
}

static const pons_robot_ops *open_driver(const char *dir, void **ret)
{
    char path[4096];
    const void *ops = NULL;
    pons_value *house = NULL;
    pons_error err = PONS_ERROR_INIT;
    bench_must(pons_module_load("driver", "ros2", &ops, &err), &err);
    bench_must(pons_share_path("worlds/house.yaml", path, sizeof path, &err), &err);
    bench_must(pons_world_load(path, &house, &err), &err);
    pons_autovalue config = pons_object("workspace", json_string(dir), NULL);
    bench_must(((const pons_robot_ops *)ops)->open(house, config, ret, &err), &err);
    pons_value_unref(house);
    return ops;
}

static void trips_driver(const char *dir)
{
    static double us[ROUNDS];
    void *robot = NULL;
    write_config(dir, "driver", "");
    const pons_robot_ops *ops = open_driver(dir, &robot);
    pons_robot_state s = {.stamp_ns = 0};
    while (s.twist.v != 0.5) { // until both have found each other
        ops->write_velocity(robot, (pons_twist2){0.5, 0});
        bench_sleep_s(0.01);
        ops->read(robot, &s);
    }
    for (int k = -WARM; k < ROUNDS; k++) {
        const double v = velocity(k + WARM), from = bench_now_s();
        ops->write_velocity(robot, (pons_twist2){v, 0});
        do {
            sched_yield();
            ops->read(robot, &s);
            if (bench_now_s() - from > 30) {
                give_up("the echo is silent");
            }
        } while (s.twist.v != v);
        if (k >= 0) {
            us[k] = (bench_now_s() - from) * 1e6;
        }
    }
    ops->close(robot);
    print_trips("ros2.driver", us);
}

// What the driver's reader does, in this thread.
static void lost_senses(const char *dir)
{
    ros2_config c = {.domain = 0};
    ros2_senses *senses = NULL;
    ros2_node n = {.hashed = false};
    pons_error err = PONS_ERROR_INIT;
    uint64_t odom = 0, scans = 0;
    write_config(dir, "fast",
                 "qos: {odom: {reliability: reliable, depth: 1000}, scan: {reliability: reliable, "
                 "depth: 1000}}\n");
    bench_must(ros2_config_load(dir, &c, &err), &err);
    bench_must(ros2_node_open(&n, DOMAIN, &err), &err);
    bench_must(ros2_senses_open(&n, &c, &senses, &err), &err);
    atomic_store(&shared->published, false);
    atomic_store(&shared->publish, true);
    double over_s = 0; // when all was published
    while (over_s == 0 || bench_now_s() - over_s < 1) {
        dds_attach_t woken[16];
        dds_waitset_wait(n.waitset, woken, 16, DDS_MSECS(20));
        ros2_senses_take(senses, 1);
        over_s = over_s == 0 && atomic_load(&shared->published) ? bench_now_s() : over_s;
    }
    ros2_senses_good(senses, &odom, &scans);
    ros2_senses_close(senses);
    ros2_node_close(&n);
    ros2_config_fini(&c);
    bench_print("ros2.lost.odom", (double)SAMPLES - (double)odom, "messages");
    bench_print("ros2.lost.scan", (double)SAMPLES - (double)scans, "messages");
}

static void lost_velocities(const char *dir)
{
    void *robot = NULL;
    write_config(dir, "fast", "qos: {cmd_vel: {depth: 1000}}\n");
    const pons_robot_ops *ops = open_driver(dir, &robot);
    while (!atomic_load(&shared->hears)) {
        bench_sleep_s(0.01);
    }
    bench_sleep_s(0.5); // the other way round, too
    const uint64_t had = atomic_load(&shared->cmds);
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int k = 0; k < SAMPLES; k++) {
        beat(&next);
        ops->write_velocity(robot, (pons_twist2){velocity(k), 0});
    }
    bench_sleep_s(0.04); // less than the writer's pause, after which it says the last one again
    const double came = (double)(atomic_load(&shared->cmds) - had);
    ops->close(robot);
    bench_print("ros2.lost.cmd", came > SAMPLES ? 0 : SAMPLES - came, "messages");
}

int main(int argc, char **argv)
{
    char dir[256];
    pons_value_init();
    setenv("CYCLONEDDS_URI",
           "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"
           "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto"
           "</ParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers></Discovery></Domain>"
           "</CycloneDDS>",
           1);
    unsetenv("ROS_DOMAIN_ID");
    unsetenv("ROS_DISTRO");
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    other = shared == MAP_FAILED ? -1 : fork();
    if (other == 0) {
        be_the_robot();
    }
    if (other < 0) {
        give_up("no other process");
    }
    bench_folder(dir, sizeof dir);
    if (bench_wants(argc, argv, "ros2.raw")) {
        trips_raw();
    }
    if (bench_wants(argc, argv, "ros2.driver")) {
        trips_driver(dir);
    }
    if (bench_wants(argc, argv, "ros2.lost.odom") || bench_wants(argc, argv, "ros2.lost.scan")) {
        lost_senses(dir);
    }
    if (bench_wants(argc, argv, "ros2.lost.cmd")) {
        lost_velocities(dir);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    bench_remove(dir);
    return 0;
}
