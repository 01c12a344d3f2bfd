// safety_filter.h - the safety filter.
#ifndef PONS_COMPANION_SAFETY_FILTER_H
#define PONS_COMPANION_SAFETY_FILTER_H

#include "companion/life.h"

pons__co_refusal pons__co_filter(const pons_companion *c, const pons__co_proposal *p);

#endif
