// clause_reader.h - the second reading of a sentence, by the meaning of its words.
#pragma once

#include "intents/sentence/parse_state.h"

// Reads the whole sentence anew. 1: its goals and what is cancelled are in the session; 0: it is not understood so, and the
// session has no goals; or an error.
int pons__read_clauses(pons__parse_state *s);
