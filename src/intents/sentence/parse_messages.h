// parse_messages.h - what a person is told when a sentence makes no goal.
#pragma once

#include "intents/sentence/parse_state.h"

// The text as the person wrote it.
pons__span pons__source_span(const pons__parse_state *s, pons__span w);
bool pons__has_approximate(const pons__parse_state *s, pons__span w);
int pons__not_understood(const pons__parse_state *s, pons__span w);
int pons__unknown_name(const pons__parse_state *s, const pons__capture *c);
int pons__only_asked(const pons__parse_state *s);
