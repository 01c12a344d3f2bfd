// standing_approvals.h - what a person has allowed for the rest of a session.
#pragma once

#include "pons/agent.h"

bool pons__allowed(const pons_agent *a, const char *tool, const pons_value *args);
// Durable when it returns. always: true or "call", these arguments; "tool", whatever arguments.
int pons__allow(const pons_agent *a, const pons_value *question, const pons_value *always,
                pons_error *err);
// Takes back whatever there is, of a session that was before this one.
int pons__allowed_nothing(const pons_agent *a, pons_error *err);
