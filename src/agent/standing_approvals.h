// standing_approvals.h - what a person has allowed for the rest of a session.
#pragma once

#include "pons/agent.h"

bool pons__allowed(const pons_agent *a, const char *tool, const pons_value *args);
// Durable when it returns. always: true or "call", these arguments; "tool", whatever arguments.
int pons__allow(const pons_agent *a, const pons_value *question, const pons_value *always,
                pons_error *err);
// That pictures go to the model's server: a call that no model can make, allowed for good by a yes.
#define PONS__SEND_PICTURES "send_pictures"
pons_value *pons__pictures_server(const pons_agent *a); // its arguments; new
bool pons__pictures_allowed(const pons_agent *a);       // also where nobody is to be asked
// Takes back whatever there is, of a session that was before this one.
int pons__allowed_nothing(const pons_agent *a, pons_error *err);
