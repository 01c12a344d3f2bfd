// follow_joints.c - follow_joints: velocities or positions of an arm's joints from a policy, one after the other, each
// for one period.
//
// As follow_actions is for wheels: a chunk is a goal, the ledger has it, a stop ends it, and the arm's gate slows and
// stops what comes near to something. An action has a number for each joint of the chain, and one more is the gripper's
// opening in metres. What no joint can do refuses the whole chunk before anything moves. Behind the last action the arm
// stands.
#include "body/skills/arm_common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLACK 1e-9

static bool by_position(const pons_value *args)
{
    return strcmp(pons_get_str(args, "mode", "joint_velocity"), "joint_position") == 0;
}

static double number(const pons_value *action, int i)
{
    return json_number_value(json_array_get(action, (size_t)i));
}

static bool joint_can(const pons__skill_env *env, const pons_value *args, size_t at, int i,
                      double value, pons__skill_refusal *ret)
{
    const pons_arm_joint *j = pons_arm_joint_of(env->hand->model, i);
    const bool position = by_position(args);
    const double low = position ? j->lower : -j->speed_max,
                 high = position ? j->upper : j->speed_max;
    if (value >= low - SLACK && value <= high + SLACK) {
        return true;
    }
    snprintf(ret->text, sizeof ret->text, "action %zu wants %g %s of %.40s: it goes from %g to %g",
             at, value, position ? "rad" : "rad/s", j->name, low, high);
    return false;
}

static bool check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret)
{
    const size_t joints = (size_t)env->hand->model->n;
    size_t at;
    const pons_value *action;
    json_array_foreach((json_t *)pons_get(args, "actions"), at, action) {
        const size_t n = json_array_size(action);
        if (n != joints && n != joints + 1) {
            snprintf(ret->text, sizeof ret->text,
                     "action %zu has %zu numbers: one for each of %zu joints, and the gripper's",
                     at, n, joints);
            return false;
        }
        for (int i = 0; i < (int)joints; i++) {
            if (!joint_can(env, args, at, i, number(action, i), ret)) {
                return false;
            }
        }
        const double width = n > joints ? number(action, (int)joints) : 0.0;
        if (!(width >= 0.0 && width <= env->hand->caps.width_max_m + SLACK)) {
            snprintf(ret->text, sizeof ret->text,
                     "action %zu wants the gripper at %g m: it opens from 0 to %g", at, width,
                     env->hand->caps.width_max_m);
            return false;
        }
    }
    return true;
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const int joints = env->hand->model->n, at = pons__chunk_at(r, env, &ret->eta_s);
    const double hz = pons__chunk_hz(r->args);
    if (at < 0) {
        ret->status = PONS__SKILL_DONE;
        return;
    }
    const pons_value *action = json_array_get(pons_get(r->args, "actions"), (size_t)at);
    for (int i = 0; i < joints; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(env->hand->model, i);
        const double to = number(action, i) - env->hand->state.q[i];
        const double wants = by_position(r->args) ? fmax(fmin(to * hz, j->speed_max), -j->speed_max)
                                                  : number(action, i);
        ret->qd[i] = pons__chunk_joined(r, env, r->chunk.qd[i], wants);
    }
    if (r->phase != at && (int)json_array_size(action) > joints) {
        pons__limb_grip(env->hand, number(action, joints), env->hand->caps.force_max_n);
    }
    r->phase = at;
}

const pons__skill pons__skill_follow_joints = {
    .name = "follow_joints",
    .description =
        "Move the arm by a chunk of joint velocities (rad/s) or positions (rad), each for one "
        "period of hz. "
        "The gripper's opening (m) may stand behind them. For policies, never to go somewhere.",
    .args_schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        "\"actions\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,\"items\":"
        "{\"type\":\"array\",\"minItems\":1,\"maxItems\":9,\"items\":"
        "{\"type\":\"number\"}}},"
        "\"mode\":{\"enum\":[\"joint_velocity\",\"joint_position\"]}," PONS__CHUNK_ARGS "},"
        "\"required\":[\"actions\"]}",
    .needs_arm = true,
    .moves = true,
    .chunk = true,
    .cancel_supported = true,
    .timeout_s = 70.0,
    .success = "all actions have had their period",
    .error_map = PONS__ARM_ERROR_MAP,
    .check = check,
    .start = pons__chunk_start,
    .step = step,
    .hold = pons__arm_resume,
    .resume = pons__arm_resume,
};
