// queries.h - looks at what is stored or was told: functions of their arguments, for all files.
#pragma once

#include "brain/records/kernel_fields.h"
#include "brain/state/skill_registry.h"
#include "brain/state/zones.h"

// A new object: a shallow copy of old (NULL: empty) in which key is value (taken).
pons_value *pons__with(const pons_value *old, const char *key, pons_value *value);
// *obj becomes a copy with key = value (taken).
void pons__set(pons_value **obj, const char *key, pons_value *value);
pons_value *pons__event(pons_brain *b, pons_value *payload); // adds robot_ms; takes and returns
// In a node, with its checkpoint; of no node, at once. What the event points to stays the caller's.
void pons__event_emit(pons_brain *b, pons_cx *cx, const pons__record *type, const void *event);
#define PONS__EMIT(b, cx, noun, ...)                                                               \
    pons__event_emit(b, cx, &pons__##noun##_record, &(pons__##noun){__VA_ARGS__})
int pons__event_now(pons_brain *b, const char *ns, const pons__record *type, const void *event,
                    pons_error *err);
pons_value *pons__or_null(const pons_value *v); // a reference, or null
// The first of a list of objects whose member is this text; NULL: none.
const pons_value *pons__find(const pons_value *list, const char *key, const char *value);
bool pons__has(const pons_value *list, const char *text); // of texts

pons_value *
pons__resources(const pons_brain *b); // new: {name: how much there is} of what is counted
// Whether the body's scans bear out where it says it is: a place that is in doubt reaches no goal.
bool pons__place_sure(const pons_brain *b);
const pons_value *pons__place_now(const pons_brain *b); // its pose, borrowed; NULL: not sure of it

// A person said stop or pause, and nobody has said continue: nothing is taken up.
bool pons__stands(const pons__tasks *tasks);
bool pons__latch_lifts_itself(const pons_brain *b);
// What the registry says of goals (goals/goal_skills.c), for the queue.
// Whether it is the same wish wherever the robot is and however often it is said: what the world shows, or each
// of a list, not a skill's run.
bool pons__means_once(const pons_brain *b, const pons__goal *goal);
// A goal whose skill charges the robot, new; NULL: no skill does.
pons__goal *pons__means_charging(const pons_brain *b);
bool pons__means_charges(const pons_brain *b);             // whether there is such a goal
int pons__task_plan_status(const pons__task_plan *state);  // pons_plan_status; -1: there is no plan
bool pons__task_plan_drives(const pons__task_plan *state); // R2 asks it, not a model or the rules
// A person has taken back what R6 is about to send: the reason, or NULL.
const pons__answer *pons__answer_veto(pons_brain *b);
