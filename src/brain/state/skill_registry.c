// skill_registry.c - the body's skills, read once a hello. The brain's loop thread.
//
// What an item says is all that the brain knows of a skill: no other file knows one by its name.
#include "brain/state/skill_registry.h"

#include "brain/records/record_table.h"
#include "brain/state/self.h"

// clang-format off
static const pons__field meets_fields[] = {
    {"intent", TEXT,   NEVER, offsetof(pons__meets, intent), .means = "of the goals that it meets; `do`: called by its name or by a phrase, of which its `test` and `says` count"},
    {"args",   JSON,   KEY,   offsetof(pons__meets, args), .means = "a template: `$zone` is the goal's, `$robot.zone` the robot's, `$each` the next of `each`, `$here` says where the robot is, `$seconds|1` has a default. A member that is lacking: it does not meet that goal"},
    {"test",   JSON,   KEY,   offsetof(pons__meets, test), .means = "when it is met: `ended` (well; as without), `at`, `charged`, or facts of the telemetry: `{\"docked\": false}`"},
    {"step",   INT,    KEY,   offsetof(pons__meets, step), .preset = 1, .means = "of several skills that meet it in turn"},
    {"each",   TEXT,   KEY,   offsetof(pons__meets, each), .means = "the goal's list of which each one is done"},
    {"says",   TEXT,   KEY,   offsetof(pons__meets, says), .means = "what it does, for people: `go to $zone`. A member that is lacking: the skill's name"},
};
TABLE(meets, "one of `meets` in a skill's registry item: a goal that it meets (schemas/skill.json)");

static const pons__field registered_fields[] = {
    {"name",               TEXT, NEVER, offsetof(pons__registered, name), .means = "of the skill"},
    {"description",        TEXT, NEVER, offsetof(pons__registered, description), .means = "what it does"},
    {"args_schema",        JSON, KEY,   offsetof(pons__registered, args_schema), .means = "JSON Schema"},
    {"resources_required", JSON, KEY,   offsetof(pons__registered, resources), .means = "names"},
    {"resources_counted",  JSON, KEY,   offsetof(pons__registered, counted), .means = "{name: how much it takes}"},
    {"error_map",          JSON, KEY,   offsetof(pons__registered, error_map), .means = "{code: what is advised}"},
    {"timeout_s",          NUM,  KEY,   offsetof(pons__registered, timeout_s), .means = "robot time; then it fails"},
    {"no_way",             JSON, KEY,   offsetof(pons__registered, no_way), .means = "error numbers: there is no way there"},
    {"alternates",         JSON, KEY,   offsetof(pons__registered, alternates), .means = "what may be tried then"},
    {"remains",            NAME, KEY,   offsetof(pons__registered, remains), .means = "the argument of which a call that was cut short leaves a rest"},
    {"beside",             BOOL, KEY,   offsetof(pons__registered, beside), .means = "it runs beside anything"},
    {"stops",              BOOL, KEY,   offsetof(pons__registered, stops), .means = "it stops the base"},
    {"ask_on_unknown",     BOOL, KEY,   offsetof(pons__registered, ask_on_unknown), .means = "nobody but a person can say what became of it"},
    {"meets",              LIST, KEY,   offsetof(pons__registered, meets), .of = &pons__meets_record, .means = "goals that it meets"},
};
TABLE(registered, "a skill's registry item, as the brain reads it (schemas/skill.json has all)");
// clang-format on

void pons__registry_read(const pons_value *skills, pons__list *ret)
{
    pons__list_read(&pons__registered_record, skills, ret);
    for (size_t i = 0; i < ret->n; i++) {
        pons__registered *skill = ret->at[i];
        const pons_value *meets = pons_get(json_array_get(skills, i), "meets");
        for (size_t k = 0; k < skill->meets.n; k++) { // an intent alone is short for {intent}
            const char *intent = json_string_value(json_array_get(meets, k));
            if (intent) {
                pons__set_text(&((pons__meets *)skill->meets.at[k])->intent, intent);
            }
        }
    }
}

const pons__registered *pons__skill(const pons_brain *b, const char *name)
{
    return pons__list_find(&b->port.skills, offsetof(pons__registered, name), name);
}
