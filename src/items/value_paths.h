// value_paths.h - what of an item's value is searched.
#pragma once

#include "pons/buf.h"
#include "pons/value.h"

// PONS_EINVAL for what is no path.
int pons__item_paths_check(const char *const *fields, pons_error *err);
// The texts of the leaves that the paths lead to, a line each, for words. fields NULL: all of it.
int pons__item_leaves(const pons_value *value, const char *const *fields, pons_buf *ret);
// A text for each thing that a path leads to, for vectors: appended to a list of strings.
int pons__item_texts(const pons_value *value, const char *const *fields, pons_value *ret_list);
