// stuck_wheels.c - a robot whose wheels can stick.
//
// Every driver is told a velocity of the base; what a differential drive makes of it is the speed
// of two wheels, half the track to each side. A wheel that is stuck turns by nothing, whatever it
// is told, and the base moves as the other one makes it:
//
//     l = v − w·track/2    r = v + w·track/2    v = (l + r)/2    w = (r − l)/track
//
// So the fault sits between the body and any driver, and its odometry, scans and physics stay the
// driver's own. The body's contract has no room for who is being opened; one thread opens one robot
// at a time, and the proxy of that moment is kept for it.

#include "scenario/stuck_wheels.h"

static _Thread_local pons__wheels *opening;

static int wheels_open(const pons_value *world, const pons_value *config, void **ret_self,
                       pons_error *err)
{
    pons__wheels *w = opening;
    w->track_m = pons_get_num(pons_get(world, "robot"), "track_m", 0.34);
    w->reported = (pons_twist2){0};
    const int rc = w->inner->open(world, config, &w->self, err);
    if (rc >= 0) {
        *ret_self = w;
    }
    return rc;
}

static void wheels_close(void *self)
{
    pons__wheels *w = self;
    if (w) {
        w->inner->close(w->self);
    }
}

static void wheels_caps(void *self, pons_robot_caps *ret)
{
    const pons__wheels *w = self;
    w->inner->caps(w->self, ret);
}

static int64_t wheels_time_ns(void *self)
{
    const pons__wheels *w = self;
    return w->inner->time_ns(w->self);
}

static void wheels_read(void *self, pons_robot_state *ret)
{
    const pons__wheels *w = self;
    w->inner->read(w->self, ret);
}

static bool wheels_scan(void *self, pons_scan *ret)
{
    const pons__wheels *w = self;
    return w->inner->scan(w->self, ret);
}

static void wheels_write_velocity(void *self, pons_twist2 cmd)
{
    pons__wheels *w = self;
    w->reported = cmd;
    const double half = 0.5 * w->track_m;
    const double left = w->left_stuck ? 0.0 : cmd.v - cmd.w * half;
    const double right = w->right_stuck ? 0.0 : cmd.v + cmd.w * half;
    if (w->left_stuck || w->right_stuck) {
        cmd = (pons_twist2){0.5 * (left + right), (right - left) / w->track_m};
    }
    w->inner->write_velocity(w->self, cmd);
}

static int wheels_charge(void *self, bool on, pons_error *err)
{
    const pons__wheels *w = self;
    return w->inner->charge(w->self, on, err);
}

static const char *wheels_fault(void *self)
{
    const pons__wheels *w = self;
    return w->inner->fault ? w->inner->fault(w->self) : NULL;
}

static int wheels_step(void *self, int64_t dt_ns, pons_error *err)
{
    const pons__wheels *w = self;
    return w->inner->step(w->self, dt_ns, err);
}

static int wheels_spawn(void *self, const pons_value *what, pons_error *err)
{
    const pons__wheels *w = self;
    return w->inner->spawn(w->self, what, err);
}

static void wheels_set_battery(void *self, double pct)
{
    const pons__wheels *w = self;
    w->inner->set_battery(w->self, pct);
}

static int wheels_save(void *self, pons_value **ret, pons_error *err)
{
    const pons__wheels *w = self;
    return w->inner->save(w->self, ret, err);
}

static int wheels_restore(void *self, const pons_value *saved, pons_error *err)
{
    const pons__wheels *w = self;
    return w->inner->restore(w->self, saved, err);
}

static void wheels_truth(void *self, pons_pose2 *ret)
{
    const pons__wheels *w = self;
    w->inner->truth(w->self, ret);
}

// An arm is passed on as it is.
static bool wheels_arm_caps(void *self, pons_robot_arm_caps *ret)
{
    const pons__wheels *w = self;
    return w->inner->arm->caps(w->self, ret);
}

static void wheels_arm_state(void *self, pons_robot_arm_state *ret)
{
    const pons__wheels *w = self;
    w->inner->arm->state(w->self, ret);
}

static void wheels_arm_write(void *self, const double *qd)
{
    const pons__wheels *w = self;
    w->inner->arm->write(w->self, qd);
}

static void wheels_grip(void *self, double width_m, double force_n)
{
    const pons__wheels *w = self;
    w->inner->arm->grip(w->self, width_m, force_n);
}

static int wheels_objects(void *self, pons_robot_object *ret, int cap)
{
    const pons__wheels *w = self;
    return w->inner->arm->objects(w->self, ret, cap);
}

static bool wheels_see(void *self, pons_robot_sight *ret)
{
    const pons__wheels *w = self;
    return pons_robot_see(w->inner, w->self, ret);
}

const pons_robot_ops *pons__wheels_wrap(pons__wheels *w, const pons_robot_ops *inner)
{
    w->inner = inner;
    w->ops = (pons_robot_ops){.abi = PONS_ROBOT_ABI,
                              .name = inner->name,
                              .open = wheels_open,
                              .close = wheels_close,
                              .caps = wheels_caps,
                              .time_ns = wheels_time_ns,
                              .read = wheels_read,
                              .scan = wheels_scan,
                              .write_velocity = wheels_write_velocity,
                              .charge = inner->charge ? wheels_charge : NULL,
                              .fault = wheels_fault,
                              .step = inner->step ? wheels_step : NULL,
                              .save = inner->save ? wheels_save : NULL,
                              .restore = inner->restore ? wheels_restore : NULL,
                              .spawn = inner->spawn ? wheels_spawn : NULL,
                              .set_battery = inner->set_battery ? wheels_set_battery : NULL,
                              .truth = inner->truth ? wheels_truth : NULL};
    const pons_robot_arm_ops *arm = pons_robot_arm(inner);
    if (arm) {
        w->arm = (pons_robot_arm_ops){.abi = arm->abi,
                                      .caps = wheels_arm_caps,
                                      .state = wheels_arm_state,
                                      .write = wheels_arm_write,
                                      .grip = wheels_grip,
                                      .objects = arm->objects ? wheels_objects : NULL};
        w->ops.arm = &w->arm;
    }
    w->cameras = (pons_robot_camera_ops){.abi = PONS_ROBOT_CAMERA_ABI, .see = wheels_see};
    w->ops.cameras = &w->cameras;
    opening = w;
    return &w->ops;
}

int64_t pons__wheels_bumps(pons__wheels *w)
{
    pons_autovalue state = NULL;
    pons_error none = PONS_ERROR_INIT;
    const bool reported = w->inner->save && w->inner->save(w->self, &state, &none) >= 0;
    return reported ? pons_get_int(state, "bumps", -1) : -1;
}

int pons__wheels_teleport(pons__wheels *w, pons_pose2 to, pons_error *err)
{
    pons_autovalue state = NULL;
    if (!w->inner->save || !w->inner->restore) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "scenario",
                              "the driver %s carries no robot elsewhere", w->inner->name);
    }
    const int rc = w->inner->save(w->self, &state, err);
    if (rc < 0) {
        return rc;
    }
    if (!pons_get(state, "pose")) { // of another driver's making
        return pons_error_set(err, PONS_EUNSUPPORTED, "scenario",
                              "the driver %s carries no robot elsewhere", w->inner->name);
    }
    json_object_set_new(
        state, "pose",
        pons_object("x", json_real(to.x), "y", json_real(to.y), "yaw", json_real(to.yaw), NULL));
    return w->inner->restore(w->self, state, err);
}
