// prompt.h - what the model is asked (prompt.c).
#pragma once

#include "brain/state/self.h"

pons_value *pons__decision_request(pons_brain *b, const pons_value *messages,
                                   const pons__react *react, const pons__skills *skills,
                                   const char *complaint, const char *previous);
// What a server says that the last request was, in tokens: the next estimate is better.
void pons__prompt_learn(pons_brain *b, int64_t counted);
