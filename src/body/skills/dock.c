// dock.c - dock_to_charger and undock.
//
// The charger's pose in the world file is where the robot stands, and how it is turned, when the
// contacts touch; it drives on forwards and off backwards.
//
//   STAGE   navigate to a pose STAGE_M before it, turned towards it
//   TURN    turn in place until the heading is right
//   SLIDE   straight on, slowly, steering onto the axis, until the contacts touch
//   CHARGE  switch charging on and wait until the battery says so
//
// A miss (past the pad, or stuck before it) backs off to the stage and tries again, twice. Error
// numbers are those of Nav2's docking server.
#include "body/skills/skills.h"

#include <stdio.h>

enum { PHASE_STAGE, PHASE_TURN, PHASE_SLIDE, PHASE_CHARGE, PHASE_BACK }; // dock_to_charger
enum { PHASE_BACK_OFF, PHASE_IS_OFF };                                   // undock

#define STAGE_M        0.60 // before the charger's pose
#define SLIDE_MPS      0.12
#define SLIDE_MAX_M    1.0 // a longer slide has missed the pad
#define TURN_OK_RAD    0.06
#define TURN_GAIN      1.5 // [1/s]
#define TURN_MAX_RADPS 0.8
#define TURN_MIN_RADPS 0.15
#define TURN_MAX_S     15.0
#define SIDE_GAIN      2.5 // heading asked for per metre off the axis [rad/m]
#define SIDE_MAX_RAD   0.5
#define CHARGE_MAX_S   5.0
#define STUCK_MAX_S    3.0
#define TRIES_MAX      3
#define OFF_M          0.45 // undocked: this far back
#define OFF_MPS        0.15

static void again(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret, int code,
                  const char *why)
{
    if (++r->tries >= TRIES_MAX) {
        pons__skill_fail(ret, code, "%s (%d tries)", why, r->tries);
        return;
    }
    ret->cmd = (pons_twist2){0};
    pons__skill_phase(r, env, PHASE_BACK);
}

static bool is_charging(pons_battery_state b)
{
    return b == PONS_BATTERY_CHARGING || b == PONS_BATTERY_FULL;
}

static void charge(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (!env->robot->charge || !env->caps->can_charge) {
        pons__skill_fail(ret, PONS__DOCK_FAILED_TO_CHARGE, "this robot cannot be charged");
        return;
    }
    if (is_charging(env->battery)) {
        ret->status = PONS__SKILL_DONE;
        ret->distance_m = 0.0;
        return;
    }
    pons_error err = PONS_ERROR_INIT;
    if (env->robot->charge(env->self, true, &err) < 0) {
        pons__skill_fail(ret, PONS__DOCK_FAILED_TO_CHARGE, "%.140s", err.message);
    } else if (!env->on_charger || pons__skill_in_phase_s(r, env) > CHARGE_MAX_S) {
        again(r, env, ret, PONS__DOCK_FAILED_TO_CHARGE, "the battery does not charge");
    }
}

bool pons__undock_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (env->robot->charge) {
        env->robot->charge(env->self, false, NULL);
    }
    const double gone = hypot(env->odom.x - r->from.x, env->odom.y - r->from.y);
    if (gone >= OFF_M && !env->on_charger) {
        return true;
    }
    ret->cmd = (pons_twist2){-OFF_MPS, 0.0};
    if (pons__skill_stuck_s(r, env, ret->cmd) > STUCK_MAX_S) {
        if (!env->on_charger) {
            return true; // less room than wished, but off
        }
        pons__skill_fail(ret, PONS__DOCK_FAILED_TO_CONTROL,
                         "cannot back off the charger: blocked after %.2f m", gone);
    }
    return false;
}

static void start_stage(pons__skill_run *r, const pons__skill_env *env)
{
    pons__skill_phase(r, env, PHASE_STAGE);
    r->recoveries_before += r->recoveries;
    r->recoveries = 0;
    const pons_pose2 before = pons_pose_compose(r->goal, (pons_pose2){-STAGE_M, 0.0, 0.0});
    pons__nav_start(env->nav, before, true, env->robot_ns);
}

static void back(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (pons__undock_step(r, env, ret)) {
        start_stage(r, env);
    }
}

static bool check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret)
{
    pons_pose2 pose;
    if (pons__pose_read(pons_get(pons_get(env->world, "charger"), "pose"), &pose)) {
        return true;
    }
    snprintf(ret->text, sizeof ret->text, "this world has no charger");
    return false;
}

static void start(pons__skill_run *r, const pons__skill_env *env)
{
    pons__pose_read(pons_get(pons_get(env->world, "charger"), "pose"), &r->goal);
    if (env->on_charger) {
        pons__skill_phase(r, env, PHASE_CHARGE);
    } else {
        start_stage(r, env);
    }
}

static void stage(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    pons__nav_output out;
    pons__nav_step(env->nav, env->robot_ns, env->pose, env->twist, env->scan, &out);
    r->recoveries = out.recoveries;
    ret->cmd = out.cmd;
    if (out.status == PONS_NAV_RUNNING) {
        ret->distance_m = out.distance_remaining_m + STAGE_M;
    }
    if (out.status == PONS_NAV_SUCCEEDED) {
        pons__skill_phase(r, env, PHASE_TURN);
    } else if (out.status == PONS_NAV_FAILED) {
        pons__skill_fail(ret, PONS__DOCK_FAILED_TO_STAGE, "no way to the charger: %d %.350s",
                         out.error_code, out.error_msg);
    }
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static void slide(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (env->on_charger) {
        pons__skill_phase(r, env, PHASE_CHARGE);
        return;
    }
    // Steer onto the charger's axis: ask for a heading that leads back to it.
    const pons_pose2 at = pons_pose_between(r->goal, env->pose);
    const double heading = clamp(-SIDE_GAIN * at.y, -SIDE_MAX_RAD, SIDE_MAX_RAD);
    const double error = pons_wrap_angle(heading - at.yaw);
    ret->docking = true;
    ret->cmd = (pons_twist2){SLIDE_MPS, clamp(TURN_GAIN * error, -TURN_MAX_RADPS, TURN_MAX_RADPS)};
    const double gone = hypot(env->odom.x - r->from.x, env->odom.y - r->from.y);
    if (gone > SLIDE_MAX_M) {
        again(r, env, ret, PONS__DOCK_FAILED_TO_DETECT, "no contact where the charger should be");
    } else if (pons__skill_stuck_s(r, env, ret->cmd) > STUCK_MAX_S) {
        again(r, env, ret, PONS__DOCK_FAILED_TO_CONTROL, "something stands before the charger");
    }
}

static void turn(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    // Towards the pad itself, so that the slide begins on a straight line to it.
    const double to = atan2(r->goal.y - env->pose.y, r->goal.x - env->pose.x);
    const double error = pons_wrap_angle(to - env->pose.yaw);
    if (fabs(error) < TURN_OK_RAD) {
        pons__skill_phase(r, env, PHASE_SLIDE);
        return;
    }
    const double rate = clamp(TURN_GAIN * fabs(error), TURN_MIN_RADPS, TURN_MAX_RADPS);
    ret->cmd.w = copysign(rate, error);
    if (pons__skill_in_phase_s(r, env) > TURN_MAX_S) {
        again(r, env, ret, PONS__DOCK_FAILED_TO_CONTROL, "cannot turn to the charger");
    }
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    ret->distance_m = hypot(r->goal.x - env->pose.x, r->goal.y - env->pose.y);
    switch (r->phase) {
    case PHASE_STAGE:
        stage(r, env, ret);
        break;
    case PHASE_TURN:
        turn(r, env, ret);
        break;
    case PHASE_SLIDE:
        slide(r, env, ret);
        break;
    case PHASE_CHARGE:
        charge(r, env, ret);
        break;
    case PHASE_BACK:
        back(r, env, ret);
        break;
    default:
        pons__skill_fail(ret, PONS__DOCK_UNKNOWN, "phase %d", r->phase);
    }
    ret->recoveries = r->recoveries_before + r->recoveries + r->tries;
}

static void stop(pons__skill_run *r, const pons__skill_env *env)
{
    if (r->phase == PHASE_STAGE) {
        pons__nav_cancel(env->nav);
    }
}

static void resume(pons__skill_run *r, const pons__skill_env *env)
{
    if (r->phase == PHASE_STAGE) {
        start_stage(r, env);
    }
}

static void undock_start(pons__skill_run *r, const pons__skill_env *env)
{
    r->phase = env->on_charger ? PHASE_BACK_OFF : PHASE_IS_OFF;
}

static void undock_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const double gone = hypot(env->odom.x - r->from.x, env->odom.y - r->from.y);
    ret->distance_m = fmax(OFF_M - gone, 0.0);
    if (r->phase == PHASE_IS_OFF) {
        ret->status = PONS__SKILL_DONE;
        return;
    }
    if (pons__undock_step(r, env, ret)) {
        ret->status = PONS__SKILL_DONE;
    }
}

#define NO_ARGS "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}"

const pons__skill pons__skill_dock = {
    .name = "dock_to_charger",
    .description = "Drive to the charger, onto its contacts, and charge.",
    .args_schema = NO_ARGS,
    .needs_base = true,
    .moves = true,
    .needs_pose = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 300.0,
    .success = "the contacts touch and the battery is charging",
    .error_map =
        "{\"901\":\"abort\",\"902\":\"abort\",\"903\":\"replan\",\"904\":\"retry\","
        "\"905\":\"retry\",\"906\":\"retry\",\"9901\":\"retry\",\"9902\":\"ask_human\","
        "\"9903\":\"replan\",\"9904\":\"ask_human\",\"9907\":\"ask_human\",\"default\":\"retry\"}",
    .reported = "{\"meets\":[{\"intent\":\"charge\",\"test\":\"charged\",\"says\":\"charge\"}]}",
    .check = check,
    .start = start,
    .step = step,
    .stop = stop,
    .resume = resume,
};

const pons__skill pons__skill_undock = {
    .name = "undock",
    .description = "Back off the charger.",
    .args_schema = NO_ARGS,
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 30.0,
    .success = "the robot has backed 0.45 m off the charger",
    .error_map = "{\"905\":\"retry\",\"9902\":\"ask_human\",\"default\":\"retry\"}",
    .phrases =
        "[{\"say\":[\"(leave|get off|drive off|back off) [the|your] (charger|dock|docking "
        "station|charging station)\",\"(离开|退出|驶离)充电(桩|站|座)\",\"(离桩|出桩|下桩)\"],"
        "\"args\":{}}]",
    .start = undock_start,
    .step = undock_step,
};
