// plan_state.h - what the nodes do to a plan, and what the conversation sees of it.
#pragma once

#include "agent/session.h"
#include "pons/plan.h"

#define PONS__PLAN_STEPS_MAX 100 // steps of one plan

// A plan from what plan_create was given. PONS_EINVAL with the path: told to the model.
int pons__agent_plan_make(const pons_value *args, const char *plan_id, double now_s,
                          pons_plan **ret, pons_error *err);
int pons__agent_plan_parse_steps(const pons_value *steps, int64_t first_id, const char *where,
                                 pons_plan *into, pons_error *err);
// Whether a person's {action: edit, args: {steps?, title?}}, or the same without args, is one.
int pons__agent_plan_edit_check(const pons_value *answer, pons_error *err);
int pons__agent_plan_load(const pons_value *plan_data, pons_plan **ret, pons_error *err);
// plan_data with the plan as it is now; new reference.
pons_value *pons__agent_plan_store(const pons_value *plan_data, const pons_plan *p);
pons_value *pons__agent_plan_shown(const pons_plan *p); // [{id, title, status}]
// The same for a person who is asked: with everything else that a step does (a title is the model's).
pons_value *pons__agent_plan_asked(const pons_plan *p);
void pons__agent_step_title(const pons_plan_step *s, char *buf, size_t cap);
const char *pons__agent_step_word(pons_step_status s); // as events have it: completed for success
// Marks the next pending step running and says so; false: none is pending.
bool pons__agent_plan_begin_next(pons_agent *a, pons_cx *cx, pons_value *pending, pons_plan *p,
                                 long *ret_index);
// Ends a plan: what has not run is skipped, the plan is completed or failed.
void pons__agent_plan_end(pons_agent *a, pons_cx *cx, pons_value *pending, pons_plan *p);
// The tool message that stands for the plan in the conversation: how it stands, step by step.
pons_value *pons__agent_plan_message(const pons_value *plan_data, const pons_plan *p,
                                     const pons_value *past_steps, const char *last_line);
int64_t pons__agent_plan_executed(const pons_plan *p); // steps that ran
// After a step: the next one begins, or the plan ends (why: the replanner's reason, or NULL to go
// on as long as there are steps). Adds plan_data, messages, current_step_index and replan_action to
// an update of the outer graph.
void pons__agent_plan_go_on(pons_agent *a, pons_cx *cx, pons_value *pending,
                            const pons_value *plan_data, pons_plan *p, const pons_value *past_steps,
                            const char *finish_why, pons_value *update);
// The plan is over: its message, and what the agent is to do with it, into the update.
void pons__agent_plan_close(pons_agent *a, pons_cx *cx, pons_value *pending, const pons_value *data,
                            const pons_plan *p, const pons_value *past, const char *why,
                            pons_value *update);
