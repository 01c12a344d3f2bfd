// scripted_provider.h - what the scripted provider and the scripted server of the tests share.
#pragma once

#include "pons/value.h"

// Whether a request is one that a reply's `when` (NULL: any) is for. Its keys are dotted paths into
// the request's observation, or into the request itself when it has none; a number in a path
// counts from 0 in a list, or from -1 at its end. A value is equal, or {contains: TEXT} is part of
// it.
bool pons__script_fits(const pons_value *when, const pons_value *request);
