// json_repair.h - JSON out of what a model wrote.
#pragma once

#include "plan/json_tokens.h"
#include "pons/buf.h"
#include "pons/plan.h"

typedef struct pons__repaired {
    pons_buf text;
    pons__mark *marks;
    size_t n_marks, cap_marks;
} pons__repaired;
void pons__repaired_fini(pons__repaired *r);
// What is written next comes from that byte of what was given.
void pons__repaired_mark(pons__repaired *o, size_t given);

// Makes JSON of what a model wrote. Positions told are those of `text`.
int pons__repair(const char *text, size_t len, pons_plan_repair_fn fn, void *user,
                 pons__repaired *ret, pons_error *err);
