// errand.c - a goal that the robot's own software carries out (ext/outside.h), such as Nav2's.
//
// The software plans and steers; its wish is the goal's wish, and passes the gate like any other. While
// the goal is held the software is not told: what it asks for does not count, and it may give up
// meanwhile by its own clocks, which is then how the goal ends.
#include "body/skills/skills.h"

#include <math.h>

bool pons__errand_takes(const pons__skill *k, const pons__skill_env *env)
{
    const pons_robot_outside_ops *o = pons_robot_outside(env->robot);
    return o && o->takes && o->takes(env->self, k->name);
}

void pons__errand_step(const pons__skill_env *env, pons__skill_output *ret)
{
    pons_errand e = {.distance_m = NAN, .eta_s = NAN, .time_s = NAN};
    pons_robot_outside(env->robot)->look(env->self, &e);
    ret->distance_m = e.distance_m;
    ret->eta_s = e.eta_s;
    ret->recoveries = e.recoveries;
    ret->navigating = true;
    ret->nav_time_s = e.time_s;
    switch (e.state) {
    case PONS_ERRAND_RUNS:
        if (isfinite(e.want.v) && isfinite(e.want.w)) {
            ret->cmd = e.want;
        }
        return;
    case PONS_ERRAND_DONE:
        ret->status = PONS__SKILL_DONE;
        return;
    case PONS_ERRAND_FAILED:
        pons__skill_fail(ret, e.error_code, "%.160s", e.text);
        return;
    case PONS_ERRAND_NONE:
    case PONS_ERRAND_UNKNOWN:
        pons__skill_fail(ret, PONS__OUTCOME_UNKNOWN, "OUTCOME_UNKNOWN: %.160s",
                         *e.text ? e.text : "the robot's software has no such goal");
    }
}
