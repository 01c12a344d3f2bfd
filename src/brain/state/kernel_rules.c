// kernel_rules.c - the kernel's rule table, read from config/kernel.yaml with its defaults.
#include "brain/state/kernel_rules.h"

#include "brain/records/robot_fields.h"
#include "pons/brain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum setting_kind {
    SETTING_NUM,   // double
    SETTING_INT,   // int
    SETTING_LONG,  // int64_t
    SETTING_WORD,  // bool: whether it says the word
    SETTING_VALUE, // borrowed
} setting_kind;

typedef struct setting {
    const char *section, *name; // section "": of the top; "a.b": b in a
    setting_kind kind;
    size_t at;
    double preset;
    const char *word;  // of SETTING_WORD: this one sets it,
    const char *lacks; // and this one stands where the config has none
} setting;

#define NUM(section, name, member, preset)                                                         \
    {                                                                                              \
        section, name, SETTING_NUM, offsetof(pons__rules_kernel, member), preset, NULL, NULL       \
    }
#define INT(section, name, member, preset)                                                         \
    {                                                                                              \
        section, name, SETTING_INT, offsetof(pons__rules_kernel, member), preset, NULL, NULL       \
    }
#define LONG(section, name, member, preset)                                                        \
    {                                                                                              \
        section, name, SETTING_LONG, offsetof(pons__rules_kernel, member), preset, NULL, NULL      \
    }
#define SAYS(section, name, member, word, lacks)                                                   \
    {                                                                                              \
        section, name, SETTING_WORD, offsetof(pons__rules_kernel, member), 0.0, word, lacks        \
    }
#define VALUE(section, name, member)                                                               \
    {                                                                                              \
        section, name, SETTING_VALUE, offsetof(pons__rules_kernel, member), 0.0, NULL, NULL        \
    }

// What each means is said in config/kernel.yaml, what it may be in schemas/kernel.json.
static const setting settings[] = {
    NUM("", "tick_hz", tick_hz, 10.0),
    NUM("battery", "charge_pct", battery_charge_pct, 20.0),
    NUM("battery", "safe_pct", battery_safe_pct, 10.0),
    NUM("battery", "charged_pct", battery_charged_pct, 80.0),
    NUM("safety", "collision_clear_s", collision_clear_s, 1.0),
    NUM("safety", "telemetry_age_max_ms", telemetry_age_max_ms, 1000.0),
    SAYS("safety", "auto_reset", auto_reset_sim, "sim", "sim"),
    SAYS("safety", "after_reset", after_reset_continue, "continue", "wait"),
    INT("priorities", "charge", priority_charge, 90),
    INT("priorities", "urgent", priority_urgent, 80),
    INT("priorities", "user", priority_user, 50),
    INT("priorities", "background", priority_background, 10),
    INT("limits", "iterations_max", iterations_max, 20),
    INT("limits", "failures_max", failures_max, 3),
    NUM("limits", "no_progress_m", no_progress_m, 0.1),
    NUM("limits", "no_progress_s", no_progress_s, 60.0),
    NUM("limits", "check_in_s", check_in_s, 5.0),
    NUM("limits", "find_s", find_s, 900.0),
    SAYS("limits", "overdue", overdue_goes_on, "go_on", "end"),
    INT("limits", "recursion_limit", recursion_limit, 400),
    NUM("limits", "goal_expires_ms", goal_expires_ms, 5000.0),
    NUM("limits", "link_wait_ms", link_wait_ms, 30000.0),
    INT("ladder", "other_ways", recovery_other_ways, 1),
    INT("ladder", "waits", recovery_waits, 1),
    NUM("ladder", "wait_s", recovery_wait_s, 20.0),
    INT("ladder", "swings", recovery_swings, 3),
    NUM("ladder", "progress_m", recovery_progress_m, 0.5),
    INT("model", "attempts", model_attempts, 2),
    INT("model", "decisions_max", model_decisions_max, 5),
    LONG("model", "calls_max", model_calls_max, 60),
    LONG("model", "tokens_max", model_tokens_max, 400000),
    NUM("model", "retry_s", model_retry_s, 20.0),
    INT("model", "prompt_bytes_max", prompt_bytes_max, 65536),
    INT("model", "prompt_tokens_max", prompt_tokens_max, 3600),
    NUM("approval", "deadline_s", approval_deadline_s, 0.0),
    LONG("store.keep", "tasks", keep.tasks, 50),
    NUM("store.keep", "days", keep.days, 30.0),
    NUM("store.keep", "size_mb", keep.size_mb, 256.0),
    NUM("store.keep", "audit_days", keep.audit_days, 365.0),
    VALUE("approval", "skills", approval_skills),
    VALUE("approval", "ask_on_unknown", unknown_ask),
    VALUE("", "resources", resources),
};

static void read_setting(const setting *s, const pons_value *of, pons__rules_kernel *ret)
{
    void *at = (char *)ret + s->at;
    switch (s->kind) {
    case SETTING_NUM:
        *(double *)at = pons_get_num(of, s->name, s->preset);
        break;
    case SETTING_INT:
        *(int *)at = (int)pons_get_int(of, s->name, (int64_t)s->preset);
        break;
    case SETTING_LONG:
        *(int64_t *)at = pons_get_int(of, s->name, (int64_t)s->preset);
        break;
    case SETTING_WORD:
        *(bool *)at = strcmp(pons_get_str(of, s->name, s->lacks), s->word) == 0;
        break;
    case SETTING_VALUE:
        *(const pons_value **)at = pons_get(of, s->name);
        break;
    }
}

static const pons_value *section_of(const pons_value *config, const char *path)
{
    char name[32];
    for (size_t n; *path; path += n + (path[n] == '.')) {
        n = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)n, path);
        config = pons_get(config, name);
    }
    return config;
}

void pons__rules_read(const pons_value *config, pons__rules_kernel *ret)
{
    *ret = (pons__rules_kernel){0};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const setting *s = &settings[i];
        read_setting(s, section_of(config, s->section), ret);
    }
}

int pons_brain_config_check(const pons_value *config, pons_error *err)
{
    pons__rules_kernel r;
    pons__rules_read(config, &r);
    const struct {
        const char *above, *below;
        double more, less;
    } orders[] = {
        {"/battery/charged_pct", "charge_pct", r.battery_charged_pct, r.battery_charge_pct},
        {"/battery/charge_pct", "safe_pct", r.battery_charge_pct, r.battery_safe_pct},
        {"/priorities/charge", "urgent", r.priority_charge, r.priority_urgent},
        {"/priorities/urgent", "user", r.priority_urgent, r.priority_user},
        {"/priorities/user", "background", r.priority_user, r.priority_background},
    };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        if (!(orders[i].more > orders[i].less)) {
            return pons_error_set(err, PONS_EINVAL, "kernel.yaml",
                                  "%s: %g is not above %s, which is %g", orders[i].above,
                                  orders[i].more, orders[i].below, orders[i].less);
        }
    }
    return PONS_OK;
}

bool pons__charge_wanted(const pons__rules_kernel *rules, const struct pons__robot *robot,
                         bool charging)
{
    const double pct = robot ? robot->battery_pct : NAN; // not told: neither low nor to be filled
    return charging ? pct < rules->battery_charged_pct : pct <= rules->battery_charge_pct;
}
