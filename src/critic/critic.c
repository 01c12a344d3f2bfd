// critic.c - one judge for every action: which rules are violated, by how much.
//
// An action is held against rules in a fixed order; every rule is asked, none ends the judgement,
// so that whoever proposed it can put everything right at once:
//
//     the action itself   known_skill  args_schema  supported_action  risk
//     the mode            mode
//     where               zone  object  map_bounds  keep_out  workspace  reach
//     with what           payload  holding  joint_limit  speed_limit
//     when                precondition  resource  telemetry_age  stop_latched  battery
//
// All numbers come from values that were handed in: the registry of skills, the embodiment, the
// world, the policy, the telemetry. Where one is absent, its rules are not judged, and are listed
// as such. The policy's safe_actions (stopping) are exempt from everything but their schema: a stop
// that is refused is worse than any stop.
//
// A plan is judged step by step against a foreseen state: after navigate_to_pose{zone: kitchen} the
// robot stands at the kitchen's target, after pick{object: apple_01} it holds the apple. What can't
// be foreseen (the temperature at step 5) is not judged, but looked at again by the executor
// before the step.
//
// Nothing here depends on time, randomness or order of memory: the same facts give the same
// verdict, byte for byte.
#include "critic/critic_input.h"
#include "critic/judgement.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- life ---------------------------------------------------------------------------------------

int pons_critic_create(const pons_critic_options *o, pons_critic **ret, pons_error *err)
{
    pons_critic *c = calloc(1, sizeof *c);
    if (!c) {
        return pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
    }
    c->skills_value = pons_value_ref(o->skills);
    c->embodiment_value = pons_value_ref(o->embodiment);
    c->world_value = pons_value_ref(o->world);
    c->policy_value = pons_value_ref(o->policy);
    c->resources = pons_value_ref(o->resources);
    const int rc = pons__critic_given_read(c, err);
    if (rc < 0) {
        pons_critic_destroy(c);
        return rc;
    }
    *ret = c;
    return PONS_OK;
}

void pons_critic_destroy(pons_critic *c)
{
    if (!c) {
        return;
    }
    pons__critic_given_fini(c);
    pons_value_unref(c->skills_value);
    pons_value_unref(c->embodiment_value);
    pons_value_unref(c->world_value);
    pons_value_unref(c->policy_value);
    pons_value_unref(c->resources);
    free(c);
}

// ---- the action itself --------------------------------------------------------------------------

static void on_fault(void *user, const char *pointer, const char *message)
{
    pons__violated(user, "args_schema", NAN, NAN, NULL, "%s%s%s", pointer, *pointer ? ": " : "",
                   message);
}

static bool supports(const critic_body *body, const char *action)
{
    for (size_t i = 0; i < body->n_actions; i++) {
        if (strcmp(body->actions[i], action) == 0) {
            return true;
        }
    }
    return false;
}

static void judge_risk(judgement *j, const char *what, critic_risk risk, bool confirmed)
{
    const pons_critic *c = j->critic;
    if (risk > c->policy.risk_max || risk == RISK_BLOCKED) {
        pons__violated(j, "risk", NAN, NAN, NULL, "%s is %s; the policy allows at most %s", what,
                       pons__critic_risk_words[risk], pons__critic_risk_words[c->policy.risk_max]);
    } else if (risk >= c->policy.risk_ask && !confirmed) {
        pons__verdict_note(j->verdict, j->verdict->approvals, "risk", j->action, j->step_id,
                           "%s is %s; from %s on a person must say yes", what,
                           pons__critic_risk_words[risk],
                           pons__critic_risk_words[c->policy.risk_ask]);
    }
}

static void judge_itself(judgement *j)
{
    const pons_critic *c = j->critic;
    if (!c->skills_value) {
        pons__unjudged(j, "known_skill");
        pons__unjudged(j, "args_schema");
    } else if (!j->skill) {
        pons__violated(j, "known_skill", NAN, NAN, NULL, "no skill %s on this robot", j->action);
    } else if (j->skill->fault) {
        pons__violated(j, "args_schema", NAN, NAN, NULL, "its schema is malformed: %s",
                       j->skill->fault);
    } else if (j->skill->args) {
        pons_schema_faults(j->skill->args, j->args, on_fault, j);
    }
    if (!c->body.has_actions) {
        pons__unjudged(j, "supported_action");
    } else if (!supports(&c->body, j->action)) {
        pons__violated(j, "supported_action", NAN, NAN, NULL,
                       "%s can't do %s: it is not one of its %zu supported actions", c->body.name,
                       j->action, c->body.n_actions);
    }
    if (!j->skill) {
        return;
    }
    judge_risk(j, "its risk", j->skill->risk, false);
    if (j->skill->requires_approval || pons_list_has(c->policy.approval, j->action)) {
        pons__verdict_note(j->verdict, j->verdict->approvals, "approval", j->action, j->step_id,
                           "a person must say yes before %s", j->action);
    }
}

// ---- small things -------------------------------------------------------------------------------

// By its registry item, or by the policy.
static bool stops(const judgement *j)
{
    return (j->skill && j->skill->stops) || pons_list_has(j->critic->policy.safe, j->action);
}

static const char *names_that_stop(const pons_critic *c, char *buf, size_t cap)
{
    buf[0] = '\0';
    for (size_t i = 0; i < c->n_skills; i++) {
        const size_t n = strlen(buf);
        if (c->skills[i].stops && n < cap) {
            snprintf(buf + n, cap - n, "%s%s", n ? ", " : "", c->skills[i].name);
        }
    }
    return buf[0] ? buf : "what stops it";
}

// ---- judging ------------------------------------------------------------------------------------

static int begin(judgement *j, pons_error *err)
{
    j->robot = pons__critic_telemetry_read(j->now->robot);
    *j->state = pons__critic_state_of(j->critic, &j->robot);
    j->verdict = pons_verdict_create();
    return j->verdict ? PONS_OK : pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
}

static int finish(judgement *j, pons_verdict **ret, int rc, pons_error *err)
{
    if (rc >= 0 && j->verdict->failed) {
        rc = pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
    }
    if (rc < 0) {
        pons_verdict_destroy(j->verdict);
        return rc;
    }
    *ret = j->verdict;
    return PONS_OK;
}

static void judge_action(judgement *j)
{
    judge_itself(j);
    if (stops(j)) {
        return;
    }
    if (j->now->mode && strcmp(j->now->mode, "SAFE") == 0 && j->skill && j->skill->moves) {
        char names[160];
        pons__violated(j, "mode", NAN, NAN, NULL, "mode is SAFE: only %s may use the %s",
                       names_that_stop(j->critic, names, sizeof names),
                       j->skill->drives ? "base" : "robot");
    }
    pons__critic_space(j);
    pons__critic_load(j);
    pons__critic_motion(j);
    pons__critic_conditions(j, j->skill ? j->skill->preconditions : NULL);
    pons__critic_resources(j);
    if (j->skill && j->skill->moves) {
        pons__critic_robot(j);
    }
}

int pons_critic_judge(const pons_critic *c, const char *action, const pons_value *args,
                      const pons_critic_situation *s, pons_verdict **ret, pons_error *err)
{
    critic_state state;
    pons_autovalue none = json_object();
    judgement j = {.critic = c,
                   .now = s,
                   .state = &state,
                   .action = action,
                   .skill = pons__critic_skill(c, action),
                   .args = json_is_object(args) ? args : none,
                   .step_id = -1};
    const int rc = begin(&j, err);
    if (rc < 0) {
        return rc;
    }
    if (args && !json_is_object(args)) {
        pons__violated(&j, "args_schema", NAN, NAN, NULL, "expected an object of arguments");
    }
    judge_action(&j);
    return finish(&j, ret, PONS_OK, err);
}

static int speak_parameters(judgement *j)
{
    static const char *const keys[] = {"text", "message", "content"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (*pons_get_str(j->args, keys[i], "")) {
            return PONS_OK;
        }
    }
    pons__violated(j, "parameters", NAN, NAN, NULL, "nothing to say: no text, message or content");
    return PONS_EREFUSED;
}

// A step, its fallback, and what will be true after it.
static int judge_one_step(judgement *j, const pons_plan_step *step, pons_error *err)
{
    pons_autovalue args = NULL;
    pons_autovalue conditions = NULL;
    pons_autovalue none = json_object();
    int rc = pons_plan_object(step->parameters, &args, err);
    rc = rc < 0 ? rc : pons_plan_object(step->preconditions, &conditions, err);
    if (rc < 0) {
        return rc;
    }
    const bool executes = step->tool_call_type == PONS_TOOL_EXECUTE;
    j->step_id = step->step_id;
    j->action = step->action;
    j->args = args;
    j->skill = executes ? pons__critic_skill(j->critic, step->action) : NULL;
    pons__critic_conditions(j, conditions);
    if (step->tool_call_type == PONS_TOOL_SPEAK) {
        speak_parameters(j);
    }
    if (!executes) {
        return PONS_OK;
    }
    const bool confirmed = step->requires_confirmation;
    const size_t asked = json_array_size(j->verdict->approvals);
    judge_action(j);
    while (confirmed && json_array_size(j->verdict->approvals) > asked) { // it is asked for anyway
        json_array_remove(j->verdict->approvals, asked);
    }
    if (step->fallback) {
        critic_state before = *j->state;
        const pons_value *with = pons_critic_fallback_args(j->critic, step->fallback, args);
        judgement f = *j;
        f.state = &before;
        f.action = step->fallback;
        f.args = with ? with : none;
        f.skill = pons__critic_skill(j->critic, step->fallback);
        judge_action(&f);
    }
    pons__critic_foresee(j);
    return PONS_OK;
}

int pons_critic_judge_step(const pons_critic *c, const pons_plan_step *step,
                           const pons_critic_situation *s, pons_verdict **ret, pons_error *err)
{
    critic_state state;
    judgement j = {.critic = c, .now = s, .state = &state};
    int rc = begin(&j, err);
    if (rc < 0) {
        return rc;
    }
    rc = judge_one_step(&j, step, err);
    return finish(&j, ret, rc, err);
}

int pons_critic_judge_plan(const pons_critic *c, const pons_plan *p, const pons_critic_situation *s,
                           pons_verdict **ret, pons_error *err)
{
    critic_state state;
    judgement j = {.critic = c, .now = s, .state = &state, .step_id = -1};
    int rc = begin(&j, err);
    if (rc < 0) {
        return rc;
    }
    judge_risk(&j, "the plan's risk", (critic_risk)p->risk_level, p->requires_confirmation);
    for (size_t i = 0; rc >= 0 && i < p->n_steps; i++) {
        if (!pons_machine_final(&pons_step_machine, p->steps[i].status)) {
            rc = judge_one_step(&j, &p->steps[i], err);
        }
    }
    return finish(&j, ret, rc, err);
}

const pons_value *pons_critic_fallback_args(const pons_critic *c, const char *fallback,
                                            const pons_value *args)
{
    const critic_skill *skill = pons__critic_skill(c, fallback);
    pons_error ignored = PONS_ERROR_INIT;
    const bool takes = skill && skill->args && pons_schema_check(skill->args, args, &ignored) >= 0;
    return takes ? args : NULL;
}

bool pons_critic_moves(const pons_critic *c, const char *action)
{
    const critic_skill *skill = pons__critic_skill(c, action);
    return skill && skill->moves;
}
