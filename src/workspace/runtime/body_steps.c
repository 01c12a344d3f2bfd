// body_steps.c - steps of the body, from a session's arguments or from a policy's answer.
//
//     builtin   the skill is the body's, execution.params are its arguments: one step
//     VLA       {actions: [[…], …], done?}: one step that drives the chunk at the control rate, then the
//               policy is asked again, until it says done. A base's action is [v m/s, w rad/s], an arm's a number
//               for each joint (rad/s; with control_mode joint_position rad), or six of a delta of the tool
//               (tool_delta; m and rad along the axes of the answer's `frame`), and the gripper's opening or not
//     ReKep     {stages: [{grasp?, subgoal?, path?, release?}, …]}: a stage is the way to its subgoal, over
//               its path, then its grasp or release; each is a skill of the body
//
// What an answer says is held against its form before any of it moves.
#include "workspace/runtime/runtime_common.h"

#include <math.h>
#include <string.h>

#define CONTROL_HZ 10.0
#define STAGES_MAX 64

static pons_value *call(const char *skill, pons_value *args)
{
    return pons_object("skill", json_string(skill), "args", args, NULL);
}

// ---- builtin ------------------------------------------------------------------------------------

static void plan_builtin(const pons_value *session, const pons_value *skill,
                         const pons_value *target, const pons_value *answer,
                         const pons_value *tools, rt_plan *ret, rt_refusal *why)
{
    const pons_value *params = pons_get(pons_get(session, "execution"), "params");
    ret->calls = json_array();
    json_array_append_new(ret->calls, call(pons_get_str(session, "skill_ref", ""),
                                           params ? json_deep_copy(params) : json_object()));
    ret->last = true;
}

const rt_kind pons__rt_builtin = {"BuiltinRuntime", false, false, plan_builtin};

// ---- VLA ----------------------------------------------------------------------------------------

// A list of finite numbers, so many; false: it is none.
static bool numbers(const pons_value *list, size_t least, size_t most)
{
    if (!json_is_array(list) || json_array_size(list) < least || json_array_size(list) > most) {
        return false;
    }
    pons_each(v, list) {
        if (!json_is_number(v) || !isfinite(json_number_value(v))) {
            return false;
        }
    }
    return true;
}

// How many numbers an action has: as the body's skill says.
static size_t width_of(const pons_value *follow, const char *bound)
{
    const pons_value *schema = pons_get(follow, "parameters");
    const pons_value *one = pons_get(pons_get(pons_get(schema, "properties"), "actions"), "items");
    return (size_t)pons_get_int(one, bound, 2);
}

static bool of_arm(const char *mode)
{
    return strcmp(mode, "joint_velocity") == 0 || strcmp(mode, "joint_position") == 0 ||
           strcmp(mode, "tool_delta") == 0;
}

const pons_value *pons__rt_follow(const pons_value *target, const pons_value *tools)
{
    const char *mode = pons_get_str(pons_get(target, "config"), "control_mode", "");
    const pons_value *base = pons__rt_tool(tools, "follow_actions"),
                     *arm = pons__rt_tool(tools, "follow_joints");
    if (of_arm(mode)) {
        return arm;
    }
    return strcmp(mode, "velocity") == 0 ? base : *mode ? NULL : base ? base : arm;
}

static void plan_vla(const pons_value *session, const pons_value *skill, const pons_value *target,
                     const pons_value *answer, const pons_value *tools, rt_plan *ret,
                     rt_refusal *why)
{
    const pons_value *actions = pons_get(answer, "actions");
    const pons_value *follow = pons__rt_follow(target, tools);
    const size_t least = width_of(follow, "minItems"), most = width_of(follow, "maxItems"),
                 n = json_array_size(actions);
    const char *mode = pons_get_str(pons_get(target, "config"), "control_mode", "");
    size_t i;
    const pons_value *a;
    ret->calls = json_array();
    ret->last = pons_get_bool(answer, "done", false);
    if (n == 0 && ret->last) {
        return;
    }
    if (!json_is_array(actions) || n == 0) {
        pons__rt_refuse(why, "POLICY_BAD_ANSWER", "the answer has no actions");
        return;
    }
    if (n > RT_CHUNK_MAX) {
        pons__rt_refuse(why, "POLICY_BAD_ANSWER", "a chunk of %zu actions: at most %d", n,
                        RT_CHUNK_MAX);
        return;
    }
    json_array_foreach((json_t *)actions, i, a) {
        if (!numbers(a, least, most)) {
            pons__rt_refuse(why, "POLICY_BAD_ANSWER", "action %zu is not %zu finite numbers", i,
                            least);
            return;
        }
    }
    const double hz = pons_get_num(pons_get(skill, "policy_client"), "hz", CONTROL_HZ);
    json_array_append_new(ret->calls,
                          call(pons_get_str(follow, "name", ""),
                               pons_object("actions", json_deep_copy(actions), "hz",
                                           json_real(fmin(fmax(hz, 1.0), 20.0)), "mode",
                                           of_arm(mode) ? json_string(mode) : PONS_ABSENT, "frame",
                                           pons_optional(pons_get(answer, "frame")), NULL)));
}

const rt_kind pons__rt_vla = {"VLAPolicyRuntime", true, true, plan_vla};

// ---- ReKep --------------------------------------------------------------------------------------

// [x, y, z], or [x, y, z, roll, pitch, yaw].
static pons_value *tool_pose(const pons_value *p)
{
    static const char *const names[] = {"x", "y", "z", "roll", "pitch", "yaw"};
    pons_value *v = json_object();
    for (size_t i = 0; i < json_array_size(p); i++) {
        json_object_set(v, names[i], json_array_get(p, i));
    }
    return v;
}

static pons_value *pose_of(const pons_value *p)
{
    const size_t n = json_array_size(p);
    return pons_object("x", json_real(json_number_value(json_array_get(p, 0))), "y",
                       json_real(json_number_value(json_array_get(p, 1))), "yaw",
                       json_real(n > 2 ? json_number_value(json_array_get(p, n > 3 ? 5 : 2)) : 0.0),
                       NULL);
}

// To a pose: an arm's move_to by its inverse kinematics, else a base's drive.
static bool go(rt_plan *ret, const pons_value *tools, const pons_value *pose)
{
    if (pons__rt_tool(tools, "move_to") && (numbers(pose, 3, 3) || numbers(pose, 6, 6))) {
        json_array_append_new(ret->calls,
                              call("move_to", pons_object("pose", tool_pose(pose), NULL)));
        return true;
    }
    if (pons__rt_tool(tools, "navigate_to_pose") && (numbers(pose, 2, 3) || numbers(pose, 6, 6))) {
        json_array_append_new(ret->calls,
                              call("navigate_to_pose", pons_object("pose", pose_of(pose), NULL)));
        return true;
    }
    return false;
}

// By the word of the stage, or the session's own object.
static void hand(rt_plan *ret, const pons_value *session, const pons_value *tools,
                 const pons_value *what, const char *skill, rt_refusal *why)
{
    const pons_value *params = pons_get(pons_get(session, "execution"), "params");
    if (!what || json_is_false(what) || json_is_null(what)) {
        return;
    }
    const pons_value *tool = pons__rt_tool(tools, skill);
    if (!tool) {
        pons__rt_refuse(why, "ACTION_CONTRACT_UNSATISFIED", "the body of this target cannot %s",
                        skill);
        return;
    }
    pons_value *args = json_is_object(what) ? json_deep_copy(what) : json_object();
    const pons_value *wanted = pons_get(pons_get(tool, "parameters"), "properties");
    const char *object =
        json_is_string(what) ? json_string_value(what) : pons_get_str(params, "object_id", NULL);
    if (object && pons_get(wanted, "object_id") && !pons_get(args, "object_id")) {
        json_object_set_new(args, "object_id", json_string(object));
    }
    if (object && pons_get(wanted, "object") && !pons_get(args, "object")) {
        json_object_set_new(args, "object", json_string(object));
    }
    json_array_append_new(ret->calls, call(skill, args));
}

static void plan_stage(const pons_value *session, const pons_value *stage, size_t at,
                       const pons_value *tools, rt_plan *ret, rt_refusal *why)
{
    const pons_value *subgoal = pons_get(stage, "subgoal"), *path = pons_get(stage, "path");
    const size_t before = json_array_size(ret->calls);
    pons_each(p, path) {
        if (!go(ret, tools, p)) {
            pons__rt_refuse(why, "POLICY_BAD_ANSWER", "stage %zu: path[%zu] is no pose", at, p_at);
            return;
        }
    }
    if (subgoal && !go(ret, tools, subgoal)) {
        pons__rt_refuse(why, "POLICY_BAD_ANSWER", "stage %zu: subgoal is no pose", at);
        return;
    }
    hand(ret, session, tools, pons_get(stage, "grasp"), "pick", why);
    hand(ret, session, tools, pons_get(stage, "release"), "place", why);
    if (!why->code && json_array_size(ret->calls) == before) {
        pons__rt_refuse(why, "POLICY_BAD_ANSWER", "stage %zu asks for nothing", at);
    }
}

static void plan_rekep(const pons_value *session, const pons_value *skill, const pons_value *target,
                       const pons_value *answer, const pons_value *tools, rt_plan *ret,
                       rt_refusal *why)
{
    const pons_value *stages = pons_get(answer, "stages");
    ret->calls = json_array();
    ret->last = true;
    if (!json_is_array(stages) || json_array_size(stages) == 0 ||
        json_array_size(stages) > STAGES_MAX) {
        pons__rt_refuse(why, "POLICY_BAD_ANSWER", "the answer has no stages, or more than %d",
                        STAGES_MAX);
        return;
    }
    pons_each(stage, stages) {
        plan_stage(session, stage, stage_at, tools, ret, why);
        if (why->code || json_array_size(ret->calls) > (size_t)STAGES_MAX * 4) {
            return;
        }
    }
}

const rt_kind pons__rt_rekep = {"ReKepPolicyRuntime", true, false, plan_rekep};
