// kernel_rules.h - the kernel's rule table, as config/kernel.yaml has it.
#pragma once

#include "brain/retention/retention.h"
#include "pons/value.h"

typedef struct pons__rules_kernel {
    double tick_hz;
    double battery_charge_pct, battery_safe_pct, battery_charged_pct;
    double collision_clear_s; // host time without risk before SAFE is left
    double telemetry_age_max_ms;
    int iterations_max;                              // decisions without progress
    int failures_max;                                // consecutive, of one skill
    double no_progress_m, no_progress_s, check_in_s; // robot time
    double find_s; // host time after which a search begins no other zone
    double goal_expires_ms, link_wait_ms, model_retry_s;
    int recovery_other_ways, recovery_waits,
        recovery_swings; // recovery before a person is asked (recovery/recovery_count.c)
    double recovery_wait_s, recovery_progress_m;
    int recursion_limit, model_attempts;
    int model_decisions_max;    // without progress, then the rules decide
    double approval_deadline_s; // host; then an open question is answered with no. 0: never
    int64_t model_calls_max, model_tokens_max; // of a task; 0: no limit
    int prompt_bytes_max, prompt_tokens_max;
    int priority_background, priority_user, priority_urgent, priority_charge;
    bool auto_reset_sim, after_reset_continue;
    bool overdue_goes_on;              // a task whose deadline has passed is not ended
    pons__keep_rules keep;             // what ended tasks leave
    const pons_value *resources;       // {name: amount} of what is counted; borrowed
    const pons_value *approval_skills; // names that need a person; borrowed from the config
    const pons_value *unknown_ask;     // names whose unknown outcome a person must settle
} pons__rules_kernel;

struct pons__robot;
// Whether the battery of a robot (NULL: not seen yet) asks for the charger, with hysteresis.
bool pons__charge_wanted(const pons__rules_kernel *rules, const struct pons__robot *robot,
                         bool charging);
void pons__rules_read(const pons_value *config, pons__rules_kernel *ret);
