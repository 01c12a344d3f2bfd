// skill_registry.h - the body's skills, as their registry items say (skill_registry.c; schemas/skill.json).
#pragma once

#include "brain/records/field_records.h"
#include "pons/brain.h"

// What an item says of a goal that the skill meets, before the goal's members fill it (goals/goal_skills.c).
typedef struct pons__meets {
    const char *intent, *each, *says;
    const pons_value *args, *test;
    int64_t step;
} pons__meets;
PONS__RECORD_OF(meets);

typedef struct pons__registered {
    const char *name, *description;
    const pons_value *args_schema;
    const pons_value *resources, *counted; // names; {name: how much it takes}
    const pons_value *error_map;           // {code: what is advised}, and `default`
    double timeout_s;
    const pons_value *no_way;     // error numbers: there is no way there
    const pons_value *alternates; // goals/alternate_places.c
    const char *remains; // the argument that is done by and by; NULL: it is done whole, or not
    bool beside, stops, ask_on_unknown;
    pons__list meets; // pons__meets
} pons__registered;
PONS__RECORD_OF(registered);

// ret (pons__registered) is cleared first.
void pons__registry_read(const pons_value *skills, pons__list *ret);
const pons__registered *pons__skill(const pons_brain *b, const char *name); // NULL: there is none
