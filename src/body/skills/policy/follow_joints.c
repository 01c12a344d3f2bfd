// follow_joints.c - follow_joints: velocities or positions of an arm's joints, or deltas of its tool, from a policy, one
// after the other, each for one period.
//
// As follow_actions is for wheels: a chunk is a goal, the ledger has it, a stop ends it, and the arm's gate slows and
// stops what comes near to something. An action has a number for each joint of the chain, or six of a delta along the axes
// of `frame`, and one more is the gripper's opening in metres. Deltas add up from where the tool is when the chunk begins.
// A joint reaches its position at the end of the action's period, at constant speed. A chunk that the joints cannot do is
// refused as a whole, before anything moves. After the last action the arm holds still.
#include "body/skills/arm_common.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SLACK      1e-9
#define DELTA      6    // x, y, z, roll, pitch, yaw
#define LEFT_MIN_S 0.05 // of a period in which a position is to be reached

static bool by_position(const pons_value *args)
{
    return strcmp(pons_get_str(args, "mode", "joint_velocity"), "joint_position") == 0;
}

static double number(const pons_value *action, int i)
{
    return json_number_value(json_array_get(action, (size_t)i));
}

static bool by_delta(const pons_value *args)
{
    return strcmp(pons_get_str(args, "mode", ""), "tool_delta") == 0;
}

// What is behind them is the gripper's opening.
static int numbers_of(const pons_value *args, const pons__skill_env *env)
{
    return by_delta(args) ? DELTA : env->hand->model->n;
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

// ---- deltas of the tool -------------------------------------------------------------------------

// One action of them further.
static bool delta_step(const pons__skill_env *env, const pons_value *args, size_t at,
                       pons_pose3 *tool, double *q, char *why, size_t cap)
{
    double delta[DELTA];
    char text[PONS__SKILL_MSG_MAX];
    const bool in_tool = strcmp(pons_get_str(args, "frame", ""), "tool") == 0;
    for (int i = 0; i < DELTA; i++) {
        delta[i] = number(json_array_get(pons_get(args, "actions"), at), i);
    }
    if (pons__tool_delta(env->hand->model, delta, in_tool, 1.0 / pons__chunk_hz(args), tool, q,
                         text, sizeof text)) {
        return true;
    }
    snprintf(why, cap, "action %zu %.200s", at, text);
    return false;
}

// All that are to be done, one after the other from where the arm is.
static bool deltas_can(const pons_value *args, const pons__skill_env *env, pons__skill_refusal *ret)
{
    pons_pose3 tool;
    double q[PONS_ARM_JOINTS];
    bool can = true;
    if (!pons_get(args, "frame")) {
        snprintf(ret->text, sizeof ret->text, "frame is missing: deltas are along base or tool");
        return false;
    }
    memcpy(q, env->hand->state.q, sizeof q);
    pons_arm_forward(env->hand->model, q, &tool);
    for (size_t at = (size_t)pons__chunk_passed(args, env);
         can && at < json_array_size(pons_get(args, "actions")); at++) {
        can = delta_step(env, args, at, &tool, q, ret->text, sizeof ret->text);
    }
    return can;
}

// ---- the skill ----------------------------------------------------------------------------------

static bool check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret)
{
    const size_t numbers = (size_t)numbers_of(args, env);
    size_t at;
    const pons_value *action;
    json_array_foreach((json_t *)pons_get(args, "actions"), at, action) {
        const size_t n = json_array_size(action);
        if (n != numbers && n != numbers + 1) {
            snprintf(ret->text, sizeof ret->text,
                     "action %zu has %zu numbers: one for each of %zu %s, and the gripper's", at, n,
                     numbers, by_delta(args) ? "directions" : "joints");
            return false;
        }
        for (int i = 0; i < (int)numbers && !by_delta(args); i++) {
            if (!joint_can(env, args, at, i, number(action, i), ret)) {
                return false;
            }
        }
        const double width = n > numbers ? number(action, (int)numbers) : 0.0;
        if (!(width >= 0.0 && width <= env->hand->caps.width_max_m + SLACK)) {
            snprintf(ret->text, sizeof ret->text,
                     "action %zu wants the gripper at %g m: it opens from 0 to %g", at, width,
                     env->hand->caps.width_max_m);
            return false;
        }
    }
    return !by_delta(args) || deltas_can(args, env, ret);
}

// The action that begins: the gripper's wish, and where a delta leads.
static bool begin(pons__skill_run *r, const pons__skill_env *env, int at, pons__skill_output *ret)
{
    const pons_value *action = json_array_get(pons_get(r->args, "actions"), (size_t)at);
    const int numbers = numbers_of(r->args, env);
    char why[PONS__SKILL_MSG_MAX];
    if ((int)json_array_size(action) > numbers) {
        pons__limb_grip(env->hand, number(action, numbers), env->hand->caps.force_max_n);
    }
    if (by_delta(r->args) && r->phase < 0) {
        memcpy(r->chunk.q, env->hand->state.q, sizeof r->chunk.q);
        pons_arm_forward(env->hand->model, r->chunk.q, &r->chunk.tool);
        r->phase = at - 1;
    }
    for (int i = r->phase + 1; by_delta(r->args) && i <= at; i++) {
        if (!delta_step(env, r->args, (size_t)i, &r->chunk.tool, r->chunk.q, why, sizeof why)) {
            pons__skill_fail(ret, PONS__ARM_UNREACHABLE, "UNREACHABLE: %.200s", why);
            return false;
        }
    }
    r->phase = at;
    return true;
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const int at = pons__chunk_at(r, env, &ret->eta_s);
    const double hz = pons__chunk_hz(r->args);
    if (at < 0) {
        ret->status = PONS__SKILL_DONE;
        return;
    }
    if (r->phase != at && !begin(r, env, at, ret)) {
        return;
    }
    const pons_value *action = json_array_get(pons_get(r->args, "actions"), (size_t)at);
    const double left_s = fmax((at + 1) / hz - pons__skill_in_phase_s(r, env), LEFT_MIN_S);
    for (int i = 0; i < env->hand->model->n; i++) {
        const pons_arm_joint *j = pons_arm_joint_of(env->hand->model, i);
        const double to = by_delta(r->args) ? r->chunk.q[i] : number(action, i);
        const double wants =
            by_delta(r->args) || by_position(r->args) ? (to - env->hand->state.q[i]) / left_s : to;
        ret->qd[i] = pons__chunk_joined(r, env, r->chunk.qd[i],
                                        fmax(fmin(wants, j->speed_max), -j->speed_max));
    }
}

const pons__skill pons__skill_follow_joints = {
    .name = "follow_joints",
    .description =
        "Move the arm by a chunk of joint velocities (rad/s), positions (rad) or deltas of the "
        "tool "
        "(m, rad), each for one period of hz. "
        "The gripper's opening (m) may stand behind them. For policies, never to go somewhere.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"actions\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,\"items\":"
                   "{\"type\":\"array\",\"minItems\":1,\"maxItems\":9,\"items\":"
                   "{\"type\":\"number\"}}},"
                   "\"mode\":{\"enum\":[\"joint_velocity\",\"joint_position\",\"tool_delta\"]},"
                   "\"frame\":{\"enum\":[\"base\",\"tool\"]}," PONS__CHUNK_ARGS "},"
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
