// schema_check.h - the published schemas, held against what passes the brain's doors (schema_check.c).
#pragma once

#include "pons/brain.h"
#include "pons/schema.h"

typedef enum pons__door {
    PONS_DOOR_DECISION,
    PONS_DOOR_OBSERVATION,
    PONS_DOOR_TASK,
    PONS_DOOR_SKILL,
    PONS_DOOR_PLAN,
    PONS_DOOR_RESULT,
    PONS_DOOR_POLICY,
    PONS_DOOR_EMBODIMENT,
    PONS_DOORS
} pons__door;

typedef struct pons__doors { // loop: each is read at its first use
    pons_value *values[PONS_DOORS];
    pons_schema *schemas[PONS_DOORS];
} pons__doors;

int pons__doors_open(pons_error *err); // an error where one of the files is not there
void pons__doors_close(pons__doors *d);
// PONS_EINVAL with the schema's words; another error when the schema itself cannot be read.
int pons__door_check(pons_brain *b, pons__door door, const pons_value *v, pons_error *err);
const pons_value *pons__door_schema(pons_brain *b, pons__door door); // NULL: it cannot be read
// For what the brain made itself: a fault is an event and a line in the log, nothing else.
void pons__door_own(pons_brain *b, pons_cx *cx, pons__door door, const pons_value *v);
pons_value *pons__door_skills(pons_brain *b, const pons_value *skills); // the valid ones; new
