// skill-wiggle.c - a skill of one's own: the robot turns left and right a little and ends where it
// began.
//
// Built as skill-wiggle.so into the workspace's lib/, and named when a body starts:
//
//     pons body --skills wiggle          pons run --skills wiggle --plan wiggle.json
#include "pons/ext/skill.h"
#include "pons/module.h"

#include <math.h>

#define CLOSE_RAD   0.02 // as good as there
#define RATE_RADPS  0.8
#define SLOW_RADPS  0.1 // the base hardly turns at less
#define PATIENCE_NS INT64_C(3000000000)

enum { WIGGLE_BLOCKED = PONS_SKILL_OWN_ERRORS };

typedef struct wiggle { // of one goal, zero at first
    double from;        // yaw in odom, where it began [rad]
    int turns;          // that are done
    int64_t moved_ns;   // run_ns when the gate last let it turn
} wiggle;

static void wiggle_start(void *state, const pons_skill_view *now)
{
    wiggle *w = state;
    w->from = now->odom.yaw;
}

static void wiggle_step(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    wiggle *w = state;
    const double angle = pons_get_num(now->args, "angle_rad", 0.3);
    const int times = (int)pons_get_int(now->args, "times", 1);
    // Left, right, left, right, …, and back to where it began.
    const double to = w->turns == 2 * times ? 0.0 : w->turns % 2 ? -angle : angle;
    const double left = pons_wrap_angle(w->from + to - now->odom.yaw);
    if (fabs(left) < CLOSE_RAD) {
        w->turns++;
    }
    if (w->turns > 2 * times) {
        ret->status = PONS_SKILL_DONE;
        return;
    }
    const double most = fmin(RATE_RADPS, now->caps->yaw_rate_max_radps);
    ret->want.w = copysign(fmin(fmax(2.0 * fabs(left), SLOW_RADPS), most), left);
    if (fabs(now->out.w) > 0.5 * SLOW_RADPS || fabs(left) < CLOSE_RAD) {
        w->moved_ns = now->run_ns;
    } else if (now->run_ns - w->moved_ns > PATIENCE_NS) {
        pons_skill_fail(ret, WIGGLE_BLOCKED, "the robot may not turn here");
    }
}

static void wiggle_resume(void *state, const pons_skill_view *now)
{
    wiggle *w = state;
    w->moved_ns = now->run_ns; // it goes on from wherever it stands
}

static const pons_skill skill = {
    .abi = PONS_SKILL_ABI,
    .name = "wiggle",
    .description = "Turn left and right a little, and end as it began.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"angle_rad\":{\"type\":\"number\",\"minimum\":0.1,\"maximum\":1},"
                   "\"times\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5}}}",
    .state_size = sizeof(wiggle),
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 60.0,
    .success_criteria = "the robot looks where it looked before",
    .error_map = "{\"10000\":\"replan\",\"9902\":\"ask_human\",\"default\":\"retry\"}",
    .start = wiggle_start,
    .step = wiggle_step,
    .resume = wiggle_resume,
};

PONS_MODULE_EXPORT("skill", "wiggle", &skill);
