// recovery.h - the budget of a task that gets nowhere (recovery/recovery_count.c, recovery/recovery_steps.c).
#pragma once

#include "brain/records/inbox_fields.h"
#include "brain/state/self.h"

void pons__recovery_observe(pons_brain *b, pons__react *r, const pons__skills *skills); // R1
void pons__recovery_progress(pons_brain *b, pons__react *r); // something else was gained
// R2: what must be done before anybody is asked; NULL: nothing.
pons__decision *pons__recovery_decide(pons_brain *b, pons__react *r, const pons__skills *skills);
void pons__recovery_decided(pons_brain *b, pons__react *r, const pons__decision *d, int source);
void pons__recovery_refused(pons__react *r,
                            const char *why); // R4: what was decided is not let through
// The model is lost, and nobody else understands the task: a person is asked, with these words.
void pons__recovery_lost(pons__react *r, const char *why);
bool pons__recovery_takes_over(const pons__react *r); // the rules decide, not the model
void pons__recovery_answered(pons_brain *b, pons__react *r, const pons__reply *answer); // R5
void pons__recovery_taken_back(pons__react *r); // R6: the yes to its question was taken back
// R6, R7: a goal has ended.
void pons__recovery_ended(pons_brain *b, pons__react *r, const pons__running *running,
                          const pons__result *result);
// What a call was for: the arguments that found no way, where it takes their place; else its own.
const pons_value *pons__recovery_meant(const pons__react *r, const pons__running *running);
// {step, failures, tries_left, decisions_left, best_m, why}, or null.
struct pons__recovery_brief;
struct pons__recovery_brief *
pons__recovery_tell(const pons__task *task); // new; NULL: it has not begun

// What asking a model costs the task.
void pons__budget_spend(pons_brain *b, pons__react *r, int64_t tokens);
bool pons__budget_over(const pons__react *r);
