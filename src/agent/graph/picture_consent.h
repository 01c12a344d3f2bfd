// picture_consent.h - a person's yes before pictures leave this machine (picture_consent.c).
#pragma once

#include "agent/session.h"
#include "pons/graph.h"

#define PONS__PICTURES_KIND "tool_approval" // of that call: the question is one of a tool's call

// The call that asks about this turn's pictures, to be vetted and run before the model is; NULL: nothing to ask.
pons_value *pons__pictures_question(pons__role *role, pons_cx *cx);
