// approval.h - what a decision asks a person (approval_question.c), and what comes of the answers (approval.c).
#pragma once

#include "brain/react/nodes.h"
#include "brain/records/inbox_fields.h"

// Of those that are asked the first, which has the operations, then the others.
pons__question *pons__approval_question(const pons__react *r, size_t i);
void pons__approval_resolve(pons__turn *t, const char *id, const char *action,
                            const pons__reply *reply); // tells that it is answered
// R4: asks, with a question for the operations and one for whatever the decision asks beside.
void pons__approval_ask(pons_brain *b, pons_cx *cx, pons__react *react, const pons__skills *skills);
// R4: the questions that the task was put aside with, and their answers, are the ones at hand. False:
// there are none.
bool pons__approval_reopen(pons__react *react);
bool pons__approval_no(const pons__react *react); // of those at hand one was answered with no
// What was answered is no matter any more: it would break these rules now.
void pons__approval_drop(pons__turn *t, const pons_value *rules);
// The operations as a person's edit wants them; or why it names none, a static text (react/approval_edit.c).
const char *pons__edit_ops(const pons__reply *reply, const pons__list *old, pons__list *ret);
// R4: a person's edit breaks rules; the inner loop is again as it was when it asked.
void pons__edit_undo(pons__turn *t, const pons_value *rules);
void pons__edit_keep(pons_brain *b, pons_cx *cx, pons__react *react); // it has passed
