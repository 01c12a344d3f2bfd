// critic_input.c - what a critic is given, read once: the registry of skills, the policy, the embodiment; the world is
// critic_world.c's. Here its members' names are spelled, and nowhere else; the rules see structs. What stays JSON is what
// somebody else names: arguments, preconditions, lists of names.
#include "critic/critic_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const pons__critic_risk_words[RISK_LEVELS] = {"low", "medium", "high", "blocked"};
static const char *const tool_risk_words[RISK_LEVELS] = {"safe", "warn", "dangerous", "blocked"};

#define TELEMETRY_AGE_MAX_MS 1000.0
#define BATTERY_MIN_PCT      10.0

static int find_risk(const char *word)
{
    for (int i = 0; i < RISK_LEVELS; i++) {
        if (strcmp(pons__critic_risk_words[i], word) == 0 ||
            strcmp(tool_risk_words[i], word) == 0) {
            return i;
        }
    }
    return -1;
}

static int bad(pons_error *err, const char *what, const char *found)
{
    return pons_error_set(err, PONS_EINVAL, "critic", "%s, found %s", what, found);
}

static int read_policy(const pons_value *v, critic_policy *ret, pons_error *err)
{
    const pons_value *risk = pons_get(v, "risk");
    const char *max = pons_get_str(risk, "max", "high"), *ask = pons_get_str(risk, "ask", "high");
    if (v && !json_is_object(v)) {
        return pons_error_set(err, PONS_EINVAL, "critic", "policy: expected an object");
    }
    const int max_level = find_risk(max), ask_level = find_risk(ask);
    if (max_level < 0) {
        return bad(err, "policy: /risk/max: expected low, medium or high", max);
    }
    if (ask_level < 0) {
        return bad(err, "policy: /risk/ask: expected low, medium or high", ask);
    }
    *ret = (critic_policy){.telemetry_age_max_ms =
                               pons_get_num(v, "telemetry_age_max_ms", TELEMETRY_AGE_MAX_MS),
                           .battery_min_pct = pons_get_num(v, "battery_min_pct", BATTERY_MIN_PCT),
                           .risk_max = (critic_risk)max_level,
                           .risk_ask = (critic_risk)ask_level,
                           .moving = pons_get(v, "moving_resources"),
                           .safe = pons_get(v, "safe_actions"),
                           .charge = pons_get(v, "charge_actions"),
                           .approval = pons_get(v, "approval")};
    return PONS_OK;
}

static bool is_moving(const critic_policy *policy, const char *resource)
{
    return policy->moving ? pons_list_has(policy->moving, resource)
                          : !strcmp(resource, "base") || !strcmp(resource, "arm") ||
                                !strcmp(resource, "gripper");
}

// A schema that can't be compiled is that skill's fault alone: it is told when the skill is used.
static int read_skill(const critic_policy *policy, const pons_value *item, critic_skill *ret,
                      pons_error *err)
{
    const pons_value *schema = pons_get(item, "args_schema");
    const char *risk = pons_get_str(item, "risk", "low");
    const int level = find_risk(risk);
    *ret = (critic_skill){.name = pons_get_str(item, "name", ""),
                          .holds_arg = pons_get_str(item, "holds", NULL),
                          .releases = pons_get_bool(item, "releases", false),
                          .stops = pons_get_bool(item, "stops", false),
                          .charges = pons_find(pons_get(item, "meets"), "test", "charged") != NULL,
                          .requires_approval = pons_get_bool(item, "requires_approval", false),
                          .resources = pons_get(item, "resources_required"),
                          .counted = pons_get(item, "resources_counted"),
                          .preconditions = pons_get(item, "preconditions")};
    if (level < 0) {
        return bad(err, "skills: /risk: expected low, medium, high or blocked", risk);
    }
    ret->risk = (critic_risk)level;
    pons_each(resource, ret->resources) {
        const char *name = json_is_string(resource) ? json_string_value(resource) : "";
        ret->drives = ret->drives || strcmp(name, "base") == 0;
        ret->moves = ret->moves || is_moving(policy, name);
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
        const int rc =
            read_skill(&c->policy, json_array_get(c->skills_value, i), &c->skills[i], err);
        c->n_skills = i + 1;
        if (rc < 0) {
            return rc;
        }
    }
    return PONS_OK;
}

const critic_skill *pons__critic_skill(const pons_critic *c, const char *name)
{
    for (size_t i = 0; i < c->n_skills; i++) {
        if (strcmp(c->skills[i].name, name) == 0) {
            return &c->skills[i];
        }
    }
    return NULL;
}

// ---- the embodiment -----------------------------------------------------------------------------

static int read_number(const pons_value *from, const char *prefix, const char *key, double *ret,
                       pons_error *err)
{
    const pons_value *v = pons_get(from, key);
    *ret = json_is_number(v) ? json_number_value(v) : NAN;
    if (v && !json_is_null(v) && !(json_is_number(v) && *ret >= 0)) {
        return pons_error_set(err, PONS_EINVAL, "critic",
                              "embodiment: %s/%s: expected a number of at least 0", prefix, key);
    }
    return PONS_OK;
}

static int read_corner(const pons_value *box, const char *key, double ret[3], pons_error *err)
{
    const critic_point p = pons__critic_point(pons_get(box, key));
    if (!p.known || !p.has_z) {
        return pons_error_set(err, PONS_EINVAL, "critic",
                              "embodiment: /workspace/%s: expected [x, y, z]", key);
    }
    memcpy(ret, p.at, sizeof p.at);
    return PONS_OK;
}

static int read_point(const pons_value *e, const char *key, critic_point *ret, pons_error *err)
{
    const pons_value *v = pons_get(e, key);
    *ret = pons__critic_point(v);
    return !v || ret->known ? PONS_OK
                            : pons_error_set(err, PONS_EINVAL, "critic",
                                             "embodiment: /%s: expected [x, y, z]", key);
}

static int read_numbers(const pons_value *e, critic_body *ret, pons_error *err)
{
    const pons_value *box = pons_get(e, "workspace"), *limits = pons_get(e, "limits");
    const struct {
        const pons_value *from;
        const char *prefix, *key;
        double *to;
    } numbers[] = {{e, "", "max_reach_m", &ret->reach_m},
                   {e, "", "payload_kg", &ret->payload_kg},
                   {e, "", "radius_m", &ret->radius_m},
                   {limits, "/limits", "speed_max_mps", &ret->speed_mps},
                   {limits, "/limits", "reverse_max_mps", &ret->reverse_mps},
                   {limits, "/limits", "yaw_rate_max_radps", &ret->yaw_rate_radps},
                   {limits, "/limits", "accel_max_mps2", &ret->accel_mps2},
                   {limits, "/limits", "force_max_n", &ret->force_n}};
    int rc = PONS_OK;
    for (size_t i = 0; rc >= 0 && i < sizeof numbers / sizeof *numbers; i++) {
        rc = read_number(numbers[i].from, numbers[i].prefix, numbers[i].key, numbers[i].to, err);
    }
    rc = rc < 0 ? rc : read_point(e, "reach_from", &ret->reach_from, err);
    rc = rc < 0 ? rc : read_point(e, "base", &ret->base, err);
    ret->has_workspace = json_is_object(box);
    ret->workspace_in_base = strcmp(pons_get_str(box, "frame", "map"), "base") == 0;
    if (rc >= 0 && ret->has_workspace) {
        rc = read_corner(box, "min", ret->low, err);
        rc = rc < 0 ? rc : read_corner(box, "max", ret->high, err);
    }
    ret->drives = !e || (!isnan(ret->speed_mps) && ret->speed_mps > 0);
    return rc;
}

static int read_body(const pons_value *e, critic_body *ret, pons_error *err)
{
    const pons_value *actions = pons_get(e, "supported_actions"), *joints = pons_get(e, "joints");
    const size_t n_actions = json_array_size(actions), n_joints = json_array_size(joints);
    if (e && !json_is_object(e)) {
        return pons_error_set(err, PONS_EINVAL, "critic", "embodiment: expected an object");
    }
    ret->name = pons_get_str(e, "name", "this robot");
    ret->has_actions = actions;
    ret->has_joints = joints;
    ret->actions = calloc(n_actions + 1, sizeof *ret->actions);
    ret->joints = calloc(n_joints + 1, sizeof *ret->joints);
    if (!ret->actions || !ret->joints) {
        return pons_error_set(err, PONS_ENOMEM, "critic", "out of memory");
    }
    for (; ret->n_actions < n_actions; ret->n_actions++) { // a name, or a row with one
        const pons_value *v = json_array_get(actions, ret->n_actions);
        ret->actions[ret->n_actions] =
            json_is_string(v) ? json_string_value(v)
                              : pons_get_str(v, "name", pons_get_str(v, "action_type", ""));
    }
    for (; ret->n_joints < n_joints; ret->n_joints++) {
        const pons_value *v = json_array_get(joints, ret->n_joints);
        ret->joints[ret->n_joints] =
            (critic_joint){.name = pons_get_str(v, "name", "?"),
                           .min = pons_get_num(v, "min", -INFINITY),
                           .max = pons_get_num(v, "max", INFINITY),
                           .speed_max = pons_get_num(v, "speed_max", INFINITY)};
    }
    return read_numbers(e, ret, err);
}

// ---- all of it ----------------------------------------------------------------------------------

int pons__critic_given_read(pons_critic *c, pons_error *err)
{
    int rc = read_body(c->embodiment_value, &c->body, err);
    rc = rc < 0 ? rc : read_policy(c->policy_value, &c->policy, err);
    rc = rc < 0 ? rc : read_skills(c, err);
    return rc < 0 ? rc : pons__critic_world_read(c, err);
}

void pons__critic_given_fini(pons_critic *c)
{
    for (size_t i = 0; i < c->n_skills; i++) {
        pons_schema_destroy(c->skills[i].args);
        free(c->skills[i].fault);
    }
    free(c->skills);
    free(c->body.actions);
    free(c->body.joints);
    pons__critic_world_fini(&c->world);
}
