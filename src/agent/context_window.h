// context_window.h - a conversation that a model can take: whole, and not too long.
#pragma once

#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>

#define PONS__NO_RESULT "no result is known of this call: look before you do it again"

// Each call has one result, right behind it and its neighbours; what answers no call is left out.
// Takes the list, returns one.
pons_value *pons__context_mend(pons_value *list);
// Bytes that a list of messages takes in a request, about.
size_t pons__context_size(const pons_value *list);
// The list in at most `room` bytes, as far as that can be: first old results keep their first and last
// lines, then older turns become a digest behind the system message, then the newest turn's results
// are cut. The system's and the user's newest words stay. Takes the list. 0: as it is.
pons_value *pons__context_fit(pons_value *list, size_t room);
// What was said and done in messages [from, to), a line each, in at most `room` bytes; malloced.
char *pons__context_digest(const pons_value *list, size_t from, size_t to, size_t room);
// Where the newest turn begins: the last message of the user's; the size when there is none.
size_t pons__context_turn(const pons_value *list);
// Whether a server's error says that the conversation was too long for the model.
bool pons__context_overflow(const char *error);
