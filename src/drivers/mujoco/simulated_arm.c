// simulated_arm.c - the arm, the gripper and the loose things of a simulated robot.
//
//     velocity --> set point of each motor, in the joint's range and near to where the joint is
//                  motor: kp (set − q); gravity, Coriolis and the joint's own drag are carried, as the
//                  controllers of real arms do
//     grip     --> the fingers' set point, which runs ahead of them by at most force / kp: so the
//                  motor presses with that force and no more, whatever stands between the fingers
//
// Where the command is zero, set points stay: the arm holds its position. A set point never runs away
// from a joint that is held up, so that nothing leaps when the way is free.
#include "drivers/mujoco/simulated_arm.h"

#include <math.h>

#define MODULE     "mujoco"
#define LEAD_RAD   0.12 // of a set point before its joint
#define FINGER_MPS 0.06
#define SHUT_M     1e-3 // an opening of this means: press

typedef struct grip {
    double width, force;
} grip;
typedef struct seen {
    int n;
    pons_robot_object at[PONS_ROBOT_OBJECTS];
} seen;

static int bad(const pons_value *world, const char *what, pons_error *err)
{
    pons_error_set(err, PONS_EINVAL, MODULE, "bad world: %s", what);
    return pons_error_source(err, "%s", pons_get_str(world, "path", "world"));
}

static bool reals(const pons_value *list, size_t n, double *ret)
{
    for (size_t i = 0; i < n; i++) {
        ret[i] = json_number_value(json_array_get(list, i));
        if (!json_is_number(json_array_get(list, i)) || !isfinite(ret[i])) {
            return false;
        }
    }
    return json_array_size(list) == n;
}

static bool init_locks(pons__mj_arm *a)
{
    return pons__seqlock_init(&a->velocity, sizeof(double[PONS_ARM_JOINTS])) &&
           pons__seqlock_init(&a->grip, sizeof(grip)) &&
           pons__seqlock_init(&a->state, sizeof(pons_robot_arm_state)) &&
           pons__seqlock_init(&a->objects, sizeof(seen));
}

int pons__mj_arm_read(pons__mj_arm *a, const pons_value *world, pons_error *err)
{
    const pons_value *v = pons_get(pons_get(world, "robot"), "arm");
    if (!v) {
        return PONS_OK;
    }
    pons_robot_arm_caps *c = &a->caps;
    const pons_value *gripper = pons_get(v, "gripper"), *box = pons_get(v, "workspace");
    const char *file = pons_get_str(v, "urdf", ""), *dir = pons_get_str(world, "dir", ".");
    double mount[3] = {0};
    snprintf(c->urdf, sizeof c->urdf, "%s%s%s", *file == '/' ? "" : dir, *file == '/' ? "" : "/",
             file);
    snprintf(c->base_link, sizeof c->base_link, "%s", pons_get_str(v, "base_link", "link0"));
    snprintf(c->tool_link, sizeof c->tool_link, "%s", pons_get_str(v, "tool_link", "tool"));
    c->width_max_m = pons_get_num(gripper, "width_max_m", 0.0);
    c->force_max_n = pons_get_num(gripper, "force_max_n", 0.0);
    c->accel_max_radps2 = pons_get_num(v, "accel_max_radps2", 5.0);
    if (pons_get_str(world, "mjcf", NULL)) {
        return bad(world, "a robot with an arm has no mjcf: its model is made of its URDF", err);
    }
    if (pons_get(v, "mount") && !reals(pons_get(v, "mount"), 3, mount)) {
        return bad(world, "robot.arm.mount must be [x, y, z]", err);
    }
    c->mount = pons_pose3_of(mount[0], mount[1], mount[2], 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        c->workspace_min[i] = -INFINITY;
        c->workspace_max[i] = INFINITY;
    }
    if (box && (!reals(pons_get(box, "min"), 3, c->workspace_min) ||
                !reals(pons_get(box, "max"), 3, c->workspace_max))) {
        return bad(world, "robot.arm.workspace must have min and max, [x, y, z] each", err);
    }
    const int rc = pons_arm_load(c->urdf, c->base_link, c->tool_link, &a->arm, err);
    if (rc < 0) {
        return rc;
    }
    for (int i = 0; i < a->arm->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(a->arm, i);
        c->home[i] = isfinite(j->lower) ? 0.5 * (j->lower + j->upper) : 0.0;
    }
    if (pons_get(v, "home") && (!reals(pons_get(v, "home"), (size_t)a->arm->n, c->home) ||
                                !pons_arm_within(a->arm, c->home, 0.0))) {
        return bad(world, "robot.arm.home must have a number in its limits for each joint", err);
    }
    if (!init_locks(a)) {
        return pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for an arm");
    }
    a->there = true;
    return PONS_OK;
}

void pons__mj_arm_fini(pons__mj_arm *a)
{
    pons__seqlock_fini(&a->velocity);
    pons__seqlock_fini(&a->grip);
    pons__seqlock_fini(&a->state);
    pons__seqlock_fini(&a->objects);
    pons_arm_destroy(a->arm);
}

static void find_objects(pons__mj_arm *a, const mjModel *m, const pons_value *world)
{
    const pons_value *all = pons_get(world, "objects");
    for (size_t i = 0; i < json_array_size(all) && a->at.n_objects < PONS_ROBOT_OBJECTS; i++) {
        const pons_value *o = json_array_get(all, i);
        pons_robot_object *s = &a->seen[a->at.n_objects];
        char name[96];
        snprintf(name, sizeof name, "object:%s", pons_get_str(o, "id", ""));
        const int body = mj_name2id(m, mjOBJ_BODY, name);
        if (body < 0) {
            continue;
        }
        snprintf(s->id, sizeof s->id, "%s", pons_get_str(o, "id", ""));
        s->shape = pons__mj_object_shape(o, s->half);
        s->mass_kg = m->body_mass[body];
        a->at.body[a->at.n_objects++] = body;
    }
}

int pons__mj_arm_find(pons__mj_arm *a, const mjModel *m, mjData *d, const pons_value *world,
                      pons_error *err)
{
    for (int i = 0; i < a->arm->n_joints; i++) {
        const pons_arm_joint *j = &a->arm->joints[i];
        if (j->kind == PONS_ARM_FIXED) {
            continue;
        }
        const int id = mj_name2id(m, mjOBJ_JOINT, j->name);
        const int motor = mj_name2id(m, mjOBJ_ACTUATOR, j->name);
        if (id < 0 || motor < 0) {
            return pons_error_set(err, PONS_EINVAL, MODULE, "the model has no joint %s", j->name);
        }
        if (j->place >= 0) {
            a->at.qpos[j->place] = m->jnt_qposadr[id];
            a->at.dof[j->place] = m->jnt_dofadr[id];
            a->at.motor[j->place] = motor;
        } else if (a->at.n_fingers < 2) {
            a->at.finger_qpos[a->at.n_fingers] = m->jnt_qposadr[id];
            a->at.finger_dof[a->at.n_fingers] = m->jnt_dofadr[id];
            a->at.finger_motor[a->at.n_fingers++] = motor;
        }
    }
    find_objects(a, m, world);
    for (int i = 0; i < a->arm->n; i++) {
        d->qpos[a->at.qpos[i]] = a->set[i] = a->caps.home[i];
        d->ctrl[a->at.motor[i]] = a->set[i];
    }
    a->finger_set = 0.5 * a->caps.width_max_m;
    a->grip_width = a->caps.width_max_m;
    a->grip_force = a->caps.force_max_n;
    for (int i = 0; i < a->at.n_fingers; i++) {
        d->qpos[a->at.finger_qpos[i]] = d->ctrl[a->at.finger_motor[i]] = a->finger_set;
    }
    mj_forward(m, d);
    return PONS_OK;
}

static double clamp(double x, double lo, double hi)
{
    return fmin(fmax(x, lo), hi);
}

void pons__mj_arm_drive(pons__mj_arm *a, const mjModel *m, mjData *d)
{
    const double dt = m->opt.timestep;
    double qd[PONS_ARM_JOINTS] = {0};
    pons__seqlock_read(&a->velocity, qd);
    for (int i = 0; i < a->arm->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(a->arm, i);
        const int dof = a->at.dof[i];
        const double q = d->qpos[a->at.qpos[i]];
        const double v = clamp(qd[i], -j->speed_max, j->speed_max);
        a->set[i] =
            clamp(a->set[i] + v * dt, fmax(j->lower, q - LEAD_RAD), fmin(j->upper, q + LEAD_RAD));
        d->ctrl[a->at.motor[i]] = a->set[i];
        d->qfrc_applied[dof] = d->qfrc_bias[dof] + m->dof_damping[dof] * v;
    }
    grip g;
    if (pons__seqlock_read(&a->grip, &g)) {
        a->grip_width = g.width;
        a->grip_force = g.force;
    }
    const double lead = a->grip_force / PONS__MJ_FINGER_KP;
    const double to = a->grip_width <= SHUT_M ? -lead : 0.5 * a->grip_width;
    a->finger_set += clamp(to - a->finger_set, -FINGER_MPS * dt, FINGER_MPS * dt);
    for (int i = 0; i < a->at.n_fingers; i++) {
        const double q = d->qpos[a->at.finger_qpos[i]];
        d->ctrl[a->at.finger_motor[i]] = clamp(a->finger_set, q - lead, q + lead);
        d->qfrc_applied[a->at.finger_dof[i]] = d->qfrc_bias[a->at.finger_dof[i]];
    }
}

static void pose_of(const mjData *d, int body, pons_pose3 *ret)
{
    memcpy(ret->p, d->xpos + 3 * body, sizeof ret->p);
    memcpy(ret->r, d->xmat + 9 * body, sizeof ret->r);
}

void pons__mj_arm_publish(pons__mj_arm *a, const mjModel *m, const mjData *d, int64_t robot_ns,
                          int base_body)
{
    pons_robot_arm_state s = {.stamp_ns = robot_ns, .n = a->arm->n};
    for (int i = 0; i < s.n; i++) {
        s.q[i] = d->qpos[a->at.qpos[i]];
        s.qd[i] = d->qvel[a->at.dof[i]];
        s.effort[i] = d->actuator_force[a->at.motor[i]];
    }
    for (int i = 0; i < a->at.n_fingers; i++) {
        s.width_m += d->qpos[a->at.finger_qpos[i]];
        s.force_n = fmax(s.force_n, -d->actuator_force[a->at.finger_motor[i]]);
    }
    pons__seqlock_write(&a->state, &s);

    seen all = {.n = a->at.n_objects};
    pons_pose3 base;
    pose_of(d, base_body, &base);
    const pons_pose3 back = pons_pose3_inverse(&base);
    for (int i = 0; i < all.n; i++) {
        pons_pose3 at;
        pose_of(d, a->at.body[i], &at);
        all.at[i] = a->seen[i];
        all.at[i].stamp_ns = robot_ns;
        all.at[i].pose = pons_pose3_compose(&back, &at);
    }
    pons__seqlock_write(&a->objects, &all);
}

int pons__mj_arm_objects(const pons__mj_arm *a, pons_robot_object *ret, int cap)
{
    seen all;
    if (!a->there || !pons__seqlock_read(&a->objects, &all)) {
        return 0;
    }
    const int n = all.n < cap ? all.n : cap;
    memcpy(ret, all.at, (size_t)n * sizeof *ret);
    return n;
}

size_t pons__mj_arm_save(const pons__mj_arm *a, double *ret, size_t cap)
{
    if (!a->there || cap < PONS__MJ_ARM_SAVED) {
        return 0;
    }
    memcpy(ret, a->set, sizeof a->set);
    ret[PONS_ARM_JOINTS] = a->finger_set;
    ret[PONS_ARM_JOINTS + 1] = a->grip_width;
    ret[PONS_ARM_JOINTS + 2] = a->grip_force;
    return PONS__MJ_ARM_SAVED;
}

// The motion that was asked for before is forgotten; what is held is held.
void pons__mj_arm_load(pons__mj_arm *a, const double *from)
{
    static const double still[PONS_ARM_JOINTS];
    memcpy(a->set, from, sizeof a->set);
    a->finger_set = from[PONS_ARM_JOINTS];
    a->grip_width = from[PONS_ARM_JOINTS + 1];
    a->grip_force = from[PONS_ARM_JOINTS + 2];
    const grip g = {a->grip_width, a->grip_force};
    pons__seqlock_write(&a->velocity, still);
    pons__seqlock_write(&a->grip, &g);
}
