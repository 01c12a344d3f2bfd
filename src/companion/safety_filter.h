// safety_filter.h - the safety filter.
#pragma once

#include "companion/life.h"

pons__co_refusal pons__co_filter(const pons_companion *c, const pons__co_proposal *p);
