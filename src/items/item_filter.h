// item_filter.h - whether an item's value is what a filter asks for.
#pragma once

#include "pons/value.h"

// PONS_EINVAL for what is no filter: no object, an operator that there is not. NULL is one.
int pons__item_filter_check(const pons_value *filter, pons_error *err);
bool pons__item_fits(const pons_value *value, const pons_value *filter);
