// unsettled.h - ends of which nobody but a person knows what came of them (react/unsettled.c).
#ifndef PONS_BRAIN_REACT_UNSETTLED_H
#define PONS_BRAIN_REACT_UNSETTLED_H

#include "brain/react/nodes.h"

// R7: such an end.
void pons__unsettled_note(pons__skills *skills, const pons__running *running,
                          const pons__result *last);
// R4: the rule, if one waits that this skill may not go past, is added to *asks.
void pons__unsettled_asks(const pons_brain *b, const pons__react *react, const pons__skills *skills,
                          const char *skill, pons_value *asks);
void pons__unsettled_allowed(pons__turn *t); // R5: a person has said yes to what is proposed

#endif
