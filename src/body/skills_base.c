// skills_base.c - the small motions: stop_base, spin, back_up. By odometry alone, with the gate
// looking out.
#include "body/skills.h"

#include <string.h>

#define STILL_MPS    0.01
#define STILL_RADPS  0.02
#define STUCK_MAX_S  3.0
#define SPIN_GAIN    1.5 // [1/s]
#define SPIN_MIN     0.2 // [rad/s]
#define SPIN_MAX     1.0
#define SPIN_OK_RAD  0.03
#define BACK_MPS     0.15
#define BACK_MIN_MPS 0.05
#define BACK_GAIN    1.0 // [1/s]
#define BACK_OK_M    0.01

static void stop_base_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);
static void spin_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);
static void back_up_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);
static double clamp(double x, double lo, double hi);

const pons__skill pons__skill_stop_base = {
    .name = "stop_base",
    .description = "Stop driving at once and stand; takes the base from whatever has it.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}",
    .needs_base = true, // it takes the base from whoever has it
    .cancel_supported = true,
    .timeout_s = 10.0,
    .success = "the base stands still",
    .error_map = "{\"default\":\"ask_human\"}",
    .step = stop_base_step,
};

const pons__skill pons__skill_spin = {
    .name = "spin",
    .description = "Turn in place by an angle, counter-clockwise when positive.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"angle_rad\":{\"type\":\"number\",\"minimum\":-12.6,\"maximum\":12.6}},"
                   "\"required\":[\"angle_rad\"]}",
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 60.0,
    .success = "the base has turned by the angle",
    .error_map = "{\"703\":\"replan\",\"9002\":\"ask_human\",\"default\":\"retry\"}",
    .step = spin_step,
};

const pons__skill pons__skill_back_up = {
    .name = "back_up",
    .description = "Drive straight back by a distance.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"distance_m\":{\"type\":\"number\",\"minimum\":0,\"maximum\":2}},"
                   "\"required\":[\"distance_m\"]}",
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 60.0,
    .success = "the base has moved back by the distance",
    .error_map = "{\"714\":\"replan\",\"9002\":\"ask_human\",\"default\":\"retry\"}",
    .step = back_up_step,
};

static void stop_base_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    (void)r;
    const pons_twist2 out = env->safety->out;
    if (fabs(env->twist.v) < STILL_MPS && fabs(env->twist.w) < STILL_RADPS &&
        fabs(out.v) < STILL_MPS && fabs(out.w) < STILL_RADPS)
        ret->status = PONS__SKILL_DONE;
}

static void spin_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    r->turned += pons_wrap_angle(env->odom.yaw - r->last_yaw);
    r->last_yaw = env->odom.yaw;
    const double left = pons_get_num(r->args, "angle_rad", 0.0) - r->turned;
    if (fabs(left) < SPIN_OK_RAD) {
        ret->status = PONS__SKILL_DONE;
        return;
    }
    ret->cmd.w = copysign(clamp(SPIN_GAIN * fabs(left), SPIN_MIN, SPIN_MAX), left);
    if (pons__skill_stuck_s(r, env, ret->cmd) > STUCK_MAX_S)
        pons__skill_fail(ret, PONS__SPIN_COLLISION, "blocked with %.2f rad to go", left);
}

static void back_up_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const double gone = hypot(env->odom.x - r->from.x, env->odom.y - r->from.y);
    const double left = pons_get_num(r->args, "distance_m", 0.0) - gone;
    ret->distance_m = fmax(left, 0.0);
    if (left < BACK_OK_M) {
        ret->status = PONS__SKILL_DONE;
        return;
    }
    ret->cmd.v = -clamp(BACK_GAIN * left, BACK_MIN_MPS, BACK_MPS);
    if (pons__skill_stuck_s(r, env, ret->cmd) > STUCK_MAX_S)
        pons__skill_fail(ret, PONS__BACKUP_COLLISION, "blocked with %.2f m to go", left);
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}
