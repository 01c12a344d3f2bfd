// named_places.h - places that a person has named, in the brain (pons/brain_places.h).
#pragma once

#include "brain/state/self.h"

// Whether these words, a person's, name this place or forget one: done with the tick's own commit, or told why not.
// *ret_places: {charger?, zones?}, as the world's file has them now, for the body; the caller's. NULL: nothing has changed.
bool pons__places_hear(pons_brain *b, pons_cx *cx, const char *text, const char *by,
                       pons_value **ret_places);
// The body's world with its skills and the named places: what words are understood with. New reference.
pons_value *pons__places_world(pons_brain *b);
// Goals (pons__goal) that go to a named place go to its pose. PONS_EINVAL: one does something else with it, and none is changed.
int pons__places_resolve(const pons_value *world, pons__list *goals, pons_error *err);
