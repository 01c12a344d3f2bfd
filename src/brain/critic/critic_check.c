// critic_check.c - what R4 asks the critic, and how the brain's own words become the critic's facts.
//
// The rules are pons/critic.h's, the same for everybody who wants something of a robot. The brain
// brings what it knows: the registry, the map and the limits of the body's hello, the newest
// telemetry and its age, what is running, and the policy of config/kernel.yaml. Nothing that a
// model says lifts a rule; an approval lifts only the rule that asks for one.
#include "brain/critic/critic_check.h"

#include "brain/goals/goal_skills.h"
#include "brain/records/record_table.h"
#include "pons/buf.h"
#include "pons/critic.h"

#include <string.h>

// clang-format off
static const pons__field broken_fields[] = {
    {"rule",    TEXT, NEVER, offsetof(pons__broken, rule), .means = "its name (docs/reference/plans.md)"},
    {"skill",   NAME, KEY,   offsetof(pons__broken, skill), .means = "of the operation"},
    {"message", TEXT, NEVER, offsetof(pons__broken, message), .means = "for people"},
    {"lasts",   BOOL, KEY,   offsetof(pons__broken, lasts), .means = "however often it is tried"},
};
TABLE(broken, "a rule that was broken; `found`, `limit` and `unit` may stand beside these");
// clang-format on

void pons__broken_add(pons_value *rules, const pons__broken *broken)
{
    json_array_append_new(rules, pons__record_write(&pons__broken_record, broken));
}

static pons_value *one_rule(const char *name, const char *skill, const char *message)
{
    pons_value *rules = json_array();
    pons__broken_add(rules, &(pons__broken){.rule = name, .skill = skill, .message = message});
    return rules;
}

// A body that says what it can do is believed; else its registry and limits say it.
static pons_value *embodiment_of(const pons_brain *b)
{
    const pons_report_hello *hello = &b->port.greeting.as.hello;
    if (hello->embodiment) {
        return pons_value_ref(hello->embodiment);
    }
    const pons_value *limits = pons_get(b->port.hello, "limits");
    const pons_value *radius = pons_get(limits, "radius_m");
    return pons_object("name", json_string(b->port.hello ? hello->robot_id : "this robot"),
                       "radius_m", radius ? pons_value_ref(radius) : NULL, "limits",
                       limits ? pons_value_ref(limits) : NULL, NULL);
}

// One critic for as long as the body is the same: its registry's schemas are compiled once.
const pons_critic *pons__guard_critic(pons_brain *b)
{
    pons_error err = PONS_ERROR_INIT;
    if (b->critic && b->critic_of == b->port.hello) {
        return b->critic;
    }
    pons_critic_destroy(b->critic);
    b->critic = NULL;
    pons_autovalue none = json_array();
    pons_autovalue embodiment = embodiment_of(b);
    pons_autovalue policy = pons_brain_critic_policy(b->config);
    pons_autovalue resources = pons__resources(b);
    const pons_value *skills = b->port.greeting.as.hello.skills;
    const pons_critic_options o = {.skills = skills ? skills : none,
                                   .embodiment = embodiment,
                                   .world = b->port.greeting.as.hello.world,
                                   .policy = policy,
                                   .resources = resources};
    if (pons__door_check(b, PONS_DOOR_EMBODIMENT, embodiment, &err) < 0 ||
        pons__door_check(b, PONS_DOOR_POLICY, policy, &err) < 0 ||
        pons_critic_create(&o, &b->critic, &err) < 0) {
        snprintf(b->critic_fault, sizeof b->critic_fault, "%.250s", err.message);
        b->critic = NULL;
        return NULL;
    }
    pons_value_unref(b->critic_of);
    b->critic_of = pons_value_ref(b->port.hello);
    return b->critic;
}

// The facts of this moment. What they point to lives until the next message of the body.
pons_critic_situation pons__guard_situation(pons_brain *b, int mode)
{
    return (pons_critic_situation){
        .live = true,
        .mode = mode >= 0 ? pons__mode_words[mode] : NULL,
        .robot = b->port.telemetry,
        .telemetry_age_ms =
            (double)(pons_now_ns(&b->opts.clock) - b->port.telemetry_ns) / (double)PONS_NS_PER_MS,
    };
}

static pons_value *check(pons_brain *b, int mode, const char *skill, const pons_value *args,
                         const pons_value *running, const pons_value *to_cancel,
                         const pons_value *batch, bool asked)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autoverdict verdict = NULL;
    pons_critic_situation now = pons__guard_situation(b, mode);
    now.running = running;
    now.released = to_cancel;
    now.batch = batch;
    const pons_critic *critic = pons__guard_critic(b);
    if (!critic || pons_critic_judge(critic, skill, args, &now, &verdict, &err) < 0) {
        // No judge, no motion.
        const char *why = critic ? err.message : b->critic_fault;
        return one_rule("critic", skill, why);
    }
    if (!b->opts.judge) {
        return pons_value_ref(pons_verdict_rules(verdict));
    }
    pons_value *rules = json_copy((json_t *)pons_verdict_rules(verdict));
    b->opts.judge(b->opts.user, skill, args, asked, rules);
    return rules;
}

pons_value *pons__guard_check(pons_brain *b, int mode, const char *skill, const pons_value *args,
                              const pons_value *running, const pons_value *to_cancel,
                              const pons_value *batch)
{
    return check(b, mode, skill, args, running, to_cancel, batch, true);
}

pons_value *pons__guard_would(pons_brain *b, int mode, const char *skill, const pons_value *args,
                              const pons_value *running, const pons_value *batch)
{
    pons_autovalue none = json_array();
    return check(b, mode, skill, args, running, none, batch, false);
}

pons_value *pons__guard_now(pons_brain *b, const pons_message_goal *goal)
{
    pons_autovalue none = json_array();
    pons_value *held = pons__guard_kernel(b, goal->skill);
    return held ? held
                : pons__guard_check(b, b->tasks->mode, goal->skill, goal->args, none, none, none);
}

// A stop or a preemption that the kernel has committed and the inner loop has not read yet.
pons_value *pons__guard_kernel(pons_brain *b, const char *skill)
{
    const bool stopped = b->tasks->stopped;
    const bool stops = strcmp(skill, pons__means_stop(b)) == 0;
    if (!stops && pons__answer_veto(b)) {
        return one_rule("approval", skill, "a person said no after all");
    }
    if (stops || (!stopped && b->tasks->react->state != PONS_INNER_STOPPING)) {
        return NULL;
    }
    return one_rule("kernel", skill,
                    stopped ? "a stop is in force until a reset and continue"
                            : "the kernel took over");
}

pons_value *pons__guard_says(const pons_value *rules)
{
    pons_autobuf text = PONS_BUF_INIT;
    pons_each(rule, rules) {
        PONS__AUTO(broken) broken = pons__record_read(&pons__broken_record, rule);
        pons_buf_printf(&text, "%s%s", rule_at ? "; " : "", broken->message);
    }
    return json_string(text.data ? text.data : "");
}

// Which rules want a person's word for it: [{rule, message, …}], empty when none does.
pons_value *pons__guard_approvals(pons_brain *b, const char *skill, const pons_value *args)
{
    pons_error err = PONS_ERROR_INIT;
    pons_autoverdict verdict = NULL;
    const pons_critic_situation now = pons__guard_situation(b, -1);
    const pons_critic *critic = pons__guard_critic(b);
    const bool judged = critic && pons_critic_judge(critic, skill, args, &now, &verdict, &err) >= 0;
    return judged ? json_copy((json_t *)pons_verdict_approvals(verdict)) : json_array();
}

pons_value *pons_brain_critic_policy(const pons_value *config)
{
    pons__rules_kernel rules;
    const pons_value *own = pons_get(config, "critic");
    pons_value *policy = own ? json_copy((json_t *)own) : json_object();
    pons__rules_read(config, &rules);
    json_object_set_new(policy, "telemetry_age_max_ms", json_real(rules.telemetry_age_max_ms));
    json_object_set_new(policy, "battery_min_pct", json_real(rules.battery_safe_pct));
    if (rules.approval_skills) {
        json_object_set_new(policy, "approval", pons_value_ref(rules.approval_skills));
    }
    return policy;
}
