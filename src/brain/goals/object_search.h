// object_search.h - the goal `find`: a thing is looked for, zone by zone (object_search.c).
#pragma once

#include "brain/state/self.h"

// What meets a goal of an intent with one member (pons__means_for of goal_skills.h, which knows this file).
typedef pons__means *(*pons__means_fn)(const pons_brain *b, const char *intent, const char *member,
                                       pons_value *value);

bool pons__is_object_search(const pons__goal *goal);
// A search begins: only what is seen from now on counts, and the zones get their order.
void pons__object_search_begin(const pons_brain *b, pons__goal *goal);
// What is to be done next for it; NULL: it was looked for everywhere, or there is no more time.
pons__means *pons__object_search_next(const pons_brain *b, pons__means_fn means_for,
                                      const pons__goal *goal);
// Whether it was found, and there is nobody to say so to.
bool pons__object_search_met(const pons_brain *b, pons__means_fn means_for, const pons__goal *goal);
// A skill has ended well for it: notes what that means.
void pons__object_search_ended(const pons_brain *b, pons__means_fn means_for, pons__goal *goal,
                               const char *skill);
