// skills_nav.c - navigate_to_pose: to a pose, or to a zone's target. It begins by backing off when
// the robot stands on its charger; everything after that is the navigator's (nav_internal.h).
#include "body/skills.h"

#include <stdio.h>
#include <string.h>

enum { PHASE_UNDOCK, PHASE_DRIVE };

#define NEAR_M 0.3 // a goal this near to where the robot is docked needs no backing off

static bool check(const pons_value *args, const pons_value *world, char *ret_msg, size_t cap);
static void start(pons__skill_run *r, const pons__skill_env *env);
static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret);
static void stop(pons__skill_run *r, const pons__skill_env *env);
static void drive(pons__skill_run *r, const pons__skill_env *env);
static bool goal_pose(const pons_value *args, const pons_value *world, pons_pose2 *ret);

const pons__skill pons__skill_navigate = {
    .name = "navigate_to_pose",
    .description = "Drive to a zone or to a pose in the map, around obstacles.",
    .args_schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        "\"pose\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        "\"x\":{\"type\":\"number\"},\"y\":{\"type\":\"number\"},\"yaw\":{\"type\":\"number\"}},"
        "\"required\":[\"x\",\"y\"]},"
        "\"zone\":{\"type\":\"string\",\"minLength\":1},"
        "\"behavior_tree\":{\"type\":\"string\"}},"
        "\"oneOf\":[{\"required\":[\"pose\"]},{\"required\":[\"zone\"]}]}",
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 300.0,
    .success = "the robot stands within 0.15 m of the pose, turned within 0.25 rad",
    .error_map = "{\"103\":\"replan\",\"104\":\"replan\",\"105\":\"replan\",\"106\":\"replan\","
                 "\"204\":\"retry\",\"205\":\"abort\",\"206\":\"retry\",\"207\":\"replan\","
                 "\"208\":\"replan\",\"905\":\"retry\",\"9001\":\"retry\",\"9002\":\"ask_human\","
                 "\"9003\":\"replan\",\"9004\":\"ask_human\",\"default\":\"retry\"}",
    .check = check,
    .start = start,
    .step = step,
    .stop = stop,
    .resume = drive,
};

static bool check(const pons_value *args, const pons_value *world, char *ret_msg, size_t cap)
{
    const char *tree = pons_get_str(args, "behavior_tree", "");
    if (*tree) {
        snprintf(ret_msg, cap, "behavior_tree '%.60s' is unsupported by this body", tree);
        return false;
    }
    pons_pose2 goal;
    if (goal_pose(args, world, &goal))
        return true;
    const char *zone = pons_get_str(args, "zone", NULL);
    if (zone)
        snprintf(ret_msg, cap, "there is no zone '%.60s'", zone);
    else
        snprintf(ret_msg, cap, "the pose is not finite");
    return false;
}

static void start(pons__skill_run *r, const pons__skill_env *env)
{
    goal_pose(r->args, env->world, &r->goal);
    const double away = hypot(r->goal.x - env->pose.x, r->goal.y - env->pose.y);
    r->phase = env->on_charger && away > NEAR_M ? PHASE_UNDOCK : PHASE_DRIVE;
    if (r->phase == PHASE_DRIVE)
        drive(r, env);
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (r->phase == PHASE_UNDOCK) {
        ret->distance_m = hypot(r->goal.x - env->pose.x, r->goal.y - env->pose.y);
        if (!pons__undock_step(r, env, ret) || ret->status != PONS__SKILL_RUNNING)
            return;
        pons__skill_phase(r, env, PHASE_DRIVE);
        drive(r, env);
    }
    pons_nav_output out;
    pons_nav_step(env->nav, env->robot_ns, env->pose, env->twist, env->scan, &out);
    r->recoveries = out.recoveries;
    ret->cmd = out.cmd;
    ret->distance_m = out.distance_remaining_m;
    ret->eta_s = out.eta_s;
    ret->recoveries = r->recoveries_before + out.recoveries;
    if (out.status == PONS_NAV_SUCCEEDED)
        ret->status = PONS__SKILL_DONE;
    else if (out.status == PONS_NAV_FAILED)
        pons__skill_fail(ret, out.error_code, "%s",
                         out.error_msg[0] ? out.error_msg : pons_nav_error_word(out.error_code));
}

static void stop(pons__skill_run *r, const pons__skill_env *env)
{
    if (r->phase == PHASE_DRIVE)
        pons_nav_cancel(env->nav);
}

// Also after a hold: a fresh plan from where the robot is now.
static void drive(pons__skill_run *r, const pons__skill_env *env)
{
    if (r->phase != PHASE_DRIVE)
        return;
    r->recoveries_before += r->recoveries;
    r->recoveries = 0;
    const pons_value *pose = pons_get(r->args, "pose");
    const bool with_yaw = !pose || pons_get(pose, "yaw");
    pons_nav_start(env->nav, r->goal, with_yaw, env->robot_ns);
}

static bool goal_pose(const pons_value *args, const pons_value *world, pons_pose2 *ret)
{
    const char *zone = pons_get_str(args, "zone", NULL);
    if (!zone)
        return pons__pose_read(pons_get(args, "pose"), ret);
    return pons__pose_read(pons_get(pons__world_zone(world, zone), "target"), ret);
}
