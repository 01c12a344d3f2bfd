// plan_turn.h - a turn that carries out a plan of a person's, which no model has made (pons_agent_plan).
#pragma once

#include "agent/session.h"
#include "pons/plan.h"

// Of the outer graph: null, or {plan} while it is to be carried out, and {plan, over: true} behind that.
#define PONS__GIVEN "given"

bool pons__given(const pons_agent *a); // whether this turn is one
// What its turn begins with. PONS_EINVAL: not a plan to begin with; PONS_EENV: a step names no tool that is here.
int pons__given_begin(pons_agent *a, const pons_plan *plan, pons_value **ret_messages,
                      pons_value **ret_given, pons_error *err);
// How the agent's loop ends where it would ask a model: with the plan, and with what it came to.
pons_value *pons__given_ended(const pons_agent *a);
// The plan is over: into the update.
void pons__given_over(const pons_agent *a, const pons_plan *p, pons_value *update);
