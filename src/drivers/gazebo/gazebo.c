// gazebo.c - a robot in Gazebo (Fortress and its transport), as a driver.
//
// A loadable module over Ignition Transport, whose C++ is behind wire.h. The robot is a model with Gazebo's
// DiffDrive, a lidar and, if it likes, a LinearBattery and a contact sensor; `pons map sdf` writes such
// a model and its world from a world of pons's.
//
//     gate --write_velocity--> writer --/model/robot/cmd_vel--> DiffDrive
//     odometry, scan, battery state, contacts, /clock, stats, poses --> ears --> sequence locks --> body
//     spawn, charge --> courier --/world/W/create, remove; recharge/start, stop--> Gazebo
//
//   thread     does
//   transport  its own: every message (`hear_…`)
//   writer     publishes what the gate last let through: at once when it changes, 20 times a second, and
//              zero when the gate has been silent for 250 ms, for a Gazebo robot obeys its last command
//              for ever
//   courier    waits for services, so that nobody else does
//
// **Whose clock.** With `clock: server` the world runs by itself: robot time is /clock, and `step` does
// nothing. With `clock: pons` the world is paused and `step` asks for so many iterations and waits until
// clock and odometry have got there; then what is spawned is there before the next step, and --speed may
// be more than 1. A clock that goes back (the world was reset) makes robot time go on from where it was.
//
// **What it lacks** is told by `lacks`, and the robot stands: no clock, a paused world, no odometry, no
// scan, nobody who hears the velocities. What is no number is left out, and grows old.
//
// What Gazebo has not is done here: an empty battery does not drive, the charger's contacts are where
// the world's charger is, and a touched bumper lets nothing pass that presses on.
#include "drivers/gate.h"
#include "drivers/gazebo/config.h"
#include "drivers/gazebo/wire.h"
#include "drivers/sim/sim.h"
#include "drivers/twist_word.h"
#include "pons/clock.h"
#include "pons/log.h"
#include "pons/module.h"

#include <math.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MODULE "gazebo"

#define WRITE_LEAST_NS (5 * PONS_NS_PER_MS) // between any two publications
#define COURIER_NS     (50 * PONS_NS_PER_MS)
#define BACK_NS        (PONS_NS_PER_S / 2)    // of the clock: less is jitter
#define TOUCH_NS       (300 * PONS_NS_PER_MS) // host time for which a contact counts
#define CLOCK_OLD_NS   PONS_NS_PER_S
#define OPEN_NS        (5 * PONS_NS_PER_S) // for the first senses, when pons has the clock
#define SERVICE_MS     1000
#define ASK_MS         500                   // then a question is asked again: answers get lost
#define STEP_MAX       10000                 // iterations at once
#define OPEN_STEP_NS   (10 * PONS_NS_PER_MS) // of robot time, until the first senses have come

typedef enum sense { ODOM, SCAN, BATTERY, CLOCK, SENSES } sense;

typedef struct heard { // host times; 0: never
    _Atomic int64_t ns;
    _Atomic bool bad; // the newest was no number
} heard;

typedef struct order { // of one obstacle: what the courier still has to make true
    bool due;
    int made;       // how often it was asked for: part of the name that Gazebo knows it by
    char there[64]; // the name of the one that stands there; "": none
} order;

typedef struct robot {
    pons__sim sim;     // first: ops of the simulated robots take it
    gazebo_config c;   /* const */
    gazebo_wire *wire; /* const after open */
    pthread_t writer, courier;
    bool writes, carries;
    _Atomic bool quit;
    pons__gate gate;
    sem_t asked; // the courier has something to do
    heard heard[SENSES];
    _Atomic bool paused, listened, stalled;
    _Atomic int64_t back_ns;               // host time at which the clock went back
    _Atomic int64_t front_ns, behind_ns;   // host times of the newest contacts
    _Atomic int power;                     // of the battery, as Gazebo says it
    pthread_mutex_t mtx;                   // of all below; taken after sim.step_lock
    pthread_cond_t moved;                  // clock or odometry has moved
    int64_t offset_ns;                     // robot time + this is Gazebo's
    int64_t clock_ns, odom_ns, period_ns;  // Gazebo's: the newest of each; between two odometries
    int64_t step_ns;                       // an iteration; 0: not said
    order orders[PONS__SIM_OBSTACLES_MAX]; // [sim.step_lock]
    bool charge_asked;                     // courier's: what was told last
    pons_pose2 truth;                      // [sim.step_lock]
    bool has_odom;                         // [sim.step_lock]
    pons_scan scan; // [sim.step_lock] one that is newer than the odometry; n 0: none
} robot;

static int robot_open(const pons_value *world, const pons_value *config, void **ret_self,
                      pons_error *err);
static void robot_close(void *self);
static int open_wire(robot *r, pons_error *err);
static int start(robot *r, pons_error *err);
static int wait_for_senses(robot *r, pons_error *err);
static void *run_writer(void *arg);
static void *run_courier(void *arg);
static void carry(robot *r);
static void publish(robot *r);
static void hear_odom(void *user, const gazebo_odom *o);
static void hear_scan(void *user, const gazebo_scan *s);
static void hear_battery(void *user, double share, int status);
static void hear_clock(void *user, int64_t sim_ns);
static void hear_stats(void *user, bool paused, int64_t step_ns);
static void hear_pose(void *user, const char *name, double x, double y, double yaw);
static void hear_contact(void *user, double x, double y);

// ---- the driver ---------------------------------------------------------------------------------

static void robot_read(void *self, pons_robot_state *ret)
{
    robot *r = self;
    pons__sim_read(self, ret);
    const int power = atomic_load_explicit(&r->power, memory_order_relaxed);
    ret->battery = power == PONS_BATTERY_CHARGING || power == PONS_BATTERY_FULL
                       ? (pons_battery_state)power
                   : ret->on_charger ? PONS_BATTERY_NOT_CHARGING
                                     : PONS_BATTERY_DISCHARGING;
}

static void robot_write_velocity(void *self, pons_twist2 cmd)
{
    robot *r = self;
    const uint64_t was = atomic_load_explicit(&r->sim.cmd, memory_order_relaxed);
    pons__sim_write_velocity(self, cmd);
    pons__gate_wrote(&r->gate, atomic_load_explicit(&r->sim.cmd, memory_order_relaxed) != was);
}

static int robot_charge(void *self, bool on, pons_error *err)
{
    robot *r = self;
    if (!*r->c.recharge) {
        return pons_error_set(err, PONS_EUNSUPPORTED, MODULE, "this robot has no battery");
    }
    return pons__sim_charge(self, on, err); // the courier looks every COURIER_NS
}

static int robot_spawn(void *self, const pons_value *what, pons_error *err)
{
    robot *r = self;
    pons__obstacle o;
    bool removed = false;
    int rc = pons__sim_spawn_parse(&r->sim, what, &o, &removed, err);
    if (rc < 0) {
        return rc;
    }
    pthread_mutex_lock(&r->sim.step_lock);
    rc = pons__sim_spawn_place(&r->sim, &o, removed, PONS__SIM_OBSTACLES_MAX, err);
    if (rc >= 0) {
        r->orders[rc].due = true;
        r->orders[rc].made++;
    }
    pthread_mutex_unlock(&r->sim.step_lock);
    if (rc >= 0) {
        sem_post(&r->asked);
    }
    return rc < 0 ? rc : PONS_OK;
}

// What is wrong with a sense, or NULL.
static const char *sense_lacks(robot *r, sense s, double limit_s, int64_t host_ns)
{
    const heard *h = &r->heard[s];
    const int64_t ns = atomic_load_explicit(&h->ns, memory_order_relaxed);
    if (ns && host_ns - ns < (int64_t)(limit_s * 1e9)) {
        return NULL;
    }
    return atomic_load_explicit(&h->bad, memory_order_relaxed) ? "it is no number"
           : ns                                                ? "nothing comes any more"
                                                               : "nothing has come yet";
}

// Only atomics and a copy: the safety thread asks too.
static bool robot_lacks(void *self, char ret_why[PONS_OUTSIDE_TEXT_MAX])
{
    robot *r = self;
    const int64_t now = pons__host_now();
    const int64_t back = atomic_load_explicit(&r->back_ns, memory_order_relaxed);
    // The robot's clock decides how old its senses are where pons makes it go.
    const double more_s = r->c.steps ? r->c.step_s : 0.0;
    const char *what = "", *why = NULL;
    if (back && now - back < PONS_NS_PER_S) {
        what = "/clock", why = "it went back: the senses begin anew";
    } else if (atomic_load_explicit(&r->stalled, memory_order_relaxed)) {
        what = r->c.world, why = "the world does not step: is the server there?";
    } else if ((why = sense_lacks(r, CLOCK, 1.0 + more_s, now))) {
        what = "/clock";
    } else if (!r->c.steps && atomic_load_explicit(&r->paused, memory_order_relaxed)) {
        what = r->c.world, why = "the world is paused";
    } else if ((why = sense_lacks(r, ODOM, r->c.odom_s + more_s, now))) {
        what = r->c.odom;
    } else if ((why = sense_lacks(r, SCAN, r->c.scan_s + more_s, now))) {
        what = r->c.scan;
    } else if (*r->c.battery &&
               !atomic_load_explicit(&r->heard[BATTERY].ns, memory_order_relaxed)) {
        what = r->c.battery, why = "nothing has come yet";
    } else if (!atomic_load_explicit(&r->listened, memory_order_relaxed)) {
        what = r->c.cmd_vel, why = "nobody subscribes to it";
    }
    if (!why) {
        return false;
    }
    snprintf(ret_why, PONS_OUTSIDE_TEXT_MAX, "%.100s: %s", what, why);
    return true;
}

static const pons_robot_outside_ops outside = {.lacks = robot_lacks};

// The world is at this time of its own, and the odometry is as new as it comes. [mtx]
static bool has_come_to(const robot *r, int64_t ns)
{
    return r->clock_ns >= ns &&
           (r->odom_ns == 0 || r->odom_ns >= ns || r->odom_ns + r->period_ns > ns);
}

static bool ask_for_steps(robot *r, int64_t n)
{
    char service[GAZEBO_NAME_MAX];
    snprintf(service, sizeof service, "/world/%s/control", r->c.world);
    return gazebo_wire_control(r->wire, service, true, (uint32_t)(n < STEP_MAX ? n : STEP_MAX),
                               ASK_MS);
}

// False: it has not come there in ASK_MS.
static bool wait_for_time(robot *r, int64_t ns, int64_t offset_ns)
{
    const struct timespec t = pons__host_time(pons__host_now() + ASK_MS * PONS_NS_PER_MS);
    bool there = false;
    pthread_mutex_lock(&r->mtx);
    for (int late = 0; !late;) {
        there = r->offset_ns != offset_ns || has_come_to(r, ns);
        if (there) {
            break;
        }
        late = pthread_cond_timedwait(&r->moved, &r->mtx, &t);
    }
    pthread_mutex_unlock(&r->mtx);
    return there;
}

// So that dt_ns of robot time have gone by. Waits for the world, but not for ever: what it still owes is
// asked for again, and meanwhile the robot lacks it.
static int robot_step(void *self, int64_t dt_ns, pons_error *err)
{
    robot *r = self;
    if (dt_ns < 0) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "cannot step back in time");
    }
    if (!r->c.steps) {
        return PONS_OK;
    }
    carry(r);
    publish(r);
    pthread_mutex_lock(&r->mtx);
    const int64_t step_ns = r->step_ns > 0 ? r->step_ns : PONS_NS_PER_MS;
    const int64_t offset_ns = r->offset_ns, from_ns = r->clock_ns;
    const int64_t n = (pons__sim_time_ns(self) + dt_ns + offset_ns - from_ns) / step_ns;
    pthread_mutex_unlock(&r->mtx);
    if (n <= 0) {
        return PONS_OK; // less than an iteration: it is owed
    }
    const int64_t until = pons__host_now() + (int64_t)(r->c.step_s * 1e9);
    const int64_t target_ns = from_ns + (n < STEP_MAX ? n : STEP_MAX) * step_ns;
    bool there = false, asked = false;
    for (int64_t at_ns = from_ns, left = n; !there && pons__host_now() < until;) {
        asked = asked || left <= 0 || ask_for_steps(r, left);
        const bool came = wait_for_time(r, target_ns, offset_ns);
        pthread_mutex_lock(&r->mtx);
        there = came || r->clock_ns >= target_ns; // an odometry may be lost
        asked = asked && r->clock_ns != at_ns;    // a question, or its answer, too
        at_ns = r->clock_ns;
        left = (target_ns - at_ns) / step_ns;
        pthread_mutex_unlock(&r->mtx);
    }
    if (!there) {
        pons_log(PONS_LOG_DEBUG, MODULE, "%s does not come to %.3f s", r->c.world,
                 (double)target_ns * 1e-9);
    }
    atomic_store_explicit(&r->stalled, !there, memory_order_relaxed);
    return PONS_OK;
}

static const pons_robot_ops gazebo_ops = {.abi = PONS_ROBOT_ABI,
                                          .name = MODULE,
                                          .open = robot_open,
                                          .close = robot_close,
                                          .caps = pons__sim_caps,
                                          .time_ns = pons__sim_time_ns,
                                          .read = robot_read,
                                          .scan = pons__sim_scan,
                                          .write_velocity = robot_write_velocity,
                                          .charge = robot_charge,
                                          .fault = pons__sim_get_fault,
                                          .step = robot_step,
                                          .spawn = robot_spawn,
                                          .truth = pons__sim_truth,
                                          .outside = &outside};
PONS_MODULE_EXPORT("driver", "gazebo", &gazebo_ops);

// ---- open and close -----------------------------------------------------------------------------

static int robot_open(const pons_value *world, const pons_value *config, void **ret_self,
                      pons_error *err)
{
    robot *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a robot");
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&r->mtx, NULL);
    pthread_cond_init(&r->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pons__gate_init(&r->gate);
    sem_init(&r->asked, 0, 0);
    int rc = pons__sim_init(&r->sim, MODULE, world, config, err);
    rc = rc < 0 ? rc
                : gazebo_config_load(pons_get_str(config, "workspace", NULL), r->sim.p.world, &r->c,
                                     err);
    if (rc >= 0) {
        r->sim.p.caps.can_charge = *r->c.recharge != '\0';
        r->truth = r->sim.p.start;
        if (!*r->c.battery) {
            r->sim.v.battery_pct = 100.0;
            pons__sim_publish_again(&r->sim);
        }
    }
    rc = rc < 0 ? rc : open_wire(r, err);
    rc = rc < 0 ? rc : start(r, err);
    rc = rc < 0 || !r->c.steps ? rc : wait_for_senses(r, err);
    if (rc < 0) {
        robot_close(r);
        return rc;
    }
    *ret_self = r;
    return PONS_OK;
}

static int open_wire(robot *r, pons_error *err)
{
    const gazebo_ears ears = {r,          hear_odom,  hear_scan, hear_battery,
                              hear_clock, hear_stats, hear_pose, hear_contact};
    char why[128] = "", stats[GAZEBO_NAME_MAX], poses[GAZEBO_NAME_MAX];
    snprintf(stats, sizeof stats, "/world/%s/stats", r->c.world);
    snprintf(poses, sizeof poses, "/world/%s/pose/info", r->c.world);
    r->wire = gazebo_wire_open(r->c.partition, &ears, why, sizeof why);
    if (!r->wire) {
        return pons_error_set(err, PONS_EENV, MODULE, "no Ignition Transport: %s", why);
    }
    const struct {
        gazebo_topic what;
        const char *name;
    } all[] = {{GAZEBO_ODOM, r->c.odom},       {GAZEBO_SCAN, r->c.scan},
               {GAZEBO_BATTERY, r->c.battery}, {GAZEBO_CONTACTS, r->c.contacts},
               {GAZEBO_CLOCK, "/clock"},       {GAZEBO_STATS, stats},
               {GAZEBO_POSES, poses}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (*all[i].name && !gazebo_wire_hear(r->wire, all[i].what, all[i].name)) {
            return pons_error_set(err, PONS_EENV, MODULE, "cannot subscribe to %s", all[i].name);
        }
    }
    return gazebo_wire_drive(r->wire, r->c.cmd_vel)
               ? PONS_OK
               : pons_error_set(err, PONS_EENV, MODULE, "cannot advertise %s", r->c.cmd_vel);
}

static int start(robot *r, pons_error *err)
{
    r->writes = pthread_create(&r->writer, NULL, run_writer, r) == 0;
    r->carries = r->writes && pthread_create(&r->courier, NULL, run_courier, r) == 0;
    return r->carries ? PONS_OK : pons_error_set(err, PONS_EENV, MODULE, "cannot start a thread");
}

// With `clock: pons`: stops the world, and steps it until odometry and a scan have come.
static int wait_for_senses(robot *r, pons_error *err)
{
    const int64_t until = pons__host_now() + OPEN_NS;
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    while (pons__host_now() < until) {
        const int rc = robot_step(r, OPEN_STEP_NS, err);
        if (rc < 0 || !robot_lacks(r, why)) {
            return rc;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20 * PONS_NS_PER_MS}, NULL);
    }
    return pons_error_set(err, PONS_EENV, MODULE, "the world %s does not answer in Gazebo: %s",
                          r->c.world, *why ? why : "is the server there?");
}

static void robot_close(void *self)
{
    robot *r = self;
    if (!r) {
        return;
    }
    atomic_store(&r->quit, true);
    pons__gate_wake(&r->gate);
    sem_post(&r->asked);
    if (r->writes) {
        pthread_join(r->writer, NULL);
        gazebo_wire_twist(r->wire, 0.0, 0.0);
    }
    if (r->carries) {
        pthread_join(r->courier, NULL);
    }
    gazebo_wire_close(r->wire);
    pons__sim_fini(&r->sim);
    pthread_cond_destroy(&r->moved);
    pthread_mutex_destroy(&r->mtx);
    pons__gate_fini(&r->gate);
    sem_destroy(&r->asked);
    free(r);
}

// ---- what goes out ------------------------------------------------------------------------------

static void drop(sem_t *sem) // what was posted since: one look is enough for all
{
    while (sem_trywait(sem) == 0) {
    }
}

static void *run_writer(void *arg)
{
    robot *r = arg;
    while (!atomic_load_explicit(&r->quit, memory_order_acquire)) {
        pons__gate_wait(&r->gate);
        drop(&r->gate.written);
        publish(r);
        nanosleep(&(struct timespec){.tv_nsec = WRITE_LEAST_NS}, NULL);
    }
    return NULL;
}

static void publish(robot *r)
{
    const int64_t now = pons__host_now();
    // Where pons makes time go, nothing moves without it.
    const bool silent = !r->c.steps && pons__gate_silent(&r->gate);
    pons_robot_state state;
    pons__sim_read(r, &state);
    pons_twist2 cmd = pons__unpack_twist(atomic_load(&r->sim.cmd));
    const pons_robot_caps *c = &r->sim.p.caps;
    cmd.v = fmin(fmax(cmd.v, -c->reverse_max_mps), c->speed_max_mps);
    cmd.w = fmin(fmax(cmd.w, -c->yaw_rate_max_radps), c->yaw_rate_max_radps);
    if (silent || state.battery_pct <= 0.0) {
        cmd = (pons_twist2){0};
    }
    if (cmd.v > 0.0 && now - atomic_load(&r->front_ns) < TOUCH_NS) {
        cmd.v = 0.0;
    }
    if (cmd.v < 0.0 && now - atomic_load(&r->behind_ns) < TOUCH_NS) {
        cmd.v = 0.0;
    }
    gazebo_wire_twist(r->wire, cmd.v, cmd.w);
}

// With `clock: pons` it carries nothing: `step` does, so that what was asked is there in the next one.
static void *run_courier(void *arg)
{
    robot *r = arg;
    while (!atomic_load_explicit(&r->quit, memory_order_acquire)) {
        atomic_store(&r->listened, gazebo_wire_listened(r->wire));
        if (!r->c.steps) {
            carry(r);
        }
        pons__host_wait(&r->asked, COURIER_NS);
        drop(&r->asked);
        nanosleep(&(struct timespec){.tv_nsec = WRITE_LEAST_NS}, NULL);
    }
    return NULL;
}

// A new one under a new name, then the old one goes: Gazebo refuses a name that is still there.
static bool carry_one(robot *r, int i, int made, const pons__obstacle *o)
{
    char create[GAZEBO_NAME_MAX], away[GAZEBO_NAME_MAX], name[64] = "", sdf[1024];
    order *d = &r->orders[i];
    snprintf(create, sizeof create, "/world/%s/create", r->c.world);
    snprintf(away, sizeof away, "/world/%s/remove", r->c.world);
    if (*o->id) {
        snprintf(name, sizeof name, "pons_obstacle_%d_%d", i, made);
        snprintf(
            sdf, sizeof sdf,
            "<?xml version=\"1.0\"?><sdf version=\"1.8\"><model name=\"%s\"><static>true</static>"
            "<pose>%.6f %.6f %.6f 0 0 %.6f</pose><link name=\"link\">"
            "<collision name=\"collision\"><geometry><box><size>%.6f %.6f %.6f</size></box>"
            "</geometry></collision><visual name=\"visual\"><geometry><box><size>%.6f %.6f %.6f"
            "</size></box></geometry></visual></link></model></sdf>",
            name, o->box.x, o->box.y, 0.5 * o->height_m, o->box.yaw, o->box.sx, o->box.sy,
            o->height_m, o->box.sx, o->box.sy, o->height_m);
    }
    if ((*name && !gazebo_wire_create(r->wire, create, sdf, SERVICE_MS)) ||
        (*d->there && !gazebo_wire_remove(r->wire, away, d->there, SERVICE_MS))) {
        pons_log(PONS_LOG_DEBUG, MODULE, "%s: no answer, obstacle %d is tried again", r->c.world,
                 i);
        return false;
    }
    snprintf(d->there, sizeof d->there, "%s", name);
    return true;
}

static void carry(robot *r)
{
    for (int i = 0; i < PONS__SIM_OBSTACLES_MAX; i++) {
        pthread_mutex_lock(&r->sim.step_lock);
        const pons__obstacle o = r->sim.v.obstacles[i];
        const bool due = r->orders[i].due;
        const int of = r->orders[i].made;
        r->orders[i].due = false;
        pthread_mutex_unlock(&r->sim.step_lock);
        if (due && !carry_one(r, i, of, &o)) {
            pthread_mutex_lock(&r->sim.step_lock);
            r->orders[i].due = true;
            pthread_mutex_unlock(&r->sim.step_lock);
            break;
        }
    }
    const bool wanted = atomic_load(&r->sim.charge_wanted);
    if (*r->c.recharge && wanted != r->charge_asked) {
        char service[GAZEBO_NAME_MAX + 8];
        snprintf(service, sizeof service, "%s/%s", r->c.recharge, wanted ? "start" : "stop");
        if (gazebo_wire_tell(r->wire, service, true)) {
            r->charge_asked = wanted;
        }
    }
}

// ---- what comes in: the transport's thread ------------------------------------------------------

static void came(robot *r, sense s, bool good)
{
    if (good) {
        atomic_store_explicit(&r->heard[s].ns, pons__host_now(), memory_order_relaxed);
    }
    atomic_store_explicit(&r->heard[s].bad, !good, memory_order_relaxed);
}

static void hear_clock(void *user, int64_t sim_ns)
{
    robot *r = user;
    pthread_mutex_lock(&r->sim.step_lock);
    pthread_mutex_lock(&r->mtx);
    int64_t now = sim_ns - r->offset_ns;
    const int64_t was = atomic_load(&r->sim.time_ns);
    if (was > 0 && now < was - BACK_NS) { // begun anew: robot time goes on
        r->offset_ns = sim_ns - was;
        r->odom_ns = sim_ns;
        now = was;
        r->has_odom = false;
        atomic_store(&r->heard[ODOM].ns, 0);
        atomic_store(&r->heard[SCAN].ns, 0);
        atomic_store(&r->back_ns, pons__host_now());
    }
    r->clock_ns = sim_ns;
    if (now > was) {
        atomic_store_explicit(&r->sim.time_ns, now, memory_order_release);
    }
    pthread_cond_broadcast(&r->moved);
    pthread_mutex_unlock(&r->mtx);
    pthread_mutex_unlock(&r->sim.step_lock);
    came(r, CLOCK, true);
}

static void hear_odom(void *user, const gazebo_odom *o)
{
    robot *r = user;
    if (!isfinite(o->x) || !isfinite(o->y) || !isfinite(o->yaw) || !isfinite(o->v) ||
        !isfinite(o->w)) {
        came(r, ODOM, false);
        return;
    }
    pons__sim_vars *v = &r->sim.v;
    const pons_pose2 at = {o->x, o->y, o->yaw};
    pthread_mutex_lock(&r->sim.step_lock);
    pthread_mutex_lock(&r->mtx);
    const int64_t ns = o->stamp_ns - r->offset_ns;
    const bool late = r->has_odom && ns <= v->time_ns;
    if (!late) {
        r->period_ns = r->has_odom ? o->stamp_ns - r->odom_ns : 0;
        r->odom_ns = o->stamp_ns;
    }
    pthread_cond_broadcast(&r->moved);
    pthread_mutex_unlock(&r->mtx);
    if (!late) {
        if (r->has_odom) { // for the covariance, which the message has not
            pons__sim_odometry(&r->sim, hypot(at.x - v->odom.x, at.y - v->odom.y),
                               pons_wrap_angle(at.yaw - v->odom.yaw), false);
        }
        const int64_t clock_ns = atomic_load(&r->sim.time_ns);
        r->has_odom = true;
        v->odom = at;
        v->twist = (pons_twist2){o->v, o->w};
        v->time_ns = ns;
        pons__sim_publish(&r->sim, r->truth);
        if (clock_ns > ns) { // the state is a little older than the clock
            atomic_store_explicit(&r->sim.time_ns, clock_ns, memory_order_release);
        }
        if (r->scan.n > 0 && r->scan.stamp_ns <= ns) {
            pons__seqlock_write(&r->sim.scan, &r->scan);
            r->scan.n = 0;
        }
    }
    pthread_mutex_unlock(&r->sim.step_lock);
    came(r, ODOM, true);
}

// As it was measured where the lidar sits in the middle and has as many beams as fit; else seen from base,
// the nearest return in each direction. A direction into which no beam looked is not a number.
static bool take_scan(const robot *r, const gazebo_scan *s, pons_scan *ret)
{
    const pons_pose2 at = r->c.lidar;
    const double inc = s->angle_step;
    if (s->n == 0 || !isfinite(s->angle_min) || !(fabs(inc) > 1e-6) || !(s->range_max > 0.0)) {
        return false;
    }
    const bool plain = at.x == 0.0 && at.y == 0.0 && inc > 0.0 && s->n <= PONS_SCAN_MAX;
    const int bins =
        plain ? (int)s->n : (int)fmin(PONS_SCAN_MAX, fmax(8, floor(2 * M_PI / fabs(inc) + 0.5)));
    const double step = plain ? inc : 2 * M_PI / bins;
    *ret = (pons_scan){.n = bins,
                       .angle_min = (float)(plain ? s->angle_min + at.yaw : -M_PI + 0.5 * step),
                       .angle_increment = (float)step,
                       .range_min = (float)(plain ? s->range_min : 0.0),
                       .range_max = (float)(s->range_max + (plain ? 0.0 : hypot(at.x, at.y)))};
    for (int i = 0; i < bins; i++) {
        ret->ranges[i] = NAN;
    }
    for (size_t i = 0; i < s->n; i++) {
        const double range = s->ranges[i];
        const bool hit = range >= s->range_min && range <= s->range_max;
        const bool none = range > s->range_max;
        if (plain) {
            ret->ranges[i] = hit ? (float)range : none ? INFINITY : NAN;
        } else if (hit || none) {
            const double a = at.yaw + s->angle_min + (double)i * inc,
                         far = hit ? range : s->range_max;
            const double x = at.x + far * cos(a), y = at.y + far * sin(a);
            int k = (int)floor((atan2(y, x) + M_PI) / step);
            k = k < 0 ? 0 : k >= bins ? bins - 1 : k;
            const float seen = hit ? (float)hypot(x, y) : INFINITY;
            ret->ranges[k] = isnan(ret->ranges[k]) ? seen : fminf(seen, ret->ranges[k]);
        }
    }
    return true;
}

// Published when the odometry of its moment is there: whoever has a scan finds where it was taken.
static void hear_scan(void *user, const gazebo_scan *s)
{
    robot *r = user;
    pons_scan scan;
    const bool good = take_scan(r, s, &scan);
    if (good) {
        pthread_mutex_lock(&r->sim.step_lock);
        pthread_mutex_lock(&r->mtx);
        scan.stamp_ns = s->stamp_ns - r->offset_ns;
        pthread_mutex_unlock(&r->mtx);
        if (r->has_odom && scan.stamp_ns <= r->sim.v.time_ns) {
            pons__seqlock_write(&r->sim.scan, &scan);
        } else {
            r->scan = scan;
        }
        pthread_mutex_unlock(&r->sim.step_lock);
    }
    came(r, SCAN, good);
}

static void hear_battery(void *user, double share, int status)
{
    robot *r = user;
    const double pct = r->c.percent ? share : 100.0 * share;
    const bool good = isfinite(pct) && pct > -0.5 && pct < 100.5;
    if (good) {
        pthread_mutex_lock(&r->sim.step_lock);
        const int64_t clock_ns = atomic_load(&r->sim.time_ns);
        r->sim.v.battery_pct = fmin(fmax(pct, 0.0), 100.0);
        pons__sim_publish(&r->sim, r->truth);
        atomic_store_explicit(&r->sim.time_ns, clock_ns, memory_order_release);
        pthread_mutex_unlock(&r->sim.step_lock);
        atomic_store_explicit(&r->power, status, memory_order_relaxed);
    }
    came(r, BATTERY, good);
}

static void hear_stats(void *user, bool paused, int64_t step_ns)
{
    robot *r = user;
    atomic_store_explicit(&r->paused, paused, memory_order_relaxed);
    pthread_mutex_lock(&r->mtx);
    r->step_ns = step_ns > 0 ? step_ns : r->step_ns;
    pthread_mutex_unlock(&r->mtx);
}

static void hear_pose(void *user, const char *name, double x, double y, double yaw)
{
    robot *r = user;
    if (strcmp(name, r->c.model) != 0 || !isfinite(x + y + yaw)) {
        return;
    }
    pthread_mutex_lock(&r->sim.step_lock);
    const int64_t clock_ns = atomic_load(&r->sim.time_ns);
    r->truth = (pons_pose2){x, y, yaw};
    pons__sim_charger(&r->sim, r->truth);
    pons__sim_publish(&r->sim, r->truth);
    atomic_store_explicit(&r->sim.time_ns, clock_ns, memory_order_release);
    pthread_mutex_unlock(&r->sim.step_lock);
}

static void hear_contact(void *user, double x, double y)
{
    robot *r = user;
    pthread_mutex_lock(&r->sim.step_lock);
    const pons_pose2 at = r->truth;
    pthread_mutex_unlock(&r->sim.step_lock);
    const bool ahead = (x - at.x) * cos(at.yaw) + (y - at.y) * sin(at.yaw) >= 0.0;
    atomic_store_explicit(ahead ? &r->front_ns : &r->behind_ns, pons__host_now(),
                          memory_order_relaxed);
}
