// sms_spelling.h - turns typed spellings into words that the lists have.
#pragma once

#include "intents/sentence/parse_state.h"

// Behind the loading of the names. PONS_OK or PONS_ENOMEM.
int pons__spell(pons__parse_state *s);
