// gazebo.c - a robot in Gazebo (Fortress and its transport), as a driver.
//
// A loadable module over Ignition Transport, whose C++ is behind transport.h. The robot is a model with Gazebo's
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
//              for ever; when this process dies, its keeper (keeper_process.h) says zero
//   courier    waits for services, so that nobody else does, and minds the keeper
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
#include "drivers/gazebo/robot.h"
#include "drivers/outlet.h"
#include "drivers/twist_word.h"
#include "pons/clock.h"
#include "pons/log.h"
#include "pons/module.h"

#include <math.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MODULE "gazebo"

#define WRITE_LEAST_NS (5 * PONS_NS_PER_MS) // between any two publications
#define COURIER_NS     (50 * PONS_NS_PER_MS)
#define TOUCH_NS       (300 * PONS_NS_PER_MS) // host time for which a contact counts
#define SERVICE_MS     1000
#define ASK_MS         500           // then a question is asked again: answers get lost
#define STEP_MAX       10000         // iterations at once
#define NEVER_S        1e9           // what is this old counts, too
#define TYPES_NS       PONS_NS_PER_S // between looks at what else is published where nothing comes
#define OPEN_STEP_NS   (10 * PONS_NS_PER_MS) // of robot time, until the first senses have come

// ---- what goes out ------------------------------------------------------------------------------

static void drop(sem_t *sem) // what was posted since: one look is enough for all
{
    while (sem_trywait(sem) == 0) {
    }
}

static void publish(robot *r)
{
    const int64_t now = pons__host_now();
    // Where pons makes time go, nothing moves without it.
    const bool silent = !r->c.steps && pons__outlet_silent(&r->outlet);
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
    // The keeper knows that the robot moves before it does, for this process may stop between any two lines.
    const bool moves = cmd.v != 0.0 || cmd.w != 0.0;
    if (moves) {
        gazebo_keep_beat(&r->keep, true);
    }
    gazebo_wire_twist(r->wire, cmd.v, cmd.w);
    if (!moves) {
        gazebo_keep_beat(&r->keep, false);
    }
}

static void *run_writer(void *arg)
{
    robot *r = arg;
    while (!atomic_load_explicit(&r->quit, memory_order_acquire)) {
        pons__outlet_wait(&r->outlet);
        drop(&r->outlet.written);
        publish(r);
        nanosleep(&(struct timespec){.tv_nsec = WRITE_LEAST_NS}, NULL);
    }
    return NULL;
}

// Where a sense has never come: another type never does, and nobody would say so.
static void look_at_types(robot *r)
{
    const struct {
        sense s;
        gazebo_topic what;
        const char *topic;
    } all[] = {{ODOM, GAZEBO_ODOM, r->c.odom},
               {SCAN, GAZEBO_SCAN, r->c.scan},
               {BATTERY, GAZEBO_BATTERY, r->c.battery},
               {CLOCK, GAZEBO_CLOCK, "/clock"}};
    const int64_t now = pons__host_now();
    if (now - r->looked_ns < TYPES_NS) {
        return;
    }
    r->looked_ns = now;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        received *h = &r->received[all[i].s];
        char type[128];
        if (atomic_load(&h->ns) || !*all[i].topic) {
            continue;
        }
        const bool other = gazebo_wire_other(r->wire, all[i].what, all[i].topic, type, sizeof type);
        int was = other ? NO_FAULT : OTHER_TYPE;
        const bool news =
            atomic_compare_exchange_strong(&h->bad, &was, other ? OTHER_TYPE : NO_FAULT);
        if (news && other) {
            pons_log(PONS_LOG_WARN, MODULE, "%s is published as %s", all[i].topic, type);
        }
    }
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

// With `clock: pons` it carries nothing: `step` does, so that what was asked is there in the next one.
static void *run_courier(void *arg)
{
    robot *r = arg;
    while (!atomic_load_explicit(&r->quit, memory_order_acquire)) {
        atomic_store(&r->listened, gazebo_wire_listened(r->wire));
        look_at_types(r);
        if (!r->c.steps) {
            gazebo_keep_mind(&r->keep);
            carry(r);
        }
        pons__host_wait(&r->asked, COURIER_NS);
        drop(&r->asked);
        nanosleep(&(struct timespec){.tv_nsec = WRITE_LEAST_NS}, NULL);
    }
    return NULL;
}

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
    pons__outlet_wrote(&r->outlet, atomic_load_explicit(&r->sim.cmd, memory_order_relaxed) != was);
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
    const received *h = &r->received[s];
    static const char *const words[] = {[NO_NUMBER] = "it is no number",
                                        [TIME_BACK] = "its time goes back",
                                        [OTHER_CLOCK] = "its stamps are not by /clock",
                                        [OTHER_TYPE] = "another type is published there"};
    const int64_t ns = atomic_load_explicit(&h->ns, memory_order_relaxed);
    const int bad = atomic_load_explicit(&h->bad, memory_order_relaxed);
    if (ns && host_ns - ns < (int64_t)(limit_s * 1e9)) {
        return NULL;
    }
    return bad != NO_FAULT ? words[bad] : ns ? "nothing comes any more" : "nothing has come yet";
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
    } else if (*r->c.battery && (why = sense_lacks(r, BATTERY, NEVER_S, now))) {
        what = r->c.battery; // its first word is waited for
    } else if (!atomic_load_explicit(&r->listened, memory_order_relaxed)) {
        what = r->c.cmd_vel, why = "nobody subscribes to it";
    } else if (!r->c.steps && !gazebo_keep_ready(&r->keep, now)) {
        what = r->c.cmd_vel, why = "its keeper is not there yet";
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

static void robot_close(void *self)
{
    robot *r = self;
    if (!r) {
        return;
    }
    atomic_store(&r->quit, true);
    pons__outlet_wake(&r->outlet);
    sem_post(&r->asked);
    if (r->writes) {
        pthread_join(r->writer, NULL);
        gazebo_wire_twist(r->wire, 0.0, 0.0);
    }
    if (r->carries) {
        pthread_join(r->courier, NULL);
    }
    gazebo_keep_close(&r->keep);
    gazebo_wire_close(r->wire);
    pons__sim_fini(&r->sim);
    pthread_cond_destroy(&r->moved);
    pthread_mutex_destroy(&r->mtx);
    pons__outlet_fini(&r->outlet);
    sem_destroy(&r->asked);
    free(r);
}

static int robot_open(const pons_value *world, const pons_value *config, void **ret_self,
                      pons_error *err);

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

static int open_wire(robot *r, pons_error *err)
{
    const gazebo_ears ears = gazebo_robot_ears(r);
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

static bool knows_its_steps(robot *r)
{
    pthread_mutex_lock(&r->mtx);
    const bool knows = r->step_ns > 0;
    pthread_mutex_unlock(&r->mtx);
    return knows;
}

// With `clock: pons`: stops the world, and steps it until odometry and a scan have come. How long its steps are it says
// by itself; one that does not is taken to have the usual ones.
static int wait_for_senses(robot *r, pons_error *err)
{
    const int64_t until = pons__host_now() + (int64_t)(r->c.open_s * 1e9);
    char why[PONS_OUTSIDE_TEXT_MAX] = "";
    const int64_t said_until = pons__host_now() + ASK_MS * PONS_NS_PER_MS;
    for (int64_t now; (now = pons__host_now()) < until;) {
        if (now < said_until && !knows_its_steps(r)) {
            nanosleep(&(struct timespec){.tv_nsec = WRITE_LEAST_NS}, NULL);
            continue;
        }
        const int rc = robot_step(r, OPEN_STEP_NS, err);
        if (rc < 0 || !robot_lacks(r, why)) {
            return rc;
        }
        nanosleep(&(struct timespec){.tv_nsec = 20 * PONS_NS_PER_MS}, NULL);
    }
    return pons_error_set(err, PONS_EENV, MODULE, "the world %s does not answer in Gazebo: %s",
                          r->c.world, *why ? why : "is the server there?");
}

static int robot_open(const pons_value *world, const pons_value *config, void **ret_self,
                      pons_error *err)
{
    robot *r = calloc(1, sizeof *r);
    if (!r) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for a robot");
    }
    r->keep = (gazebo_keep)GAZEBO_KEEP_INIT;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&r->mtx, NULL);
    pthread_cond_init(&r->moved, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pons__outlet_init(&r->outlet);
    sem_init(&r->asked, 0, 0);
    int rc = pons__sim_init(&r->sim, MODULE, world, config, err);
    rc = rc < 0 ? rc
                : gazebo_config_load(pons_get_str(config, "workspace", NULL), r->sim.p.world, &r->c,
                                     err);
    if (rc == PONS_OK && !r->c.has_lidar) {
        r->c.lidar = r->sim.p.lidar.pose;
    }
    if (rc >= 0) {
        r->sim.p.caps.can_charge = *r->c.recharge != '\0';
        r->truth = r->sim.p.start;
        if (!*r->c.battery) {
            r->sim.v.battery_pct = 100.0;
            pons__sim_publish_again(&r->sim);
        }
    }
    rc = rc < 0 ? rc : open_wire(r, err);
    if (rc >= 0 && !r->c.steps) {
        rc = gazebo_keep_open(&r->keep, &gazebo_ops, r->c.partition, r->c.cmd_vel, err);
    }
    rc = rc < 0 ? rc : start(r, err);
    rc = rc < 0 || !r->c.steps ? rc : wait_for_senses(r, err);
    if (rc < 0) {
        robot_close(r);
        return rc;
    }
    *ret_self = r;
    return PONS_OK;
}
