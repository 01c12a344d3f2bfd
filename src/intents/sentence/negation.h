// negation.h - what is not wanted, and what takes back.
#pragma once

#include "intents/sentence/parse_state.h"

// Goals that a sentence does not want: they are none of its own, and are cancelled. cancels: that was said so.
void pons__not_wanted(pons__parse_state *s, const pons_value *not_wanted, bool cancels);
// What the words behind a negation (不要去厨房), or before one (把去厨房取消), would be: it is cancelled, and no wish
// any more. 1: it is that; 0: it is none.
int pons__parse_negated(pons__parse_state *s, pons__span w);
// What takes back the goals before it, in the same breath; w->lo moves behind it.
void pons__take_back(pons__parse_state *s, pons__span *w);
// A zone that is not to be visited ("patrol everywhere, skip the kitchen") is left out of the patrol beside it, and no task
// is cancelled for it.
void pons__leave_out(pons__parse_state *s);
