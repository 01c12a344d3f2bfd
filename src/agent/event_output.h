// event_output.h - what leaves the agent as an event, and two small things about values.
#pragma once

#include "pons/agent.h"

// A text as middlewares let it be shown. New string; NULL: no memory.
char *pons__agent_shown(pons_agent *a, const char *text);
pons_value *pons__agent_shown_value(pons_agent *a, const pons_value *v); // every string of it
// A value with every string as fn makes it (free()); NULL of fn: as it is.
pons_value *pons__agent_texts(const pons_value *v, char *(*fn)(void *, const char *), void *user);
// Emits an event with the step, and notes it in a list for pending_events (may be NULL). Takes
// payload.
void pons__agent_emit(pons_agent *a, pons_cx *cx, pons_value *pending, const char *type,
                      pons_value *payload);

// A copy of an object with one more member; takes v.
pons_value *pons__agent_put_in(const pons_value *old, const char *key, pons_value *v);
// A string value of at most so many characters.
pons_value *pons__agent_cut(const char *text, size_t chars);
// A text of at most so many characters, of a longer one its first two thirds and its end, and between
// them how much is left out of how much.
pons_value *pons__agent_ends(const char *text, size_t chars);
