// goals_patch.h - a decision's patch of the goals, and the way back (goals_patch.c).
#pragma once

#include "brain/react/nodes.h"

typedef struct pons__patched {
    bool any;
    pons__list goals; // before it; once they were put back, those that it wanted
    int64_t *places;  // before it: of what runs, in order, and of the last result
} pons__patched;

// The goals as the decision wants them.
pons__patched pons__goals_patch(pons__turn *t);
// As they were; before anything that runs, or the last result, is another.
void pons__goals_put_back(pons__turn *t, pons__patched *was);
// Then: where a goal is that has this place by the patch; -1: nowhere.
int64_t pons__goals_place_before(const pons__turn *t, const pons__patched *was, int64_t place);
// What a person has approved may be taken back until it is sent: R4 keeps the goals and the plan as they were
// where it changes them, and R6 puts them back.
void pons__unsent_keep(pons__react *r, const pons__patched *was);
void pons__unsent_put_back(pons__turn *t);
void pons__patched_free(pons__patched *was);
