// senses.c - odometry, scans, battery, transforms and clock, checked and turned into the body's terms.
//
// A message that is no good (no number, frames that are not the configured ones, a stamp far from now) is
// left out, and says so until a good one comes. What is left out grows old, and what is old is missing: the
// line that names it is `lacks`.
//
// Of odometry and scans one publisher counts, and for as long as another one speaks beside it, it is the topic that is
// missing: which of two poses is the robot's is nobody's to guess, and of two lidars each sees what the other does not.
//
// The wall's clock may be set while the robot runs. Robot time goes on, and what was stamped before it is forgotten, as
// with a /clock that goes back.
//
// A scan is in the lidar's frame and may have any number of beams; the body's is seen from where the transform says
// that the lidar is (sim/lidar_beams.h).
#include "drivers/ros2/senses.h"

#include "drivers/ros2/tf.h"
#include "drivers/sim/lidar_beams.h"
#include "drivers/sim/seqlock.h"
#include "pons/clock.h"
#include "ros2.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AHEAD_NS       (3600 * PONS_NS_PER_S) // no clock of a robot goes on by this much at once
#define FAR_NS         (5 * PONS_NS_PER_S)    // a stamp this far from now is of another clock
#define BACK_NS        (PONS_NS_PER_S / 2)    // /clock: less is jitter between publishers
#define AFTER_BACK_NS  PONS_NS_PER_S          // host time for which a jump of the clock is told
#define BATTERY_OLD_NS (60 * PONS_NS_PER_S)
#define TWO_NS         (PONS_NS_PER_S / 2)   // in which two publishers have spoken: both are there
#define TWO_TOLD_NS    PONS_NS_PER_S         // since the last word of the second
#define SET_NS         (20 * PONS_NS_PER_MS) // by which the wall's clock is off: it was set
#define READ_MOST_NS   PONS_NS_PER_MS        // for both clocks; else somebody came between
#define FAR_M          1e6                   // no robot is there
#define COUNT_LEAST    0.9                   // of the ranges that a scan's angles promise
#define STRAIGHT_UP    0.9                   // of the lidar's axis; else it does not look around
#define LINE           PONS_OUTSIDE_TEXT_MAX

typedef builtin_interfaces_msg_dds__Time_ ros_time;

typedef struct received { // of one topic; reader thread
    dds_entity_t reader;
    int64_t host_ns; // when a good one came last; 0: none yet
    uint64_t good;   // how many
    uint64_t by;     // who publishes it
    int64_t by_ns;   // host time of its newest
    int64_t two_ns;  // host time of another one's newest, while `by` spoke too; 0: none
    char bad[LINE];  // why the newest was left out; "": it was good
    char bad_of[64]; // of transforms: the frame that this is about
} received;

struct ros2_senses {
    const ros2_config *c;
    ros2_node *n;
    ros2_tf *tf;
    received odom, scan, battery, tf_moving, tf_static, clock, amcl;
    received localisation;  // who says map -> odom: among all who speak on /tf
    pons_robot_state state; // reader thread's copy
    int64_t scan_ns;        // stamp of the newest scan
    pons_robot_place place;
    char place_bad[LINE];
    bool place_old;            // the frames connect
    int64_t back_host_ns;      // host time at which the clock jumped, or was set; 0: it never did
    _Atomic int64_t clock_ns;  // robot time by /clock; 0: none yet
    _Atomic int64_t offset_ns; // robot time + this is ROS's
    pons__seqlock states, scans, places;
};

static int64_t ns_of(const ros_time *t)
{
    return (int64_t)t->sec * PONS_NS_PER_S + (int64_t)t->nanosec;
}

static int64_t clock_now(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * PONS_NS_PER_S + t.tv_nsec;
}

int ros2_senses_open(ros2_node *n, const ros2_config *c, ros2_senses **ret, pons_error *err)
{
    ros2_senses *s = calloc(1, sizeof *s);
    if (!s) {
        return pons_error_set(err, PONS_ENOMEM, "ros2", "no memory for the senses");
    }
    s->c = c;
    s->n = n;
    s->tf = ros2_tf_create();
    s->place.std_m = NAN;
    s->state.battery_pct = *c->t_battery.name ? NAN : 100.0; // none has come, or no topic
    atomic_store(&s->offset_ns,
                 c->sim_time ? 0 : clock_now(CLOCK_REALTIME) - clock_now(CLOCK_MONOTONIC));
    if (!s->tf || !pons__seqlock_init(&s->states, sizeof s->state) ||
        !pons__seqlock_init(&s->scans, sizeof(pons_scan)) ||
        !pons__seqlock_init(&s->places, sizeof s->place)) {
        ros2_senses_close(s);
        return pons_error_set(err, PONS_ENOMEM, "ros2", "no memory for the senses");
    }
    pons__seqlock_write(&s->states, &s->state);
    pons__seqlock_write(&s->places, &s->place);
    const struct {
        received *h;
        const ros2_stream *t;
        const dds_topic_descriptor_t *desc;
    } all[] = {{&s->odom, &c->t_odom, &nav_msgs_msg_dds__Odometry__desc},
               {&s->scan, &c->t_scan, &sensor_msgs_msg_dds__LaserScan__desc},
               {&s->battery, &c->t_battery, &sensor_msgs_msg_dds__BatteryState__desc},
               {&s->tf_moving, &c->t_tf, &tf2_msgs_msg_dds__TFMessage__desc},
               {&s->tf_static, &c->t_tf_static, &tf2_msgs_msg_dds__TFMessage__desc},
               {&s->amcl, c->place ? &c->t_amcl_pose : NULL,
                &geometry_msgs_msg_dds__PoseWithCovarianceStamped__desc},
               {&s->clock, c->sim_time ? &c->t_clock : NULL, &rosgraph_msgs_msg_dds__Clock__desc}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!all[i].t || !*all[i].t->name) {
            continue;
        }
        all[i].h->reader =
            ros2_node_reader(n, "rt", all[i].t->name, NULL, all[i].desc, all[i].t->qos, err);
        if (!all[i].h->reader) {
            ros2_senses_close(s);
            return PONS_EENV;
        }
    }
    *ret = s;
    return PONS_OK;
}

void ros2_senses_close(ros2_senses *s)
{
    if (s) {
        ros2_tf_destroy(s->tf);
        pons__seqlock_fini(&s->states);
        pons__seqlock_fini(&s->scans);
        pons__seqlock_fini(&s->places);
        free(s);
    }
}

void ros2_senses_good(const ros2_senses *s, uint64_t *ret_odom, uint64_t *ret_scans)
{
    *ret_odom = s->odom.good;
    *ret_scans = s->scan.good;
}

// ---- any thread ---------------------------------------------------------------------------------

int64_t ros2_senses_now(ros2_senses *s)
{
    return s->c->sim_time ? atomic_load_explicit(&s->clock_ns, memory_order_relaxed)
                          : clock_now(CLOCK_MONOTONIC);
}

int64_t ros2_senses_ros_ns(ros2_senses *s)
{
    return ros2_senses_now(s) + atomic_load_explicit(&s->offset_ns, memory_order_relaxed);
}

void ros2_senses_state(ros2_senses *s, pons_robot_state *ret)
{
    pons__seqlock_read(&s->states, ret);
}

bool ros2_senses_scan(ros2_senses *s, pons_scan *ret)
{
    return pons__seqlock_read(&s->scans, ret);
}

bool ros2_senses_place(ros2_senses *s, pons_robot_place *ret)
{
    return pons__seqlock_read(&s->places, ret);
}

// ---- the reader thread --------------------------------------------------------------------------

static void forget(ros2_senses *s, int64_t host_ns)
{
    ros2_tf_clear(s->tf);
    s->odom.host_ns = s->scan.host_ns = 0;
    s->place.known = false;
    s->place.std_m = NAN;
    s->back_host_ns = host_ns;
}

void ros2_senses_wall(ros2_senses *s, int64_t offset_ns, int64_t host_ns)
{
    if (!s->c->sim_time && llabs(offset_ns - atomic_load(&s->offset_ns)) > SET_NS) {
        atomic_store(&s->offset_ns, offset_ns);
        forget(s, host_ns);
    }
}

void ros2_senses_look_at_wall(ros2_senses *s, int64_t host_ns)
{
    const int64_t before = clock_now(CLOCK_MONOTONIC), wall = clock_now(CLOCK_REALTIME);
    if (clock_now(CLOCK_MONOTONIC) - before < READ_MOST_NS) {
        ros2_senses_wall(s, wall - before, host_ns);
    }
}

static void take_clock(ros2_senses *s, int64_t host_ns)
{
    if (!s->clock.reader) {
        return;
    }
    ROS2_TAKE(s->clock.reader, rosgraph_msgs_msg_dds__Clock_, m)
    {
        const int64_t ros_ns = ns_of(&m->clock), was = atomic_load(&s->clock_ns);
        int64_t now = ros_ns - atomic_load(&s->offset_ns);
        // Begun anew, or another's: robot time goes on.
        if (was > 0 && (now < was - BACK_NS || now > was + AHEAD_NS)) {
            atomic_store(&s->offset_ns, ros_ns - was);
            now = was;
            forget(s, host_ns);
        }
        if (now > was) {
            atomic_store(&s->clock_ns, now);
        }
        s->clock.host_ns = host_ns;
    }
}

// Another publisher speaks beside the one that is heard.
static bool is_second(received *h, uint64_t by, int64_t host_ns)
{
    if (h->by && h->by != by && host_ns - h->by_ns < TWO_NS) {
        h->two_ns = host_ns;
        return true;
    }
    h->by = by;
    h->by_ns = host_ns;
    return false;
}

static ros2_transform transform_of(const geometry_msgs_msg_dds__Transform_ *t)
{
    return (ros2_transform){{t->translation.x, t->translation.y, t->translation.z},
                            {t->rotation.x, t->rotation.y, t->rotation.z, t->rotation.w}};
}

static void take_tf(ros2_senses *s, received *h, bool is_static, int64_t host_ns)
{
    if (!h->reader) {
        return;
    }
    ROS2_TAKE(h->reader, tf2_msgs_msg_dds__TFMessage_, m)
    {
        for (uint32_t i = 0; i < m->transforms._length; i++) {
            const geometry_msgs_msg_dds__TransformStamped_ *t = &m->transforms._buffer[i];
            const ros2_transform x = transform_of(&t->transform);
            const int64_t stamp = ns_of(&t->header.stamp) - atomic_load(&s->offset_ns);
            const bool places = s->c->place && !is_static &&
                                strcmp(ros2_frame(t->child_frame_id), ros2_frame(s->c->odom)) == 0;
            if (places && is_second(&s->localisation, info_[0].publication_handle, host_ns)) {
                continue;
            }
            // What is of a time that comes would stay the newest until then.
            if (!is_static && stamp - ros2_senses_now(s) > FAR_NS) {
                snprintf(h->bad, sizeof h->bad, "tf: the stamps of %.60s are not by %s",
                         t->child_frame_id, s->c->sim_time ? "/clock" : "this machine's clock");
                snprintf(h->bad_of, sizeof h->bad_of, "%s", t->child_frame_id);
            } else if (!ros2_tf_add(s->tf, t->header.frame_id, t->child_frame_id, stamp, &x,
                                    is_static, h->bad, sizeof h->bad)) {
                snprintf(h->bad_of, sizeof h->bad_of, "%s", t->child_frame_id);
            } else if (strncmp(t->child_frame_id, h->bad_of, sizeof h->bad_of - 1) == 0) {
                h->bad[0] = '\0'; // others' come in between
            }
        }
        h->host_ns = host_ns;
    }
}

// Robot time of a stamp; false: it is of another clock.
static bool robot_time(ros2_senses *s, const ros_time *t, const char *what, received *h,
                       int64_t *ret)
{
    *ret = ns_of(t) - atomic_load(&s->offset_ns);
    const int64_t off = *ret - ros2_senses_now(s);
    if (off > FAR_NS || off < -FAR_NS) {
        snprintf(h->bad, sizeof h->bad,
                 "%.60s: its stamps are not by %s; look at use_sim_time, or the clocks", what,
                 s->c->sim_time ? "/clock" : "this machine's clock");
        return false;
    }
    return true;
}

static void take_odom(ros2_senses *s, int64_t host_ns)
{
    received *h = &s->odom;
    ROS2_TAKE(h->reader, nav_msgs_msg_dds__Odometry_, m)
    {
        const geometry_msgs_msg_dds__Pose_ *p = &m->pose.pose;
        ros2_transform at = {
            {p->position.x, p->position.y, p->position.z},
            {p->orientation.x, p->orientation.y, p->orientation.z, p->orientation.w}};
        const pons_twist2 twist = {m->twist.twist.linear.x, m->twist.twist.angular.z};
        int64_t stamp;
        if (is_second(h, info_[0].publication_handle, host_ns)) {
            continue;
        }
        if (!isfinite(at.p[0] + at.p[1] + twist.v + twist.w) || !ros2_is_rotation(at.q)) {
            snprintf(h->bad, sizeof h->bad, "%.80s: its pose or its twist is no number",
                     s->c->t_odom.name);
            continue;
        }
        if (fabs(at.p[0]) > FAR_M || fabs(at.p[1]) > FAR_M) {
            snprintf(h->bad, sizeof h->bad, "%.80s: its pose is beyond any place",
                     s->c->t_odom.name);
            continue;
        }
        if (strcmp(m->header.frame_id, s->c->odom) != 0) {
            snprintf(h->bad, sizeof h->bad, "%.50s: it is in the frame '%.30s', not '%.30s'",
                     s->c->t_odom.name, m->header.frame_id, s->c->odom);
            continue;
        }
        pons_pose2 pose = {at.p[0], at.p[1], ros2_yaw(at.q)};
        if (strcmp(m->child_frame_id, s->c->base) != 0) { // such as base_footprint
            ros2_transform base;
            if (!ros2_tf_get(s->tf, m->child_frame_id, s->c->base, 0, &base, NULL, h->bad,
                             sizeof h->bad)) {
                continue;
            }
            pose = pons_pose_compose(pose, (pons_pose2){base.p[0], base.p[1], ros2_yaw(base.q)});
        }
        if (!robot_time(s, &m->header.stamp, s->c->t_odom.name, h, &stamp)) {
            continue;
        }
        if (h->host_ns && stamp < s->state.stamp_ns) {
            snprintf(h->bad, sizeof h->bad, "%.80s: its time goes back", s->c->t_odom.name);
            continue;
        }
        s->state.stamp_ns = stamp;
        s->state.odom_from_base = pose;
        s->state.twist = twist;
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 3; j++) { // x, y, yaw of six
                const double c = m->pose.covariance[(i == 2 ? 30 : 6 * i) + (j == 2 ? 5 : j)];
                s->state.cov[3 * i + j] = isfinite(c) ? c : 0.0; // as who does not say
            }
        }
        pons__seqlock_write(&s->states, &s->state);
        h->good++;
        h->host_ns = host_ns;
        h->bad[0] = '\0';
    }
}

static void take_battery(ros2_senses *s, int64_t host_ns)
{
    received *h = &s->battery;
    if (!h->reader) {
        return;
    }
    ROS2_TAKE(h->reader, sensor_msgs_msg_dds__BatteryState_, m)
    {
        const float share = m->percentage; // 0 to 1; some drivers say 0 to 100
        const double pct = 100.0 * (double)share;
        if (!isfinite(share) || pct < 0.0 || pct > 100.5) {
            snprintf(h->bad, sizeof h->bad, "%.80s: percentage is not from 0 to 1",
                     s->c->t_battery.name);
            continue;
        }
        s->state.battery_pct = fmin(pct, 100.0);
        s->state.battery_number++;
        s->state.battery = m->power_supply_status <= PONS_BATTERY_FULL
                               ? (pons_battery_state)m->power_supply_status
                               : PONS_BATTERY_UNKNOWN;
        s->state.on_charger = s->state.battery == PONS_BATTERY_CHARGING;
        pons__seqlock_write(&s->states, &s->state);
        h->host_ns = host_ns;
        h->bad[0] = '\0';
    }
}

// NULL, or what is wrong.
static const char *turn_scan(const sensor_msgs_msg_dds__LaserScan_ *m, const ros2_transform *lidar,
                             int64_t stamp, pons_scan *ret)
{
    const double up = 1 - 2 * (lidar->q[0] * lidar->q[0] + lidar->q[1] * lidar->q[1]); // z of its z
    const pons__beams b = {.n = m->ranges._length,
                           .angle_min = (double)m->angle_min,
                           .step = (double)m->angle_increment,
                           .range_min = (double)m->range_min,
                           .range_max = (double)m->range_max,
                           .upside_down = up < 0,
                           .from = {lidar->p[0], lidar->p[1], ros2_yaw(lidar->q)}};
    if (fabs(up) < STRAIGHT_UP || !pons__beams_begin(&b, ret)) {
        return "its angles are no numbers, or the lidar stands on its side";
    }
    // Where ranges were lost nothing is known, and it would look free.
    const double promised = 1.0 + ((double)m->angle_max - b.angle_min) / b.step;
    if ((double)b.n < COUNT_LEAST * promised) {
        return "it has fewer ranges than its angles say";
    }
    bool says = false;
    for (uint32_t i = 0; i < m->ranges._length; i++) {
        says = pons__beams_add(&b, i, (double)m->ranges._buffer[i], ret) || says;
    }
    ret->stamp_ns = stamp;
    return says ? NULL : "its ranges are no numbers, or all below range_min";
}

static void take_scan(ros2_senses *s, int64_t host_ns)
{
    received *h = &s->scan;
    ROS2_TAKE(h->reader, sensor_msgs_msg_dds__LaserScan_, m)
    {
        ros2_transform lidar = {.q = {0, 0, 0, 1}};
        pons_scan scan;
        int64_t stamp;
        if (is_second(h, info_[0].publication_handle, host_ns) ||
            !robot_time(s, &m->header.stamp, s->c->t_scan.name, h, &stamp)) {
            continue;
        }
        if (h->host_ns && stamp < s->scan_ns) {
            snprintf(h->bad, sizeof h->bad, "%.80s: its time goes back", s->c->t_scan.name);
            continue;
        }
        if (strcmp(m->header.frame_id, s->c->base) != 0 &&
            !ros2_tf_get(s->tf, s->c->base, m->header.frame_id, 0, &lidar, NULL, h->bad,
                         sizeof h->bad)) {
            continue;
        }
        const char *bad = turn_scan(m, &lidar, stamp, &scan);
        if (bad) {
            snprintf(h->bad, sizeof h->bad, "%.60s: %s", s->c->t_scan.name, bad);
            continue;
        }
        s->scan_ns = stamp;
        pons__seqlock_write(&s->scans, &scan);
        h->good++;
        h->host_ns = host_ns;
        h->bad[0] = '\0';
    }
}

// How sure the localisation is of itself. Where it is, the transforms say; a localisation that has no such topic does
// without.
static void take_amcl(ros2_senses *s)
{
    if (!s->amcl.reader) {
        return;
    }
    ROS2_TAKE(s->amcl.reader, geometry_msgs_msg_dds__PoseWithCovarianceStamped_, m)
    {
        const double var = m->pose.covariance[0] + m->pose.covariance[7]; // of x, of y
        s->place.std_m = isfinite(var) && var >= 0.0 ? sqrt(var) : NAN;
    }
}

static void find_place(ros2_senses *s, int64_t host_ns)
{
    const int64_t two_ns = s->localisation.two_ns;
    ros2_transform x;
    int64_t stamp;
    pons_robot_place now = s->place;
    s->place_old = false;
    now.known =
        ros2_tf_get(s->tf, s->c->map, s->c->odom, 0, &x, &stamp, s->place_bad, sizeof s->place_bad);
    if (now.known) {
        const double age_s = (double)(ros2_senses_now(s) - stamp) * 1e-9;
        const bool far = fabs(x.p[0]) > FAR_M || fabs(x.p[1]) > FAR_M;
        now.known = !far && (stamp == INT64_MAX || age_s < s->c->tf_s);
        if (!far) {
            now.map_from_odom = (pons_pose2){x.p[0], x.p[1], ros2_yaw(x.q)};
        }
        s->place_old = !now.known;
        snprintf(s->place_bad, sizeof s->place_bad, "%s",
                 now.known ? ""
                 : far     ? "the transform map -> odom is beyond any place"
                           : "the transform map -> odom is old: is the localisation running?");
    }
    if (two_ns && host_ns - two_ns < TWO_TOLD_NS) { // which of them is right nobody knows
        now.known = false;
        s->place_old = true;
        snprintf(s->place_bad, sizeof s->place_bad,
                 "two publish the transform map -> odom, and one of them is not the localisation");
    }
    s->place = now;
    pons__seqlock_write(&s->places, &now);
}

void ros2_senses_take(ros2_senses *s, int64_t host_ns)
{
    take_clock(s, host_ns);
    take_tf(s, &s->tf_static, true, host_ns);
    take_tf(s, &s->tf_moving, false, host_ns);
    take_odom(s, host_ns);
    take_battery(s, host_ns);
    take_scan(s, host_ns);
    if (s->c->place) {
        take_amcl(s);
        find_place(s, host_ns);
    }
}

// One topic: why it was left out, or why nobody is there.
static bool lacks(ros2_senses *s, const received *h, const char *name, int64_t host_ns,
                  int64_t old_ns, char *ret)
{
    if (h->two_ns && host_ns - h->two_ns < TWO_TOLD_NS) {
        snprintf(ret, LINE, "%.80s: two publish it, and one of them is not the robot's", name);
        return true;
    }
    if (!h->reader || (h->host_ns && host_ns - h->host_ns < old_ns)) {
        return false;
    }
    if (*h->bad) {
        snprintf(ret, LINE, "%s", h->bad);
    } else if (ros2_node_matched(h->reader)) {
        snprintf(ret, LINE, "%.80s: %s", name,
                 h->host_ns ? "nothing comes any more" : "nothing has come yet");
    } else {
        ros2_node_why(s->n, h->reader, ret, LINE);
    }
    return true;
}

// Frames that are missing because of who publishes them otherwise than is needed: that is what to mend.
static void reported_otherwise(ros2_senses *s, char *ret)
{
    const received *trees[] = {&s->tf_static, &s->tf_moving};
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        char why[LINE];
        if (trees[i]->reader && !ros2_node_matched(trees[i]->reader) &&
            ros2_node_why(s->n, trees[i]->reader, why, sizeof why)) {
            snprintf(ret, LINE, "%s", why);
            return;
        }
    }
}

void ros2_senses_lack(ros2_senses *s, int64_t host_ns, char *ret)
{
    const ros2_config *c = s->c;
    const int64_t odom_ns = (int64_t)(c->odom_s * 1e9), scan_ns = (int64_t)(c->scan_s * 1e9);
    char back[LINE];
    *ret = '\0';
    snprintf(back, sizeof back, "%.60s jumped", c->t_clock.name);
    if (s->back_host_ns && host_ns - s->back_host_ns < AFTER_BACK_NS) {
        snprintf(ret, LINE, "%.80s: the senses begin anew",
                 c->sim_time ? back : "this machine's clock was set");
    } else if (lacks(s, &s->clock, c->t_clock.name, host_ns, PONS_NS_PER_S, ret) ||
               lacks(s, &s->odom, c->t_odom.name, host_ns, odom_ns, ret) ||
               lacks(s, &s->scan, c->t_scan.name, host_ns, scan_ns, ret) ||
               lacks(s, &s->battery, c->t_battery.name, host_ns, BATTERY_OLD_NS, ret)) {
        reported_otherwise(s, ret);
    } else if (c->place && !s->place.known) {
        // A transform that was left out is why frames do not connect; why they are old, if it is that one.
        const bool why =
            *s->tf_moving.bad && (!s->place_old || strcmp(s->tf_moving.bad_of, s->c->odom) == 0);
        snprintf(ret, LINE, "%s", why ? s->tf_moving.bad : s->place_bad);
        reported_otherwise(s, ret);
    }
}
