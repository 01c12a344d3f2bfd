// goal_add.h - from what was matched to goals.
#pragma once

#include "intents/sentence/parse_state.h"

// Appends one goal; takes its slots, an object (NULL: no memory).
int pons__goal_add(pons__parse_state *s, pons__intent intent, pons_value *slots, pons__span wish);
void pons__goals_drop(pons_value *goals, size_t kept);            // those behind the first `kept`
bool pons__goals_equal(const pons_value *a, const pons_value *b); // but for their words
// Those behind the first `kept`, so often in all; PONS_EINVAL: that is too many.
int pons__goals_repeat(pons__parse_state *s, size_t kept, size_t times);
// Of several, the one that goes first in pons__control.
void pons__keep_control(pons__parse_state *s, pons__control c);
int pons__goals_add(pons__parse_state *s, const pons__pattern *p, const pons__capture *c,
                    pons__span wish);
