// kinematic.c - a robot without physics: thousands of times real time, exact and repeatable.
//
// Motion. The wheels follow the command within the robot's accelerations; over a substep of at most
// 10 ms both speeds change linearly, and the base moves along the arc of their means. There is no
// slip: odometry is wrong only by the run's seeded scale errors and a little noise.
//
// Collision. The robot is a circle or a convex polygon, and the world a list of rectangles. A substep that
// would end in a box is cut by bisection to where it touches, the base stops, and a bump is counted. A
// circle may always turn, a polygon is stopped where a corner touches. Any motion is possible that gets
// away from what touches (also from an obstacle that was put on top of the robot). Most substeps skip
// the search: `slack_m` is how far any of the robot may go before anything can be near.
//
// Lidar. Instead of asking every box about every beam, each box is asked once which beams it can
// meet: seen from outside, a rectangle spans less than half a turn, and the bearings of its corners
// bound that span. Only beams in it are intersected (in the box's own axes, by slabs). A scan of
// 120 beams among 30 boxes makes some 300 intersections instead of 3,600.
//
// Everything is computed in one order from the seed and the sequence of calls: the same seed and
// the same steps give the same bytes.
#include "drivers/sim/sim.h"

#include <math.h>
#include <stdlib.h>

#define MODULE "kinematic"

static const int64_t SUBSTEP_NS = 10 * PONS_NS_PER_MS;
static const double CUT_EPSILON_M = 1e-4; // how near a cut motion comes to its wall
static const double SPAN_MARGIN_RAD = 1e-6;

typedef struct kinematic {
    pons__sim sim;   // first: the shared operations take it as self
    pons_pose2 pose; // in map [step_lock]
    double slack_m;  // nothing is nearer to the footprint than this [step_lock]
    float cos_beam[PONS_SCAN_MAX], sin_beam[PONS_SCAN_MAX]; // of beam i in the lidar /* const */
} kinematic;

static void kinematic_close(void *self)
{
    kinematic *k = self;
    if (!k) {
        return;
    }
    pons__sim_fini(&k->sim);
    free(k);
}

static int kinematic_open(const pons_value *world, const pons_value *config, void **ret_self,
                          pons_error *err)
{
    kinematic *k = calloc(1, sizeof *k);
    if (!k) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "cannot open");
    }
    const int rc = pons__sim_init(&k->sim, MODULE, world, config, err);
    if (rc < 0) {
        kinematic_close(k);
        return rc;
    }
    k->pose = k->sim.p.start;
    for (int i = 0; i < k->sim.p.lidar.beams; i++) {
        const double a = k->sim.p.lidar.angle_min + i * k->sim.p.lidar.angle_increment;
        k->cos_beam[i] = (float)cos(a);
        k->sin_beam[i] = (float)sin(a);
    }
    *ret_self = k;
    return PONS_OK;
}

static pons_pose2 along_arc(pons_pose2 from, double arc_m, double turn_rad)
{
    const double half = 0.5 * turn_rad;
    const double chord = fabs(half) < 1e-6 ? arc_m : arc_m * sin(half) / half;
    return (pons_pose2){from.x + chord * cos(from.yaw + half),
                        from.y + chord * sin(from.yaw + half),
                        pons_wrap_angle(from.yaw + turn_rad)};
}

// From the footprint to the nearest box or obstacle [m], or less; below 0: it touches.
static double clearance(const kinematic *k, pons_pose2 at)
{
    const pons_footprint *f = &k->sim.p.caps.footprint;
    double nearest = INFINITY;
    for (int i = 0; i < k->sim.p.n_boxes; i++) {
        nearest = fmin(nearest, pons_footprint_gap(f, at, &k->sim.p.boxes[i]));
    }
    for (int i = 0; i < PONS__SIM_OBSTACLES_MAX; i++) {
        const pons__obstacle *o = &k->sim.v.obstacles[i];
        if (*o->id) {
            nearest = fmin(nearest, pons_footprint_gap(f, at, &o->box));
        }
    }
    return nearest;
}

// Moves along an arc as far as the world allows.
static void move(kinematic *k, double arc_m, double turn_rad)
{
    pons__sim *s = &k->sim;
    const pons_footprint *f = &s->p.caps.footprint;
    // A circle that turns goes nowhere; a corner of a polygon goes round.
    const double far = fabs(arc_m) + (f->n > 0 ? fabs(turn_rad) * f->circumscribed_m : 0.0);
    pons_pose2 to = along_arc(k->pose, arc_m, turn_rad);
    if (far > 0.0 && k->slack_m <= far) {
        const double here = clearance(k, k->pose);
        double there = clearance(k, to);
        if (there < 0.0 && there <= here) {
            // Between `low`, still free, and `high`, too near: as far as it goes.
            double low = 0.0, high = 1.0;
            while ((high - low) * far > CUT_EPSILON_M) {
                const double middle = 0.5 * (low + high);
                const pons_pose2 at = along_arc(k->pose, middle * arc_m, middle * turn_rad);
                *(clearance(k, at) < 0.0 ? &high : &low) = middle;
            }
            arc_m *= low;
            to = along_arc(k->pose, arc_m, low * turn_rad);
            if (f->n == 0) {
                to.yaw = pons_wrap_angle(k->pose.yaw + turn_rad); // turning needs no room
            } else {
                turn_rad *= low;
                s->v.twist.w = 0.0;
            }
            s->v.twist.v = 0.0;
            pons__sim_touch(s);
            there = clearance(k, to);
        }
        k->slack_m = there;
    } else {
        k->slack_m -= far;
    }
    k->pose = to;
    pons__sim_odometry(s, arc_m, turn_rad, true);
}

// Advances everything by dt_ns, short enough that speeds may be taken as linear in it.
static void substep(kinematic *k, int64_t dt_ns)
{
    pons__sim *s = &k->sim;
    const pons_robot_caps *c = &s->p.caps;
    const double dt = (double)dt_ns * 1e-9;
    const pons_twist2 want = pons__sim_command(s), was = s->v.twist;
    pons_twist2 *now = &s->v.twist;
    now->v = pons__sim_ramp(was.v, want.v, c->accel_max_mps2, c->brake_max_mps2, dt);
    now->w = pons__sim_ramp(was.w, want.w, c->yaw_accel_max_radps2, c->yaw_accel_max_radps2, dt);
    s->v.time_ns += dt_ns;
    if (now->v != 0.0 || now->w != 0.0 || was.v != 0.0 || was.w != 0.0) {
        move(k, 0.5 * (was.v + now->v) * dt, 0.5 * (was.w + now->w) * dt);
        pons__sim_charger(s, k->pose);
    }
    pons__sim_battery(s, 0.5 * (was.v + now->v) * dt, dt);
}

// Along a unit ray from (px, py), the distance to a box of half sizes (hx, hy) about the origin:
// the last entry into a slab, if it comes before the first exit. Zero from inside.
static double ray_to_box(double px, double py, double dx, double dy, double hx, double hy)
{
    const double ix = 1.0 / dx, iy = 1.0 / dy; // ±INFINITY for a ray along a slab does right
    const double x1 = (-hx - px) * ix, x2 = (hx - px) * ix;
    const double y1 = (-hy - py) * iy, y2 = (hy - py) * iy;
    const double enter = fmax(fmin(x1, x2), fmin(y1, y2));
    const double leave = fmin(fmax(x1, x2), fmax(y1, y2));
    return leave >= enter && leave >= 0.0 ? fmax(enter, 0.0) : INFINITY;
}

// Casts the beams whose angle lies in [from, from + width].
static void cast_span(const kinematic *k, pons_pose2 eye, const pons_box2 *box, double from,
                      double width, pons_scan *scan)
{
    const double step = k->sim.p.lidar.angle_increment, full = 2.0 * M_PI;
    const double c = cos(box->yaw), s = sin(box->yaw);
    const double ox = eye.x - box->x, oy = eye.y - box->y;
    const double px = c * ox + s * oy, py = c * oy - s * ox; // the sensor in the box's axes
    const double turn_c = cos(eye.yaw - box->yaw), turn_s = sin(eye.yaw - box->yaw);
    double start = fmod(from - k->sim.p.lidar.angle_min, full); // after beam 0
    if (start < 0.0) {
        start += full;
    }
    // The span may reach over the seam; the second round is what lies behind it.
    for (int round = 0; round < 2; round++, start -= full) {
        int i = (int)ceil(fmax(start, 0.0) / step);
        const int last = (int)fmin(floor((start + width) / step), (double)(scan->n - 1));
        for (; i <= last; i++) {
            const double bx = k->cos_beam[i], by = k->sin_beam[i];
            const double r = ray_to_box(px, py, turn_c * bx - turn_s * by,
                                        turn_s * bx + turn_c * by, 0.5 * box->sx, 0.5 * box->sy);
            if (r < scan->ranges[i]) {
                scan->ranges[i] = (float)r;
            }
        }
    }
}

// Finds the bearings between which the box lies, and casts the beams of that span at it.
static void cast_box(const kinematic *k, pons_pose2 eye, const pons_box2 *box, pons_scan *scan)
{
    const double dx = box->x - eye.x, dy = box->y - eye.y;
    const double reach = k->sim.p.lidar.range_max + 0.5 * hypot(box->sx, box->sy);
    if (dx * dx + dy * dy > reach * reach) {
        return;
    }
    const double c = cos(box->yaw), s = sin(box->yaw);
    const double hx = 0.5 * box->sx, hy = 0.5 * box->sy;
    if (fabs(c * dx + s * dy) < hx && fabs(c * dy - s * dx) < hy) { // inside: it is everywhere
        cast_span(k, eye, box, 0.0, 2.0 * M_PI, scan);
        return;
    }
    // Corners relative to the bearing of the centre: within half a turn, so their order is plain.
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 4; i++) {
        const double ox = i & 1 ? hx : -hx, oy = i & 2 ? hy : -hy;
        const double cx = dx + c * ox - s * oy, cy = dy + s * ox + c * oy;
        const double off = atan2(dx * cy - dy * cx, dx * cx + dy * cy);
        low = fmin(low, off);
        high = fmax(high, off);
    }
    const double from = atan2(dy, dx) + low - SPAN_MARGIN_RAD - eye.yaw;
    cast_span(k, eye, box, from, high - low + 2.0 * SPAN_MARGIN_RAD, scan);
}

static void take_scan(kinematic *k)
{
    pons_scan scan;
    pons__sim_scan_begin(&k->sim, &scan);
    const pons_pose2 eye = pons_pose_compose(k->pose, scan.from);
    for (int i = 0; i < k->sim.p.n_boxes; i++) {
        cast_box(k, eye, &k->sim.p.boxes[i], &scan);
    }
    for (int i = 0; i < PONS__SIM_OBSTACLES_MAX; i++) {
        const pons__obstacle *o = &k->sim.v.obstacles[i];
        if (*o->id && o->height_m > PONS__SIM_LIDAR_Z_M) {
            cast_box(k, eye, &o->box, &scan);
        }
    }
    pons__sim_scan_publish(&k->sim, &scan, k->pose);
}

static int kinematic_step(void *self, int64_t dt_ns, pons_error *err)
{
    kinematic *k = self;
    if (dt_ns < 0) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "cannot step back in time");
    }
    pthread_mutex_lock(&k->sim.step_lock);
    while (dt_ns > 0) {
        const int64_t dt = dt_ns < SUBSTEP_NS ? dt_ns : SUBSTEP_NS;
        dt_ns -= dt;
        substep(k, dt);
        if (pons__sim_scan_due(&k->sim)) {
            take_scan(k);
        }
    }
    pons__sim_publish(&k->sim, k->pose);
    pons__sim_look(&k->sim, k->pose);
    pthread_mutex_unlock(&k->sim.step_lock);
    return PONS_OK;
}

static int kinematic_save(void *self, pons_value **ret, pons_error *err)
{
    kinematic *k = self;
    pthread_mutex_lock(&k->sim.step_lock);
    pons_value *v = pons__sim_save(&k->sim, MODULE);
    const bool whole = v && !json_object_set_new(v, "pose", pons__sim_save_pose(k->pose));
    pthread_mutex_unlock(&k->sim.step_lock);
    if (!whole) {
        pons_value_unref(v);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "cannot save the world's state");
    }
    *ret = v;
    return PONS_OK;
}

static int kinematic_restore(void *self, const pons_value *saved, pons_error *err)
{
    kinematic *k = self;
    pons_pose2 pose;
    if (!pons__sim_load_pose(pons_get(saved, "pose"), &pose)) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "cannot restore: no pose in the state");
    }
    pthread_mutex_lock(&k->sim.step_lock);
    const int rc = pons__sim_load(&k->sim, saved, MODULE, err);
    if (rc == PONS_OK) {
        k->pose = pose;
        k->slack_m = 0.0;
        pons__sim_charger(&k->sim, pose); // a robot that is put elsewhere has left its contacts
        pons__sim_publish(&k->sim, pose);
    }
    pthread_mutex_unlock(&k->sim.step_lock);
    return rc;
}

static int kinematic_spawn(void *self, const pons_value *what, pons_error *err)
{
    kinematic *k = self;
    pons__obstacle o;
    bool removed = false;
    pthread_mutex_lock(&k->sim.step_lock);
    const int object = pons__sim_move_object(&k->sim, what, err);
    pthread_mutex_unlock(&k->sim.step_lock);
    if (object != PONS_ENOTFOUND) {
        return object < 0 ? object : PONS_OK;
    }
    int rc = pons__sim_spawn_parse(&k->sim, what, &o, &removed, err);
    if (rc < 0) {
        return rc;
    }
    pthread_mutex_lock(&k->sim.step_lock);
    rc = pons__sim_spawn_place(&k->sim, &o, removed, PONS__SIM_OBSTACLES_MAX, err);
    k->slack_m = 0.0;
    pthread_mutex_unlock(&k->sim.step_lock);
    return rc < 0 ? rc : PONS_OK;
}

static const pons_robot_camera_ops camera_ops = {.abi = PONS_ROBOT_CAMERA_ABI,
                                                 .see = pons__sim_see};

const pons_robot_ops pons_robot_kinematic = {
    .abi = PONS_ROBOT_ABI,
    .name = "kinematic",
    .open = kinematic_open,
    .close = kinematic_close,
    .caps = pons__sim_caps,
    .time_ns = pons__sim_time_ns,
    .read = pons__sim_read,
    .scan = pons__sim_scan,
    .write_velocity = pons__sim_write_velocity,
    .charge = pons__sim_charge,
    .fault = pons__sim_get_fault,
    .step = kinematic_step,
    .save = kinematic_save,
    .restore = kinematic_restore,
    .spawn = kinematic_spawn,
    .set_battery = pons__sim_set_battery,
    .truth = pons__sim_truth,
    .cameras = &camera_ops,
};
