// follow_actions.c - follow_actions: velocities of a policy, one after the other, each for one period.
//
//     policy --chunk [[v, w], …]--> this skill, at its rate --> safety gate --> wheels
//
// A chunk is a goal like any other: the ledger has it, so it is driven once; a stop ends it, a lost
// brain holds it, and the gate slows and stops it before what is ahead. An action beyond what the
// robot can do refuses the whole chunk before anything moves. Behind the last action the base stands:
// whoever steers by a policy sends the next chunk, which may take over before that (chunk_blending.c).
#include "body/skills/skills.h"

#include <math.h>

#define SLACK 1e-9

static pons_twist2 action(const pons_value *list, size_t i)
{
    const pons_value *pair = json_array_get(list, i);
    return (pons_twist2){.v = json_number_value(json_array_get(pair, 0)),
                         .w = json_number_value(json_array_get(pair, 1))};
}

static bool check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret)
{
    const pons_robot_caps *caps = env->caps;
    const pons_value *list = pons_get(args, "actions");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const pons_twist2 a = action(list, i);
        if (!(a.v <= caps->speed_max_mps + SLACK && a.v >= -caps->reverse_max_mps - SLACK)) {
            snprintf(ret->text, sizeof ret->text,
                     "action %zu wants %g m/s: the base drives from %g to %g", i, a.v,
                     -caps->reverse_max_mps, caps->speed_max_mps);
            return false;
        }
        if (!(fabs(a.w) <= caps->yaw_rate_max_radps + SLACK)) {
            snprintf(ret->text, sizeof ret->text, "action %zu wants %g rad/s: the base turns at %g",
                     i, a.w, caps->yaw_rate_max_radps);
            return false;
        }
    }
    return true;
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const int at = pons__chunk_at(r, env, &ret->eta_s);
    if (at < 0) {
        ret->status = PONS__SKILL_DONE;
        return;
    }
    const pons_twist2 wants = action(pons_get(r->args, "actions"), (size_t)at);
    ret->cmd.v = pons__chunk_joined(r, env, r->chunk.cmd.v, wants.v);
    ret->cmd.w = pons__chunk_joined(r, env, r->chunk.cmd.w, wants.w);
}

const pons__skill pons__skill_follow = {
    .name = "follow_actions",
    .description = "Drive a chunk of velocities [v m/s, w rad/s], each for one period of hz; for "
                   "policies, never to go somewhere.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"actions\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,\"items\":"
                   "{\"type\":\"array\",\"minItems\":2,\"maxItems\":2,\"items\":"
                   "{\"type\":\"number\"}}}," PONS__CHUNK_ARGS "},"
                   "\"required\":[\"actions\"]}",
    .needs_base = true,
    .moves = true,
    .chunk = true,
    .cancel_supported = true,
    .timeout_s = 70.0,
    .success = "all actions have been driven",
    .error_map = "{\"9902\":\"ask_human\",\"default\":\"replan\"}",
    .check = check,
    .start = pons__chunk_start,
    .step = step,
};
