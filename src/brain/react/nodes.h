// nodes.h - the inner loop's nodes R1 to R8, and what they share.
#ifndef PONS_BRAIN_REACT_NODES_H
#define PONS_BRAIN_REACT_NODES_H

#include "brain/react/decision_machine.h"

typedef int pons__node(pons_cx *cx, void *user, pons_error *err);
pons__node pons__build_observation, pons__react_decide, pons__compile_ops_from_decision,
    pons__guardrails_and_resource_check, pons__human_approval_interrupt, pons__dispatch_skills,
    pons__observe_execution_result, pons__react_stop_or_loop;

// Whether a decision lets go of all that runs.
bool pons__releases_all(pons__decision_type type);
// Appends to `messages` as text, and drops the older half when there are too many.
void pons__say_message(pons_cx *cx, const char *role, const pons_value *content);
void pons__effect_event(pons_brain *b, pons_cx *cx, const char *id, const char *skill,
                        const pons_value *args, const char *state, const char *why);

#endif
