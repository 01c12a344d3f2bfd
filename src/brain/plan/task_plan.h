// task_plan.h - a task's plan, as pons/plan.h runs it (task_plan.c).
#pragma once

#include "brain/state/self.h"
#include "pons/plan.h"

pons__task_plan *pons__task_plan_new(const char *kind, const pons_value *plan); // new
// For a new activation: a copy; what was asked and has no outcome will be asked again.
pons__task_plan *pons__task_plan_reopen(const pons__task_plan *state);
void pons__task_plan_created(pons_brain *b, pons_cx *cx, const pons__task_plan *s); // the event
// The event of a step that has moved; step NULL: of the plan.
void pons__task_plan_tell(pons_brain *b, pons_cx *cx, const pons_plan *p,
                          const pons_plan_step *step);
// R2 (plan_run.c). *ret stays NULL when a model's plan has ended: others decide.
int pons__task_plan_decide(pons_brain *b, pons_cx *cx, pons__react *r, const pons__skills *skills,
                           pons__decision **ret, pons_error *err);
// What became of an operation that a plan's step asked for; rules: why it was refused, or NULL.
void pons__task_plan_note_result(pons__react *r, const pons_value *step_id,
                                 const pons_value *fallback, const pons__result *last,
                                 const pons_value *rules);
// A call of a step was cut short, and so much is left of its argument `remains`: it goes on with that.
void pons__task_plan_note_rest(pons__react *r, const pons__running *running, const char *remains,
                               double left);
void pons__task_plan_note_answer(pons__react *r, const pons_value *answer);
// Whether this decision is a step of it that waits for words.
bool pons__task_plan_asks(const pons__react *r);
int pons__task_plan_of_patch(pons_brain *b, pons_cx *cx, const pons__task *task,
                             const pons_value *patch, pons__task_plan **ret, pons_error *err);
void pons__task_plan_judge(pons_brain *b, int mode, const pons__task_plan *state,
                           const pons__skills *skills, pons_value *rules);
// The view of several goals, and the end (plan_view.c).
void pons__task_plan_mirror(pons_brain *b, pons_cx *cx, pons__react *r);
void pons__task_plan_end(pons_brain *b, pons_cx *cx, pons__react *r, const char *status);
