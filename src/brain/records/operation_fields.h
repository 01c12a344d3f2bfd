// operation_fields.h - operations: as a decision says one (asked), and as R3 compiles and R4 numbers it (op).
#pragma once

#include "brain/records/field_records.h"

typedef enum pons__op_kind {
    PONS_OP_OTHER, // of a later program
    PONS_OP_DISPATCH,
    PONS_OP_CANCEL,
    PONS_OP_SPEAK,
    PONS_OP_APPROVAL,
} pons__op_kind;
extern const char *const pons__op_words[];

#define PONS__GOAL_AT_HAND (-2) // goal_index of an operation that names no goal

typedef struct pons__asked {              // one of `ops` in a decision (schemas/decision.json)
    int op;                               // pons__op_kind
    const char *skill, *goal_id;          // of dispatch; of cancel: an id, or "all"
    const pons_value *args;               // of dispatch; NULL: none
    int64_t goal_index;                   // of dispatch; or PONS__GOAL_AT_HAND
    const pons_value *step_id, *fallback; // of dispatch, for a plan's step
    const char *text;                     // of speak
    const char *question;                 // of approval; NULL: the decision's reason
    const pons_value *options;            // of approval
} pons__asked;
PONS__RECORD_OF(asked);

// Appends one to a decision's ops. It points to what stays the caller's.
void pons__ops_add(pons_value *ops, const pons__asked *op);

typedef struct pons__op {
    const char *skill, *goal_id;
    const pons_value *args;
    int64_t goal_index;
    const pons_value *step_id, *fallback; // of a plan's step
} pons__op;
PONS__RECORD_OF(op);
