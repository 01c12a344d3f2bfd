// pick.c - pick: takes a thing from above, and shows that it has it.
//
//     PLAN --> GO (fingers open, above it, straight down) --> CLOSE --> LIFT --> SHOW --> done
//      ^        | it was moved: twice                         |          |        |
//      +--------+                                     GRASP_FAILED     SLIPPED  SLIPPED
//
// In hand already: it is lifted and shown.
#include "body/skills/arm_common.h"

#include <stdio.h>
#include <string.h>

enum { PHASE_PLAN, PHASE_GO, PHASE_CLOSE, PHASE_LIFT, PHASE_SHOW };

#define ABOVE_M     0.10
#define DOWN_MPS    0.12
#define LIFT_M      0.12
#define LIFTED_M    0.05 // seen higher by so much: it is off what it lay on
#define MOVED_M     0.02
#define PLANS_MAX   3
#define OPEN_S      2.5
#define CLOSE_S     0.4 // at least, and
#define CLOSE_MAX_S 3.0
#define STILL_M     4e-4 // a step's change of the opening below which the fingers stand
#define EMPTY_M     0.004
#define JAM_M       0.006 // short of wide open: they have not moved
#define SHOW_S      0.5

static bool check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret)
{
    int object;
    pons_pose3 at;
    double turn;
    if (!pons__arm_names(args, "object", env, &object, ret)) {
        return false;
    }
    if (env->hand->held >= 0 && env->hand->held != object) {
        ret->error_code = PONS__ARM_HAND_FULL;
        snprintf(ret->text, sizeof ret->text, "HAND_FULL: the hand holds %.60s",
                 env->hand->objects[env->hand->held].id);
        return false;
    }
    if (!pons__arm_grasp(env->hand, object, &at, &turn)) {
        ret->error_code = PONS__ARM_UNREACHABLE;
        snprintf(ret->text, sizeof ret->text,
                 "UNREACHABLE: %.60s is wider than the gripper opens (%.3f m)",
                 env->hand->objects[object].id, env->hand->caps.width_max_m);
        return false;
    }
    return true;
}

static void start(pons__skill_run *r, const pons__skill_env *env)
{
    const int object = pons__limb_find(env->hand, pons_get_str(r->args, "object", ""));
    snprintf(r->arm.object, sizeof r->arm.object, "%s",
             object >= 0 ? env->hand->objects[object].id : "");
    r->phase = PHASE_PLAN;
}

static void lift(pons__skill_run *r, const pons__skill_env *env, int object)
{
    r->arm.z0 = env->hand->objects[object].pose.p[2];
    pons__arm_up(r, env, LIFT_M);
    pons__skill_phase(r, env, PHASE_LIFT);
}

static void plan(pons__skill_run *r, const pons__skill_env *env, int object,
                 pons__skill_output *ret)
{
    pons__limb *h = env->hand;
    pons_error err = PONS_ERROR_INIT;
    pons_pose3 at, low;
    double turn, above[PONS_ARM_JOINTS], q[PONS_ARM_JOINTS];
    if (h->held == object) {
        lift(r, env, object);
        return;
    }
    if (pons__limb_full(h)) {
        pons__skill_fail(ret, PONS__ARM_HAND_FULL, "HAND_FULL: the hand holds something");
        return;
    }
    if (!pons__arm_grasp(h, object, &at, &turn)) {
        pons__skill_fail(ret, PONS__ARM_UNREACHABLE, "UNREACHABLE: it is wider than the gripper");
        return;
    }
    int rc = pons__reach(h, &at, ABOVE_M, turn, above, q, &err);
    rc = rc < 0 ? rc : pons__way_to(h, above, -1, &r->way, &err);
    if (rc < 0) {
        pons__arm_fail(ret, rc, &err);
        return;
    }
    pons_arm_forward(h->model, q, &low);
    pons__way_line(&r->way, &low, DOWN_MPS);
    memcpy(r->arm.seen, h->objects[object].pose.p, sizeof r->arm.seen);
    pons__limb_grip(h, h->caps.width_max_m, h->caps.force_max_n);
    r->tries++;
    pons__skill_phase(r, env, PHASE_GO);
}

static void go(pons__skill_run *r, const pons__skill_env *env, int object, pons__skill_output *ret)
{
    pons__limb *h = env->hand;
    const double *is = h->objects[object].pose.p, *was = r->arm.seen;
    const double off = hypot(hypot(is[0] - was[0], is[1] - was[1]), is[2] - was[2]);
    if (off > MOVED_M) {
        if (r->tries >= PLANS_MAX) {
            pons__skill_fail(ret, PONS__ARM_OBJECT_LOST, "OBJECT_LOST: %s was moved %d times",
                             r->arm.object, r->tries);
            return;
        }
        pons__skill_phase(r, env, PHASE_PLAN);
        return;
    }
    // Down only with open fingers.
    const bool down = r->way.at == r->way.n - 1 && !r->way.begun;
    if (down && h->state.width_m < h->caps.width_max_m - JAM_M) {
        if (pons__skill_in_phase_s(r, env) > OPEN_S + 30.0 || r->arm.waited_s > OPEN_S) {
            pons__skill_fail(ret, PONS__ARM_GRIPPER_STUCK,
                             "GRIPPER_STUCK: it opens to %.3f m, not %.3f m", h->state.width_m,
                             h->caps.width_max_m);
        }
        r->arm.waited_s += pons__arm_step_s(r, env);
        return;
    }
    r->arm.waited_s = 0.0;
    if (pons__arm_go(r, env, ret)) {
        pons__limb_grip(h, 0.0, h->caps.force_max_n);
        r->arm.width = h->state.width_m;
        pons__skill_phase(r, env, PHASE_CLOSE);
    }
}

static void close_on(pons__skill_run *r, const pons__skill_env *env, int object,
                     pons__skill_output *ret)
{
    const pons__limb *h = env->hand;
    const double s = pons__skill_in_phase_s(r, env);
    const bool stands = fabs(h->state.width_m - r->arm.width) < STILL_M;
    r->arm.width = h->state.width_m;
    pons__arm_step_s(r, env);
    if (s < CLOSE_S || (!(stands && pons__limb_full(h)) && s < CLOSE_MAX_S)) {
        return;
    }
    if (h->state.width_m > h->caps.width_max_m - JAM_M) {
        pons__skill_fail(ret, PONS__ARM_GRIPPER_STUCK, "GRIPPER_STUCK: it does not close");
    } else if (h->held != object) {
        pons__skill_fail(
            ret, PONS__ARM_GRASP_FAILED,
            h->state.width_m < EMPTY_M
                ? "GRASP_FAILED: the fingers met nothing (%.3f m)"
                : "GRASP_FAILED: what is between the fingers is something else (%.3f m)",
            h->state.width_m);
    } else {
        lift(r, env, object);
    }
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const int object = pons__limb_find(env->hand, r->arm.object);
    if (object < 0) {
        pons__skill_fail(ret, PONS__ARM_OBJECT_LOST, "OBJECT_LOST: %s is not seen any more",
                         r->arm.object);
        return;
    }
    switch (r->phase) {
    case PHASE_PLAN:
        plan(r, env, object, ret);
        break;
    case PHASE_GO:
        go(r, env, object, ret);
        break;
    case PHASE_CLOSE:
        close_on(r, env, object, ret);
        break;
    case PHASE_LIFT:
        if (pons__arm_lost(r, env, object)) {
            pons__skill_fail(ret, PONS__ARM_SLIPPED, "SLIPPED: %s fell while it was lifted",
                             r->arm.object);
        } else if (pons__arm_go(r, env, ret)) {
            pons__skill_phase(r, env, PHASE_SHOW);
        }
        break;
    default:
        if (pons__skill_in_phase_s(r, env) < SHOW_S) {
            break;
        }
        if (env->hand->held == object &&
            env->hand->objects[object].pose.p[2] > r->arm.z0 + LIFTED_M) {
            ret->status = PONS__SKILL_DONE;
        } else {
            pons__skill_fail(ret, PONS__ARM_SLIPPED, "SLIPPED: %s is not in the hand",
                             r->arm.object);
        }
    }
}

const pons__skill pons__skill_pick = {
    .name = "pick",
    .description = "Take a thing that is seen with the gripper, from above, and lift it.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"object\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":63}},"
                   "\"required\":[\"object\"]}",
    .needs_arm = true,
    .moves = true,
    .cancel_supported = true,
    .timeout_s = 60.0,
    .success = "the thing is seen above where it lay, between fingers that press",
    .error_map = PONS__ARM_ERROR_MAP,
    .reported =
        "{\"holds\":\"object\",\"meets\":["
        "{\"intent\":\"pick\",\"args\":{\"object\":\"$object\"},\"test\":{\"holding\":\"$object\"},"
        "\"says\":\"pick up $object\"},"
        "{\"intent\":\"put\",\"step\":1,\"args\":{\"object\":\"$object\"},"
        "\"test\":{\"holding\":\"$object\"},\"says\":\"pick up $object\"},"
        "{\"intent\":\"bring\",\"step\":1,\"args\":{\"object\":\"$object\"},"
        "\"test\":{\"holding\":\"$object\"},\"says\":\"pick up $object\"}]}",
    .check = check,
    .start = start,
    .step = step,
    .hold = pons__arm_resume,
    .resume = pons__arm_resume,
};
