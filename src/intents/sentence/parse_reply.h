// parse_reply.h - what a person is told when a sentence makes no goal.
#pragma once

#include "intents/sentence/session.h"

// The text as the person wrote it.
pons__span pons__source_span(const pons__session *s, pons__span w);
bool pons__has_approximate(const pons__session *s, pons__span w);
int pons__not_understood(const pons__session *s, pons__span w);
int pons__unknown_name(const pons__session *s, const pons__capture *c);
int pons__only_asked(const pons__session *s);
