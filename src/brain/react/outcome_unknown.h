// outcome_unknown.h - ends of which nobody but a person knows what came of them (react/outcome_unknown.c).
#pragma once

#include "brain/react/nodes.h"

// R7: such an end.
void pons__unsettled_note(pons__turn *t, const pons__running *running, const pons__result *last);
// One of the task at hand, or NULL.
const pons__unsettled *pons__unsettled_of(const pons__react *react, const pons__skills *skills);
// The same, where this decision would end the task as done and nothing of it can be looked up (R4, R8).
const pons__unsettled *pons__unsettled_bars(const pons__react *react, const pons__skills *skills);
// Whether a skill's unknown outcome is a person's to settle.
bool pons__unsettled_asked(const pons_brain *b, const char *skill);
// R4: the rule, if one waits that this skill may not go past, is added to *asks.
void pons__unsettled_asks(const pons_brain *b, const pons__react *react, const pons__skills *skills,
                          const char *skill, pons_value *asks);
// Whether such an end leaves nobody knowing: the body does not, or the robot has lost its place or the goal.
bool pons__unsettled_end(int status, int64_t error_code);
// R6: whether an unknown end of one of those skills (NULL: none), in this very step, is one that this skill may not go
// past: nobody was asked.
bool pons__unsettled_lost(pons_brain *b, const pons_value *lost, const char *skill);
// R6: of what still runs for the task the goal that has ended so, or may have, as the body says now, and that this skill
// may not go past: its id, the caller's; NULL: none.
pons_value *pons__unsettled_ended(pons_brain *b, const char *skill);
// What a question that shows it keeps of it: its goal, or of an earlier program's its task. Borrowed.
const char *pons__unsettled_mark(const pons__unsettled *u);
// Whether the question has told of it.
bool pons__unsettled_shown(const pons__question *q, const pons__unsettled *u);
// A person has said yes, with it in view: to a question (R5), which settles it in R6, where that is not taken back
// until then; or to an operation that has begun by it (R6).
void pons__unsettled_allowed(pons__turn *t);
void pons__unsettled_agreed(pons__turn *t, bool taken_back);
void pons__unsettled_begun(pons__turn *t, const pons__op *op);
