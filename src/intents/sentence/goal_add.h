// goal_add.h - from what was matched to goals.
#pragma once

#include "intents/sentence/parse_state.h"

// Appends one goal; takes its slots, an object (NULL: no memory).
int pons__goal_add(pons__parse_state *s, pons__intent intent, pons_value *slots, pons__span wish);
// Of several, the one that goes first in pons__control.
void pons__keep_control(pons__parse_state *s, pons__control c);
int pons__goals_add(pons__parse_state *s, const pons__pattern *p, const pons__capture *c,
                    pons__span wish);
