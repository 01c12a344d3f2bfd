// base_motions.c - the small motions: stop_base, spin, back_up, drive_on_heading. The last three are
// Nav2's behaviours (motion.c), looking ahead in the local costmap, with the gate looking out.
#include "body/skills/skills.h"

#define STILL_MPS   0.01
#define STILL_RADPS 0.02
#define SPIN_RADPS  1.0
#define SPIN_OK_RAD 0.03
#define BACK_MPS    0.15
#define DRIVE_MPS   0.20
#define DRIVE_OK_M  0.01
#define ALLOWANCE_S 10.0 // more than the motion would take, unless the goal says otherwise

static void stop_base_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const pons_twist2 out = env->safety->out;
    if (fabs(env->twist.v) < STILL_MPS && fabs(env->twist.w) < STILL_RADPS &&
        fabs(out.v) < STILL_MPS && fabs(out.w) < STILL_RADPS) {
        ret->status = PONS__SKILL_DONE;
    }
}

static void start(pons__skill_run *r, const pons__skill_env *env, pons__motion_goal goal)
{
    goal.allowance_s =
        pons_get_num(r->args, "time_allowance_s", fabs(goal.by) / goal.rate + ALLOWANCE_S);
    r->timeout_s = goal.allowance_s + 1.0; // the motion's own number comes first
    pons__motion_start(&r->motion, &goal, env->robot_ns - env->spared_ns, env->odom);
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret,
                 int timeout, int collision)
{
    const pons__motion_input in = {.now_ns = env->robot_ns - env->spared_ns,
                                   .odom = env->odom,
                                   .pose = env->pose,
                                   .grid = pons__nav_local(env->nav),
                                   .radius_m = env->caps->radius_m,
                                   .gate_known = true,
                                   .gate = env->safety->out,
                                   .cmd = r->last_cmd};
    char why[PONS__SKILL_MSG_MAX] = "";
    const pons__motion_status s = pons__motion_step(&r->motion, &in, &ret->cmd, why, sizeof why);
    r->last_cmd = ret->cmd;
    if (!r->motion.goal.turn) {
        ret->distance_m = pons__motion_left(&r->motion);
    }
    if (s == PONS__MOTION_DONE) {
        ret->status = PONS__SKILL_DONE;
    } else if (s != PONS__MOTION_RUNNING) {
        pons__skill_fail(ret, s == PONS__MOTION_TIMEOUT ? timeout : collision, "%s", why);
    }
}

// When it stands: what it rolls on while it brakes is a part of what was asked for.
static double left(const pons__skill_run *r, const pons__skill_env *env)
{
    pons__motion m = r->motion;
    pons__motion_track(&m, env->odom);
    const double rate = m.goal.turn ? env->twist.w : env->twist.v;
    const double brake = m.goal.turn ? env->caps->yaw_accel_max_radps2 : env->caps->brake_max_mps2;
    const double rolls = rate * m.goal.by > 0.0 && brake > 0.0 ? 0.5 * rate * rate / brake : 0.0;
    return fmax(pons__motion_left(&m) - rolls, 0.0);
}

static void spin_start(pons__skill_run *r, const pons__skill_env *env)
{
    start(r, env,
          (pons__motion_goal){.turn = true,
                              .by = pons_get_num(r->args, "angle_rad", 0.0),
                              .rate = fmin(SPIN_RADPS, env->caps->yaw_rate_max_radps),
                              .accuracy = SPIN_OK_RAD});
}

// The robot's own software drives it; how much is left is measured all the same.
static bool measures(const pons__skill *k)
{
    return k->left == left;
}

void pons__motion_follow(pons__skill_run *r, const pons__skill_env *env)
{
    if (measures(r->skill)) {
        const double timeout_s = r->timeout_s; // that software has its own
        r->skill->start(r, env);
        r->timeout_s = timeout_s;
    }
}

void pons__motion_followed(pons__skill_run *r, const pons__skill_env *env)
{
    if (measures(r->skill)) {
        pons__motion_track(&r->motion, env->odom);
    }
}

static void spin_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    step(r, env, ret, PONS_SPIN_TIMEOUT, PONS_SPIN_COLLISION);
}

static void back_up_start(pons__skill_run *r, const pons__skill_env *env)
{
    const double speed = pons_get_num(r->args, "speed_mps", BACK_MPS);
    start(r, env,
          (pons__motion_goal){.by = -pons_get_num(r->args, "distance_m", 0.0),
                              .rate = fmin(speed, env->caps->reverse_max_mps),
                              .accuracy = DRIVE_OK_M});
}

static void back_up_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    step(r, env, ret, PONS_BACKUP_TIMEOUT, PONS_BACKUP_COLLISION);
}

static void drive_start(pons__skill_run *r, const pons__skill_env *env)
{
    const double speed = pons_get_num(r->args, "speed_mps", DRIVE_MPS);
    start(r, env,
          (pons__motion_goal){.by = pons_get_num(r->args, "distance_m", 0.0),
                              .rate = fmin(speed, env->caps->speed_max_mps),
                              .accuracy = DRIVE_OK_M});
}

static void drive_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    step(r, env, ret, PONS_DRIVE_TIMEOUT, PONS_DRIVE_COLLISION);
}

// The time on hold does not count against the allowance.
static void resume(pons__skill_run *r, const pons__skill_env *env)
{
    r->motion.start_ns += r->away_ns;
    r->motion.blocked_ns = -1;
    r->last_cmd = (pons_twist2){0};
}

const pons__skill pons__skill_stop_base = {
    .name = "stop_base",
    .reported = "{\"stops\":true}",
    .description = "Stop driving at once and stand; takes the base from whatever has it.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}",
    .needs_base = true, // it takes the base from whoever has it
    .cancel_supported = true,
    .timeout_s = 10.0,
    .success = "the base stands still",
    .error_map = "{\"default\":\"ask_human\"}",
    .step = stop_base_step,
};

#define STRAIGHT_SCHEMA                                                                            \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"                         \
    "\"distance_m\":{\"type\":\"number\",\"minimum\":0,\"maximum\":2},"                            \
    "\"speed_mps\":{\"type\":\"number\",\"exclusiveMinimum\":0},"                                  \
    "\"time_allowance_s\":{\"type\":\"number\",\"exclusiveMinimum\":0}},"                          \
    "\"required\":[\"distance_m\"]}"

const pons__skill pons__skill_spin = {
    .name = "spin",
    .reported = "{\"remains\":\"angle_rad\",\"meets\":[{\"intent\":\"look_round\",\"args\":"
                "{\"angle_rad\":6.28319},\"says\":\"look round\"}]}",
    .description = "Turn in place by an angle, counter-clockwise when positive.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"angle_rad\":{\"type\":\"number\",\"minimum\":-12.6,\"maximum\":12.6},"
                   "\"time_allowance_s\":{\"type\":\"number\",\"exclusiveMinimum\":0}},"
                   "\"required\":[\"angle_rad\"]}",
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 60.0,
    .timeout_code = PONS_SPIN_TIMEOUT,
    .success = "the base has turned by the angle",
    .error_map = "{\"703\":\"replan\",\"9902\":\"ask_human\",\"default\":\"retry\"}",
    .phrases =
        "[{\"say\":[\"(turn|spin|rotate) (around|round)\",\"(turn|spin|rotate) half [a] "
        "(turn|circle)\","
        "\"(掉头|调头|掉个头|转身|转个身|向后转|转过身来|转过身去)\",\"[原地](转|旋转)半圈\"],"
        "\"args\":{\"angle_rad\":3.14159}},"
        "{\"say\":[\"(turn|spin|rotate) [in] [a] full (turn|circle)\",\"(turn|spin|rotate) in a "
        "circle\","
        "\"(turn|spin|rotate) (once around|around once|360 degrees)\","
        "\"[原地](转|旋转)(一圈|一周|360度)\"],\"args\":{\"angle_rad\":6.28319}},"
        "{\"say\":[\"(turn|spin|rotate) [to the] left [by] {number} [degrees|degree|deg]\","
        "\"(turn|spin|rotate) [by] {number} [degrees|degree|deg] [to the] "
        "(left|counterclockwise|anticlockwise)\","
        "\"(turn|spin|rotate) [by] {number} (degrees|degree|deg)\",\"[原地](转|旋转){number}度\","
        "\"[向|往]左(转|转动|旋转|拐){number}[度]\",\"逆时针(转|旋转){number}[度]\"],"
        "\"args\":{\"angle_rad\":{\"number\":0.0174533}}},"
        "{\"say\":[\"(turn|spin|rotate) [to the] right [by] {number} [degrees|degree|deg]\","
        "\"(turn|spin|rotate) [by] {number} [degrees|degree|deg] [to the] (right|clockwise)\","
        "\"[向|往]右(转|转动|旋转|拐){number}[度]\",\"顺时针(转|旋转){number}[度]\"],"
        "\"args\":{\"angle_rad\":{\"number\":-0.0174533}}},"
        "{\"say\":[\"(turn|spin|rotate) [to the] left\",\"[向|往]左(转|拐)[弯]\"],"
        "\"args\":{\"angle_rad\":1.5708}},"
        "{\"say\":[\"(turn|spin|rotate) [to the] right\",\"[向|往]右(转|拐)[弯]\"],"
        "\"args\":{\"angle_rad\":-1.5708}}]",
    .start = spin_start,
    .step = spin_step,
    .resume = resume,
    .left = left,
};

const pons__skill pons__skill_back_up = {
    .name = "back_up",
    .reported = "{\"remains\":\"distance_m\"}",
    .description = "Drive straight back by a distance.",
    .args_schema = STRAIGHT_SCHEMA,
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 60.0,
    .timeout_code = PONS_BACKUP_TIMEOUT,
    .success = "the base has moved back by the distance",
    .error_map = "{\"714\":\"replan\",\"9902\":\"ask_human\",\"default\":\"retry\"}",
    .phrases =
        "[{\"say\":[\"(go|drive|move|step) (back|backward|backwards) [by] {number} "
        "[m|meter|meters|metre|metres]\","
        "\"(back up|reverse) [by] {number} [m|meter|meters|metre|metres]\","
        "\"(go|drive|move|step) {number} (m|meter|meters|metre|metres) "
        "(back|backward|backwards)\","
        "\"[向|往](后退|后走|后移动|后开|倒退){number}[米]\",\"(后退|倒车|倒退|退后){number}[米]\"]"
        ","
        "\"args\":{\"distance_m\":{\"number\":1}}},"
        "{\"say\":[\"(go|drive|move|step) (back|backward|backwards) [by] {number} "
        "(cm|centimeter|centimeters|centimetre|centimetres)\","
        "\"(back up|reverse) [by] {number} (cm|centimeter|centimeters|centimetre|centimetres)\","
        "\"(go|drive|move|step) {number} (cm|centimeter|centimeters|centimetre|centimetres) "
        "(back|backward|backwards)\","
        "\"[向|往](后退|后走|后移动|后开|倒退){number}(厘米|公分)\",\"(后退|倒车|倒退|退后){number}"
        "(厘米|公分)\"],"
        "\"args\":{\"distance_m\":{\"number\":0.01}}}]",
    .start = back_up_start,
    .step = back_up_step,
    .resume = resume,
    .left = left,
};

const pons__skill pons__skill_drive = {
    .name = "drive_on_heading",
    .reported = "{\"remains\":\"distance_m\"}",
    .description = "Drive straight ahead by a distance, without a path.",
    .args_schema = STRAIGHT_SCHEMA,
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 60.0,
    .timeout_code = PONS_DRIVE_TIMEOUT,
    .success = "the base has moved ahead by the distance",
    .error_map = "{\"723\":\"replan\",\"9902\":\"ask_human\",\"default\":\"retry\"}",
    .phrases = "[{\"say\":[\"(go|drive|move) (forward|forwards|ahead|straight|straight ahead) "
               "[by|for] {number} "
               "[m|meter|meters|metre|metres]\","
               "\"(go|drive|move) {number} (m|meter|meters|metre|metres) "
               "(forward|forwards|ahead|straight ahead)\","
               "\"[向|往](前走|前进|前开|前移动){number}[米]\",\"(前进|直走|直行){number}[米]\"],"
               "\"args\":{\"distance_m\":{\"number\":1}}},"
               "{\"say\":[\"(go|drive|move) (forward|forwards|ahead|straight|straight ahead) "
               "[by|for] {number} "
               "(cm|centimeter|centimeters|centimetre|centimetres)\","
               "\"(go|drive|move) {number} (cm|centimeter|centimeters|centimetre|centimetres) "
               "(forward|forwards|ahead|straight ahead)\","
               "\"[向|往](前走|前进|前开|前移动){number}(厘米|公分)\",\"(前进|直走|直行){number}("
               "厘米|公分)\"],"
               "\"args\":{\"distance_m\":{\"number\":0.01}}}]",
    .start = drive_start,
    .step = drive_step,
    .resume = resume,
    .left = left,
};
