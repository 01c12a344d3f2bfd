// navigate.c - navigate_to_pose and navigate_through_poses: to poses, or to zones' targets, by a
// behaviour tree (navigator.c). They begin by backing off when the robot stands on its charger.
//
// A goal whose tree cannot be had is refused before anything moves, with Nav2's
// FAILED_TO_LOAD_BEHAVIOR_TREE and where in the file the first fault is. While a goal is held the
// tree keeps its place, and goes on there when it is adopted.
//
// How long it may take is said by the goal (timeout_s), or follows from its way: five times what the
// longest path so far would take at full speed, and two minutes for recoveries, but never less than
// the least. Nothing is known of the way before the first path, so the least counts until then.
//
// A robot whose own software takes such goals (external_goal.c) gets the poses, and its tree's name as it is.
#include "body/skills/skills.h"

#include <stdio.h>

enum { PHASE_UNDOCK, PHASE_DRIVE };

#define TIME_LEAST_S 180.0 // more than all the recoveries of the tree take
#define TIME_MORE_S  120.0
#define TIME_FACTOR  5.0
#define NEAR_M       0.3 // a goal this near to where the robot is docked needs no backing off

typedef struct journey {
    pons_pose2 poses[PONS_NAV_POSES_MAX];
    bool any_yaw[PONS_NAV_POSES_MAX];
    pons__nav_goal goal;
} journey;

#define POSE                                                                                       \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"                         \
    "\"x\":{\"type\":\"number\"},\"y\":{\"type\":\"number\"},\"yaw\":{\"type\":\"number\"}},"      \
    "\"required\":[\"x\",\"y\"]}"
#define TIMEOUT "\"timeout_s\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":86400}"
#define TREE    "\"behavior_tree\":{\"type\":\"string\",\"maxLength\":1024}"

static bool add_zone(const pons_value *world, const char *zone, journey *ret, char *msg, size_t cap)
{
    if (pons__pose_read(pons_get(pons__world_zone(world, zone), "target"),
                        &ret->poses[ret->goal.n])) {
        ret->any_yaw[ret->goal.n++] = false;
        return true;
    }
    snprintf(msg, cap, "there is no zone '%.60s'", zone);
    return false;
}

static bool add_pose(const pons_value *pose, journey *ret, char *msg, size_t cap)
{
    if (pons__pose_read(pose, &ret->poses[ret->goal.n])) {
        ret->any_yaw[ret->goal.n++] = !pons_get(pose, "yaw");
        return true;
    }
    snprintf(msg, cap, "the pose is not finite");
    return false;
}

static bool read_journey(const pons_value *args, const pons_value *world, journey *ret, char *msg,
                         size_t cap)
{
    const pons_value *poses = pons_get(args, "poses"), *zones = pons_get(args, "zones");
    ret->goal = (pons__nav_goal){.poses = ret->poses,
                                 .any_yaw = ret->any_yaw,
                                 .through = poses || zones,
                                 .tree = pons_get_str(args, "behavior_tree", NULL)};
    if (!ret->goal.through) {
        const char *zone = pons_get_str(args, "zone", NULL);
        return zone ? add_zone(world, zone, ret, msg, cap)
                    : add_pose(pons_get(args, "pose"), ret, msg, cap);
    }
    const pons_value *all = poses ? poses : zones;
    bool good = json_array_size(all) <= PONS_NAV_POSES_MAX;
    for (size_t i = 0; good && i < json_array_size(all); i++) {
        const pons_value *v = json_array_get(all, i);
        good = poses ? add_pose(v, ret, msg, cap)
                     : add_zone(world, json_string_value(v), ret, msg, cap);
    }
    return good;
}

static bool check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                  pons__skill_refusal *ret)
{
    journey j;
    pons_error err = PONS_ERROR_INIT;
    if (!read_journey(args, env->world, &j, ret->text, sizeof ret->text)) {
        return false;
    }
    if (pons__external_goal_takes(k, env->robot, env->self) ||
        pons__nav_check(env->nav, &j.goal, &err) == PONS_OK) {
        return true;
    }
    ret->error_code = PONS_NAVIGATE_BAD_TREE + (j.goal.through ? PONS_NAV_THROUGH : 0);
    snprintf(ret->text, sizeof ret->text, "%d FAILED_TO_LOAD_BEHAVIOR_TREE: %.180s%s%.160s",
             ret->error_code, err.source, *err.source ? ": " : "", err.message);
    return false;
}

// A tree that has gone since it was checked shows at the first step.
static void drive(pons__skill_run *r, const pons__skill_env *env)
{
    journey j;
    char why[PONS__SKILL_MSG_MAX];
    pons_error err = PONS_ERROR_INIT;
    if (read_journey(r->args, env->world, &j, why, sizeof why)) {
        pons__nav_go(env->nav, &j.goal, env->robot_ns, &err);
    }
}

static void start(pons__skill_run *r, const pons__skill_env *env)
{
    journey j;
    char why[PONS__SKILL_MSG_MAX];
    if (read_journey(r->args, env->world, &j, why, sizeof why)) {
        r->goal = j.poses[0];
    }
    const double away = hypot(r->goal.x - env->pose.x, r->goal.y - env->pose.y);
    r->timeout_s = pons_get_num(r->args, "timeout_s", TIME_LEAST_S);
    r->phase = env->on_charger && away > NEAR_M ? PHASE_UNDOCK : PHASE_DRIVE;
    if (r->phase == PHASE_DRIVE) {
        drive(r, env);
    } else {
        pons__nav_cancel(env->nav); // what it had been taken over from
    }
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (r->phase == PHASE_UNDOCK) {
        ret->distance_m = hypot(r->goal.x - env->pose.x, r->goal.y - env->pose.y);
        if (!pons__undock_step(r, env, ret) || ret->status != PONS__SKILL_RUNNING) {
            return;
        }
        pons__skill_phase(r, env, PHASE_DRIVE);
        drive(r, env);
    }
    pons__nav_output out;
    pons__nav_step(env->nav, env->robot_ns, env->pose, env->twist, env->scan, &out);
    ret->cmd = out.cmd;
    ret->distance_m = out.distance_remaining_m;
    ret->eta_s = out.eta_s;
    ret->recoveries = out.recoveries;
    ret->navigating = true;
    ret->nav_time_s = out.time_s;
    ret->poses_remaining = out.poses_remaining;
    pons__navigate_allow(r, env, out.distance_remaining_m);
    ret->node = pons__nav_tree_at(env->nav);
    if (out.status == PONS_NAV_SUCCEEDED) {
        ret->status = PONS__SKILL_DONE;
    } else if (out.status == PONS_NAV_FAILED) {
        pons__skill_fail(ret, out.error_code, "%s: %.370s", pons__nav_error_word(out.error_code),
                         out.error_msg);
    }
}

static void stop(pons__skill_run *r, const pons__skill_env *env)
{
    if (r->phase == PHASE_DRIVE) {
        pons__nav_cancel(env->nav);
    }
}

static void hold(pons__skill_run *r, const pons__skill_env *env)
{
    if (r->phase == PHASE_DRIVE) {
        pons__nav_hold(env->nav, env->robot_ns);
    }
}

static void resume(pons__skill_run *r, const pons__skill_env *env)
{
    if (r->phase == PHASE_DRIVE) {
        pons__nav_resume(env->nav, env->robot_ns);
    }
}

const pons__skill pons__skill_navigate = {
    .name = "navigate_to_pose",
    .description = "Drive to a zone or to a pose in the map, around obstacles.",
    .args_schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        "\"pose\":" POSE ",\"zone\":{\"type\":\"string\",\"minLength\":1}," TREE "," TIMEOUT "},"
        "\"oneOf\":[{\"required\":[\"pose\"]},{\"required\":[\"zone\"]}]}",
    .needs_base = true,
    .moves = true,
    .needs_pose = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = TIME_LEAST_S,
    .timeout_code = PONS_NAVIGATE_TIMEOUT,
    .success = "the robot stands within 0.15 m of the pose, turned within 0.25 rad",
    .error_map = "{\"103\":\"replan\",\"104\":\"replan\",\"105\":\"replan\",\"106\":\"replan\","
                 "\"203\":\"retry\",\"204\":\"abort\",\"205\":\"retry\",\"206\":\"replan\","
                 "\"207\":\"retry\",\"208\":\"replan\",\"701\":\"replan\",\"703\":\"replan\","
                 "\"711\":\"replan\",\"714\":\"replan\",\"905\":\"retry\",\"9000\":\"replan\","
                 "\"9001\":\"abort\",\"9003\":\"replan\",\"9901\":\"retry\","
                 "\"9902\":\"ask_human\",\"9904\":\"ask_human\",\"9907\":\"ask_human\",\"9912\":"
                 "\"ask_human\",\"default\":"
                 "\"retry\"}",
    .reported =
        "{\"meets\":[{\"intent\":\"go_to\",\"args\":{\"pose\":\"$pose\"},\"test\":\"at\","
        "\"says\":\"go to ($pose.x, $pose.y)\"},"
        "{\"intent\":\"go_to\",\"args\":{\"zone\":\"$zone\"},\"test\":\"at\","
        "\"says\":\"go to $zone\"},"
        "{\"intent\":\"patrol\",\"each\":\"zones\",\"args\":{\"zone\":\"$each\"},"
        "\"says\":\"patrol $each\"}],"
        "\"no_way\":[204,205,206,207,208,9912],\"alternates\":{\"of\":\"zone\",\"as\":\"pose\"}}",
    .check = check,
    .start = start,
    .step = step,
    .stop = stop,
    .hold = hold,
    .resume = resume,
};

const pons__skill pons__skill_navigate_through = {
    .name = "navigate_through_poses",
    .description = "Drive through several zones or poses, in order, to the last.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"poses\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,\"items\":" POSE
                   "},\"zones\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,\"items\":"
                   "{\"type\":\"string\",\"minLength\":1}}," TREE "," TIMEOUT "},"
                   "\"oneOf\":[{\"required\":[\"poses\"]},{\"required\":[\"zones\"]}]}",
    .needs_base = true,
    .moves = true,
    .needs_pose = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = TIME_LEAST_S,
    .timeout_code = PONS_NAVIGATE_TIMEOUT + PONS_NAV_THROUGH,
    .success = "the robot has been near each pose and stands at the last",
    .error_map = "{\"103\":\"replan\",\"104\":\"replan\",\"105\":\"replan\",\"106\":\"replan\","
                 "\"303\":\"retry\",\"304\":\"abort\",\"305\":\"retry\",\"306\":\"replan\","
                 "\"307\":\"retry\",\"308\":\"replan\",\"701\":\"replan\",\"703\":\"replan\","
                 "\"711\":\"replan\",\"714\":\"replan\",\"905\":\"retry\",\"9100\":\"replan\","
                 "\"9101\":\"abort\",\"9103\":\"replan\",\"9901\":\"retry\","
                 "\"9902\":\"ask_human\",\"9904\":\"ask_human\",\"9907\":\"ask_human\",\"9912\":"
                 "\"ask_human\",\"default\":"
                 "\"retry\"}",
    .check = check,
    .start = start,
    .step = step,
    .stop = stop,
    .hold = hold,
    .resume = resume,
};

void pons__navigate_external_goal(pons__skill_run *r, const pons__skill_env *env,
                                  pons_external_goal_request *ret)
{
    journey j;
    char why[PONS__SKILL_MSG_MAX];
    r->timeout_s = pons_get_num(r->args, "timeout_s", TIME_LEAST_S);
    if (!read_journey(r->args, env->world, &j, why, sizeof why)) {
        return;
    }
    r->goal = j.poses[0];
    ret->behavior_tree = pons_get_str(r->args, "behavior_tree", "");
    for (ret->n = 0; ret->n < (int)j.goal.n && ret->n < PONS_ERRAND_POSES_MAX; ret->n++) {
        ret->poses[ret->n] = j.poses[ret->n];
    }
}

void pons__navigate_allow(pons__skill_run *r, const pons__skill_env *env, double way_m)
{
    const double s = TIME_MORE_S + TIME_FACTOR * way_m / env->caps->speed_max_mps;
    if (isfinite(s) && s > r->timeout_s && !pons_get(r->args, "timeout_s")) {
        r->timeout_s = s;
    }
}
