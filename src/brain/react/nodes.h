// nodes.h - the inner loop's nodes R1 to R8, and what they share.
//
// A node reads its two channels as structs, changes those, and puts them back:
//
//     pons__turn t;  pons__turn_begin(&t, cx, b);   ...   return pons__turn_end(&t, rc);
#ifndef PONS_BRAIN_REACT_NODES_H
#define PONS_BRAIN_REACT_NODES_H

#include "brain/state/self.h"

typedef int pons__node(pons_cx *cx, void *user, pons_error *err);
pons__node pons__build_observation, pons__react_decide, pons__compile_ops_from_decision,
    pons__guardrails_and_resource_check, pons__human_approval_interrupt, pons__dispatch_skills,
    pons__observe_execution_result, pons__react_stop_or_loop;
// Who is next.
pons__node pons__after_decide, pons__after_guard, pons__after_approval, pons__after_loop;

typedef struct pons__turn {
    pons_brain *b;
    pons_cx *cx;
    pons__react *react;   // owned
    pons__skills *skills; // owned
    bool skills_changed;
    bool unsettled; // an end of this very step is a person's to settle (outcome_unknown.c)
    pons_value *
        lost; // skills of which nobody knows what came of them, by ends of this very step; NULL: none
} pons__turn;

pons__react *pons__react_read(pons_cx *cx); // the channel, new
void pons__turn_begin(pons__turn *t, pons_cx *cx, pons_brain *b);
// Puts them where rc is not negative; frees them. Returns rc, or a failure.
int pons__turn_end(pons__turn *t, int rc);

// Whether a decision lets go of all that runs.
bool pons__releases_all(pons__decision_type type);
// Appends to `messages` as text, and drops the older half when there are too many.
void pons__say_message(pons_cx *cx, const char *role, const pons_value *content);
void pons__effect_event(pons_brain *b, pons_cx *cx, const char *id, const char *skill,
                        const pons_value *args, const char *state, const char *why);

#endif
