// ros2.c - a robot that speaks ROS 2, as a driver; its Nav2, as the robot's own software.
//
// A loadable module over Cyclone DDS: no ROS is installed here. What the driver needs of the robot are the
// topics of any Nav2 robot; what it gives is one velocity, and pons is the last to publish it:
//
//     Nav2 --cmd_vel_in--> errand's want --> goal --> gate --write_velocity--> writer --cmd_vel--> base
//     /odom /scan /battery_state /tf /tf_static /clock --> reader --> sequence locks --> body
//     NavigateToPose <--> robot_actions.c (on the reader's thread)
//
//   thread   does                                                                    priority
//   reader   takes every message, looks for what is missing, keeps Nav2's goal      ordinary
//   writer   publishes what the gate last let through: at once when it changes,     SCHED_FIFO
//            and 20 times a second; zero when the gate has been silent for 250 ms   where permitted
//
// The safety thread calls write_velocity, read, scan and lacks: two atomics, a semaphore's post, and
// sequence locks. It never enters DDS, where a write allocates and locks.
//
// Robot time is this machine's clock as ROS has it, kept from jumping, or /clock. A /clock that goes back
// (a simulation that began anew) makes robot time go on from where it was: what is known by the old time is
// forgotten, and the robot stands until there are new senses.
//
// **What is missing** (`lacks`) is one line without numbers that change, so that it is told once: no /clock, no
// odometry, no scan, frames that do not connect, no localisation, no battery yet, a map of another place, nobody who listens to
// cmd_vel, somebody else who publishes it, a Nav2 that is not active while a goal waits for it; with the reason where one is
// known: a type or a QoS that does not fit, a message that is no good.
#include "ros2.h"

#include "drivers/dds/config.h"
#include "drivers/dds/dds_node.h"
#include "drivers/outlet.h"
#include "drivers/ros2/map_topic.h"
#include "drivers/ros2/robot_actions.h"
#include "drivers/ros2/senses.h"
#include "drivers/sim/sim.h"
#include "drivers/twist_word.h"
#include "pons/clock.h"
#include "pons/module.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "ros2"

#define WANT_OLD_NS     (300 * PONS_NS_PER_MS) // of what Nav2's controller asked for
#define MOST            100.0                  // m/s, rad/s: what is beyond is no velocity
#define READ_NS         (20 * PONS_NS_PER_MS)  // between looks, when nothing comes
#define READER_DEAD_NS  (500 * PONS_NS_PER_MS)
#define RIVALS_NS       (500 * PONS_NS_PER_MS) // between looks for who else drives
#define WRITER_PRIORITY 70                     // below the safety thread's

typedef struct robot {
    ros2_config c;        /* const */
    pons_robot_caps caps; /* const */
    ros2_node node;
    ros2_senses *senses;
    pons_value *world;     // the zones and the charger, for goals
    ros2_errands *errands; // NULL: nothing is the robot's own software's
    dds_entity_t cmd_vel, cmd_vel_in, initialpose;
    ros2_map *map; // NULL: the map is not needed
    pthread_t reader, writer;
    bool reads, writes;
    _Atomic bool quit;
    pons__outlet outlet;
    _Atomic uint64_t cmd;              // two floats: v, w
    _Atomic uint64_t want;             // the same, from cmd_vel_in
    _Atomic int64_t want_ns, alive_ns; // host times: of `want`, of the reader's last round
    pons__seqlock lacks;               // PONS_OUTSIDE_TEXT_MAX bytes
    int rivals;                        // other publishers of cmd_vel; reader thread, as the next
    int64_t rivals_ns, opened_ns;      // host times: of that count, of the reader's first round
    bool settled;                      // other publishers have had time to be discovered
    pthread_mutex_t reported_mtx;      // guards the pose that a person reported
    bool has_reported;
    pons_pose2 reported;
} robot;

// ---- the writer ---------------------------------------------------------------------------------

static void publish(robot *r, pons_twist2 cmd)
{
    if (!r->c.stamped) {
        const geometry_msgs_msg_dds__Twist_ m = {.linear.x = cmd.v, .angular.z = cmd.w};
        dds_write(r->cmd_vel, &m);
        return;
    }
    const int64_t now = ros2_senses_ros_ns(r->senses);
    const geometry_msgs_msg_dds__TwistStamped_ m = {
        .header = {.stamp = {(int32_t)(now / PONS_NS_PER_S), (uint32_t)(now % PONS_NS_PER_S)},
                   .frame_id = r->c.base},
        .twist = {.linear.x = cmd.v, .angular.z = cmd.w}};
    dds_write(r->cmd_vel, &m);
}

static void *run_writer(void *arg)
{
    robot *r = arg;
    const struct sched_param priority = {.sched_priority = WRITER_PRIORITY};
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
    while (!atomic_load_explicit(&r->quit, memory_order_acquire)) {
        pons__outlet_wait(&r->outlet);
        const bool silent = pons__outlet_silent(&r->outlet);
        publish(r, silent ? (pons_twist2){0} : pons__unpack_twist(atomic_load(&r->cmd)));
    }
    return NULL;
}

// ---- the reader ---------------------------------------------------------------------------------

static void want(robot *r, const geometry_msgs_msg_dds__Twist_ *t)
{
    const pons_twist2 w = {t->linear.x, t->angular.z};
    if (fabs(w.v) <= MOST &&
        fabs(w.w) <= MOST) { // else it is no velocity, and the last one grows old
        atomic_store(&r->want, pons__pack_twist(w));
        atomic_store(&r->want_ns, pons__host_now());
    }
}

static void take_want(robot *r)
{
    if (r->c.stamped) {
        ROS2_TAKE(r->cmd_vel_in, geometry_msgs_msg_dds__TwistStamped_, m)
        {
            want(r, &m->twist);
        }
    } else {
        ROS2_TAKE(r->cmd_vel_in, geometry_msgs_msg_dds__Twist_, m)
        {
            want(r, m);
        }
    }
}

// With AMCL's usual covariances of a pose that was clicked.
static void tell_pose(robot *r)
{
    pthread_mutex_lock(&r->reported_mtx);
    const pons_pose2 at = r->reported;
    const bool has = r->has_reported;
    r->has_reported = false;
    pthread_mutex_unlock(&r->reported_mtx);
    if (!has || !r->initialpose) {
        return;
    }
    const int64_t now = ros2_senses_ros_ns(r->senses);
    geometry_msgs_msg_dds__PoseWithCovarianceStamped_ m = {
        .header = {.stamp = {(int32_t)(now / PONS_NS_PER_S), (uint32_t)(now % PONS_NS_PER_S)},
                   .frame_id = r->c.map},
        .pose.pose = {.position = {at.x, at.y, 0},
                      .orientation = {0, 0, sin(0.5 * at.yaw), cos(0.5 * at.yaw)}}};
    m.pose.covariance[0] = m.pose.covariance[7] = 0.25;
    m.pose.covariance[35] = 0.0685;
    dds_write(r->initialpose, &m);
}

// Whoever else publishes cmd_vel reaches the wheels whatever the gate says, and a stop would be none.
static bool look_for_rivals(robot *r, int64_t host_ns)
{
    r->opened_ns = r->opened_ns ? r->opened_ns : host_ns;
    const bool settles =
        !r->settled && (double)(host_ns - r->opened_ns) > r->c.discovery_s * (double)PONS_NS_PER_S;
    if (!r->rivals_ns || settles || host_ns - r->rivals_ns > RIVALS_NS) {
        r->rivals = ros2_node_rivals(&r->node, r->cmd_vel);
        r->rivals_ns = host_ns;
        r->settled = r->settled || settles;
    }
    return r->rivals > 0;
}

static void look_what_lacks(robot *r, int64_t host_ns, char why[PONS_OUTSIDE_TEXT_MAX])
{
    ros2_senses_lack(r->senses, host_ns, why);
    if (!*why) {
        snprintf(why, PONS_OUTSIDE_TEXT_MAX, "%s", ros2_map_bad(r->map));
    }
    if (!*why && !ros2_node_matched(r->cmd_vel)) {
        ros2_node_why(&r->node, r->cmd_vel, why, PONS_OUTSIDE_TEXT_MAX);
    }
    if (look_for_rivals(r, host_ns) &&
        r->errands) { // what Nav2 drives may be what reaches the wheels
        ros2_errands_give_up(r->errands, "somebody else publishes cmd_vel, past the gate");
    }
    if (!*why && r->rivals > 0) {
        snprintf(why, PONS_OUTSIDE_TEXT_MAX,
                 "%.50s: somebody else publishes it too, past the gate%s%.40s", r->c.t_cmd_vel.name,
                 r->cmd_vel_in ? "; Nav2's place is " : "",
                 r->cmd_vel_in ? r->c.t_cmd_vel_in.name : "");
    }
    if (!*why && r->errands) {
        ros2_errands_lack(r->errands, &r->node, r->cmd_vel_in, why);
    }
}

static void *run_reader(void *arg)
{
    robot *r = arg;
    char was[PONS_OUTSIDE_TEXT_MAX] = "";
    for (bool first = true; !atomic_load_explicit(&r->quit, memory_order_acquire); first = false) {
        ros2_node_wait(&r->node, READ_NS);
        const int64_t host_ns = pons__host_now();
        ros2_senses_look_at_wall(r->senses, host_ns);
        ros2_senses_take(r->senses, host_ns);
        if (r->cmd_vel_in) {
            take_want(r);
        }
        if (r->map) {
            ros2_map_take(r->map, ros2_senses_now(r->senses), ros2_senses_ros_ns(r->senses));
        }
        if (r->errands) {
            ros2_errands_poll(r->errands, !r->settled || r->rivals > 0, host_ns);
        }
        if (r->node.n_shown != r->node.n_endpoints) {
            ros2_node_tell(&r->node, &r->c, NULL);
        }
        tell_pose(r);
        char why[PONS_OUTSIDE_TEXT_MAX] = "";
        look_what_lacks(r, host_ns, why);
        if (first || strcmp(why, was) != 0) {
            memset(was, 0, sizeof was);
            snprintf(was, sizeof was, "%s", why);
            pons__seqlock_write(&r->lacks, was);
        }
        atomic_store_explicit(&r->alive_ns, host_ns, memory_order_relaxed);
    }
    return NULL;
}

// ---- open and close -----------------------------------------------------------------------------

static int open_endpoints(robot *r, pons_error *err)
{
    const dds_topic_descriptor_t *twist = r->c.stamped ? &geometry_msgs_msg_dds__TwistStamped__desc
                                                       : &geometry_msgs_msg_dds__Twist__desc;
    r->cmd_vel =
        ros2_node_writer(&r->node, "rt", r->c.t_cmd_vel.name, NULL, twist, r->c.t_cmd_vel.qos, err);
    if (r->cmd_vel && *r->c.t_initialpose.name) {
        r->initialpose = ros2_node_writer(&r->node, "rt", r->c.t_initialpose.name, NULL,
                                          &geometry_msgs_msg_dds__PoseWithCovarianceStamped__desc,
                                          r->c.t_initialpose.qos, err);
    }
    if (!r->cmd_vel || (*r->c.t_initialpose.name && !r->initialpose)) {
        return PONS_EENV;
    }
    const int rc = ros2_map_open(&r->node, &r->c, r->world, &r->map, err);
    if (rc < 0) {
        return rc;
    }
    if (!ros2_config_outside(&r->c)) {
        return PONS_OK;
    }
    if (*r->c.t_cmd_vel_in.name) {
        r->cmd_vel_in = ros2_node_reader(&r->node, "rt", r->c.t_cmd_vel_in.name, NULL, twist,
                                         r->c.t_cmd_vel_in.qos, err);
        if (!r->cmd_vel_in) {
            return PONS_EENV;
        }
    }
    return ros2_errands_open(&r->node, &r->c, r->world, &r->errands, err);
}

static int start(robot *r, pons_error *err)
{
    static const char begins[PONS_OUTSIDE_TEXT_MAX] = "the robot has not been heard of yet";
    pons__seqlock_write(&r->lacks, begins);
    atomic_store(&r->alive_ns, pons__host_now());
    r->writes = pthread_create(&r->writer, NULL, run_writer, r) == 0;
    r->reads = r->writes && pthread_create(&r->reader, NULL, run_reader, r) == 0;
    return r->reads ? PONS_OK : pons_error_set(err, PONS_EENV, MODULE, "cannot start a thread");
}

static void robot_close(void *self)
{
    robot *r = self;
    if (!r) {
        return;
    }
    atomic_store(&r->quit, true);
    pons__outlet_wake(&r->outlet);
    if (r->reads) {
        pthread_join(r->reader, NULL);
    }
    if (r->writes) {
        pthread_join(r->writer, NULL);
        publish(r, (pons_twist2){0});
        dds_wait_for_acks(r->cmd_vel, DDS_MSECS(200));
    }
    if (r->reads && r->errands) { // what was no longer wanted is canceled, answered or not
        ros2_errands_poll(r->errands, true, pons__host_now() + PONS_NS_PER_S);
    }
    ros2_errands_close(r->errands);
    ros2_senses_close(r->senses);
    ros2_map_close(r->map);
    ros2_node_close(&r->node);
    pons__seqlock_fini(&r->lacks);
    pthread_mutex_destroy(&r->reported_mtx);
    pons__outlet_fini(&r->outlet);
    ros2_config_fini(&r->c);
    pons_value_unref(r->world);
    free(r);
}

static int robot_open(const pons_value *world, const pons_value *config, void **ret_self,
                      pons_error *err)
{
    robot *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a robot");
    }
    pons__outlet_init(&r->outlet);
    pthread_mutex_init(&r->reported_mtx, NULL);
    pons__sim_params p; // of the robot that the world describes
    int rc = pons__sim_params_init(&p, MODULE, world, config, err);
    if (rc >= 0) {
        r->caps = p.caps;
        r->caps.simulated = r->caps.can_charge = false;
        pons__sim_params_fini(&p);
        rc = ros2_config_load(pons_get_str(config, "workspace", NULL), &r->c, err);
    }
    r->world = json_deep_copy((json_t *)world);
    if (rc >= 0 && *r->c.robot_id) {
        snprintf(r->caps.robot_id, sizeof r->caps.robot_id, "%s", r->c.robot_id);
    }
    if (rc >= 0 && !pons__seqlock_init(&r->lacks, PONS_OUTSIDE_TEXT_MAX)) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a robot");
    }
    r->node.hashed = r->c.jazzy;
    rc = rc < 0 ? rc : ros2_node_open(&r->node, r->c.domain, err);
    rc = rc < 0 ? rc : ros2_senses_open(&r->node, &r->c, &r->senses, err);
    rc = rc < 0 ? rc : open_endpoints(r, err);
    rc = rc < 0 ? rc : start(r, err);
    if (rc < 0) {
        robot_close(r);
        return rc;
    }
    *ret_self = r;
    return PONS_OK;
}

// ---- the driver ---------------------------------------------------------------------------------

static void robot_caps(void *self, pons_robot_caps *ret)
{
    *ret = ((robot *)self)->caps;
}

static int64_t robot_time_ns(void *self)
{
    return ros2_senses_now(((robot *)self)->senses);
}

static void robot_read(void *self, pons_robot_state *ret)
{
    ros2_senses_state(((robot *)self)->senses, ret);
}

static bool robot_scan(void *self, pons_scan *ret)
{
    return ros2_senses_scan(((robot *)self)->senses, ret);
}

static void robot_write_velocity(void *self, pons_twist2 cmd)
{
    robot *r = self;
    const bool number = isfinite(cmd.v) && isfinite(cmd.w); // else it is no velocity
    const uint64_t now = number ? pons__pack_twist(cmd) : 0;
    pons__outlet_wrote(&r->outlet,
                       atomic_exchange_explicit(&r->cmd, now, memory_order_release) != now);
}

static int robot_charge(void *self, bool on, pons_error *err)
{
    return pons_error_set(err, PONS_EUNSUPPORTED, MODULE, "this robot charges by itself");
}

static bool robot_lacks(void *self, char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    robot *r = self;
    if (pons__host_now() - atomic_load_explicit(&r->alive_ns, memory_order_relaxed) >
        READER_DEAD_NS) {
        snprintf(ret_why, PONS_OUTSIDE_TEXT_MAX, "the driver's reader is starved");
        return true;
    }
    return !pons__seqlock_read(&r->lacks, ret_why) || *ret_why;
}

static bool robot_place(void *self, pons_robot_place *ret)
{
    robot *r = self;
    return r->c.place && ros2_senses_place(r->senses, ret);
}

static void robot_reported(void *self, pons_pose2 pose)
{
    robot *r = self;
    pthread_mutex_lock(&r->reported_mtx);
    r->reported = pose;
    r->has_reported = true;
    pthread_mutex_unlock(&r->reported_mtx);
}

static bool robot_takes(void *self, const char *skill)
{
    const robot *r = self;
    return r->errands && ros2_errands_take(r->errands, skill);
}

static void robot_begin(void *self, const pons_external_goal_request *goal)
{
    robot *r = self;
    ros2_errands_begin(r->errands, goal);
}

static void robot_look(void *self, const char *goal_id, pons_external_goal *ret)
{
    robot *r = self;
    ros2_errands_look(r->errands, goal_id, ret);
    if (ret->state == PONS_ERRAND_RUNS &&
        pons__host_now() - atomic_load(&r->want_ns) < WANT_OLD_NS) {
        ret->want = pons__unpack_twist(atomic_load(&r->want));
    }
}

static void robot_end(void *self, const char *goal_id)
{
    ros2_errands_end(((robot *)self)->errands, goal_id);
}

static const pons_skill *const *robot_skills(void *self, size_t *ret_n, const char **ret_interface)
{
    const robot *r = self;
    *ret_n = 0;
    *ret_interface = "ros2_action";
    return r->errands ? ros2_errands_skills(r->errands, ret_n) : NULL;
}

static bool robot_map(void *self, uint64_t seen, pons_robot_map *ret,
                      char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    return ros2_map_newest(((robot *)self)->map, seen, ret, ret_why);
}

static const pons_robot_outside_ops outside = {.lacks = robot_lacks,
                                               .place = robot_place,
                                               .reported = robot_reported,
                                               .takes = robot_takes,
                                               .begin = robot_begin,
                                               .look = robot_look,
                                               .end = robot_end,
                                               .skills = robot_skills,
                                               .map = robot_map};

static const pons_robot_ops ros2_ops = {.abi = PONS_ROBOT_ABI,
                                        .name = MODULE,
                                        .open = robot_open,
                                        .close = robot_close,
                                        .caps = robot_caps,
                                        .time_ns = robot_time_ns,
                                        .read = robot_read,
                                        .scan = robot_scan,
                                        .write_velocity = robot_write_velocity,
                                        .charge = robot_charge,
                                        .outside = &outside};
PONS_MODULE_EXPORT("driver", "ros2", &ros2_ops);
