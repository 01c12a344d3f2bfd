// sim.c - the part of a simulated robot that does not depend on how its motion is simulated.
//
// The driver's step advances pons__sim_vars under `step_lock` and then publishes: state and truth
// through one sequence lock, the scan through another. Everything that other threads call reads
// those or an atomic word, so that a safety thread is never made to wait by a simulation step.
#include "drivers/sim/sim.h"

#include "drivers/twist_word.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Odometry's uncertainty, as it is reported: 1 sigma per metre driven and per radian turned.
#define ODOM_STD_PER_M       0.01
#define ODOM_YAW_STD_PER_M   0.01
#define ODOM_YAW_STD_PER_RAD 0.02

static const uint64_t SIGHT_SALT = 0x7369676874000000ull;

// Whoever presses on a wall loses it now and then for some steps; that is no new bump.
static const int64_t CONTACT_GAP_NS = 300 * PONS_NS_PER_MS;

int pons__sim_init(pons__sim *s, const char *module, const pons_value *world,
                   const pons_value *config, pons_error *err)
{
    s->module = module;
    int rc = pons__sim_params_init(&s->p, module, world, config, err);
    if (rc < 0) {
        return rc;
    }
    pthread_mutex_init(&s->step_lock, NULL);
    if (!pons__seqlock_init(&s->state, sizeof(pons__published)) ||
        !pons__seqlock_init(&s->scan, sizeof(pons_scan)) ||
        !pons__seqlock_init(&s->sight, sizeof(pons_robot_sight))) {
        return pons_error_set(err, PONS_ENOMEM, module, "cannot publish the robot's state");
    }

    pons__sim_vars *v = &s->v;
    pons_rand_seed(&v->rand, s->p.seed);
    pons_rand_seed(&v->sight_rand, s->p.seed ^ SIGHT_SALT);
    for (int i = 0; i < s->p.n_objects; i++) {
        memcpy(v->objects_at[i], s->p.objects[i].at, sizeof v->objects_at[i]);
    }
    v->battery_pct = s->p.battery.initial_pct;
    v->odom_scale = pons_rand_normal(&v->rand, 1.0, s->p.odometry.scale_std);
    v->odom_yaw_scale = pons_rand_normal(&v->rand, 1.0, s->p.odometry.yaw_scale_std);
    pons__sim_charger(s, s->p.start);
    pons__sim_publish(s, s->p.start);
    return PONS_OK;
}

void pons__sim_fini(pons__sim *s)
{
    if (!s->module) {
        return;
    }
    pons__seqlock_fini(&s->sight);
    pons__seqlock_fini(&s->scan);
    pons__seqlock_fini(&s->state);
    if (s->p.boxes) { // the lock exists once the parameters do
        pthread_mutex_destroy(&s->step_lock);
    }
    pons__sim_params_fini(&s->p);
}

static double clamp(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

pons_twist2 pons__sim_command(pons__sim *s)
{
    const pons_robot_caps *c = &s->p.caps;
    if (s->v.battery_pct <= 0.0) {
        return (pons_twist2){0};
    }
    const pons_twist2 t = pons__unpack_twist(atomic_load_explicit(&s->cmd, memory_order_relaxed));
    return (pons_twist2){clamp(t.v, -c->reverse_max_mps, c->speed_max_mps),
                         clamp(t.w, -c->yaw_rate_max_radps, c->yaw_rate_max_radps)};
}

double pons__sim_ramp(double now, double target, double accel, double brake, double dt_s)
{
    if (now * target < 0.0) {
        target = 0.0; // through standstill first
    }
    const double rate = fabs(target) < fabs(now) ? brake : accel;
    return now + clamp(target - now, -rate * dt_s, rate * dt_s);
}

void pons__sim_odometry(pons__sim *s, double arc_m, double turn_rad, bool noisy)
{
    pons__sim_vars *v = &s->v;
    const double far = fabs(arc_m), round = fabs(turn_rad);
    if (far == 0.0 && round == 0.0) {
        return;
    }
    if (noisy) {
        arc_m = arc_m * v->odom_scale +
                pons_rand_normal(&v->rand, 0.0, s->p.odometry.noise_m * sqrt(far));
        turn_rad = turn_rad * v->odom_yaw_scale +
                   pons_rand_normal(&v->rand, 0.0, s->p.odometry.noise_rad * sqrt(round));
    }
    // The chord of an arc: its middle heading, and its length by sin(x)/x.
    const double half = 0.5 * turn_rad;
    const double chord = fabs(half) < 1e-6 ? arc_m : arc_m * sin(half) / half;
    v->odom.x += chord * cos(v->odom.yaw + half);
    v->odom.y += chord * sin(v->odom.yaw + half);
    v->odom.yaw = pons_wrap_angle(v->odom.yaw + turn_rad);

    // Errors within a run are constant factors, so the deviation grows with the way, not its root.
    const double xy = sqrt(v->cov[0]) + far * ODOM_STD_PER_M;
    const double yaw = sqrt(v->cov[8]) + far * ODOM_YAW_STD_PER_M + round * ODOM_YAW_STD_PER_RAD;
    v->cov[0] = v->cov[4] = xy * xy;
    v->cov[8] = yaw * yaw;
}

void pons__sim_touch(pons__sim *s)
{
    if (s->v.time_ns >= s->v.contact_until) {
        s->v.bumps++;
    }
    s->v.contact_until = s->v.time_ns + CONTACT_GAP_NS;
}

bool pons__sim_scan_due(pons__sim *s)
{
    pons__sim_vars *v = &s->v;
    if (v->time_ns < v->next_scan_ns) {
        return false;
    }
    v->next_scan_ns = (v->time_ns / s->p.lidar.period_ns + 1) * s->p.lidar.period_ns;
    return true;
}

void pons__sim_scan_begin(const pons__sim *s, pons_scan *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->stamp_ns = s->v.time_ns;
    ret->n = s->p.lidar.beams;
    ret->angle_min = (float)s->p.lidar.angle_min;
    ret->angle_increment = (float)s->p.lidar.angle_increment;
    ret->range_min = (float)s->p.lidar.range_min;
    ret->range_max = (float)s->p.lidar.range_max;
    ret->from = s->p.lidar.pose;
    for (int i = 0; i < ret->n; i++) {
        ret->ranges[i] = INFINITY;
    }
}

void pons__sim_scan_publish(pons__sim *s, pons_scan *scan, pons_pose2 truth)
{
    for (int i = 0; i < scan->n; i++) {
        if (!(scan->ranges[i] <= scan->range_max)) { // also what was never hit
            scan->ranges[i] = INFINITY;
            continue;
        }
        const double noisy = s->p.lidar.noise_m > 0.0
                                 ? pons_rand_normal(&s->v.rand, scan->ranges[i], s->p.lidar.noise_m)
                                 : scan->ranges[i];
        scan->ranges[i] = (float)clamp(noisy, scan->range_min, scan->range_max);
    }
    pons__sim_publish(s, truth);
    pons__seqlock_write(&s->scan, scan);
}

void pons__sim_publish(pons__sim *s, pons_pose2 truth)
{
    const pons__sim_vars *v = &s->v;
    pons__published p;
    memset(&p, 0, sizeof p); // padding too: equal states are equal bytes
    p.state.stamp_ns = v->time_ns;
    p.state.odom_from_base = v->odom;
    p.state.twist = v->twist;
    memcpy(p.state.cov, v->cov, sizeof p.state.cov);
    p.state.battery_pct = v->battery_pct;
    p.state.battery = pons__sim_battery_state(s);
    p.state.on_charger = v->on_charger;
    p.truth = truth;
    // The clock first: nobody sees a state from the future.
    atomic_store_explicit(&s->time_ns, v->time_ns, memory_order_release);
    pons__seqlock_write(&s->state, &p);
}

void pons__sim_publish_again(pons__sim *s)
{
    pons_pose2 truth;
    pons__sim_truth(s, &truth);
    pons__sim_publish(s, truth);
}

void pons__sim_fault(pons__sim *s, const char *fmt, ...)
{
    if (atomic_load_explicit(&s->fault, memory_order_relaxed)) {
        return;
    }
    va_list args;
    va_start(args, fmt);
    vsnprintf(s->fault_text, sizeof s->fault_text, fmt, args);
    va_end(args);
    atomic_store_explicit(&s->fault, s->fault_text, memory_order_release);
}

int pons__sim_spawn_parse(const pons__sim *s, const pons_value *what, pons__obstacle *ret,
                          bool *ret_remove, pons_error *err)
{
    const char *id = pons_get_str(what, "id", "");
    if (!*id || strlen(id) >= PONS__SIM_ID_MAX) {
        return pons_error_set(err, PONS_EINVAL, s->module,
                              "cannot spawn: id must have 1 to %d bytes", PONS__SIM_ID_MAX - 1);
    }
    memset(ret, 0, sizeof *ret);
    snprintf(ret->id, sizeof ret->id, "%s", id);
    *ret_remove = pons_get_bool(what, "remove", false);
    if (*ret_remove) {
        return PONS_OK;
    }
    ret->box = (pons_box2){.x = pons_get_num(what, "x", NAN),
                           .y = pons_get_num(what, "y", NAN),
                           .yaw = pons_get_num(what, "yaw", 0.0),
                           .sx = pons_get_num(what, "sx", NAN),
                           .sy = pons_get_num(what, "sy", NAN)};
    ret->height_m = pons_get_num(what, "height", PONS__SIM_OBSTACLE_HEIGHT_M);
    const pons_box2 *b = &ret->box;
    if (!isfinite(b->x) || !isfinite(b->y) || !isfinite(b->yaw) || !isfinite(b->sx) ||
        !isfinite(b->sy) || b->sx <= 0.0 || b->sy <= 0.0 || !isfinite(ret->height_m) ||
        ret->height_m <= 0.0) {
        return pons_error_set(err, PONS_EINVAL, s->module,
                              "cannot spawn %s: it needs x, y and sizes sx, sy, height > 0", id);
    }
    return PONS_OK;
}

int pons__sim_spawn_place(pons__sim *s, const pons__obstacle *o, bool removed, int cap,
                          pons_error *err)
{
    int place = -1, vacant = -1;
    for (int i = cap - 1; i >= 0; i--) {
        if (!strcmp(s->v.obstacles[i].id, o->id)) {
            place = i;
        } else if (!*s->v.obstacles[i].id) {
            vacant = i;
        }
    }
    if (removed && place < 0) {
        return pons_error_set(err, PONS_ENOTFOUND, s->module, "no obstacle %s to remove", o->id);
    }
    if (place < 0) {
        place = vacant;
    }
    if (place < 0) {
        return pons_error_set(err, PONS_EBUSY, s->module,
                              "cannot spawn %s: there are %d obstacles already", o->id, cap);
    }
    s->v.obstacles[place] = removed ? (pons__obstacle){0} : *o;
    return place;
}

void pons__sim_caps(void *self, pons_robot_caps *ret)
{
    const pons__sim *s = self;
    *ret = s->p.caps;
}

int64_t pons__sim_time_ns(void *self)
{
    pons__sim *s = self;
    return atomic_load_explicit(&s->time_ns, memory_order_acquire);
}

void pons__sim_read(void *self, pons_robot_state *ret)
{
    pons__sim *s = self;
    pons__published p;
    pons__seqlock_read(&s->state, &p); // there is one since open
    memcpy(ret, &p.state, sizeof *ret);
}

bool pons__sim_scan(void *self, pons_scan *ret)
{
    pons__sim *s = self;
    pons_scan newest;
    if (!pons__seqlock_read(&s->scan, &newest) ||
        newest.n == 0) { // 0: restored, not yet seen again
        return false;
    }
    memcpy(ret, &newest, sizeof *ret);
    return true;
}

void pons__sim_write_velocity(void *self, pons_twist2 cmd_in_base)
{
    pons__sim *s = self;
    const bool sane = isfinite(cmd_in_base.v) && isfinite(cmd_in_base.w);
    atomic_store_explicit(&s->cmd, pons__pack_twist(sane ? cmd_in_base : (pons_twist2){0}),
                          memory_order_relaxed);
}

int pons__sim_charge(void *self, bool on, pons_error *err)
{
    pons__sim *s = self;
    atomic_store_explicit(&s->charge_wanted, on, memory_order_relaxed);
    return PONS_OK;
}

const char *pons__sim_get_fault(void *self)
{
    pons__sim *s = self;
    return atomic_load_explicit(&s->fault, memory_order_acquire);
}

void pons__sim_truth(void *self, pons_pose2 *ret_pose_in_map)
{
    pons__sim *s = self;
    pons__published p;
    pons__seqlock_read(&s->state, &p);
    *ret_pose_in_map = p.truth;
}

void pons__sim_set_battery(void *self, double pct)
{
    pons__sim *s = self;
    if (!isfinite(pct)) {
        return;
    }
    pthread_mutex_lock(&s->step_lock);
    s->v.battery_pct = fmin(fmax(pct, 0.0), 100.0);
    pons__sim_publish_again(s);
    pthread_mutex_unlock(&s->step_lock);
}
