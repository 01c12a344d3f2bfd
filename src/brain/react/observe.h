// observe.h - what the inner loop sees, and whether a goal is met (observe.c).
#pragma once

#include "brain/state/self.h"

bool pons__goal_met(const pons_brain *b, const pons__goal *goal, bool running);
bool pons__goal_running(const pons__skills *skills, size_t index);
