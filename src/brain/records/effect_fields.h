// effect_fields.h - an effect of the ledger as the brain writes it, and reads it in another life (effect_fields.c).
#pragma once

#include "brain/records/field_records.h"
#include "pons/link_message.h"

typedef struct pons__sent { // `details`: to whom it was sent, with DISPATCHED
    int64_t epoch, expires_ms;
    const char *boot_id, *robot_id;
} pons__sent;
PONS__RECORD_OF(sent);

typedef struct pons__tag { // `tag`: for whom, with INTENDED
    const char *task_id;
    int64_t goal_index;
    const pons_value *step_id; // of a plan's step
} pons__tag;
PONS__RECORD_OF(tag);

typedef struct pons__effect {
    const char *id, *skill, *args_hash, *state;
    const pons_value *args;
    int64_t attempt;
    pons__sent *details; // NULL: not sent yet
    pons__tag *tag;
} pons__effect;
PONS__RECORD_OF(effect);

// What R6 asks once more before it sends (a recorded task), and the answer.
typedef struct pons__rearbitrate {
    const pons_value *link; // pons__linked
    const struct pons__op *op;
    int mode;               // pons__mode
    const pons_value *lost; // skills let go of for it, and nobody knows how they ended; NULL: none
} pons__rearbitrate;
PONS__RECORD_OF(rearbitrate);

typedef struct pons__rearbitrated {
    const char *refused; // why; NULL: it may go
    bool ok;
} pons__rearbitrated;
PONS__RECORD_OF(rearbitrated);

// As the body is sent it; borrowed from the effect.
pons_message_goal pons__effect_goal(const pons__effect *e, const char *thread);
