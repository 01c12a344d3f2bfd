// doors.h - the published schemas, held against what passes the brain's doors (doors.c).
#ifndef PONS_BRAIN_DOORS_H
#define PONS_BRAIN_DOORS_H

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

typedef struct pons__doors {
    pons_value *values[PONS_DOORS];
    pons_schema *schemas[PONS_DOORS];
} pons__doors;

int pons__doors_open(pons__doors *d, pons_error *err);
void pons__doors_close(pons__doors *d);
// PONS_EINVAL with the schema's words.
int pons__door_check(const pons_brain *b, pons__door door, const pons_value *v, pons_error *err);
// For what the brain made itself: a fault is an event and a line in the log, nothing else.
void pons__door_own(pons_brain *b, pons_cx *cx, pons__door door, const pons_value *v);
pons_value *pons__door_skills(pons_brain *b, const pons_value *skills); // the valid ones; new

#endif
