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
#include "critic/judgement.h"
#include "pons/buf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const risk_words[RISK_LEVELS] = {"low", "medium", "high", "blocked"};
static const char *const tool_risk_words[RISK_LEVELS] = {"safe", "warn", "dangerous", "blocked"};

#define TELEMETRY_AGE_MAX_MS 1000.0
#define BATTERY_MIN_PCT      10.0

static int read_skills(pons_critic *c, pons_error *err);
static int read_policy(pons_critic *c, pons_error *err);
static const critic_skill *find_skill(const pons_critic *c, const char *name);
static int find_risk(const char *word);
static bool stops(const judgement *j);
static const char *names_that_stop(const pons_critic *c, char *buf, size_t cap);
static void judge_action(judgement *j);
static void judge_itself(judgement *j);
static void judge_risk(judgement *j, const char *what, critic_risk risk, bool confirmed);
static void judge_conditions(judgement *j, const pons_value *conditions);
static void judge_resources(judgement *j);
static void judge_robot(judgement *j);
static int judge_one_step(judgement *j, const pons_plan_step *step, pons_error *err);
static int speak_parameters(judgement *j);

// ---- life ---------------------------------------------------------------------------------------

int pons_critic_create(const pons_critic_options *o, pons_critic **ret, pons_error *err)
{
    pons_critic *c = calloc(1, sizeof *c);
    if (!c) {
        return pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
    }
    c->skills_value = pons_value_ref(o->skills);
    c->embodiment = pons_value_ref(o->embodiment);
    c->world = pons_value_ref(o->world);
    c->policy = pons_value_ref(o->policy);
    c->resources = pons_value_ref(o->resources);
    int rc = pons__critic_limits_read(c->embodiment, &c->limits, err);
    rc = rc < 0 ? rc : read_policy(c, err);
    rc = rc < 0 ? rc : read_skills(c, err);
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
    for (size_t i = 0; i < c->n_skills; i++) {
        pons_schema_destroy(c->skills[i].args);
        free(c->skills[i].fault);
    }
    free(c->skills);
    pons_value_unref(c->skills_value);
    pons_value_unref(c->embodiment);
    pons_value_unref(c->world);
    pons_value_unref(c->policy);
    pons_value_unref(c->resources);
    free(c);
}

static int bad(pons_error *err, const char *what, const char *found)
{
    return pons_error_set(err, PONS_EINVAL, "critic", "%s, found %s", what, found);
}

static int read_policy(pons_critic *c, pons_error *err)
{
    const pons_value *risk = pons_get(c->policy, "risk");
    const char *max = pons_get_str(risk, "max", "high"), *ask = pons_get_str(risk, "ask", "high");
    if (c->policy && !json_is_object(c->policy)) {
        return pons_error_set(err, PONS_EINVAL, "critic", "policy: expected an object");
    }
    const int max_level = find_risk(max), ask_level = find_risk(ask);
    if (max_level < 0) {
        return bad(err, "policy: /risk/max: expected low, medium or high", max);
    }
    if (ask_level < 0) {
        return bad(err, "policy: /risk/ask: expected low, medium or high", ask);
    }
    c->risk_max = (critic_risk)max_level;
    c->risk_ask = (critic_risk)ask_level;
    c->telemetry_age_max_ms = pons_get_num(c->policy, "telemetry_age_max_ms", TELEMETRY_AGE_MAX_MS);
    c->battery_min_pct = pons_get_num(c->policy, "battery_min_pct", BATTERY_MIN_PCT);
    return PONS_OK;
}

// Does the registry say that the robot charges by it?
static bool meets_charging(const pons_value *item)
{
    size_t i;
    json_t *row;
    json_array_foreach(pons_get(item, "meets"), i, row)
    {
        if (strcmp(pons_get_str(row, "test", ""), "charged") == 0) {
            return true;
        }
    }
    return false;
}

// A schema that can't be compiled is that skill's fault alone: it is told when the skill is used.
static int read_skill(const pons_critic *c, const pons_value *item, critic_skill *ret,
                      pons_error *err)
{
    const pons_value *schema = pons_get(item, "args_schema");
    const char *risk = pons_get_str(item, "risk", "low");
    const int level = find_risk(risk);
    *ret = (critic_skill){.name = pons_get_str(item, "name", ""), .item = item};
    if (level < 0) {
        return bad(err, "skills: /risk: expected low, medium, high or blocked", risk);
    }
    ret->risk = (critic_risk)level;
    ret->holds_arg = pons_get_str(item, "holds", NULL);
    ret->releases = pons_get_bool(item, "releases", false);
    ret->stops = pons_get_bool(item, "stops", false);
    ret->charges = meets_charging(item);
    size_t i;
    json_t *resource;
    json_array_foreach(pons_get(item, "resources_required"), i, resource)
    {
        const char *name = json_is_string(resource) ? json_string_value(resource) : "";
        ret->drives = ret->drives || strcmp(name, "base") == 0;
        ret->moves = ret->moves || (pons_get(c->policy, "moving_resources")
                                        ? pons__lists(pons_get(c->policy, "moving_resources"), name)
                                        : !strcmp(name, "base") || !strcmp(name, "arm") ||
                                              !strcmp(name, "gripper"));
    }
    pons_error why = PONS_ERROR_INIT;
    const int rc = schema ? pons_schema_compile(schema, &ret->args, &why) : PONS_OK;
    if (rc < 0) {
        ret->fault = rc == PONS_ENOMEM ? NULL : strdup(why.message);
        if (!ret->fault) {
            return pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
        }
    }
    return PONS_OK;
}

static int read_skills(pons_critic *c, pons_error *err)
{
    const size_t n = json_array_size(c->skills_value);
    if (c->skills_value && !json_is_array(c->skills_value)) {
        return pons_error_set(err, PONS_EINVAL, "critic", "skills: expected a list");
    }
    c->skills = n ? calloc(n, sizeof *c->skills) : NULL;
    if (n && !c->skills) {
        return pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        const int rc = read_skill(c, json_array_get(c->skills_value, i), &c->skills[i], err);
        c->n_skills = i + 1;
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

// ---- judging ------------------------------------------------------------------------------------

static int begin(judgement *j, pons_error *err)
{
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

int pons_critic_judge(const pons_critic *c, const char *action, const pons_value *args,
                      const pons_critic_situation *s, pons_verdict **ret, pons_error *err)
{
    critic_state state;
    pons_autovalue none = json_object();
    judgement j = {.critic = c,
                   .now = s,
                   .state = &state,
                   .action = action,
                   .skill = find_skill(c, action),
                   .args = json_is_object(args) ? args : none,
                   .step_id = -1};
    pons__critic_state_read(c, s->robot, &state);
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

int pons_critic_judge_step(const pons_critic *c, const pons_plan_step *step,
                           const pons_critic_situation *s, pons_verdict **ret, pons_error *err)
{
    critic_state state;
    judgement j = {.critic = c, .now = s, .state = &state};
    pons__critic_state_read(c, s->robot, &state);
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
    pons__critic_state_read(c, s->robot, &state);
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
    const critic_skill *skill = find_skill(c, fallback);
    pons_error ignored = PONS_ERROR_INIT;
    const bool takes = skill && skill->args && pons_schema_check(skill->args, args, &ignored) >= 0;
    return takes ? args : NULL;
}

bool pons_critic_moves(const pons_critic *c, const char *action)
{
    const critic_skill *skill = find_skill(c, action);
    return skill && skill->moves;
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
    j->skill = executes ? find_skill(j->critic, step->action) : NULL;
    judge_conditions(j, conditions);
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
        f.skill = find_skill(j->critic, step->fallback);
        judge_action(&f);
    }
    pons__critic_foresee(j);
    return PONS_OK;
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
    judge_conditions(j, pons_get(j->skill ? j->skill->item : NULL, "preconditions"));
    judge_resources(j);
    if (j->skill && j->skill->moves) {
        judge_robot(j);
    }
}

// ---- the action itself --------------------------------------------------------------------------

static void on_fault(void *user, const char *pointer, const char *message)
{
    pons__violated(user, "args_schema", NAN, NAN, NULL, "%s%s%s", pointer, *pointer ? ": " : "",
                   message);
}

// An entry of supported_actions is a name, or a row of the profile's table with one.
static bool supports(const pons_value *actions, const char *action)
{
    size_t i;
    json_t *entry;
    json_array_foreach(actions, i, entry)
    {
        const char *name =
            json_is_string(entry)
                ? json_string_value(entry)
                : pons_get_str(entry, "name", pons_get_str(entry, "action_type", ""));
        if (strcmp(name, action) == 0) {
            return true;
        }
    }
    return false;
}

static void judge_itself(judgement *j)
{
    const pons_critic *c = j->critic;
    const pons_value *actions = pons_get(c->embodiment, "supported_actions");
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
    if (!actions) {
        pons__unjudged(j, "supported_action");
    } else if (!supports(actions, j->action)) {
        pons__violated(j, "supported_action", NAN, NAN, NULL,
                       "%s can't do %s: it is not one of its %zu supported actions",
                       pons_get_str(c->embodiment, "name", "this robot"), j->action,
                       json_array_size(actions));
    }
    if (!j->skill) {
        return;
    }
    judge_risk(j, "its risk", j->skill->risk, false);
    if (pons_get_bool(j->skill->item, "requires_approval", false) ||
        pons__lists(pons_get(c->policy, "approval"), j->action)) {
        pons__verdict_note(j->verdict, j->verdict->approvals, "approval", j->action, j->step_id,
                           "a person must say yes before %s", j->action);
    }
}

static void judge_risk(judgement *j, const char *what, critic_risk risk, bool confirmed)
{
    const pons_critic *c = j->critic;
    if (risk > c->risk_max || risk == RISK_BLOCKED) {
        pons__violated(j, "risk", NAN, NAN, NULL, "%s is %s; the policy allows at most %s", what,
                       risk_words[risk], risk_words[c->risk_max]);
    } else if (risk >= c->risk_ask && !confirmed) {
        pons__verdict_note(j->verdict, j->verdict->approvals, "risk", j->action, j->step_id,
                           "%s is %s; from %s on a person must say yes", what, risk_words[risk],
                           risk_words[c->risk_ask]);
    }
}

// ---- when ---------------------------------------------------------------------------------------

// What the critic itself can see: the state that is foreseen, then telemetry, then the world.
static int look_around(void *user, const char *name, pons_value **ret, pons_error *err)
{
    const judgement *j = user;
    const critic_state *s = j->state;
    const char *bare = strncmp(name, "robot.", 6) == 0 ? name + 6 : name;
    const bool holding = strcmp(bare, "holding") == 0, zone = strcmp(bare, "zone") == 0;
    if (holding && s->grip != GRIP_UNKNOWN) {
        *ret = s->grip == GRIP_FULL && s->held ? json_string(s->held) : json_null();
        return PONS_OK;
    }
    if (zone && s->zone) {
        *ret = json_string(s->zone);
        return PONS_OK;
    }
    if (s->foreseen) { // it may be another one by then
        return pons_error_set(err, PONS_EUNSUPPORTED, "critic", "%s can't be foreseen", name);
    }
    if (j->now->look) {
        return j->now->look(j->now->user, name, ret, err);
    }
    const pons_value *robot = j->now->robot;
    pons_error ignored = PONS_ERROR_INIT;
    if (robot && pons_plan_look_in((void *)(uintptr_t)robot, bare, ret, &ignored) >= 0) {
        return PONS_OK;
    }
    if (strncmp(name, "world.", 6) == 0) {
        bare = name + 6;
    }
    if (j->critic->world &&
        pons_plan_look_in((void *)(uintptr_t)j->critic->world, bare, ret, &ignored) >= 0) {
        return PONS_OK;
    }
    if (!j->now->live) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "critic", "%s is not known on paper", name);
    }
    return pons_error_set(err, PONS_ENOTFOUND, "critic", "%s is not known", name);
}

static void judge_conditions(judgement *j, const pons_value *conditions)
{
    const char *key;
    json_t *wanted;
    json_object_foreach((json_t *)(uintptr_t)conditions, key, wanted)
    {
        pons_error why = PONS_ERROR_INIT;
        const int rc = pons_plan_condition(key, wanted, look_around, j, &why);
        if (rc == PONS_EREFUSED) {
            pons__violated(j, "precondition", NAN, NAN, NULL, "%s: %s", key, why.message);
        } else if (rc < 0) {
            pons__unjudged(j, "precondition");
        }
    }
}

static bool uses(const pons_critic *c, const char *action, const char *resource)
{
    const critic_skill *skill = find_skill(c, action);
    return skill && pons__lists(pons_get(skill->item, "resources_required"), resource);
}

// How much of a counted resource a list of [{skill, goal_id?}] takes, without those that are released.
static int64_t taken(const judgement *j, const pons_value *list, const char *resource)
{
    int64_t sum = 0;
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        const critic_skill *skill = find_skill(j->critic, pons_get_str(item, "skill", ""));
        const char *id = pons_get_str(item, "goal_id", "");
        if (skill && !(*id && pons__lists(j->now->released, id))) {
            sum += pons_get_int(pons_get(skill->item, "resources_counted"), resource, 0);
        }
    }
    return sum;
}

// Of what is counted no more is taken than there is: by the goals that run and stay, and by this batch.
static void judge_counted(judgement *j)
{
    const char *name;
    json_t *amount;
    json_object_foreach((json_t *)pons_get(j->skill ? j->skill->item : NULL, "resources_counted"),
                        name, amount)
    {
        const pons_value *all = pons_get(j->critic->resources, name);
        if (!j->critic->resources) {
            pons__unjudged(j, "resource");
            return;
        }
        const int64_t needs = json_integer_value(amount), has = json_integer_value(all);
        const int64_t used = j->state->foreseen ? 0 : taken(j, j->now->running, name);
        const int64_t batch = j->state->foreseen ? 0 : taken(j, j->now->batch, name);
        const int64_t wants = used + (batch > needs ? batch : needs);
        if (wants > has) {
            pons__violated(
                j, "resource", (double)wants, (double)has, name,
                "%s: %s needs %lld, %lld are taken and %lld are asked for at once; there "
                "are %lld",
                name, j->action, (long long)needs, (long long)used,
                (long long)(batch > needs ? batch : needs), (long long)has);
        }
    }
}

// An exclusive resource has one user: of the goals that run and stay, and of this batch.
static void judge_resources(judgement *j)
{
    const pons_critic *c = j->critic;
    size_t i, k;
    json_t *resource, *other;
    judge_counted(j);
    if (j->state->foreseen) { // what runs now has ended by then
        return;
    }
    json_array_foreach(pons_get(j->skill ? j->skill->item : NULL, "resources_required"), i,
                       resource)
    {
        const char *name = json_is_string(resource) ? json_string_value(resource) : "";
        json_array_foreach(j->now->running, k, other)
        {
            const char *id = pons_get_str(other, "goal_id", "");
            const char *by = pons_get_str(other, "skill", "");
            if (uses(c, by, name) && !pons__lists(j->now->released, id)) {
                pons__violated(j, "resource", NAN, NAN, NULL, "%s is in use by %s (goal %.8s)",
                               name, by, id);
            }
        }
        int users = 0;
        json_array_foreach(j->now->batch, k, other) users +=
            uses(c, pons_get_str(other, "skill", ""), name);
        if (users > 1) {
            pons__violated(j, "resource", users, 1, "users",
                           "%s is asked for by %d operations at once (%s is one)", name, users,
                           j->action);
        }
    }
}

// What moves needs eyes, a free latch and charge.
static void judge_robot(judgement *j)
{
    const pons_critic *c = j->critic;
    const pons_value *robot = j->now->robot, *stop = pons_get(robot, "stop");
    if (j->now->live && !robot) {
        pons__violated(j, "telemetry_age", NAN, NAN, NULL, "no telemetry yet");
    } else if (j->now->live && j->now->telemetry_age_ms > c->telemetry_age_max_ms) {
        pons__violated(j, "telemetry_age", j->now->telemetry_age_ms, c->telemetry_age_max_ms, "ms",
                       "telemetry is %.0f ms old; at most %.0f ms", j->now->telemetry_age_ms,
                       c->telemetry_age_max_ms);
    }
    if (!robot) {
        pons__unjudged(j, "stop_latched");
        pons__unjudged(j, "battery");
        return;
    }
    if (j->state->foreseen) { // by then it may be lifted, or the battery charged
        return;
    }
    if (pons_get_bool(stop, "latched", false)) {
        pons__violated(j, "stop_latched", NAN, NAN, NULL,
                       "a protective stop is latched (%s); reset lifts it",
                       pons_get_str(stop, "reason", ""));
    }
    const double pct = pons_get_num(robot, "battery_pct", NAN);
    if (isnan(pct)) {
        pons__unjudged(j, "battery");
    } else if (pct <= c->battery_min_pct && !(j->skill && j->skill->charges) &&
               !pons__lists(pons_get(c->policy, "charge_actions"), j->action)) {
        pons__violated(j, "battery", pct, c->battery_min_pct, "%",
                       "battery is %.1f %%; motion needs more than %.1f %%", pct,
                       c->battery_min_pct);
    }
}

// ---- small things -------------------------------------------------------------------------------

// By its registry item, or by the policy.
static bool stops(const judgement *j)
{
    return (j->skill && j->skill->stops) ||
           pons__lists(pons_get(j->critic->policy, "safe_actions"), j->action);
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

static const critic_skill *find_skill(const pons_critic *c, const char *name)
{
    for (size_t i = 0; i < c->n_skills; i++) {
        if (strcmp(c->skills[i].name, name) == 0) {
            return &c->skills[i];
        }
    }
    return NULL;
}

static int find_risk(const char *word)
{
    for (int i = 0; i < RISK_LEVELS; i++) {
        if (strcmp(risk_words[i], word) == 0 || strcmp(tool_risk_words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}
