// drive_by_hand.c - drive_by_hand: a person steers, for as long as a finger is down.
//
//   brain --goal drive_by_hand--> this skill <--steer{v,w}, ten times a second-- the page's server
//                                     |
//                                     v  a velocity, as every skill's
//                                 safety gate --> wheels
//
// It is a goal like any other: the kernel decides when it may run, the ledger has it, a stop ends it,
// a lost brain holds it, and the gate slows and stops it before what is ahead. Only the velocity comes
// from outside, and a dead man's handle guards that: what is older than DEAD_MAN_NS counts as zero, so
// whatever breaks between the finger and here (a page that is closed, a network that hangs, a server
// that dies) the robot stands. Who steers no more for GONE_NS has finished, as who says so.
//
// Ages are host time: they are of the line to a person, whose clock is the host's.
#include "body/skills/skills.h"

#define DEAD_MAN_NS (300 * PONS_NS_PER_MS)
#define GONE_NS     (10 * PONS_NS_PER_S)
#define WAIT_S      20.0 // for the first touch

static void start(pons__skill_run *r, const pons__skill_env *env)
{
    r->steers = env->steer.n;
}

static double within(double value, double least, double most)
{
    return fmin(fmax(value, least), most);
}

static void step(pons__skill_run *r, const pons__skill_env *env, pons__skill_output *ret)
{
    const pons__steer *hand = &env->steer;
    if (hand->n == r->steers) {
        if (pons__skill_in_phase_s(r, env) > WAIT_S) {
            pons__skill_fail(ret, PONS__TIMED_OUT, "nobody has steered for %.0f s", WAIT_S);
        }
    } else if (hand->let_go || hand->age_ns > GONE_NS) {
        ret->status = PONS__SKILL_DONE;
    } else if (hand->age_ns <= DEAD_MAN_NS) {
        const pons_robot_caps *caps = env->caps;
        ret->cmd.v = within(hand->v, -caps->reverse_max_mps, caps->speed_max_mps);
        ret->cmd.w = within(hand->w, -caps->yaw_rate_max_radps, caps->yaw_rate_max_radps);
    }
}

const pons__skill pons__skill_by_hand = {
    .name = "drive_by_hand",
    .description = "Let a person steer by hand, at the page; only when a person asks for that.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{}}",
    .needs_base = true,
    .moves = true,
    .cancel_supported = true,
    .timeout_s = 900.0,
    .success = "the person has let go",
    .error_map = "{\"9902\":\"ask_human\",\"default\":\"abort\"}",
    .phrases =
        "[{\"say\":[\"(drive|steer) by hand\",\"let me (drive|steer)\",\"manual (drive|driving)\","
        "\"[我来]手动驾驶\",\"让我来开\"],\"args\":{}}]",
    .start = start,
    .step = step,
};
