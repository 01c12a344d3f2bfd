// goal_match.h - whether a call that has ended is the one that a goal means (goal_match.c).
#pragma once

#include "brain/state/self.h"

// `way`: how the goal is met; `args`: what its skill was called with.
bool pons__meant(const pons_brain *b, const pons__goal *goal, const pons__means *way,
                 const pons_value *args);
// Whether so much is as far as what is left, or further, in the same direction, but for what rounding leaves.
bool pons__meant_far(double is, double left);
