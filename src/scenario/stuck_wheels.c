// stuck_wheels.c - a robot whose wheels can stick.
//
// Every driver is told a velocity of the base; what a differential drive makes of it is the speed
// of two wheels, half the track to each side. A wheel that is stuck turns by nothing, whatever it
// is told, and the base moves as the other one makes it:
//
//     l = v − w·track/2    r = v + w·track/2    v = (l + r)/2    w = (r − l)/track
//
// So the fault sits between the body and any driver, and its odometry, scans and physics stay the
// driver's own. All other calls go to the driver itself. A call says nothing of who stands between, so
// that is kept for the thread, which runs one robot at a time.

#include "scenario/stuck_wheels.h"

#include <stddef.h>
#include <string.h>

static _Thread_local pons__wheels *wrapped;

static int wheels_open(const pons_value *world, const pons_value *config, void **ret_self,
                       pons_error *err)
{
    pons__wheels *w = wrapped;
    w->track_m = pons_get_num(pons_get(world, "robot"), "track_m", 0.34);
    w->reported = (pons_twist2){0};
    const int rc = w->inner->open(world, config, &w->self, err);
    if (rc >= 0) {
        *ret_self = w->self;
    }
    return rc;
}

static void wheels_write_velocity(void *self, pons_twist2 cmd)
{
    pons__wheels *w = wrapped;
    w->reported = cmd;
    const double half = 0.5 * w->track_m;
    const double left = w->left_stuck ? 0.0 : cmd.v - cmd.w * half;
    const double right = w->right_stuck ? 0.0 : cmd.v + cmd.w * half;
    if (w->left_stuck || w->right_stuck) {
        cmd = (pons_twist2){0.5 * (left + right), (right - left) / w->track_m};
    }
    w->inner->write_velocity(self, cmd);
}

const pons_robot_ops *pons__wheels_wrap(pons__wheels *w, const pons_robot_ops *inner)
{
    w->inner = inner;
    // What is "outside", software of the robot's own, is no part of a scenario; a driver of the first
    // version ends before its arm.
    w->ops = (pons_robot_ops){0};
    memcpy(&w->ops, inner,
           inner->abi >= 2 ? offsetof(pons_robot_ops, outside) : offsetof(pons_robot_ops, arm));
    w->ops.open = wheels_open;
    w->ops.write_velocity = wheels_write_velocity;
    wrapped = w;
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
