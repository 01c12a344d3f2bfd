// critic_check.h - the critic with the brain's facts (critic_check.c). A list of violated rules is empty when all is
// well: [{rule, skill, message, …numbers}].
#pragma once

#include "brain/state/self.h"

// A rule that was broken, as the critic's verdict has it; what is measured stands beside these.
typedef struct pons__broken {
    const char *rule, *message;
    const char *skill; // NULL: of no single one
    bool lasts;        // and will be broken however often it is tried
} pons__broken;
PONS__RECORD_OF(broken);

void pons__broken_add(pons_value *rules, const pons__broken *broken);

const pons_critic *pons__guard_critic(pons_brain *b); // NULL: it could not be made
pons_critic_situation pons__guard_situation(pons_brain *b, int mode);
// running, to_cancel, batch: lists as the channel has them.
pons_value *pons__guard_check(pons_brain *b, int mode, const char *skill, const pons_value *args,
                              const pons_value *running, const pons_value *to_cancel,
                              const pons_value *batch);
// The same of what nobody has asked for yet: what a menu may offer.
pons_value *pons__guard_would(pons_brain *b, int mode, const char *skill, const pons_value *args,
                              const pons_value *running, const pons_value *batch);
// Why the kernel lets no goal of this skill out now, whatever was decided: one rule, or NULL.
pons_value *pons__guard_kernel(pons_brain *b, const char *skill);
// The same for a goal message that is about to be sent, by the kernel's mode as it is now.
pons_value *pons__guard_now(pons_brain *b, const pons_message_goal *goal);
// Why a task cannot be ended as done now: a text, or NULL.
pons_value *pons__guard_finish(const pons_brain *b, const pons__task *task,
                               const pons__skills *skills);
pons_value *pons__guard_says(const pons_value *rules); // all their messages, on one line
pons_value *pons__guard_approvals(pons_brain *b, const char *skill, const pons_value *args);
