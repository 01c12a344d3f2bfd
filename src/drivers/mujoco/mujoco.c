// mujoco.c - the robot in MuJoCo: wheels that turn, slip and push, a lidar of cast rays.
//
// A loadable module, so that only who asks for physics pays for the library. The world's model is
// its own MJCF or is made of its boxes (mjcf_world.c); both include robot.xml, whose essay says
// which names this driver looks for and why the shapes are what they are.
//
//     one physics step (2 ms)
//       command → ramp within the robot's accelerations → wheel speeds → two velocity servos
//       → mj_step
//       wheel angles → odometry (what slips is lost to it, as on a real robot)
//       base and charger → contacts → battery
//       a robot with an arm stands: no wheels, odometry that never changes; joints and fingers: simulated_arm.c
//     ten times a second: mj_ray for each beam, from the site lidar, seeing geom groups 0 and 2
//
// MuJoCo reports trouble through two global handlers. Its own error handler writes a file into the
// working directory, waits for a key and exits; its warning handler writes the file too, and a NaN
// would silently put the robot back to where it began. Here an error jumps out of the library to
// where it was entered from, in the same thread, and latches `fault`; a bad number does the same
// after the step. From then on the robot's clock stands still and every step says why. (Nothing
// reads the standard input any more, so it is left to the program.)
//
// A model has no room for bodies that come later. So robot.xml keeps a pool of mocap bodies out of
// sight; spawning gives one a size and a place.
#include "drivers/mujoco/camera.h"
#include "drivers/mujoco/simulated_arm.h"
#include "drivers/sim/sim.h"
#include "pons/log.h"
#include "pons/module.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE "mujoco"

enum {
    SEEN_GROUPS = 1 << 0 | 1 << 2 // geom groups that the lidar sees
};
static const double SAME_SIZE_M = 1e-3;     // the world file and the model may differ by this much
static const double OUT_OF_SIGHT_M = -50.0; // where obstacles of the pool wait, by z

typedef struct mujoco {
    pons__sim sim; // first: the shared operations take it as self
    mjModel *model;
    mjData *data; // [step_lock]
    struct {      // addresses in the model /* const */
        int base_body, base_qpos, bumper_geom;
        int wheel_qpos[2], wheel_dof[2], wheel_ctrl[2]; // left, right
        int lidar_site;
        int obstacle_geom[PONS__SIM_OBSTACLES_MAX], obstacle_mocap[PONS__SIM_OBSTACLES_MAX];
        int obstacle_bits; // conaffinity of one that is in use; who waits has none, which is cheap
        int n_obstacles;
    } at;
    pons__mj_arm arm;
    int object_body
        [PONS__SIM_OBJECTS_MAX]; // of the sim's objects; -1: it is not in the model /* const */
    pons_camera_caps cameras[PONS_ROBOT_CAMERAS]; /* const */
    int n_cameras;                                /* const */
    pons__mj_eyes *eyes;                          // of who takes pictures
    struct {                                      // arguments of take()
        const pons_camera_caps *camera;
        bool depth;
        pons_picture_raw *ret;
        pons_error *err;
        int rc;
    } take;
    int64_t timestep_ns;           /* const */
    int64_t owed_ns;               // asked of step, not yet a whole physics step [step_lock]
    pons_twist2 setpoint;          // the ramped command [step_lock]
    int64_t steps_to_do;           // an argument of advance()
    const pons__mj_source *source; // arguments of load_model()
    char *load_error;              // (PONS__MJ_ERROR_BYTES)
} mujoco;

static const double CARRIED_M = 1e-6, CARRIED_RAD = 1e-6;

typedef struct saved_state { // MuJoCo's state, read and checked before any of it is used
    double *reals;           // the arrays of `fields`, one after the other
    double time;
    pons_twist2 setpoint;
    int64_t owed_ns;
    double arm[PONS__MJ_ARM_SAVED];
} saved_state;

// The arrays of mjData that are its state, in the order in which they are saved.
enum { FIELDS = 7 };
typedef struct field {
    const char *name;
    mjtNum *data;
    size_t n;
} field;

static bool mujoco_arm_caps(void *self, pons_robot_arm_caps *ret)
{
    const mujoco *m = self;
    *ret = m->arm.caps;
    return m->arm.there;
}

static void mujoco_arm_state(void *self, pons_robot_arm_state *ret)
{
    const mujoco *m = self;
    pons__seqlock_read(&m->arm.state, ret);
}

static void mujoco_arm_write(void *self, const double *qd)
{
    mujoco *m = self;
    double v[PONS_ARM_JOINTS] = {0};
    for (int i = 0; i < m->arm.arm->n; i++) {
        v[i] = isfinite(qd[i]) ? qd[i] : 0.0;
    }
    pons__seqlock_write(&m->arm.velocity, v);
}

static void mujoco_grip(void *self, double width_m, double force_n)
{
    mujoco *m = self;
    const pons_robot_arm_caps *c = &m->arm.caps;
    if (isfinite(width_m) && isfinite(force_n)) {
        const double g[2] = {fmin(fmax(width_m, 0.0), c->width_max_m),
                             fmin(fmax(force_n, 0.0), c->force_max_n)};
        pons__seqlock_write(&m->arm.grip, g);
    }
}

static int mujoco_objects(void *self, pons_robot_object *ret, int cap)
{
    const mujoco *m = self;
    return pons__mj_arm_objects(&m->arm, ret, cap);
}

static const pons_robot_arm_ops arm_ops = {.abi = PONS_ROBOT_ARM_ABI,
                                           .caps = mujoco_arm_caps,
                                           .state = mujoco_arm_state,
                                           .write = mujoco_arm_write,
                                           .grip = mujoco_grip,
                                           .objects = mujoco_objects};

static int mujoco_cameras(void *self, pons_camera_caps *ret, int cap)
{
    const mujoco *m = self;
    const int n = m->n_cameras < cap ? m->n_cameras : cap;
    memcpy(ret, m->cameras, (size_t)n * sizeof *ret);
    return n;
}

static void take(mujoco *m)
{
    m->take.rc = pons__mj_take(&m->eyes, m->model, m->data, &m->sim.step_lock, m->take.camera,
                               m->take.depth, m->take.ret, m->take.err);
}

// What the handlers need to know about the thread that they are called in.
static _Thread_local struct {
    jmp_buf *way_out; // NULL: not in a guarded call
    char error[256], warning[256];
} thread;

// Calls into MuJoCo with a way out of its errors. false: it took it, and the fault is latched.
static bool guarded(mujoco *m, void (*enter)(mujoco *m))
{
    jmp_buf here;
    if (setjmp(here)) {
        thread.way_out = NULL;
        pons__sim_fault(&m->sim, "%s (at %.3f s of robot time)", thread.error,
                        (double)m->sim.v.time_ns * 1e-9);
        return false;
    }
    thread.way_out = &here;
    enter(m);
    thread.way_out = NULL;
    return true;
}

static int mujoco_take(void *self, const char *name, bool depth, pons_picture_raw *ret,
                       pons_error *err)
{
    mujoco *m = self;
    m->take.camera = NULL;
    for (int i = 0; i < m->n_cameras; i++) {
        if (strcmp(m->cameras[i].name, name) == 0) {
            m->take.camera = &m->cameras[i];
        }
    }
    if (!m->take.camera) {
        return pons_error_set(err, PONS_ENOTFOUND, MODULE, "there is no camera %.60s", name);
    }
    m->take.depth = depth;
    m->take.ret = ret;
    m->take.err = err;
    if (!guarded(m, take)) {
        return pons_error_set(err, PONS_EIO, MODULE, "cannot draw: %s", pons__sim_get_fault(m));
    }
    if (m->take.rc == PONS_OK) {
        ret->stamp_ns = pons__sim_time_ns(m);
    }
    return m->take.rc;
}
static const pons_robot_camera_ops camera_ops = {.abi = PONS_ROBOT_CAMERA_ABI,
                                                 .list = mujoco_cameras,
                                                 .take = mujoco_take,
                                                 .see = pons__sim_see};

static void mujoco_close(void *self)
{
    mujoco *m = self;
    if (!m) {
        return;
    }
    pons__mj_eyes_close(m->eyes);
    if (m->data) {
        mj_deleteData(m->data);
    }
    if (m->model) {
        mj_deleteModel(m->model);
    }
    pons__mj_arm_fini(&m->arm);
    pons__sim_fini(&m->sim);
    free(m);
}

static pons_pose2 true_pose(const mujoco *m)
{
    if (m->arm.there) {
        return m->sim.p.start;
    }
    const mjtNum *q = m->data->qpos + m->at.base_qpos, *r = q + 3;
    return (pons_pose2){
        q[0], q[1],
        atan2(2.0 * (r[0] * r[3] + r[1] * r[2]), 1.0 - 2.0 * (r[2] * r[2] + r[3] * r[3]))};
}

static void publish(mujoco *m)
{
    pons__sim_publish(&m->sim, true_pose(m));
    if (m->arm.there) {
        pons__mj_arm_publish(&m->arm, m->model, m->data, m->sim.v.time_ns, m->at.base_body);
    }
}

static void load_model(mujoco *m)
{
    m->model = pons__mj_source_load(m->source, m->load_error);
}

static void one_line(char *text)
{
    for (char *c = text; *c; c++) {
        if (*c == '\n' || *c == '\r') {
            *c = ' ';
        }
    }
    for (size_t n = strlen(text); n && text[n - 1] == ' '; n--) {
        text[n - 1] = '\0';
    }
}

static int bad_model(mujoco *m, char *why, pons_error *err)
{
    const char *fault = pons__sim_get_fault(m);
    one_line(why);
    if (!fault) {
        fault = *why ? why : "not a model";
    }
    return pons_error_set(err, PONS_EINVAL, MODULE, "cannot load the model: %s", fault);
}

static void make_data(mujoco *m)
{
    m->data = mj_makeData(m->model);
}

static int lacks(const char *what, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, MODULE, "the model has no %s (robot.xml has)", what);
}

static int find_base(mujoco *m, pons_error *err)
{
    const mjModel *model = m->model;
    const int base = mj_name2id(model, mjOBJ_BODY, "base");
    const int joint = base < 0 ? -1 : model->body_jntadr[base];
    m->at.lidar_site = mj_name2id(model, mjOBJ_SITE, "lidar");
    if (!m->arm.there && (joint < 0 || model->jnt_type[joint] != mjJNT_FREE)) {
        return lacks("body base with a free joint", err);
    }
    if (m->at.lidar_site < 0 && m->arm.there) {
        return lacks("site lidar", err);
    }
    if (m->at.lidar_site >= 0) { // where the world has it, at the height of the model's
        const pons_pose2 at = m->sim.p.lidar.pose;
        mjtNum *pos = m->model->site_pos + 3 * m->at.lidar_site,
               *quat = m->model->site_quat + 4 * m->at.lidar_site;
        if (m->model->site_bodyid[m->at.lidar_site] != base) {
            return pons_error_set(err, PONS_EINVAL, MODULE,
                                  "the model's site lidar is not of its body base");
        }
        pos[0] = at.x;
        pos[1] = at.y;
        quat[0] = cos(0.5 * at.yaw);
        quat[1] = quat[2] = 0.0;
        quat[3] = sin(0.5 * at.yaw);
    }
    m->at.base_body = base;
    m->at.base_qpos = joint < 0 ? -1 : model->jnt_qposadr[joint];
    return PONS_OK;
}

static int find_wheels(mujoco *m, pons_error *err)
{
    static const char *const wheels[] = {"wheel_left", "wheel_right"};
    const mjModel *model = m->model;
    for (int i = 0; i < 2; i++) {
        const int hinge = mj_name2id(model, mjOBJ_JOINT, wheels[i]);
        const int motor = mj_name2id(model, mjOBJ_ACTUATOR, wheels[i]);
        if (hinge < 0 || model->jnt_type[hinge] != mjJNT_HINGE || motor < 0) {
            return lacks(i ? "hinge joint and actuator wheel_right"
                           : "hinge joint and actuator wheel_left",
                         err);
        }
        m->at.wheel_qpos[i] = model->jnt_qposadr[hinge];
        m->at.wheel_dof[i] = model->jnt_dofadr[hinge];
        m->at.wheel_ctrl[i] = motor;
    }
    return m->at.lidar_site < 0 ? lacks("site lidar", err) : PONS_OK;
}

// Makes body i of the pool what obstacle i is: standing somewhere, or out of sight.
static void place_obstacle(mujoco *m, int i)
{
    const pons__obstacle *o = &m->sim.v.obstacles[i];
    mjtNum *pos = m->data->mocap_pos + 3 * m->at.obstacle_mocap[i];
    mjtNum *quat = m->data->mocap_quat + 4 * m->at.obstacle_mocap[i];
    m->model->geom_conaffinity[m->at.obstacle_geom[i]] = *o->id ? m->at.obstacle_bits : 0;
    if (!*o->id) {
        pos[2] = OUT_OF_SIGHT_M;
        return;
    }
    mjtNum *size = m->model->geom_size + 3 * m->at.obstacle_geom[i];
    size[0] = 0.5 * o->box.sx;
    size[1] = 0.5 * o->box.sy;
    size[2] = 0.5 * o->height_m;
    m->model->geom_rbound[m->at.obstacle_geom[i]] =
        sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]);
    pos[0] = o->box.x;
    pos[1] = o->box.y;
    pos[2] = size[2];
    quat[0] = cos(0.5 * o->box.yaw);
    quat[1] = quat[2] = 0.0;
    quat[3] = sin(0.5 * o->box.yaw);
}

// Finds what the driver moves and reads; the error names what the model lacks.
static int find_names(mujoco *m, pons_error *err)
{
    const mjModel *model = m->model;
    int rc = find_base(m, err);
    if (rc == PONS_OK && !m->arm.there) {
        rc = find_wheels(m, err);
    }
    if (rc < 0) {
        return rc;
    }
    m->at.bumper_geom = mj_name2id(model, mjOBJ_GEOM, "bumper");

    for (int i = 0; i < PONS__SIM_OBSTACLES_MAX; i++) {
        char name[32];
        snprintf(name, sizeof name, "obstacle_%d", i);
        const int body = mj_name2id(model, mjOBJ_BODY, name);
        if (body < 0 || model->body_mocapid[body] < 0 || model->body_geomnum[body] != 1) {
            break;
        }
        m->at.obstacle_geom[i] = model->body_geomadr[body];
        m->at.obstacle_mocap[i] = model->body_mocapid[body];
        m->at.obstacle_bits = model->geom_conaffinity[m->at.obstacle_geom[i]];
        m->at.n_obstacles = i + 1;
    }
    for (int i = 0; i < m->at.n_obstacles; i++) {
        place_obstacle(m, i);
    }
    return PONS_OK;
}

// Odometry and the navigator go by the world file's numbers: the model must be of the same robot.
static int check_sizes(mujoco *m, pons_error *err)
{
    const mjModel *model = m->model;
    const int left = model->dof_bodyid[m->at.wheel_dof[0]];
    const int right = model->dof_bodyid[m->at.wheel_dof[1]];
    const struct {
        const char *key;
        double world, model;
    } sizes[] = {
        {"track_m", m->sim.p.track_m,
         fabs(model->body_pos[3 * left + 1] - model->body_pos[3 * right + 1])},
        {"wheel_radius_m", m->sim.p.wheel_radius_m,
         model->geom_size[(size_t)3 * (size_t)model->body_geomadr[left]]},
        {"radius_m", m->sim.p.caps.radius_m,
         m->at.bumper_geom < 0 || m->sim.p.caps.footprint.n > 0
             ? m->sim.p.caps.radius_m
             : model->geom_size[3 * m->at.bumper_geom]},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (fabs(sizes[i].world - sizes[i].model) > SAME_SIZE_M) {
            return pons_error_set(err, PONS_EINVAL, MODULE,
                                  "robot.%s is %g in the world file and %g in the model",
                                  sizes[i].key, sizes[i].world, sizes[i].model);
        }
    }
    return PONS_OK;
}

static void put(mujoco *m, pons_pose2 at)
{
    mjtNum *q = m->data->qpos + m->at.base_qpos; // x, y, z, then the quaternion; z is the model's
    q[0] = at.x;
    q[1] = at.y;
    q[3] = cos(0.5 * at.yaw);
    q[4] = q[5] = 0.0;
    q[6] = sin(0.5 * at.yaw);
}

static void put_at_start(mujoco *m)
{
    if (m->arm.there) {
        return; // its model has it there
    }
    put(m, m->sim.p.start);
    m->data->qpos[m->at.wheel_qpos[0]] = m->data->qpos[m->at.wheel_qpos[1]] = 0.0;
}

static int load_world(mujoco *m, const pons_value *world, pons_error *err)
{
    pons__mj_source source;
    char why[PONS__MJ_ERROR_BYTES] = "";
    int rc =
        pons__mj_source_init(&source, world, m->sim.p.seed, m->arm.arm, &m->arm.caps.mount, err);
    if (rc == PONS_OK) {
        m->source = &source;
        m->load_error = why;
        if (guarded(m, load_model) && m->model) {
            guarded(m, make_data);
        }
        m->source = NULL;
        m->load_error = NULL;
        if (!m->data) {
            rc = bad_model(m, why, err);
        } else {
            rc = find_names(m, err);
        }
        if (rc == PONS_OK) {
            rc = m->arm.there ? pons__mj_arm_find(&m->arm, m->model, m->data, world, err)
                              : check_sizes(m, err);
        }
        if (rc == PONS_EINVAL) {
            pons_error_source(err, "%s", source.path);
        }
    }
    pons__mj_source_fini(&source);
    if (rc < 0) {
        return rc;
    }
    m->timestep_ns = llround(m->model->opt.timestep * 1e9);
    put_at_start(m);
    publish(m);
    return PONS_OK;
}

// MuJoCo requires that this never returns.
static void on_error(const char *text)
{
    snprintf(thread.error, sizeof thread.error, "%s", text);
    one_line(thread.error);
    if (thread.way_out) {
        longjmp(*thread.way_out, 1);
    }
    pons_log(PONS_LOG_ERROR, "mujoco", "error outside of a simulation step: %s", thread.error);
    abort();
}

static void on_warning(const char *text)
{
    snprintf(thread.warning, sizeof thread.warning, "%s", text);
    one_line(thread.warning);
}

static int mujoco_open(const pons_value *world, const pons_value *config, void **ret_self,
                       pons_error *err)
{
    mujoco *m = calloc(1, sizeof *m);
    if (!m) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "cannot open");
    }
    mju_user_error = on_error;
    mju_user_warning = on_warning;
    int rc = pons__sim_init(&m->sim, MODULE, world, config, err);
    if (rc == PONS_OK) {
        rc = pons__mj_arm_read(&m->arm, world, err);
    }
    if (rc == PONS_OK) {
        m->n_cameras = pons__mj_cameras(world, m->cameras, PONS_ROBOT_CAMERAS);
        rc = load_world(m, world, err);
    }
    for (int i = 0; rc == PONS_OK && i < m->sim.p.n_objects; i++) {
        char name[96];
        snprintf(name, sizeof name, "object:%s", m->sim.p.objects[i].id);
        m->object_body[i] = mj_name2id(m->model, mjOBJ_BODY, name);
    }
    if (rc < 0) {
        mujoco_close(m);
        return rc;
    }
    *ret_self = m;
    return PONS_OK;
}

// Speeds of the base into speeds of the wheels, never asking for more than they can follow.
static void drive(mujoco *m, double dt_s)
{
    const pons__sim_params *p = &m->sim.p;
    const pons_twist2 want = pons__sim_command(&m->sim);
    pons_twist2 *set = &m->setpoint;
    set->v = pons__sim_ramp(set->v, want.v, p->caps.accel_max_mps2, p->caps.brake_max_mps2, dt_s);
    set->w = pons__sim_ramp(set->w, want.w, p->caps.yaw_accel_max_radps2,
                            p->caps.yaw_accel_max_radps2, dt_s);
    const double across = 0.5 * p->track_m * set->w;
    m->data->ctrl[m->at.wheel_ctrl[0]] = (set->v - across) / p->wheel_radius_m;
    m->data->ctrl[m->at.wheel_ctrl[1]] = (set->v + across) / p->wheel_radius_m;
}

// What the robot's own sensors say about the step that was just made.
static void measure(mujoco *m, const double wheels_before[2], double dt_s)
{
    const mjData *d = m->data;
    const pons__sim_params *p = &m->sim.p;
    const double r = p->wheel_radius_m;
    if (m->arm.there) {
        pons__sim_charger(&m->sim, true_pose(m));
        pons__sim_battery(&m->sim, 0.0, dt_s);
        return;
    }
    const double left = r * (d->qpos[m->at.wheel_qpos[0]] - wheels_before[0]);
    const double right = r * (d->qpos[m->at.wheel_qpos[1]] - wheels_before[1]);
    const double arc = 0.5 * (left + right);
    pons__sim_odometry(&m->sim, arc, (right - left) / p->track_m, false);
    const double left_mps = r * d->qvel[m->at.wheel_dof[0]];
    const double right_mps = r * d->qvel[m->at.wheel_dof[1]];
    m->sim.v.twist =
        (pons_twist2){0.5 * (left_mps + right_mps), (right_mps - left_mps) / p->track_m};

    for (int i = 0; i < d->ncon; i++) {
        if (d->contact[i].geom1 == m->at.bumper_geom || d->contact[i].geom2 == m->at.bumper_geom) {
            pons__sim_touch(&m->sim);
        }
    }
    pons__sim_charger(&m->sim, true_pose(m));
    pons__sim_battery(&m->sim, arc, dt_s);
}

// After a bad number MuJoCo has reset itself to the initial pose; that must not be published.
static bool latch_bad_numbers(mujoco *m)
{
    static const int bad[] = {mjWARN_BADQPOS, mjWARN_BADQVEL, mjWARN_BADQACC, mjWARN_BADCTRL};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (!m->data->warning[bad[i]].number) {
            continue;
        }
        pons__sim_fault(&m->sim, "%s (at %.3f s of robot time)",
                        *thread.warning
                            ? thread.warning
                            : mju_warningText(bad[i], m->data->warning[bad[i]].lastinfo),
                        (double)m->sim.v.time_ns * 1e-9);
        return true;
    }
    return false;
}

static void take_scan(mujoco *m)
{
    static const mjtByte groups[mjNGROUP] = {[0] = SEEN_GROUPS & 1, [2] = (SEEN_GROUPS >> 2) & 1};
    pons_scan scan;
    pons__sim_scan_begin(&m->sim, &scan);
    mj_kinematics(m->model, m->data); // a step leaves geoms where they were before it
    const mjtNum *from = m->data->site_xpos + 3 * m->at.lidar_site;
    const mjtNum *axes = m->data->site_xmat + 9 * m->at.lidar_site;
    for (int i = 0; i < scan.n; i++) {
        const double a = m->sim.p.lidar.angle_min + i * m->sim.p.lidar.angle_increment;
        const mjtNum local[3] = {cos(a), sin(a), 0.0};
        mjtNum ray[3];
        int hit = -1;
        mju_rotVecMat(ray, local, axes);
        const mjtNum range = mj_ray(m->model, m->data, from, ray, groups, 1, m->at.base_body, &hit);
        if (range >= 0.0) {
            scan.ranges[i] = (float)range;
        }
    }
    pons__sim_scan_publish(&m->sim, &scan, true_pose(m));
}

// Runs inside guarded(): MuJoCo may jump out of it.
static void advance(mujoco *m)
{
    const double dt = m->model->opt.timestep;
    const mjtNum *q = m->data->qpos;
    for (; m->steps_to_do > 0; m->steps_to_do--) {
        double before[2] = {0};
        if (m->arm.there) {
            pons__mj_arm_drive(&m->arm, m->model, m->data);
        } else {
            before[0] = q[m->at.wheel_qpos[0]];
            before[1] = q[m->at.wheel_qpos[1]];
            drive(m, dt);
        }
        thread.warning[0] = '\0';
        mj_step(m->model, m->data);
        if (latch_bad_numbers(m)) {
            return;
        }
        m->sim.v.time_ns += m->timestep_ns;
        measure(m, before, dt);
        if (pons__sim_scan_due(&m->sim)) {
            take_scan(m);
        }
    }
}

// A thing of the model is where its body is.
static void look(mujoco *m)
{
    for (int i = 0; i < m->sim.p.n_objects; i++) {
        if (m->object_body[i] >= 0) {
            memcpy(m->sim.v.objects_at[i], m->data->xpos + 3 * m->object_body[i],
                   sizeof m->sim.v.objects_at[i]);
        }
    }
    pons__sim_look(&m->sim, true_pose(m));
}

static int mujoco_step(void *self, int64_t dt_ns, pons_error *err)
{
    mujoco *m = self;
    if (dt_ns < 0) {
        return pons_error_set(err, PONS_EINVAL, MODULE, "cannot step back in time");
    }
    pthread_mutex_lock(&m->sim.step_lock);
    const char *fault = pons__sim_get_fault(m);
    if (!fault) {
        m->owed_ns += dt_ns;
        m->steps_to_do = m->owed_ns / m->timestep_ns;
        m->owed_ns -= m->steps_to_do * m->timestep_ns;
        if (guarded(m, advance) && !pons__sim_get_fault(m)) {
            publish(m);
            look(m);
        }
        fault = pons__sim_get_fault(m);
    }
    pthread_mutex_unlock(&m->sim.step_lock);
    return fault ? pons_error_set(err, PONS_EIO, MODULE, "the simulation has failed: %s", fault)
                 : PONS_OK;
}

static void list_fields(const mujoco *m, field ret[FIELDS])
{
    const mjModel *model = m->model;
    mjData *d = m->data;
    const field fields[FIELDS] = {
        {"qpos", d->qpos, (size_t)model->nq},
        {"qvel", d->qvel, (size_t)model->nv},
        {"act", d->act, (size_t)model->na},
        {"ctrl", d->ctrl, (size_t)model->nu},
        {"qacc_warmstart", d->qacc_warmstart, (size_t)model->nv},
        {"mocap_pos", d->mocap_pos, 3 * (size_t)model->nmocap},
        {"mocap_quat", d->mocap_quat, 4 * (size_t)model->nmocap},
    };
    memcpy(ret, fields, sizeof fields);
}

static pons_value *save_fields(const mujoco *m)
{
    const double setpoint[] = {m->setpoint.v, m->setpoint.w};
    pons_value *v = pons_object("time", json_real(m->data->time),    //
                                "owed_ns", json_integer(m->owed_ns), //
                                "setpoint", pons__sim_save_reals(setpoint, 2), NULL);
    v = pons__sim_whole(v, 3);
    double arm[PONS__MJ_ARM_SAVED];
    const size_t n_arm = pons__mj_arm_save(&m->arm, arm, PONS__MJ_ARM_SAVED);
    if (v && n_arm && json_object_set_new(v, "arm", pons__sim_save_reals(arm, n_arm))) {
        pons_value_unref(v);
        return NULL;
    }
    field fields[FIELDS];
    list_fields(m, fields);
    for (int i = 0; v && i < FIELDS; i++) {
        if (json_object_set_new(v, fields[i].name,
                                pons__sim_save_reals(fields[i].data, fields[i].n))) {
            pons_value_unref(v);
            return NULL;
        }
    }
    return v;
}

static int mujoco_save(void *self, pons_value **ret, pons_error *err)
{
    mujoco *m = self;
    pthread_mutex_lock(&m->sim.step_lock);
    const char *fault = pons__sim_get_fault(m);
    pons_value *v = fault ? NULL : pons__sim_save(&m->sim, MODULE);
    pons_value *fields = v ? save_fields(m) : NULL;
    pons_value *pose = fields ? pons__sim_save_pose(true_pose(m)) : NULL;
    pthread_mutex_unlock(&m->sim.step_lock);
    if (fault) {
        return pons_error_set(err, PONS_EIO, MODULE, "cannot save a failed simulation: %s", fault);
    }
    bool whole = fields && pose;
    if (whole) { // takes both, also where it fails
        const int rc = json_object_set_new(v, "mujoco", fields);
        whole = (json_object_set_new(v, "pose", pose) | rc) == 0;
    } else {
        pons_value_unref(fields);
        pons_value_unref(pose);
    }
    if (!whole) {
        pons_value_unref(v);
        return pons_error_set(err, PONS_ENOMEM, MODULE, "cannot save the world's state");
    }
    *ret = v;
    return PONS_OK;
}

// A saved pose that is not that of the saved state: somebody has carried the robot.
static void carry(mujoco *m, const pons_value *pose)
{
    const pons_pose2 here = true_pose(m);
    pons_pose2 to;
    if (!m->arm.there && pons__sim_load_pose(pose, &to) &&
        (hypot(to.x - here.x, to.y - here.y) > CARRIED_M ||
         fabs(pons_wrap_angle(to.yaw - here.yaw)) > CARRIED_RAD)) {
        put(m, to);
    }
}

static int read_fields(const mujoco *m, const pons_value *saved, saved_state *ret, pons_error *err)
{
    field fields[FIELDS];
    list_fields(m, fields);
    size_t total = 0, at = 0;
    for (int i = 0; i < FIELDS; i++) {
        total += fields[i].n;
    }
    double setpoint[2];
    ret->reals = calloc(total + 1, sizeof *ret->reals);
    if (!ret->reals) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "cannot restore");
    }
    ret->time = pons_get_num(saved, "time", NAN);
    ret->owed_ns = pons_get_int(saved, "owed_ns", -1);
    const char *bad = !isfinite(ret->time)                                              ? "time"
                      : ret->owed_ns < 0                                                ? "owed_ns"
                      : !pons__sim_load_reals(pons_get(saved, "setpoint"), setpoint, 2) ? "setpoint"
                                                                                        : NULL;
    if (!bad && m->arm.there &&
        !pons__sim_load_reals(pons_get(saved, "arm"), ret->arm, PONS__MJ_ARM_SAVED)) {
        bad = "arm";
    }
    for (int i = 0; i < FIELDS && !bad; i++) {
        if (!pons__sim_load_reals(pons_get(saved, fields[i].name), ret->reals + at, fields[i].n)) {
            bad = fields[i].name;
        }
        at += fields[i].n;
    }
    if (bad) {
        return pons_error_set(err, PONS_EINVAL, MODULE,
                              "cannot restore: %s is not of this world's model", bad);
    }
    ret->setpoint = (pons_twist2){setpoint[0], setpoint[1]};
    return PONS_OK;
}

static void use_fields(mujoco *m, const saved_state *state)
{
    field fields[FIELDS];
    list_fields(m, fields);
    mj_resetData(m->model, m->data);
    const double *from = state->reals;
    for (int i = 0; i < FIELDS; i++) {
        if (fields[i].n) {
            memcpy(fields[i].data, from, fields[i].n * sizeof *from);
        }
        from += fields[i].n;
    }
    m->data->time = state->time;
    m->owed_ns = state->owed_ns;
    m->setpoint = state->setpoint;
    if (m->arm.there) {
        pons__mj_arm_load(&m->arm, state->arm);
        mj_forward(m->model, m->data); // objects are published by where their bodies are
    }
}

static int mujoco_restore(void *self, const pons_value *saved, pons_error *err)
{
    mujoco *m = self;
    saved_state state = {0};
    pthread_mutex_lock(&m->sim.step_lock);
    const char *fault = pons__sim_get_fault(m);
    int rc = fault ? pons_error_set(err, PONS_EIO, MODULE, "the simulation has failed: %s", fault)
                   : read_fields(m, pons_get(saved, "mujoco"), &state, err);
    if (rc == PONS_OK) {
        rc = pons__sim_load(&m->sim, saved, MODULE, err);
    }
    if (rc == PONS_OK) {
        use_fields(m, &state);
        carry(m, pons_get(saved, "pose"));
        for (int i = 0; i < m->at.n_obstacles; i++) {
            place_obstacle(m, i);
        }
        publish(m);
    }
    pthread_mutex_unlock(&m->sim.step_lock);
    free(state.reals);
    return rc;
}

// The model's body follows the object; a free one, as loose things are.
static int move_object(mujoco *m, const pons_value *what, pons_error *err)
{
    const int i = pons__sim_move_object(&m->sim, what, err);
    const int body = i < 0 ? -1 : m->object_body[i];
    const int joint = body < 0 ? -1 : m->model->body_jntadr[body];
    if (joint >= 0 && m->model->jnt_type[joint] == mjJNT_FREE) {
        memcpy(m->data->qpos + m->model->jnt_qposadr[joint], m->sim.v.objects_at[i],
               sizeof m->sim.v.objects_at[i]);
        mju_zero(m->data->qvel + m->model->jnt_dofadr[joint], 6);
        mj_kinematics(m->model, m->data);
    }
    return i;
}

static int mujoco_spawn(void *self, const pons_value *what, pons_error *err)
{
    mujoco *m = self;
    pons__obstacle o;
    bool removed = false;
    pthread_mutex_lock(&m->sim.step_lock);
    const int object = move_object(m, what, err);
    pthread_mutex_unlock(&m->sim.step_lock);
    if (object != PONS_ENOTFOUND) {
        return object < 0 ? object : PONS_OK;
    }
    int rc = pons__sim_spawn_parse(&m->sim, what, &o, &removed, err);
    if (rc < 0) {
        return rc;
    }
    pthread_mutex_lock(&m->sim.step_lock);
    rc = pons__sim_spawn_place(&m->sim, &o, removed, m->at.n_obstacles, err);
    if (rc >= 0) {
        place_obstacle(m, rc);
    }
    pthread_mutex_unlock(&m->sim.step_lock);
    return rc < 0 ? rc : PONS_OK;
}

static const pons_robot_ops mujoco_ops = {
    .abi = PONS_ROBOT_ABI,
    .name = "mujoco",
    .open = mujoco_open,
    .close = mujoco_close,
    .caps = pons__sim_caps,
    .time_ns = pons__sim_time_ns,
    .read = pons__sim_read,
    .scan = pons__sim_scan,
    .write_velocity = pons__sim_write_velocity,
    .charge = pons__sim_charge,
    .fault = pons__sim_get_fault,
    .step = mujoco_step,
    .save = mujoco_save,
    .restore = mujoco_restore,
    .spawn = mujoco_spawn,
    .set_battery = pons__sim_set_battery,
    .truth = pons__sim_truth,
    .arm = &arm_ops,
    .cameras = &camera_ops,
};

PONS_MODULE_EXPORT("driver", "mujoco", &mujoco_ops);
