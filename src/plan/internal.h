// internal.h - a plan, a step and a result from the inside: how they are made before they are whole.
#pragma once

#include "pons/memory_pool.h"
#include "pons/plan.h"

struct pons__plan_own {
    pons_pool arena;
    size_t cap;     // steps allocated
    int64_t max_id; // the greatest step_id; -1 without steps
};

enum { PONS__PLAN_ID_MAX = 14, PONS__NUMBER_MAX = 40 };
pons_plan *pons__plan_new(size_t steps);               // empty, with room; NULL: no memory
pons_plan_step *pons__step_new(pons_pool **ret_arena); // heap, with an arena of its own
pons_execution_result *pons__result_new(void);
void pons__plan_id_make(pons_rand *rand, char ret[PONS__PLAN_ID_MAX]);
int pons__result_check(const pons_execution_result *r, pons_error *err);
// The shortest text that reads back as x. PONS_EINVAL when x is not finite.
int pons__number_text(double x, const char *what, char ret[PONS__NUMBER_MAX], pons_error *err);
