// await.h - awaits, for what else asks a person.
#pragma once

#include "graph/core/task.h"

// Whether a replay expects this await as its next call.
bool pons__await_expected(const pons_cx *cx, const char *kind, const pons_value *request);
// The call that a replay expects here; *ret NULL when this one is new.
int pons__call_next(pons_cx *cx, pons__call_kind kind, const char *name, const char *hash,
                    pons__call **ret, pons_error *err);
