// negation.h - what is not wanted.
#pragma once

#include "intents/sentence/parse_state.h"

// Goals that a sentence does not want: they are none of its own, and are cancelled. cancels: that was said so.
void pons__not_wanted(pons__parse_state *s, const pons_value *not_wanted, bool cancels);
// A zone that is not to be visited ("patrol everywhere, skip the kitchen") is left out of the patrol beside it, and no task
// is cancelled for it.
void pons__leave_out(pons__parse_state *s);
