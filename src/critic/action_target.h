// action_target.h - what the arguments of an action name (action_target.c).
#pragma once

#include "critic/judgement.h"

enum { CRITIC_TARGETS_MAX = 80, CRITIC_WHAT_MAX = 96 };

typedef struct target {
    char what[CRITIC_WHAT_MAX]; // "target", "zone kitchen", "object apple_01"
    double at[3];               // in map
    bool has_z;
} target;

typedef struct targets {
    size_t n;
    target all[CRITIC_TARGETS_MAX];
} targets;

// The places that the arguments name; what is unknown is in the verdict.
void pons__critic_targets(judgement *j, targets *ret);
// Whether the robot itself goes: without a registry, an action that is given a place for the base.
bool pons__critic_drives(const judgement *j);
// The object that a skill takes: what its `holds` names, else any argument that is an object's; NULL: none.
const char *pons__critic_taken(const judgement *j);
// What the i-th of the arguments that may name an object says (object, object_id, …); NULL: nothing.
const char *pons__critic_named(const judgement *j, size_t i);
