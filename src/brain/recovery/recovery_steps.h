// recovery_steps.h - what the ladder's two halves share: who counts (recovery_count.c), and who decides by it (recovery_steps.c).
#ifndef PONS_BRAIN_RECOVERY_RECOVERY_STEPS_H
#define PONS_BRAIN_RECOVERY_RECOVERY_STEPS_H

#include "brain/recovery/recovery.h"

#define LADDER_WHY_MAX 300 // bytes of `why`

pons__ladder *pons__ladder_of(const pons__react *r);         // NULL: it has not begun
void pons__ladder_ask(pons__ladder *l);                      // a person, next
bool pons__ladder_base(const pons__running *running);        // it may move the robot
const pons__goal *pons__ladder_goal(const pons__task *task); // at hand; NULL: all are met

#endif
