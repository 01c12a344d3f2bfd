// external_goal.c - a goal that the robot's own software carries out (ext/outside.h), such as Nav2's.
//
// The software plans and steers; its wish is the goal's wish, and passes the gate like any other. While
// the goal is held the software is not told: what it asks for does not count, and it may give up
// meanwhile by its own clocks, which is then how the goal ends.
//
// It is begun once: a start that is repeated, because the pose was in doubt at the end, finds it ended.
#include "body/skills/skills.h"

#include <math.h>
#include <stdio.h>

static bool navigates(const pons__skill *k)
{
    return k == &pons__skill_navigate || k == &pons__skill_navigate_through;
}

void pons__external_goal_start(pons__skill_run *r, const pons__skill_env *env)
{
    pons_external_goal_request goal = {
        .goal_id = env->goal_id, .skill = r->skill->name, .args = r->args, .behavior_tree = ""};
    if (navigates(r->skill)) {
        pons__navigate_external_goal(r, env, &goal);
    }
    if (!goal.goal_id) {
        return;
    }
    snprintf(r->external_goal, sizeof r->external_goal, "%s", goal.goal_id);
    pons_robot_outside(env->robot)->begin(env->self, &goal);
}

// How far it is; its answer is the run's.
void pons__external_goal_look(pons__skill_run *r, const pons__skill_env *env,
                              pons_external_goal *ret)
{
    *ret = (pons_external_goal){.distance_m = NAN, .eta_s = NAN, .time_s = NAN};
    pons_robot_outside(env->robot)->look(env->self, r->external_goal, ret);
    pons__motion_followed(r, env);
    if (ret->answer) {
        pons_value_unref(r->answer);
        r->answer = ret->answer;
    }
}

void pons__external_goal_step(pons__skill_run *r, const pons__skill_env *env,
                              pons__skill_output *ret)
{
    pons_external_goal e;
    pons__external_goal_look(r, env, &e);
    ret->distance_m = e.distance_m;
    ret->eta_s = e.eta_s;
    ret->recoveries = e.recoveries;
    ret->navigating = navigates(r->skill);
    ret->nav_time_s = e.time_s;
    ret->docking = e.docking;
    if (navigates(r->skill)) {
        pons__navigate_allow(r, env, e.distance_m);
    }
    switch (e.state) {
    case PONS_ERRAND_RUNS:
        if (r->skill->moves && isfinite(e.want.v) && isfinite(e.want.w)) {
            ret->cmd = e.want;
        }
        return;
    case PONS_ERRAND_DONE:
        ret->status = PONS__SKILL_DONE;
        return;
    case PONS_ERRAND_FAILED:
    case PONS_ERRAND_CANCELED:
        pons__skill_fail(ret, e.error_code, "%.160s", e.text);
        return;
    case PONS_ERRAND_NONE:
    case PONS_ERRAND_UNKNOWN:
        pons__skill_fail(ret, PONS__OUTCOME_UNKNOWN, "OUTCOME_UNKNOWN: %.160s",
                         *e.text ? e.text : "the robot's software has no such goal");
    }
}

void pons__external_goal_stop(pons__skill_run *r, const pons__skill_env *env)
{
    pons_robot_outside(env->robot)->end(env->self, r->external_goal);
}
