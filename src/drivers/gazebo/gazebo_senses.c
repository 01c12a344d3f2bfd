// gazebo_senses.c - what Gazebo says of the robot, on the transport's thread: senses into the seqlocks, the clock into robot time.
// What is no number is left out, and said.
#include "drivers/gazebo/robot.h"
#include "drivers/sim/lidar_beams.h"
#include "pons/log.h"

#include <math.h>
#include <string.h>

#define BACK_NS (PONS_NS_PER_S / 2) // of the clock: less is jitter
#define FAR_NS  (5 * PONS_NS_PER_S) // a stamp this far from /clock is of another one

static void came(robot *r, sense s, fault why)
{
    if (why == NO_FAULT) {
        atomic_store_explicit(&r->received[s].ns, pons__host_now(), memory_order_relaxed);
    }
    atomic_store_explicit(&r->received[s].bad, (int)why, memory_order_relaxed);
}

// Of a stamp in robot time. Before /clock has come nothing is known.
static bool is_far(const robot *r, int64_t ns)
{
    const int64_t off = ns - atomic_load(&r->sim.time_ns);
    return off > FAR_NS || off < -FAR_NS;
}

static void hear_clock(void *user, int64_t sim_ns)
{
    robot *r = user;
    if (sim_ns < 0) {
        came(r, CLOCK, NO_NUMBER);
        return;
    }
    pthread_mutex_lock(&r->sim.step_lock);
    pthread_mutex_lock(&r->mtx);
    int64_t now = sim_ns - r->offset_ns;
    const int64_t was = atomic_load(&r->sim.time_ns);
    if (was > 0 && now < was - BACK_NS) { // begun anew: robot time goes on
        r->offset_ns = sim_ns - was;
        r->odom_ns = sim_ns;
        now = was;
        r->has_odom = r->has_scan = false;
        r->scan.n = 0;
        atomic_store(&r->received[ODOM].ns, 0);
        atomic_store(&r->received[SCAN].ns, 0);
        atomic_store(&r->back_ns, pons__host_now());
    }
    r->clock_ns = sim_ns;
    if (now > was) {
        atomic_store_explicit(&r->sim.time_ns, now, memory_order_release);
    }
    pthread_cond_broadcast(&r->moved);
    pthread_mutex_unlock(&r->mtx);
    pthread_mutex_unlock(&r->sim.step_lock);
    came(r, CLOCK, NO_FAULT);
}

static void hear_odom(void *user, const gazebo_odom *o)
{
    robot *r = user;
    if (!isfinite(o->x) || !isfinite(o->y) || !isfinite(o->yaw) || !isfinite(o->v) ||
        !isfinite(o->w)) {
        came(r, ODOM, NO_NUMBER);
        return;
    }
    pons__sim_vars *v = &r->sim.v;
    const pons_pose2 at = {o->x, o->y, o->yaw};
    pthread_mutex_lock(&r->sim.step_lock);
    pthread_mutex_lock(&r->mtx);
    const int64_t ns = o->stamp_ns - r->offset_ns;
    const fault why = o->stamp_ns < 0 || is_far(r, ns)  ? OTHER_CLOCK
                      : r->has_odom && ns <= v->time_ns ? TIME_BACK
                                                        : NO_FAULT;
    if (why == NO_FAULT) {
        r->period_ns = r->has_odom ? o->stamp_ns - r->odom_ns : 0;
        r->odom_ns = o->stamp_ns;
    }
    pthread_cond_broadcast(&r->moved);
    pthread_mutex_unlock(&r->mtx);
    if (why == NO_FAULT) {
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
    came(r, ODOM, why);
}

static bool take_scan(const robot *r, const gazebo_scan *s, pons_scan *ret)
{
    const pons__beams b = {.n = s->n,
                           .angle_min = s->angle_min,
                           .step = s->angle_step,
                           .range_min = s->range_min,
                           .range_max = s->range_max,
                           .from = r->c.lidar};
    bool says = false;
    const bool good = pons__beams_begin(&b, ret);
    for (size_t i = 0; good && i < s->n; i++) {
        says = pons__beams_add(&b, i, s->ranges[i], ret) || says;
    }
    return says;
}

// Published when the odometry of its moment is there: whoever has a scan finds where it was taken.
static void hear_scan(void *user, const gazebo_scan *s)
{
    robot *r = user;
    pons_scan scan;
    if (!take_scan(r, s, &scan)) {
        came(r, SCAN, NO_NUMBER);
        return;
    }
    pthread_mutex_lock(&r->sim.step_lock);
    pthread_mutex_lock(&r->mtx);
    scan.stamp_ns = s->stamp_ns - r->offset_ns;
    pthread_mutex_unlock(&r->mtx);
    const fault why = s->stamp_ns < 0 || is_far(r, scan.stamp_ns)  ? OTHER_CLOCK
                      : r->has_scan && scan.stamp_ns <= r->scan_ns ? TIME_BACK
                                                                   : NO_FAULT;
    if (why == NO_FAULT) {
        r->has_scan = true;
        r->scan_ns = scan.stamp_ns;
        if (r->has_odom && scan.stamp_ns <= r->sim.v.time_ns) {
            pons__seqlock_write(&r->sim.scan, &scan);
        } else {
            r->scan = scan;
        }
    }
    pthread_mutex_unlock(&r->sim.step_lock);
    came(r, SCAN, why);
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
    if (good && r->c.percent && pct > 0.0 && pct <= 1.0 && !r->has_share) {
        r->has_share = true;
        pons_log(PONS_LOG_WARN, "gazebo",
                 "%s says %g: is that a share? Then say battery: {percentage: share} in "
                 "config/gazebo.yaml",
                 r->c.battery, share);
    }
    came(r, BATTERY, good ? NO_FAULT : NO_NUMBER);
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
    const double ahead = (x - at.x) * cos(at.yaw) + (y - at.y) * sin(at.yaw);
    if (!(ahead < 0.0)) { // one that is nowhere may be on any side
        atomic_store_explicit(&r->front_ns, pons__host_now(), memory_order_relaxed);
    }
    if (!(ahead >= 0.0)) {
        atomic_store_explicit(&r->behind_ns, pons__host_now(), memory_order_relaxed);
    }
}

gazebo_ears gazebo_robot_ears(robot *r)
{
    return (gazebo_ears){r,          hear_odom,  hear_scan, hear_battery,
                         hear_clock, hear_stats, hear_pose, hear_contact};
}
