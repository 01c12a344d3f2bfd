// plan_read.h - a tape into a plan.
#pragma once

#include "plan/json_tokens.h"
#include "pons/plan.h"

enum {
    PONS__READ_NEW_ID = 1, // plan_id may be absent
    PONS__READ_UNIQUE = 2, // step ids are unique
    PONS__READ_REPLY = 4,  // status, created_at and source are not taken
    PONS__READ_REPORT = 8  // defaults and left-out fields are told
};
typedef struct pons__read {
    pons__tokens *tokens;
    int flags;
    const char *source; // with PONS__READ_REPLY
    const char *goal;   // when absent, or NULL
    pons_plan_origin from;
    pons_plan_repair_fn fn;
    void *user;
} pons__read;

int pons__read_plan(const pons__read *r, const pons__node *object, pons_plan **ret,
                    pons_error *err);
void pons__tell(const pons__read *r, pons_repair_kind kind, const pons__node *where,
                const char *fmt, ...) __attribute__((format(printf, 4, 5)));
