// speak_wait_look.c - what needs no base: speak, wait, look.
#include "body/skills/skills.h"
#include "pons/clock.h"

#define LOOK_SCANS 5   // scans after which what is there has been seen
#define LOOK_MAX_S 5.0 // a lidar that has not given them by then is silent

static void speak_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    env->speak(env->user, pons_get_str(r->args, "text", ""));
    ret->status = PONS__SKILL_DONE;
}

static double wait_left(const pons__skill_run *r, const pons__skill_env *env)
{
    const double passed = (double)(env->robot_ns - r->start_ns) / (double)PONS_NS_PER_S;
    return fmax(pons_get_num(r->args, "s", 0.0) - passed, 0.0);
}

static void wait_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    ret->eta_s = wait_left(r, env);
    if (ret->eta_s <= 0.0) {
        ret->status = PONS__SKILL_DONE;
    }
}

// Forgets what was seen before and lets the scans tell.
static void look_start(pons__skill_run *r, const pons__skill_env *env)
{
    pons__nav_forget(env->nav);
    r->timeout_s += pons_get_num(r->args, "seconds", 0.0);
}

static void look_step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    if (env->scans >= r->first_scan + LOOK_SCANS) {
        ret->status = pons__skill_in_phase_s(r, env) >= pons_get_num(r->args, "seconds", 0.0)
                          ? PONS__SKILL_DONE
                          : PONS__SKILL_RUNNING;
    } else if (pons__skill_in_phase_s(r, env) > LOOK_MAX_S) {
        pons__skill_fail(ret, PONS__NO_SCAN, "%llu of %d scans came",
                         (unsigned long long)(env->scans - r->first_scan), LOOK_SCANS);
    }
}

const pons__skill pons__skill_speak = {
    .name = "speak",
    .description = "Say a text to the people around.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"text\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000}},"
                   "\"required\":[\"text\"]}",
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 10.0,
    .success = "the text was given out",
    .error_map = "{\"default\":\"retry\"}",
    .reported =
        "{\"beside\":true,\"meets\":[{\"intent\":\"say\",\"args\":{\"text\":\"$text\"}},"
        "{\"intent\":\"where\",\"args\":{\"text\":\"$here\"},\"says\":\"say where it is\"},"
        "{\"intent\":\"battery\",\"args\":{\"text\":\"$battery\"},\"says\":\"say how full the "
        "battery is\"},"
        "{\"intent\":\"look_for\",\"args\":{\"text\":\"$found\"},\"says\":\"say whether $object is "
        "there\"}]}",
    .step = speak_step,
};

const pons__skill pons__skill_wait = {
    .name = "wait",
    .description = "Do nothing for a while.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"s\":{\"type\":\"number\",\"minimum\":0,\"maximum\":3600}},"
                   "\"required\":[\"s\"]}",
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 3660.0,
    .success = "the time has passed",
    .error_map = "{\"default\":\"retry\"}",
    .reported =
        "{\"remains\":\"s\",\"meets\":[{\"intent\":\"wait\",\"args\":{\"s\":\"$seconds|1\"},"
        "\"says\":\"wait $seconds|1 s\"}]}",
    .step = wait_step,
    .left = wait_left,
};

const pons__skill pons__skill_look = {
    .name = "look",
    .description = "Scan the surroundings anew and update the known obstacles; with seconds (3 is "
                   "enough), see what things are in view.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"seconds\":{\"type\":\"number\",\"minimum\":0,\"maximum\":60}}}",
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 10.0,
    .success = "the obstacles around have been scanned anew",
    .error_map = "{\"9904\":\"ask_human\",\"default\":\"retry\"}",
    .reported = "{\"meets\":[{\"intent\":\"look\",\"args\":{\"seconds\":\"$seconds\"}},"
                "{\"intent\":\"look\"}]}",
    .phrases =
        "[{\"say\":[\"look (around|about)\",\"(scan|look at) [the] surroundings\",\"(take|have) a "
        "look around\","
        "\"(看看|看一看|看一下|看|环顾|环顾一下|扫描|观察)(四周|周围|一圈)\"],\"args\":{}}]",
    .start = look_start,
    .step = look_step,
};
