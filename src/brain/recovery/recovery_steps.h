// recovery_steps.h - what recovery's two halves share: who counts (recovery_count.c), and who decides by it
// (recovery_steps.c).
#pragma once

#include "brain/recovery/recovery.h"
#include "brain/state/transitions.h"

#define WHY_MAX 300 // bytes of `why`

typedef enum pons__recovery_event {
    PONS_RECOVERY_FAILED, // a motion, without its goal: and the next try goes another way,
    PONS_RECOVERY_FAILED_AND_WAITS,
    PONS_RECOVERY_FAILED_AND_ASKS,
    PONS_RECOVERY_HAS_OTHER, // one more approach
    PONS_RECOVERY_TRIES,
    PONS_RECOVERY_PAUSES,
    PONS_RECOVERY_ASKS,
    PONS_RECOVERY_YES,
    PONS_RECOVERY_NO,
    PONS_RECOVERY_TAKEN_BACK, // the yes
} pons__recovery_event;
extern const pons__machine pons__recovery_machine;
void pons__recovery_move(pons__recovery_state *s, pons__recovery_event event); // and `step` with it
pons__recovery_state *pons__recovery_of(const pons__react *r); // NULL: it has not begun
bool pons__recovery_base(const pons__running *running);        // it may move the robot
const pons__goal *pons__recovery_goal(const pons__task *task); // at hand; NULL: all are met
