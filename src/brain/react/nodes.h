// nodes.h - the inner loop's nodes R1 to R8, what they share, and the stages of a decision (decision_machine.c).
//
// A node reads its two channels as structs, changes those, moves the decision, and puts them back:
//
//     pons__turn t;  pons__turn_begin(&t, cx, b, PONS_R4, err);
//     …  pons__decision_move(&t, PONS_ON_PASSES);  return pons__turn_end(&t, rc);
#pragma once

#include "brain/state/self.h"
#include "brain/state/transitions.h"

#define PONS_NODE_R1  "build_observation"
#define PONS_NODE_R2  "react_decide"
#define PONS_NODE_R3  "compile_ops_from_decision"
#define PONS_NODE_R4  "guardrails_and_resource_check"
#define PONS_NODE_R5  "human_approval_interrupt"
#define PONS_NODE_R6  "dispatch_skills"
#define PONS_NODE_R7  "observe_execution_result"
#define PONS_NODE_R8  "react_stop_or_loop"
#define PONS_NODE_END PONS_END

typedef enum pons__node_id {
    PONS_R1,
    PONS_R2,
    PONS_R3,
    PONS_R4,
    PONS_R5,
    PONS_R6,
    PONS_R7,
    PONS_R8,
} pons__node_id;
extern const char *const pons__node_names[];

typedef enum pons__decision_event {
    PONS_ON_DECIDES, // R2
    PONS_ON_DETACHED,
    PONS_ON_COMPILES, // R3
    PONS_ON_REFUSES,  // R4
    PONS_ON_ASKS,
    PONS_ON_EDIT_BREAKS,
    PONS_ON_PASSES,
    PONS_ON_YES, // R5
    PONS_ON_EDITS,
    PONS_ON_NO,
    PONS_ON_NO_ANSWER,
    PONS_ON_OTHERS_FIRST,
    PONS_ON_SENDS, // R6
    PONS_ON_HOLDS_BACK,
    PONS_ON_TAKES_BACK,
    PONS_ON_SETTLES, // R7
    PONS_ON_GOES_ON, // R8
    PONS_ON_RUN_IS_LONG,
    PONS_ON_ENDS,
} pons__decision_event;
extern const pons__machine pons__decision_machine;

typedef struct pons__turn {
    pons_brain *b;
    pons_cx *cx;
    pons_error *err;
    pons__node_id node;
    pons__react *react;   // owned
    pons__skills *skills; // owned
    bool skills_changed;
    bool held_back;   // R6: of an operation that was not sent
    bool unsettled;   // an end of this very step is a person's to settle (outcome_unknown.c)
    pons_value *lost; // skills of which nobody knows what came of them, in this step; NULL: none
    const char *next; // the node that the stage leads to; NULL: it was not moved
    int fault;        // of a move that cannot be
} pons__turn;

pons__react *pons__react_read(pons_cx *cx); // the channel, new
void pons__turn_begin(pons__turn *t, pons_cx *cx, pons_brain *b, pons__node_id node,
                      pons_error *err);
// Puts them where rc is not negative, and goes on to the next node; frees them. Returns rc, or a failure.
int pons__turn_end(pons__turn *t, int rc);
// Moves the decision; what belongs to the stage that it leaves is gone. A move that cannot be fails the turn.
void pons__decision_move(pons__turn *t, pons__decision_event event);

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
