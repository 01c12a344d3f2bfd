// rules.c - the kernel's rule table, read from config/kernel.yaml with its defaults.
#include "brain/rules.h"

#include "brain/robot.h"

#include <math.h>
#include <string.h>

void pons__rules_read(const pons_value *config, pons__rules_kernel *ret)
{
    const pons_value *battery = pons_get(config, "battery");
    const pons_value *safety = pons_get(config, "safety");
    const pons_value *priorities = pons_get(config, "priorities");
    const pons_value *limits = pons_get(config, "limits");
    const pons_value *ladder = pons_get(config, "ladder");
    const pons_value *model = pons_get(config, "model");
    const pons_value *approval = pons_get(config, "approval");
    *ret = (pons__rules_kernel){
        .tick_hz = pons_get_num(config, "tick_hz", 10.0),
        .battery_charge_pct = pons_get_num(battery, "charge_pct", 20.0),
        .battery_safe_pct = pons_get_num(battery, "safe_pct", 10.0),
        .battery_charged_pct = pons_get_num(battery, "charged_pct", 80.0),
        .collision_clear_s = pons_get_num(safety, "collision_clear_s", 1.0),
        .telemetry_age_max_ms = pons_get_num(safety, "telemetry_age_max_ms", 1000.0),
        .auto_reset_sim = strcmp(pons_get_str(safety, "auto_reset", "sim"), "sim") == 0,
        .after_reset_continue =
            strcmp(pons_get_str(safety, "after_reset", "wait"), "continue") == 0,
        .overdue_goes_on = strcmp(pons_get_str(limits, "overdue", "end"), "go_on") == 0,
        .priority_charge = (int)pons_get_int(priorities, "charge", 90),
        .priority_urgent = (int)pons_get_int(priorities, "urgent", 80),
        .priority_background = (int)pons_get_int(priorities, "background", 10),
        .priority_user = (int)pons_get_int(priorities, "user", 50),
        .iterations_max = (int)pons_get_int(limits, "iterations_max", 20),
        .failures_max = (int)pons_get_int(limits, "failures_max", 3),
        .no_progress_m = pons_get_num(limits, "no_progress_m", 0.1),
        .no_progress_s = pons_get_num(limits, "no_progress_s", 60.0),
        .check_in_s = pons_get_num(limits, "check_in_s", 5.0),
        .recursion_limit = (int)pons_get_int(limits, "recursion_limit", 400),
        .ladder_other_ways = (int)pons_get_int(ladder, "other_ways", 1),
        .ladder_waits = (int)pons_get_int(ladder, "waits", 1),
        .ladder_swings = (int)pons_get_int(ladder, "swings", 3),
        .ladder_wait_s = pons_get_num(ladder, "wait_s", 20.0),
        .ladder_progress_m = pons_get_num(ladder, "progress_m", 0.5),
        .goal_expires_ms = pons_get_num(limits, "goal_expires_ms", 5000.0),
        .link_wait_ms = pons_get_num(limits, "link_wait_ms", 30000.0),
        .model_decisions_max = (int)pons_get_int(model, "decisions_max", 5),
        .model_calls_max = pons_get_int(model, "calls_max", 60),
        .model_tokens_max = pons_get_int(model, "tokens_max", 400000),
        .model_attempts = (int)pons_get_int(model, "attempts", 2),
        .prompt_bytes_max = (int)pons_get_int(model, "prompt_bytes_max", 65536),
        .prompt_tokens_max = (int)pons_get_int(model, "prompt_tokens_max", 3600),
        .model_retry_s = pons_get_num(model, "retry_s", 20.0),
        .approval_deadline_s = pons_get_num(approval, "deadline_s", 0.0),
        .resources = pons_get(config, "resources"),
        .approval_skills = pons_get(approval, "skills"),
        .unknown_ask = pons_get(approval, "ask_on_unknown"),
    };
}

bool pons__charge_wanted(const pons__rules_kernel *rules, const struct pons__robot *robot,
                         bool charging)
{
    const double pct = robot ? robot->battery_pct : NAN; // not told: neither low nor to be filled
    return charging ? pct < rules->battery_charged_pct : pct <= rules->battery_charge_pct;
}
