// value_diff.h - what changed between two values, as a value.
#pragma once

#include "pons/value.h"

#include <stddef.h>

// What makes `now` of `was`: an object or a list, a new reference. NULL: to store `now`
// whole takes no more, or there is no memory; storing it whole is right in both cases.
pons_value *pons__patch_make(const pons_value *was, const pons_value *now);
// A new value; was is not touched, and parts of both are shared. NULL: they do not fit (or there is
// no memory).
pons_value *pons__patch_apply(const pons_value *was, const pons_value *patch);
// About how many bytes a value takes as text.
size_t pons__patch_weight(const pons_value *v);
