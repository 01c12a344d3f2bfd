// name_check.c - what a scenario's file names must be there: its zones in the world, its skills in the body,
// the events among those that a brain tells. A name that nothing has would never come, and so would
// what waits for it, or what it forbids.
#include "scenario/runner.h"

#include <stdio.h>
#include <string.h>

typedef struct names {
    const pons_scenario *s;
    const pons_value *world;
    const pons_value *skills; // of the body, as its hello has them
} names;

typedef int naming(const names *n, const char *pointer, const char *name, pons_error *err);

// what: a name, a list of them, or NULL.
static int each(const names *n, const char *pointer, const pons_value *what, naming *is_there,
                pons_error *err)
{
    int rc = PONS_OK;
    if (json_is_string(what)) {
        return is_there(n, pointer, json_string_value(what), err);
    }
    pons_each(name, what) {
        char at[96];
        snprintf(at, sizeof at, "%s/%zu", pointer, name_at);
        rc = rc < 0 ? rc : is_there(n, at, json_string_value(name), err);
    }
    return rc;
}

static int event_is_reported(const names *n, const char *pointer, const char *name, pons_error *err)
{
    return pons_brain_tells(name)
               ? PONS_OK
               : pons__scenario_fault(
                     n->s, pointer, err,
                     "a brain tells of no '%.64s' (docs/reference/events.md has its events)", name);
}

static int skill_is_there(const names *n, const char *pointer, const char *name, pons_error *err)
{
    return pons_find(n->skills, "name", name)
               ? PONS_OK
               : pons__scenario_fault(n->s, pointer, err, "the body has no skill '%.64s'", name);
}

// name: "SKILL STATE"
static int effect_is_reported(const names *n, const char *pointer, const char *name,
                              pons_error *err)
{
    static const char *const states[] = {"intended", "dispatched", "accepted", "done",
                                         "failed",   "canceled",   "refused",  "outcome_unknown"};
    char skill[PONS_NAME_MAX];
    const size_t len = strcspn(name, " ");
    snprintf(skill, sizeof skill, "%.*s", (int)len, name);
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (name[len] == ' ' && strcmp(name + len + 1, states[i]) == 0) {
            return skill_is_there(n, pointer, skill, err);
        }
    }
    return pons__scenario_fault(n->s, pointer, err,
                                "'%.64s' is not a skill and a state of its effect", name);
}

static int of_events(const names *n, pons_error *err)
{
    int rc = PONS_OK;
    pons_each(e, pons_get(n->s->value, "events")) {
        char pointer[64];
        const pons_value *when = pons_get(e, "when");
        snprintf(pointer, sizeof pointer, "/events/%zu/when/event", e_at);
        rc = rc < 0 ? rc : each(n, pointer, pons_get(when, "event"), event_is_reported, err);
        snprintf(pointer, sizeof pointer, "/events/%zu/when/effect", e_at);
        rc = rc < 0 ? rc : each(n, pointer, pons_get(when, "effect"), effect_is_reported, err);
    }
    return rc;
}

static int of_results(const names *n, pons_error *err)
{
    int rc = PONS_OK;
    pons_each(result, pons_get(pons_get(n->s->value, "expect"), "results")) {
        char pointer[64];
        snprintf(pointer, sizeof pointer, "/expect/results/%zu/skill", result_at);
        rc = rc < 0 ? rc : each(n, pointer, pons_get(result, "skill"), skill_is_there, err);
    }
    return rc;
}

static int zone_is_there(const names *n, const char *pointer, const char *name, pons_error *err)
{
    return pons_find(pons_get(n->world, "zones"), "id", name)
               ? PONS_OK
               : pons__scenario_fault(n->s, pointer, err, "the world has no zone '%.64s'", name);
}

int pons__story_names(const pons__runner *r, pons_error *err)
{
    static const struct {
        const char *group, *key;
        naming *is_there;
    } rows[] = {{NULL, "approval_skills", skill_is_there},
                {"always", "outside", zone_is_there},
                {"always", "skills", skill_is_there},
                {"expect", "in_zone", zone_is_there},
                {"expect", "events_include", event_is_reported},
                {"expect", "events_exclude", event_is_reported},
                {"expect", "effects_include", effect_is_reported}};
    const names n = {.s = r->s, .world = r->env->world, .skills = r->control.skills};
    int rc = PONS_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && rc >= 0; i++) {
        char pointer[64];
        const char *group = rows[i].group;
        const pons_value *in = group ? pons_get(r->s->value, group) : r->s->value;
        snprintf(pointer, sizeof pointer, "%s%s/%s", group ? "/" : "", group ? group : "",
                 rows[i].key);
        rc = each(&n, pointer, pons_get(in, rows[i].key), rows[i].is_there, err);
    }
    rc = rc < 0 ? rc : of_events(&n, err);
    return rc < 0 ? rc : of_results(&n, err);
}
