// model_suggestion.h - suggestions of a model.
#pragma once

#include "companion/life.h"

bool pons__co_may_ask(const pons_companion *c);
// Puts a suggestion on the board; false with a note why there is none.
bool pons__co_suggest(pons_companion *c);
// At the beginning of a tick: the answer of an earlier request, if there is one.
void pons__co_hear_model(pons_companion *c);
void pons__co_stop_asking(pons_companion *c);
void pons__co_suggestion_refused(pons_companion *c, const pons__co_refusal *why);
void pons__co_suggestion_used(pons_companion *c);
