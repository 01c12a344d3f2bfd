// plan_step.h - one step of a plan, by the engine of the protocol (pons/plan.h).
#pragma once

#include "agent/session.h"

// The executor's loop begins: what the step needs is in "calls", or it has ended.
int pons__step_begin(pons__role *role, pons_cx *cx, pons_error *err);
// What the step waited for has come: a tool's result, a person's answer, the loop's own words. The step
// ends ("ended"), or waits for the next thing: its action, its fallback. said may be NULL.
int pons__step_reported(pons__role *role, pons_cx *cx, bool ok, const char *said, pons_error *err);
// What "ended" says of a step that a person did not want.
#define PONS__STEP_REFUSED    "refused"
#define PONS__RESPONSE_FAILED "failed: " // how the response of a failed step begins
