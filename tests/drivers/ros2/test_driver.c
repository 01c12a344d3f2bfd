// test_driver.c - the driver of ROS 2 robots keeps the contract of drivers (../conformance.c): a robot is
// played behind its topics (peer.c), in step with the test. The test's step is over when the robot has the
// driver's last velocity, and the driver what the robot said; how long that takes does not matter.
#include "../conformance.h"
#include "drivers/twist_word.h"
#include "peer.h"
#include "pons/clock.h"
#include "pons/drivers.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOST_NS   (60 * PONS_NS_PER_S) // host time after which a message counts as lost
#define FLOAT_PCT 1e-5 // more than a float loses of a share of 1; a step takes ten times as much

typedef struct both {
    peer robot;
    void *driver;
    char ns[64];
    pthread_mutex_t mtx;  // the robot's: a step, a battery that is set
    _Atomic uint64_t cmd; // that was written last, as pons__pack_twist has it
} both;

static void pause_a_little(int64_t since_ns, const char *what)
{
    if (peer_clock_ns(CLOCK_MONOTONIC) - since_ns > LOST_NS) {
        fail_msg("%s was lost", what);
    }
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static int both_open(const pons_value *world, const pons_value *config, void **ret, pons_error *err)
{
    both *b = calloc(1, sizeof *b);
    char yaml[512];
    assert_non_null(b);
    static int nth;
    pthread_mutex_init(&b->mtx, NULL);
    snprintf(b->ns, sizeof b->ns, "%s/r%d", peer_ns, nth++); // several may be open at once
    snprintf(yaml, sizeof yaml,
             "namespace: %s\ndomain: %u\nuse_sim_time: true\nnavigation: pons\n"
             "topics: {tf: tf, tf_static: tf_static, clock: clock}\n",
             b->ns, peer_domain);
    const int rc = peer_driver_open(yaml, world, config, &b->driver, err);
    if (rc < 0) {
        free(b);
        return rc;
    }
    peer_open(&b->robot, world, config, b->ns, peer_domain, false);
    const int64_t since = peer_clock_ns(CLOCK_MONOTONIC);
    while (!peer_matched(&b->robot)) {
        pause_a_little(since, "the driver");
    }
    peer_say_battery(&b->robot);
    pons_robot_state s;
    for (ros2->read(b->driver, &s); isnan(s.battery_pct); ros2->read(b->driver, &s)) {
        pause_a_little(since, "the first battery state");
    }
    *ret = b;
    return PONS_OK;
}

static void both_close(void *self)
{
    both *b = self;
    if (b) {
        ros2->close(b->driver);
        peer_close(&b->robot);
        pthread_mutex_destroy(&b->mtx);
        free(b);
    } else {
        ros2->close(NULL);
    }
}

static void both_caps(void *self, pons_robot_caps *ret)
{
    ros2->caps(((both *)self)->driver, ret);
}

static int64_t both_time_ns(void *self)
{
    return ros2->time_ns(((both *)self)->driver);
}

static void both_read(void *self, pons_robot_state *ret)
{
    ros2->read(((both *)self)->driver, ret);
}

static bool both_scan(void *self, pons_scan *ret)
{
    return ros2->scan(((both *)self)->driver, ret);
}

static void both_write_velocity(void *self, pons_twist2 cmd)
{
    both *b = self;
    ros2->write_velocity(b->driver, cmd);
    atomic_store(&b->cmd, pons__pack_twist(cmd));
}

static int both_charge(void *self, bool on, pons_error *err)
{
    return ros2->charge(((both *)self)->driver, on, err);
}

// Until the robot has the velocity that is written; or a later one.
static void wait_for_cmd(both *b)
{
    const uint64_t cmd = atomic_load(&b->cmd), had = b->robot.cmds;
    const pons_twist2 t = pons__unpack_twist(cmd);
    const uint64_t want = isfinite(t.v) && isfinite(t.w) ? cmd : 0; // what is no number is a stop
    const int64_t since = peer_clock_ns(CLOCK_MONOTONIC);
    // As the gate does: a driver that hears nothing for a while stops the robot.
    ros2->write_velocity(b->driver, t);
    for (peer_take(&b->robot); pons__pack_twist(b->robot.cmd) != want; peer_take(&b->robot)) {
        if (b->robot.cmds > had && atomic_load(&b->cmd) != cmd) {
            return;
        }
        pause_a_little(since, "a velocity");
    }
}

static void wait_for_senses(both *b)
{
    const int64_t since = peer_clock_ns(CLOCK_MONOTONIC);
    pons_robot_state is, has;
    pons_scan scan;
    pons_robot_kinematic.read(b->robot.sim, &is);
    for (;; pause_a_little(since, "what the robot said")) {
        ros2->read(b->driver, &has);
        const bool scanned = b->robot.scanned_ns < 0 ||
                             (ros2->scan(b->driver, &scan) && scan.stamp_ns == b->robot.scanned_ns);
        if (scanned && has.stamp_ns == is.stamp_ns && ros2->time_ns(b->driver) == is.stamp_ns &&
            fabs(has.battery_pct - is.battery_pct) < FLOAT_PCT && has.battery == is.battery) {
            return;
        }
    }
}

static int both_step(void *self, int64_t dt_ns, pons_error *err)
{
    both *b = self;
    if (dt_ns < 0) {
        return pons_robot_kinematic.step(b->robot.sim, dt_ns, err);
    }
    pthread_mutex_lock(&b->mtx);
    wait_for_cmd(b);
    peer_step(&b->robot, dt_ns);
    wait_for_senses(b);
    pthread_mutex_unlock(&b->mtx);
    return PONS_OK;
}

// The rest is the played robot's.
static int both_save(void *self, pons_value **ret, pons_error *err)
{
    return pons_robot_kinematic.save(((both *)self)->robot.sim, ret, err);
}

static int both_spawn(void *self, const pons_value *what, pons_error *err)
{
    return pons_robot_kinematic.spawn(((both *)self)->robot.sim, what, err);
}

static void both_set_battery(void *self, double pct)
{
    both *b = self;
    pons_robot_state s;
    pthread_mutex_lock(&b->mtx);
    const int64_t since = peer_clock_ns(CLOCK_MONOTONIC);
    pons_robot_kinematic.set_battery(b->robot.sim, pct);
    peer_say_battery(&b->robot);
    for (ros2->read(b->driver, &s); fabs(s.battery_pct - pct) > FLOAT_PCT;
         ros2->read(b->driver, &s)) {
        pause_a_little(since, "a battery state");
    }
    pthread_mutex_unlock(&b->mtx);
}

static void both_truth(void *self, pons_pose2 *ret)
{
    pons_robot_kinematic.truth(((both *)self)->robot.sim, ret);
}

static const char *both_fault(void *self)
{
    both *b = self;
    return ros2->fault ? ros2->fault(b->driver) : NULL;
}

static const pons_robot_ops both_ops = {.abi = PONS_ROBOT_ABI,
                                        .name = "ros2",
                                        .open = both_open,
                                        .close = both_close,
                                        .caps = both_caps,
                                        .time_ns = both_time_ns,
                                        .read = both_read,
                                        .scan = both_scan,
                                        .write_velocity = both_write_velocity,
                                        .charge = both_charge,
                                        .fault = both_fault,
                                        .step = both_step,
                                        .save = both_save,
                                        .spawn = both_spawn,
                                        .set_battery = both_set_battery,
                                        .truth = both_truth};

int main(void)
{
    if (peer_load(NULL) < 0) {
        return 1;
    }
    const driver_traits traits = {.ops = &both_ops,
                                  .foreign = true,
                                  .battery_pct = 1e-4,
                                  .depth_m = 1e-6,
                                  .odom_m = 0.03,
                                  .odom_rad = 0.06,
                                  .brake_more_m = 0.01};
    return conformance_run(&traits);
}
