// guard.c - the core of the critic: what R4 holds against every operation, whoever proposed it.
//
// Deterministic, with numbers: each violated rule names itself, what was found and what is allowed.
// A model can be told what it did wrong from this, and a person can see why nothing moved. Nothing
// that a model says lifts a rule; an approval lifts only the rule that asks for one.
#include "brain/brain_internal.h"

#include <string.h>

typedef struct guard {
    pons_brain *brain;
    const pons_value *skill; // registry item
    const pons_value *args;
    pons_value *rules; // what was violated
} guard;

static void violated(guard *g, const char *rule, pons_value *message_taken);
static void check_schema(guard *g);
static void check_place(guard *g);
static void check_resources(guard *g, const pons_value *running, const pons_value *to_cancel,
                            const pons_value *batch, const char *self);
static void check_motion(guard *g);
static bool needs(const pons_value *skill, const char *resource);
static bool lists(const pons_value *list, const char *word);

pons_value *pons__guard_check(pons_brain *b, const char *mode, const pons_value *op,
                              const pons_value *running, const pons_value *to_cancel,
                              const pons_value *batch)
{
    const char *name = pons_get_str(op, "skill", "");
    guard g = {.brain = b, .skill = pons__skill(b, name), .args = pons_get(op, "args")};
    g.rules = json_array();
    if (!g.skill) {
        violated(&g, "known_skill", json_sprintf("no skill %s on this robot", name));
        return g.rules;
    }
    // Stopping is exempt from every rule but its own schema.
    check_schema(&g);
    if (strcmp(name, "stop_base") == 0) {
        return g.rules;
    }
    if (strcmp(mode, "SAFE") == 0 && needs(g.skill, "base")) {
        violated(&g, "mode", json_string("mode is SAFE: only stop_base may use the base"));
    }
    check_place(&g);
    check_resources(&g, running, to_cancel, batch, name);
    if (needs(g.skill, "base")) {
        check_motion(&g);
    }
    return g.rules;
}

pons_value *pons__guard_now(pons_brain *b, const pons_value *goal)
{
    pons_autovalue none = json_array();
    return pons__guard_check(b, pons_get_str(b->tasks, "mode", "IDLE"), goal, none, none, none);
}

bool pons__guard_needs_approval(pons_brain *b, const pons_value *op)
{
    const char *name = pons_get_str(op, "skill", "");
    return lists(b->rules.approval_skills, name) ||
           pons_get_bool(pons__skill(b, name), "requires_approval", false);
}

static void violated(guard *g, const char *rule, pons_value *message_taken)
{
    json_array_append_new(g->rules, pons_object("rule", json_string(rule), "skill",
                                                json_string(pons_get_str(g->skill, "name", "")),
                                                "message", message_taken, NULL));
}

static void check_schema(guard *g)
{
    pons_error err = PONS_ERROR_INIT;
    const pons_value *schema = pons_get(g->skill, "args_schema");
    pons_schema *compiled = NULL;
    if (!schema) {
        return;
    }
    pons_autovalue empty = json_object();
    if (pons_schema_compile(schema, &compiled, &err) < 0 ||
        pons_schema_check(compiled, g->args ? g->args : empty, &err) < 0) {
        violated(g, "args_schema", json_string(err.message));
    }
    pons_schema_destroy(compiled);
}

// Limits of space: a zone that exists, a pose inside the map.
static void check_place(guard *g)
{
    const char *zone = pons_get_str(g->args, "zone", NULL);
    if (zone && !pons__zone(g->brain, zone)) {
        violated(g, "zone", json_sprintf("unknown zone %s", zone));
    }
    const pons_value *pose = pons_get(g->args, "pose");
    const pons_value *bounds = pons_get(pons_get(g->brain->port.hello, "world"), "bounds");
    if (!json_is_object(pose) || json_array_size(bounds) != 4) {
        return;
    }
    const double x = pons_get_num(pose, "x", 0.0), y = pons_get_num(pose, "y", 0.0);
    double limit[4];
    for (size_t i = 0; i < 4; i++) {
        limit[i] = json_number_value(json_array_get(bounds, i));
    }
    if (x < limit[0] || y < limit[1] || x > limit[2] || y > limit[3]) {
        violated(g, "map_bounds",
                 json_sprintf("target [%.2f, %.2f] is outside the map [%.2f, %.2f] to [%.2f, %.2f]",
                              x, y, limit[0], limit[1], limit[2], limit[3]));
    }
}

// An exclusive resource has one user: of the goals that run and stay, and of this batch.
static void check_resources(guard *g, const pons_value *running, const pons_value *to_cancel,
                            const pons_value *batch, const char *self)
{
    size_t i, k;
    json_t *resource, *other;
    json_array_foreach(pons_get(g->skill, "resources_required"), i, resource)
    {
        const char *name = json_string_value(resource);
        json_array_foreach(running, k, other)
        {
            const char *id = pons_get_str(other, "goal_id", "");
            const char *by = pons_get_str(other, "skill", "");
            if (needs(pons__skill(g->brain, by), name) && !lists(to_cancel, id)) {
                violated(g, "resource",
                         json_sprintf("%s is in use by %s (goal %.8s)", name, by, id));
            }
        }
        int users = 0;
        json_array_foreach(batch, k, other)
        {
            users += needs(pons__skill(g->brain, pons_get_str(other, "skill", "")), name);
        }
        if (users > 1) {
            violated(g, "resource",
                     json_sprintf("%s is asked for by %d operations at once (%s is one)", name,
                                  users, self));
        }
    }
}

static void check_motion(guard *g)
{
    pons_brain *b = g->brain;
    const double age_ms =
        (double)(pons_now_ns(&b->opts.clock) - b->port.telemetry_ns) / (double)PONS_NS_PER_MS;
    if (!b->port.telemetry || age_ms > b->rules.telemetry_age_max_ms) {
        violated(g, "telemetry_age",
                 b->port.telemetry ? json_sprintf("telemetry is %.0f ms old; at most %.0f ms",
                                                  age_ms, b->rules.telemetry_age_max_ms)
                                   : json_string("no telemetry yet"));
    }
    const pons_value *stop = pons_get(b->port.telemetry, "stop");
    if (pons_get_bool(stop, "latched", false)) {
        violated(g, "stop_latched",
                 json_sprintf("a protective stop is latched (%s); reset lifts it",
                              pons_get_str(stop, "reason", "")));
    }
    const double pct = pons_get_num(b->port.telemetry, "battery_pct", 100.0);
    if (pct <= b->rules.battery_safe_pct &&
        strcmp(pons_get_str(g->skill, "name", ""), "dock_to_charger")) {
        violated(g, "battery",
                 json_sprintf("battery is %.1f %%; motion needs more than %.1f %%", pct,
                              b->rules.battery_safe_pct));
    }
}

static bool needs(const pons_value *skill, const char *resource)
{
    return lists(pons_get(skill, "resources_required"), resource);
}

static bool lists(const pons_value *list, const char *word)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        if (json_is_string(item) && strcmp(json_string_value(item), word) == 0) {
            return true;
        }
    }
    return false;
}
