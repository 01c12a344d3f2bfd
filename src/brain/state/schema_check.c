// schema_check.c - the published schemas (schemas/*.json), held against what passes the brain's doors.
//
// What comes in – a model's answer, a body's skills and embodiment, a plan – is refused with the
// schema's own words. What the brain makes itself – observations, tasks, results – fails only by a
// mistake in pons: it goes on, and an event `schema.failed` {schema, message} says so; the tests
// count those. docs/reference/safety.md has the table of all schemas and who enforces each.
#include "brain/state/schema_check.h"

#include "brain/records/event_fields.h"
#include "brain/state/self.h"
#include "pons/log.h"
#include "pons/module.h"

#include <limits.h>
#include <string.h>

static const char *const files[PONS_DOORS] = {
    [PONS_DOOR_DECISION] = "schemas/decision.json",
    [PONS_DOOR_OBSERVATION] = "schemas/observation.json",
    [PONS_DOOR_TASK] = "schemas/task.json",
    [PONS_DOOR_SKILL] = "schemas/skill.json",
    [PONS_DOOR_PLAN] = "schemas/plan.json",
    [PONS_DOOR_RESULT] = "schemas/execution-result.json",
    [PONS_DOOR_POLICY] = "schemas/critic-policy.json",
    [PONS_DOOR_EMBODIMENT] = "schemas/embodiment.json",
};

// All of them are there; each is read when something first passes its door: a run that decides
// nothing has compiled nothing, and none of it is in the way of a start.
int pons__doors_open(pons_error *err)
{
    int rc = PONS_OK;
    for (int i = 0; rc >= 0 && i < PONS_DOORS; i++) {
        char path[PATH_MAX];
        rc = pons_share_path(files[i], path, sizeof path, err);
    }
    return rc;
}

void pons__doors_close(pons__doors *d)
{
    for (int i = 0; i < PONS_DOORS; i++) {
        pons_schema_destroy(d->schemas[i]);
        pons_value_unref(d->values[i]);
    }
    *d = (pons__doors){0};
}

static int ready(pons__doors *d, pons__door door, pons_error *err)
{
    if (d->schemas[door]) {
        return PONS_OK;
    }
    char path[PATH_MAX];
    pons_autovalue value = NULL;
    int rc = pons_share_path(files[door], path, sizeof path, err);
    rc = rc < 0 ? rc : pons_value_load(path, &value, err);
    rc = rc < 0 ? rc : pons_schema_compile(value, &d->schemas[door], err);
    if (rc < 0) {
        return pons_error_context(err, "%s", files[door]);
    }
    d->values[door] = pons_value_ref(value);
    return PONS_OK;
}

int pons__door_check(pons_brain *b, pons__door door, const pons_value *v, pons_error *err)
{
    const int rc = ready(&b->doors, door, err);
    return rc < 0 ? rc : pons_schema_check(b->doors.schemas[door], v, err);
}

const pons_value *pons__door_schema(pons_brain *b, pons__door door)
{
    pons_error why = PONS_ERROR_INIT;
    if (ready(&b->doors, door, &why) < 0) {
        pons_log(PONS_LOG_ERROR, "brain", "%s", why.message);
    }
    return b->doors.values[door];
}

static pons__schema_failed fault(pons__door door, const char *skill, const pons_error *why)
{
    const bool named = strncmp(why->message, files[door], strlen(files[door])) == 0;
    pons_log(PONS_LOG_ERROR, "brain", "%s%s%s", named ? "" : files[door], named ? "" : ": ",
             why->message);
    return (pons__schema_failed){.schema = files[door], .message = why->message, .skill = skill};
}

void pons__door_own(pons_brain *b, pons_cx *cx, pons__door door, const pons_value *v)
{
    pons_error why = PONS_ERROR_INIT;
    if (pons__door_check(b, door, v, &why) < 0) {
        const pons__schema_failed event = fault(door, NULL, &why);
        pons__event_emit(b, cx, &pons__schema_failed_record, &event);
    }
}

// The body's skills that are as schemas/skill.json has them; of the others it is said why they are
// not there.
pons_value *pons__door_skills(pons_brain *b, const pons_value *skills)
{
    pons_value *good = json_array();
    pons_each(skill, skills) {
        pons_error why = PONS_ERROR_INIT, ignored = PONS_ERROR_INIT;
        if (pons__door_check(b, PONS_DOOR_SKILL, skill, &why) >= 0) {
            json_array_append(good, skill);
            continue;
        }
        const pons__schema_failed event =
            fault(PONS_DOOR_SKILL, pons_get_str(skill, "name", ""), &why);
        pons__event_now(b, PONS_NS_KERNEL, &pons__schema_failed_record, &event, &ignored);
    }
    return good;
}
