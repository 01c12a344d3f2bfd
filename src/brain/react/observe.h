// observe.h - what the inner loop sees, and whether a goal is met (observe.c).
#ifndef PONS_BRAIN_REACT_OBSERVE_H
#define PONS_BRAIN_REACT_OBSERVE_H

#include "brain/state/self.h"

// The structured view of everything for R2 (schemas/observation.json). Goals of the task that are met
// are marked in it.
pons_value *pons__observation_build(pons_brain *b, pons__react *react, const pons__skills *skills);
bool pons__goal_met(const pons_brain *b, const pons__goal *goal, bool running);
bool pons__goal_running(const pons__skills *skills, size_t index);
pons__skills *pons__skills_initial(void);

#endif
