// goal_match.h - whether a value shows what is wanted of it: what goals are tested by.
#pragma once

#include "pons/linkage.h"
#include "pons/value.h"

#include <stdbool.h>

PONS_C_BEGIN

// Does a value show what is wanted? Equal; a number at least as large; a list that has an item with all
// members of a wanted object. NULL shows nothing.
bool pons_value_shows(const pons_value *is, const pons_value *wanted);

// Is a value the one that is wanted? Numbers may differ by what rounding leaves (a hundredth of what is wanted,
// or 0.005), a wanted object by members more. NULL is none.
bool pons_value_near(const pons_value *is, const pons_value *wanted);

// Whether so much is as much as is wanted, but for rounding: of a time that is waited.
bool pons_value_enough(const pons_value *is, const pons_value *wanted);

PONS_C_END
