// arm_moves.c - move_to, home, open_gripper, close_gripper: the plain motions of an arm.
#include "body/skills/arm_common.h"

#include <stdio.h>
#include <string.h>

#define OFF_M       0.006 // of the tool, at the end
#define OFF_RAD     0.03
#define GRIP_MAX_S  3.0
#define GRIP_S      0.5
#define WIDTH_OFF_M 0.005

// ---- move_to ------------------------------------------------------------------------------------

// The pose that the arguments mean, in the frame of the arm's base.
static pons_pose3 target_of(const pons_value *args, const pons__skill_env *env)
{
    const pons_value *p = pons_get(args, "pose");
    const bool in_base = strcmp(pons_get_str(args, "frame", "map"), "base") == 0;
    const pons_pose3 base =
        in_base ? pons_pose3_identity()
                : pons_pose3_of(env->pose.x, env->pose.y, 0.0, 0.0, 0.0, env->pose.yaw);
    const pons_pose3 arm = pons_pose3_compose(&base, &env->hand->caps.mount);
    const pons_pose3 back = pons_pose3_inverse(&arm);
    const pons_pose3 at = pons_pose3_of(pons_get_num(p, "x", NAN), pons_get_num(p, "y", NAN),
                                        pons_get_num(p, "z", NAN), pons_get_num(p, "roll", M_PI),
                                        pons_get_num(p, "pitch", 0.0), pons_get_num(p, "yaw", 0.0));
    return pons_pose3_compose(&back, &at);
}

static bool move_check(const pons__skill *k, const pons_value *args, const pons__skill_env *env,
                       pons__skill_refusal *ret)
{
    const pons_pose3 to = target_of(args, env);
    double up[PONS_ARM_JOINTS], q[PONS_ARM_JOINTS];
    pons_error err = PONS_ERROR_INIT;
    if (pons__reach(env->hand, &to, 0.0, 0.0, up, q, &err) == PONS_OK) {
        return true;
    }
    ret->error_code = PONS__ARM_UNREACHABLE;
    snprintf(ret->text, sizeof ret->text, "UNREACHABLE: %.180s", err.message);
    return false;
}

static void move_start(pons__skill_run *r, const pons__skill_env *env)
{
    r->phase = 0;
}

static void move_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const pons_pose3 to = target_of(r->args, env);
    if (r->phase == 0) {
        double up[PONS_ARM_JOINTS], q[PONS_ARM_JOINTS];
        pons_error err = PONS_ERROR_INIT;
        int rc = pons__reach(env->hand, &to, 0.0, 0.0, up, q, &err);
        rc = rc < 0 ? rc : pons__way_to(env->hand, q, -1, &r->way, &err);
        if (rc < 0) {
            pons__arm_fail(ret, rc, &err);
            return;
        }
        pons__skill_phase(r, env, 1);
    }
    double turn[3];
    const double *is = env->hand->tool.p;
    const double off = hypot(hypot(is[0] - to.p[0], is[1] - to.p[1]), is[2] - to.p[2]);
    ret->distance_m = off;
    if (pons__arm_go(r, env, ret)) {
        pons_pose3_turn(&env->hand->tool, &to, turn);
        const double angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
        if (off < OFF_M && angle < OFF_RAD) {
            ret->status = PONS__SKILL_DONE;
        } else {
            pons__skill_fail(ret, PONS__ARM_BLOCKED,
                             "BLOCKED: the tool ends %.3f m and %.2f rad off", off, angle);
        }
    }
}

#define NUMBER "{\"type\":\"number\"}"
const pons__skill pons__skill_move_to = {
    .name = "move_to",
    .description = "Move the arm's tool to a pose; without angles it looks down.",
    .args_schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"pose\"],"
        "\"properties\":{"
        "\"pose\":{\"type\":\"object\",\"additionalProperties\":false,"
        "\"required\":[\"x\",\"y\",\"z\"],\"properties\":{\"x\":" NUMBER ",\"y\":" NUMBER
        ",\"z\":" NUMBER ",\"roll\":" NUMBER ",\"pitch\":" NUMBER ",\"yaw\":" NUMBER "}},"
        "\"frame\":{\"enum\":[\"map\",\"base\"]}}}",
    .needs_arm = true,
    .moves = true,
    .cancel_supported = true,
    .timeout_s = 40.0,
    .success = "the tool is within 6 mm and 0.03 rad of the pose",
    .error_map = PONS__ARM_ERROR_MAP,
    .check = move_check,
    .start = move_start,
    .step = move_step,
    .hold = pons__arm_resume,
    .resume = pons__arm_resume,
};

// ---- home ---------------------------------------------------------------------------------------

static void home_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (r->phase == 0) {
        pons_error err = PONS_ERROR_INIT;
        const int rc = pons__way_to(env->hand, env->hand->caps.home, -1, &r->way, &err);
        if (rc < 0) {
            pons__arm_fail(ret, rc, &err);
            return;
        }
        pons__skill_phase(r, env, 1);
    }
    if (pons__arm_go(r, env, ret)) {
        ret->status = PONS__SKILL_DONE;
    }
}

#define NO_ARGS "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}"
const pons__skill pons__skill_home = {
    .name = "home",
    .description = "Take the arm to where it rests.",
    .args_schema = NO_ARGS,
    .needs_arm = true,
    .moves = true,
    .cancel_supported = true,
    .timeout_s = 40.0,
    .success = "the joints are where the arm rests",
    .error_map = PONS__ARM_ERROR_MAP,
    .phrases = "[{\"say\":[\"(move|take|bring) [the] arm home\",\"arm "
               "home\",\"机械臂(回零|归位|复位|回家)\"],"
               "\"args\":{}}]",
    .start = move_start,
    .step = home_step,
    .hold = pons__arm_resume,
    .resume = pons__arm_resume,
};

// ---- the gripper --------------------------------------------------------------------------------

static void open_start(pons__skill_run *r, const pons__skill_env *env)
{
    r->arm.width = pons_get_num(r->args, "width_m", env->hand->caps.width_max_m);
    pons__limb_grip(env->hand, r->arm.width, env->hand->caps.force_max_n);
}

static void open_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const double is = env->hand->state.width_m, s = pons__skill_in_phase_s(r, env);
    if (s > GRIP_S && is > r->arm.width - WIDTH_OFF_M) {
        ret->status = PONS__SKILL_DONE;
    } else if (s > GRIP_MAX_S) {
        pons__skill_fail(ret, PONS__ARM_GRIPPER_STUCK,
                         "GRIPPER_STUCK: it opens to %.3f m, not %.3f m", is, r->arm.width);
    }
}

static void close_start(pons__skill_run *r, const pons__skill_env *env)
{
    const double force = pons_get_num(r->args, "force_n", env->hand->caps.force_max_n);
    r->arm.width = env->hand->state.width_m;
    pons__limb_grip(env->hand, 0.0, fmin(force, env->hand->caps.force_max_n));
}

// Closed: on something, or on nothing.
static void close_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const pons_robot_arm_state *is = &env->hand->state;
    const double s = pons__skill_in_phase_s(r, env);
    if (s > GRIP_S && (is->width_m < WIDTH_OFF_M || pons__limb_full(env->hand))) {
        ret->status = PONS__SKILL_DONE;
    } else if (s > GRIP_MAX_S) {
        pons__skill_fail(ret, PONS__ARM_GRIPPER_STUCK, "GRIPPER_STUCK: it stands at %.3f m",
                         is->width_m);
    }
}

static void grip_hold(pons__skill_run *r, const pons__skill_env *env)
{
}

const pons__skill pons__skill_open_gripper = {
    .name = "open_gripper",
    .description = "Open the gripper; what it holds falls.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"width_m\":{\"type\":\"number\",\"minimum\":0.005,\"maximum\":1}}}",
    .needs_arm = true,
    .moves = true,
    .cancel_supported = true,
    .timeout_s = 10.0,
    .success = "the fingers are apart",
    .error_map = PONS__ARM_ERROR_MAP,
    .reported = "{\"releases\":true}",
    .phrases = "[{\"say\":[\"open [the|your] (gripper|hand)\",\"let "
               "go\",\"松开[手|夹爪]\",\"(张开|打开)(夹爪|手|手爪)\"],"
               "\"args\":{}}]",
    .start = open_start,
    .step = open_step,
    .hold = grip_hold,
};

const pons__skill pons__skill_close_gripper = {
    .name = "close_gripper",
    .description = "Close the gripper, on what is between its fingers.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"force_n\":{\"type\":\"number\",\"exclusiveMinimum\":0,\"maximum\":1000}}}",
    .needs_arm = true,
    .moves = true,
    .cancel_supported = true,
    .timeout_s = 10.0,
    .success = "the fingers meet, or press on something",
    .error_map = PONS__ARM_ERROR_MAP,
    .phrases = "[{\"say\":[\"close [the|your] "
               "(gripper|hand)\",\"(合上|闭合|关闭)(夹爪|手|手爪)\"],\"args\":{}}]",
    .start = close_start,
    .step = close_step,
    .hold = grip_hold,
};
