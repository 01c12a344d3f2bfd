// moment_rules.c - the rules of the moment: preconditions, resources, telemetry, the latch and the battery.
#include "critic/critic_input.h"
#include "critic/judgement.h"

#include <math.h>
#include <string.h>

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
    if (j->critic->world_value &&
        pons_plan_look_in((void *)(uintptr_t)j->critic->world_value, bare, ret, &ignored) >= 0) {
        return PONS_OK;
    }
    if (!j->now->live) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "critic", "%s is not known on paper", name);
    }
    return pons_error_set(err, PONS_ENOTFOUND, "critic", "%s is not known", name);
}

void pons__critic_conditions(judgement *j, const pons_value *conditions)
{
    pons_each_member(key, wanted, conditions) {
        pons_error why = PONS_ERROR_INIT;
        const int rc = pons_plan_condition(key, wanted, look_around, j, &why);
        if (rc == PONS_EREFUSED) {
            pons__violated(j, "precondition", NAN, NAN, NULL, "%s: %s", key, why.message);
        } else if (rc < 0) {
            pons__unjudged(j, "precondition");
        }
    }
}

// Who uses resources, or is about to: an item of the situation's `running` or `batch`.
typedef struct user {
    const char *action, *goal_id;
    const critic_skill *skill; // NULL: not in the registry
} user;

static user user_of(const judgement *j, const pons_value *item)
{
    const char *action = pons_get_str(item, "skill", "");
    return (user){action, pons_get_str(item, "goal_id", ""), pons__critic_skill(j->critic, action)};
}

static bool stays(const judgement *j, const user *u)
{
    return !*u->goal_id || !pons_list_has(j->now->released, u->goal_id);
}

// How much of a counted resource a list of users takes, without those that are released.
static int64_t taken(const judgement *j, const pons_value *list, const char *resource)
{
    int64_t sum = 0;
    pons_each(item, list) {
        const user u = user_of(j, item);
        sum += u.skill && stays(j, &u) ? pons_get_int(u.skill->counted, resource, 0) : 0;
    }
    return sum;
}

// Of what is counted no more is taken than there is: by the goals that run and stay, and by this batch.
static void judge_counted(judgement *j)
{
    pons_each_member(name, amount, (j->skill ? j->skill->counted : NULL)) {
        if (!j->critic->resources) {
            pons__unjudged(j, "resource");
            return;
        }
        const int64_t needs = json_integer_value(amount),
                      has = pons_get_int(j->critic->resources, name, 0);
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
static void judge_exclusive(judgement *j, const char *name)
{
    int users = 0;
    pons_each(item, j->now->running) {
        const user u = user_of(j, item);
        if (u.skill && pons_list_has(u.skill->resources, name) && stays(j, &u)) {
            pons__violated(j, "resource", NAN, NAN, NULL, "%s is in use by %s (goal %.8s)", name,
                           u.action, u.goal_id);
        }
    }
    pons_each(item, j->now->batch) {
        const user u = user_of(j, item);
        users += u.skill && pons_list_has(u.skill->resources, name);
    }
    if (users > 1) {
        pons__violated(j, "resource", users, 1, "users",
                       "%s is asked for by %d operations at once (%s is one)", name, users,
                       j->action);
    }
}

void pons__critic_resources(judgement *j)
{
    judge_counted(j);
    pons_each(resource, j->skill ? j->skill->resources : NULL) {
        if (!j->state->foreseen &&
            json_is_string(resource)) { // else what runs now has ended by then
            judge_exclusive(j, json_string_value(resource));
        }
    }
}

// What moves needs eyes, a free latch and charge.
void pons__critic_robot(judgement *j)
{
    const critic_policy *policy = &j->critic->policy;
    const critic_telemetry *robot = &j->robot;
    if (j->now->live && !robot->given) {
        pons__violated(j, "telemetry_age", NAN, NAN, NULL, "no telemetry yet");
    } else if (j->now->live && j->now->telemetry_age_ms > policy->telemetry_age_max_ms) {
        pons__violated(j, "telemetry_age", j->now->telemetry_age_ms, policy->telemetry_age_max_ms,
                       "ms", "telemetry is %.0f ms old; at most %.0f ms", j->now->telemetry_age_ms,
                       policy->telemetry_age_max_ms);
    }
    if (!robot->given) {
        pons__unjudged(j, "stop_latched");
        pons__unjudged(j, "battery");
        return;
    }
    if (j->state->foreseen) { // by then it may be lifted, or the battery charged
        return;
    }
    if (robot->latched) {
        pons__violated(j, "stop_latched", NAN, NAN, NULL,
                       "a protective stop is latched (%s); reset lifts it", robot->latched_for);
    }
    if (isnan(robot->battery_pct)) {
        pons__unjudged(j, "battery");
    } else if (robot->battery_pct <= policy->battery_min_pct && !(j->skill && j->skill->charges) &&
               !pons_list_has(policy->charge, j->action)) {
        pons__violated(j, "battery", robot->battery_pct, policy->battery_min_pct, "%",
                       "battery is %.1f %%; motion needs more than %.1f %%", robot->battery_pct,
                       policy->battery_min_pct);
    }
}
