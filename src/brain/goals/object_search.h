// object_search.h - goals of looking: find, see, look_at (object_search.c).
#pragma once

#include "brain/state/self.h"

// What meets a goal of an intent with one member (pons__means_for of goal_skills.h, which knows this file).
typedef pons__means *(*pons__means_fn)(const pons_brain *b, const char *intent, const char *member,
                                       pons_value *value);

bool pons__is_object_search(const pons__goal *goal);
// A search begins: only what is seen from now on counts, and the places to look from get their order. PONS_ENOTFOUND: there is
// no such place; PONS_EAGAIN: the robot is not sure where it is.
int pons__object_search_begin(const pons_brain *b, pons__goal *goal, pons_error *err);
// Whether what the task at hand looks for was found; asked of the memory once a second.
bool pons__object_search_found(pons_brain *b);
// There is no way to where it was to look from next.
void pons__object_search_no_way(const pons_brain *b, pons__goal *goal);
// What is to be done next for it; NULL: it was looked for everywhere, or there is no more time.
pons__means *pons__object_search_next(const pons_brain *b, pons__means_fn means_for,
                                      const pons__goal *goal);
// Whether it was found, and there is nobody to say so to.
bool pons__object_search_met(const pons_brain *b, pons__means_fn means_for, const pons__goal *goal);
// A skill has ended well for it: notes what that means.
void pons__object_search_ended(const pons_brain *b, pons__means_fn means_for, pons__goal *goal,
                               const char *skill);
