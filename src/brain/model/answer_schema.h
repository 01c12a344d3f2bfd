// answer_schema.h - what may be decided now, as the form of an answer (answer_schema.c).
#pragma once

#include "brain/state/self.h"

// A JSON schema; NULL: the body has told nothing yet, or nothing may be decided.
pons_value *pons__menu(pons_brain *b, const pons__react *react, const pons__skills *skills);
// The same without the arguments, and without asking the critic.
pons_value *pons__menu_short(const pons_brain *b, const pons__skills *skills);
