// approve.h - a question to a person, and which answer to it counts (approve.c).
#ifndef PONS_BRAIN_APPROVE_H
#define PONS_BRAIN_APPROVE_H

#include "brain/self.h"

pons__question *pons__approval_question(pons_brain *b, pons_cx *cx, const pons__react *react,
                                        const pons__skills *skills);
// R4: a person's edit breaks rules; the inner loop is again as it was when it asked.
void pons__edit_undo(pons__react **react, const pons_value *rules);
void pons__edit_keep(pons_brain *b, pons_cx *cx, pons__react *react); // it has passed
// K5: a message is heard. hci is the next value of the channel, not published yet.
void pons__answer_hear(pons_brain *b, pons_cx *cx, pons_value *hci, const pons_value *answer);
// Whether what this question's answer approved has left the brain, or is no matter any more.
bool pons__answer_started(pons_store store, const char *thread, const pons__react *react,
                          const pons__skills *skills, const char *question, pons_error *err);

#endif
