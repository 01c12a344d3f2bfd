// peer.c - see peer.h.
#include "peer.h"

#include "pons/clock.h"
#include "pons/drivers.h"
#include "pons/module.h"
#include "ros2.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIM pons_robot_kinematic

enum { LOOKS = 20000 }; // each of a millisecond or more

static const ros2_qos SENSOR = {.depth = 5}, SURE = {.reliable = true, .depth = 10},
                      KEPT = {.reliable = true, .transient = true, .depth = 1};

const pons_robot_ops *ros2;
char peer_ns[32];
uint32_t peer_domain;
static ros2_node stays;

void peer_surroundings(char ret_ns[32], uint32_t *ret_domain)
{
    setenv(
        "CYCLONEDDS_URI",
        "<CycloneDDS><Domain><General><Interfaces><NetworkInterface name=\"lo\"/></Interfaces>"
        "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto"
        "</ParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers>"
        "<MaxAutoParticipantIndex>60</MaxAutoParticipantIndex></Discovery></Domain></CycloneDDS>",
        1);
    unsetenv("ROS_DOMAIN_ID");
    unsetenv("ROS_DISTRO");
    *ret_domain = 1 + (uint32_t)getpid() % 200;
    snprintf(ret_ns, 32, "/t%d", (int)getpid());
}

void peer_workspace(const char *yaml, char *ret)
{
    char path[128];
    snprintf(ret, 64, "/tmp/pons-ros2-XXXXXX");
    assert_non_null(mkdtemp(ret));
    snprintf(path, sizeof path, "%s/config", ret);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/config/ros2.yaml", ret);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fputs(yaml, f);
    assert_int_equal(fclose(f), 0);
}

void peer_workspace_remove(const char *workspace)
{
    char path[128];
    snprintf(path, sizeof path, "%s/config/ros2.yaml", workspace);
    unlink(path);
    snprintf(path, sizeof path, "%s/config", workspace);
    rmdir(path);
    rmdir(workspace);
}

void peer_stay(ros2_node *n, uint32_t domain)
{
    pons_error err = PONS_ERROR_INIT;
    *n = (ros2_node){.hashed = false};
    if (ros2_node_open(n, domain, &err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
}

int peer_load(void **state)
{
    (void)state;
    pons_error err = PONS_ERROR_INIT;
    const void *loaded = NULL;
    if (pons_module_load("driver", "ros2", &loaded, &err) < 0) {
        char line[1024];
        fprintf(stderr, "%s\n", pons_error_line(&err, line, sizeof line));
        return -1;
    }
    setenv("PONS_SHARE", PONS_SOURCE_DIR, 1);
    unsetenv("AMENT_PREFIX_PATH");
    peer_surroundings(peer_ns, &peer_domain);
    ros2 = loaded;
    return 0;
}

int peer_group_open(void **state)
{
    if (peer_load(state) < 0) {
        return -1;
    }
    peer_stay(&stays, peer_domain);
    return 0;
}

int peer_group_close(void **state)
{
    (void)state;
    ros2_node_close(&stays);
    return 0;
}

int peer_driver_open(const char *yaml, const pons_value *world, const pons_value *config,
                     void **ret, pons_error *err)
{
    char workspace[64];
    peer_workspace(yaml, workspace);
    pons_autovalue full = config ? json_deep_copy(config) : json_object();
    json_object_set_new(full, "workspace", json_string(workspace));
    const int rc = ros2->open(world, full, ret, err);
    peer_workspace_remove(workspace);
    return rc;
}

ros2_types *peer_types(const char *release)
{
    ros2_types *t = ros2_types_create();
    char path[512];
    pons_error err = PONS_ERROR_INIT;
    snprintf(path, sizeof path, "%s/config/ros2/%s.msgs", PONS_SOURCE_DIR, release);
    if (ros2_texts_add_file(ros2_types_texts(t), path, &err) < 0 ||
        ros2_texts_add_file(ros2_types_texts(t), PONS_SOURCE_DIR "/config/ros2/common.msgs", &err) <
            0 ||
        ros2_texts_add_file(ros2_types_texts(t), PONS_SOURCE_DIR "/config/ros2/topics.msgs", &err) <
            0) {
        fail_msg("%s", err.message);
    }
    return t;
}

static dds_entity_t made(peer *p, bool reads, const char *name, const dds_topic_descriptor_t *desc,
                         ros2_qos qos)
{
    char full[ROS2_NAME_MAX];
    pons_error err = PONS_ERROR_INIT;
    snprintf(full, sizeof full, "%s/%s", p->ns, name);
    const dds_entity_t e = reads ? ros2_node_reader(&p->node, "rt", full, NULL, desc, qos, &err)
                                 : ros2_node_writer(&p->node, "rt", full, NULL, desc, qos, &err);
    if (!e) {
        fail_msg("%s", err.message);
    }
    return e;
}

void peer_open(peer *p, const pons_value *world, const pons_value *config, const char *ns,
               uint32_t domain, bool stamped)
{
    pons_error err = PONS_ERROR_INIT;
    *p = (peer){.ns = ns, .stamped = stamped, .scanned_ns = -1};
    if (SIM.open(world, config, &p->sim, &err) < 0) {
        fail_msg("%s", err.message);
    }
    p->relay = relay_open(ns, domain);
    if (p->relay) {
        assert_false(stamped);
        return;
    }
    if (ros2_node_open(&p->node, domain, &err) < 0) {
        fail_msg("%s", err.message);
    }
    const dds_topic_descriptor_t *twist =
        stamped ? &geometry_msgs_msg_dds__TwistStamped__desc : &geometry_msgs_msg_dds__Twist__desc;
    p->clock = made(p, false, "clock", &rosgraph_msgs_msg_dds__Clock__desc, SURE);
    p->odom = made(p, false, "odom", &nav_msgs_msg_dds__Odometry__desc, SURE);
    p->scan = made(p, false, "scan", &sensor_msgs_msg_dds__LaserScan__desc, SENSOR);
    p->battery = made(p, false, "battery_state", &sensor_msgs_msg_dds__BatteryState__desc, SURE);
    p->tf = made(p, false, "tf", &tf2_msgs_msg_dds__TFMessage__desc, SURE);
    p->tf_static = made(p, false, "tf_static", &tf2_msgs_msg_dds__TFMessage__desc, KEPT);
    p->cmd_vel_in = made(p, false, "cmd_vel_nav2", twist, SURE);
    p->cmd_vel = made(p, true, "cmd_vel", twist, SURE);
    p->initialpose =
        made(p, true, "initialpose", &geometry_msgs_msg_dds__PoseWithCovarianceStamped__desc, SURE);
}

void peer_close(peer *p)
{
    if (p->relay) {
        relay_close(p->relay);
    } else {
        ros2_node_close(&p->node);
    }
    SIM.close(p->sim);
}

bool peer_matched(peer *p)
{
    peer_take(p);
    return p->relay ? p->relay->matched
                    : ros2_node_matched(p->cmd_vel) && ros2_node_matched(p->odom) &&
                          ros2_node_matched(p->battery) && ros2_node_matched(p->scan);
}

void peer_take(peer *p)
{
    if (p->relay) {
        while (relay_take(p->relay, &p->cmd)) {
            p->cmds++;
        }
        return;
    }
    if (p->stamped) {
        ROS2_TAKE(p->cmd_vel, geometry_msgs_msg_dds__TwistStamped_, m)
        {
            p->cmd = (pons_twist2){m->twist.linear.x, m->twist.angular.z};
            p->cmd_stamp_ns = m->header.stamp.sec * PONS_NS_PER_S + m->header.stamp.nanosec;
            snprintf(p->cmd_frame, sizeof p->cmd_frame, "%s", m->header.frame_id);
            p->cmds++;
        }
        return;
    }
    ROS2_TAKE(p->cmd_vel, geometry_msgs_msg_dds__Twist_, m)
    {
        p->cmd = (pons_twist2){m->linear.x, m->angular.z};
        p->cmds++;
    }
}

static builtin_interfaces_msg_dds__Time_ stamp(const peer *p, int64_t ns)
{
    ns += p->shift_ns;
    return (builtin_interfaces_msg_dds__Time_){(int32_t)(ns / PONS_NS_PER_S),
                                               (uint32_t)(ns % PONS_NS_PER_S)};
}

static geometry_msgs_msg_dds__Quaternion_ turned(double yaw)
{
    return (geometry_msgs_msg_dds__Quaternion_){0, 0, sin(0.5 * yaw), cos(0.5 * yaw)};
}

static void say_transform(peer *p, const char *parent, const char *child, pons_pose2 x, int64_t ns)
{
    geometry_msgs_msg_dds__TransformStamped_ t = {
        .header = {stamp(p, ns), (char *)parent},
        .child_frame_id = (char *)child,
        .transform = {.translation = {x.x, x.y, 0}, .rotation = turned(x.yaw)}};
    const tf2_msgs_msg_dds__TFMessage_ m = {
        .transforms = {._maximum = 1, ._length = 1, ._buffer = &t, ._release = false}};
    assert_int_equal(dds_write(p->tf, &m), 0);
}

// All senses, or the battery alone, by the relay.
static void relay_senses(peer *p, char kind)
{
    pons_robot_state s;
    pons_scan scan;
    SIM.read(p->sim, &s);
    relay_word word = {.kind = kind,
                       .time_ns = s.stamp_ns,
                       .odom = {s.odom_from_base.x, s.odom_from_base.y, s.odom_from_base.yaw},
                       .twist = {s.twist.v, s.twist.w},
                       .places = {p->places.x, p->places.y, p->places.yaw},
                       .battery_pct = s.battery_pct,
                       .battery_state = (int32_t)s.battery};
    memcpy(word.cov, s.cov, sizeof word.cov);
    if (kind == 'S' && SIM.scan(p->sim, &scan) && scan.stamp_ns != p->scanned_ns) {
        p->scanned_ns = word.scan_ns = scan.stamp_ns;
        word.n_ranges = scan.n;
        word.angle_min = scan.angle_min;
        word.angle_increment = scan.angle_increment;
        word.range_min = scan.range_min;
        word.range_max = scan.range_max;
    }
    relay_say(p->relay, &word, scan.ranges);
}

void peer_say_battery(peer *p)
{
    pons_robot_state s;
    if (p->relay) {
        relay_senses(p, 'B');
        return;
    }
    SIM.read(p->sim, &s);
    const sensor_msgs_msg_dds__BatteryState_ m = {.header = {stamp(p, s.stamp_ns), (char *)""},
                                                  .percentage = (float)(0.01 * s.battery_pct),
                                                  .power_supply_status = (uint8_t)s.battery,
                                                  .present = true,
                                                  .location = (char *)"",
                                                  .serial_number = (char *)""};
    assert_int_equal(dds_write(p->battery, &m), 0);
}

static void say_odom(peer *p, const pons_robot_state *s)
{
    nav_msgs_msg_dds__Odometry_ m = {
        .header = {stamp(p, s->stamp_ns), (char *)"odom"},
        .child_frame_id = (char *)"base_link",
        .pose.pose = {{s->odom_from_base.x, s->odom_from_base.y, 0}, turned(s->odom_from_base.yaw)},
        .twist.twist = {{s->twist.v, 0, 0}, {0, 0, s->twist.w}}};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            m.pose.covariance[(i == 2 ? 30 : 6 * i) + (j == 2 ? 5 : j)] = s->cov[3 * i + j];
        }
    }
    assert_int_equal(dds_write(p->odom, &m), 0);
}

static void say_scan(peer *p)
{
    pons_scan s;
    if (!SIM.scan(p->sim, &s) || s.stamp_ns == p->scanned_ns) {
        return;
    }
    p->scanned_ns = s.stamp_ns;
    const sensor_msgs_msg_dds__LaserScan_ m = {
        .header = {stamp(p, s.stamp_ns), (char *)"base_link"},
        .angle_min = s.angle_min,
        .angle_max = s.angle_min + (float)(s.n - 1) * s.angle_increment,
        .angle_increment = s.angle_increment,
        .range_min = s.range_min,
        .range_max = s.range_max,
        .ranges = {._maximum = (uint32_t)s.n, ._length = (uint32_t)s.n, ._buffer = s.ranges}};
    assert_int_equal(dds_write(p->scan, &m), 0);
}

void peer_say(peer *p)
{
    pons_robot_state s;
    if (p->relay) {
        relay_senses(p, 'S');
        return;
    }
    SIM.read(p->sim, &s);
    const rosgraph_msgs_msg_dds__Clock_ c = {stamp(p, s.stamp_ns)};
    assert_int_equal(dds_write(p->clock, &c), 0);
    say_transform(p, "map", "odom", p->places, s.stamp_ns + PONS_NS_PER_S); // as AMCL: ahead
    say_transform(p, "odom", "base_link", s.odom_from_base, s.stamp_ns);
    say_scan(p);
    peer_say_battery(p);
    say_odom(p, &s);
}

void peer_step(peer *p, int64_t dt_ns)
{
    pons_error err = PONS_ERROR_INIT;
    SIM.write_velocity(p->sim, p->cmd);
    if (SIM.step(p->sim, dt_ns, &err) < 0) {
        fail_msg("%s", err.message);
    }
    peer_say(p);
}

void peer_wait(void *p)
{
    peer *robot = p;
    if (robot->sim) {
        peer_take(robot);
        peer_step(robot, PEER_STEP_NS);
    }
    dds_sleepfor(DDS_MSECS(1));
}

void peer_until_lacks(void *driver, const char *expected, void (*wait)(void *user), void *user)
{
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    for (int i = 0; i < LOOKS; i++) {
        const bool any = ros2->outside->lacks(driver, why);
        if (*expected ? any && strstr(why, expected) : !any) {
            return;
        }
        wait(user);
    }
    fail_msg("'%s' is missing, not '%s'", why, expected);
}

int64_t peer_clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * PONS_NS_PER_S + t.tv_nsec;
}

// What a library that is not instrumented writes into freed memory shows where that is soon used again.
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "quarantine_size_mb=16";
}
