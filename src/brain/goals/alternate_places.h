// alternate_places.h - other places from which a skill can do the same (alternate_places.c).
#pragma once

#include "brain/state/self.h"

// Whether this error number of the skill says that there is no way to what it was told to reach.
bool pons__no_way(const pons_brain *b, const char *skill, int64_t error_code);
// The other calls of the skill for one that found no way, in order, as a new list of arguments; empty: there
// are none.
pons_value *pons__alternates_of(const pons_brain *b, const char *skill, const pons_value *args);
