// channel_update.h - what updates make of a channel.
#pragma once

#include "graph/definition/internal.h"

// Folds n updates of one step into old (or NULL). *ret: a new reference, may be NULL (empty).
// *keep: how many leading items of a list are as in old.
int pons__channel_fold(const pons__channel *ch, const pons_value *old, pons_value *const *updates,
                       size_t n, pons_value **ret, size_t *keep, pons_error *err);
