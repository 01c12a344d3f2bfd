// arm_common.c - what the skills of an arm have in common.
//
// A skill of an arm makes a way (arm/joint_trajectory.c) and follows it; between ways it moves the fingers. What
// it has done it learns by looking (arm/arm_state.c, object_relations.c), never by having wished it: a thing is
// picked when it is seen above where it lay and between fingers that press, and placed when it is
// seen where it belongs and no longer between them.
//
// A stop ends these skills like all that move; the gripper keeps what it has. A skill that is started
// with the thing in hand already goes on from there.
#include "body/skills/arm_common.h"

#include "pons/clock.h"

#include <stdio.h>

#define STEP_MIN_S 0.01
#define STEP_MAX_S 0.1
#define LINE_MPS   0.2
#define LOST_NS    (250 * PONS_NS_PER_MS) // unseen between the fingers for so long
#define DEEP_M     0.028                  // from the top of a thing to the tool that takes it
#define TIP_M      0.016                  // of the fingers beyond the tool, and a little
#define SPARE_M    0.006                  // between the open fingers and the thing

pons_pose3 pons__arm_down(double x, double y, double z, double yaw)
{
    return pons_pose3_of(x, y, z, M_PI, 0.0, yaw);
}

double pons__arm_yaw(const pons__limb *h)
{
    return atan2(h->tool.r[3], h->tool.r[0]);
}

bool pons__arm_grasp(const pons__limb *h, int object, pons_pose3 *ret, double *ret_turn)
{
    const pons_robot_object *o = &h->objects[object];
    const double yaw = atan2(o->pose.r[3], o->pose.r[0]);
    const double room = h->caps.width_max_m - SPARE_M;
    const bool x_fits = 2.0 * o->half[0] <= room, y_fits = 2.0 * o->half[1] <= room;
    double z = o->pose.p[2] + o->half[2] - DEEP_M;
    double turn = 0.0, by = yaw;
    if (!x_fits && !y_fits) {
        return false;
    }
    if (z < o->pose.p[2]) {
        z = o->pose.p[2]; // the middle, where it is widest
    }
    const double under = o->pose.p[2] - o->half[2];
    if (z < under + TIP_M) {
        z = under + TIP_M;
    }
    if (o->shape == PONS_SHAPE_BALL) {
        by = pons__arm_yaw(h);
        turn = M_PI_4;
    } else if (o->shape == PONS_SHAPE_CUP) {
        turn = M_PI_4; // eight walls
    } else if (x_fits && y_fits) {
        turn = M_PI_2;
    } else { // the fingers close along the tool's y
        by = y_fits ? yaw : yaw + M_PI_2;
        turn = M_PI;
    }
    *ret = pons__arm_down(o->pose.p[0], o->pose.p[1], z, by);
    *ret_turn = turn;
    return true;
}

double pons__arm_step_s(pons__skill_run *r, const pons__skill_env *env)
{
    const double s = r->arm.last_ns == 0
                         ? 0.05
                         : (double)(env->robot_ns - r->arm.last_ns) / (double)PONS_NS_PER_S;
    r->arm.last_ns = env->robot_ns;
    return fmin(fmax(s, STEP_MIN_S), STEP_MAX_S);
}

bool pons__arm_go(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const double dt = pons__arm_step_s(r, env);
    switch (pons__way_step(&r->way, env->hand, dt, ret->qd)) {
    case PONS__MOVED:
        return true;
    case PONS__BLOCKED:
        pons__skill_fail(ret, PONS__ARM_BLOCKED, "BLOCKED: the arm does not follow (%s)",
                         pons__arm_zone_word(env->safety->arm.zone));
        break;
    case PONS__NO_REACH:
        pons__skill_fail(ret, PONS__ARM_UNREACHABLE,
                         "UNREACHABLE: a straight line ends in between");
        break;
    case PONS__MOVING:
        break;
    }
    return false;
}

void pons__arm_up(pons__skill_run *r, const pons__skill_env *env, double m)
{
    pons_pose3 to = env->hand->tool;
    to.p[2] += m;
    pons__way_clear(&r->way);
    pons__way_line(&r->way, &to, LINE_MPS);
}

bool pons__arm_lost(pons__skill_run *r, const pons__skill_env *env, int object)
{
    if (env->hand->held == object) {
        r->arm.lost_ns = 0;
        return false;
    }
    if (r->arm.lost_ns == 0) {
        r->arm.lost_ns = env->robot_ns;
    }
    return env->robot_ns - r->arm.lost_ns > LOST_NS;
}

void pons__arm_fail(pons__skill_output *ret, int rc, const pons_error *err)
{
    pons__skill_fail(ret, PONS__ARM_UNREACHABLE, "UNREACHABLE: %.180s", err->message);
}

// What was on its way goes on from where the arm is now.
void pons__arm_resume(pons__skill_run *r, const pons__skill_env *env)
{
    pons__way_again(&r->way);
    r->arm.last_ns = 0;
    r->arm.lost_ns = 0;
}

bool pons__arm_names(const pons_value *args, const char *key, const pons__skill_env *env,
                     int *ret_object, pons__skill_refusal *ret)
{
    const char *name = pons_get_str(args, key, "");
    *ret_object = pons__limb_find(env->hand, name);
    if (*ret_object >= 0) {
        return true;
    }
    ret->error_code = PONS__ARM_OBJECT_UNKNOWN;
    snprintf(ret->text, sizeof ret->text, "OBJECT_UNKNOWN: no %.80s is seen here", name);
    return false;
}
