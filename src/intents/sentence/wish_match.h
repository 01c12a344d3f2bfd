// wish_match.h - one wish held against the patterns.
#pragma once

#include "intents/sentence/parse_state.h"

const pons__pattern *pons__match_strictly(const pons__parse_state *s, pons__span w,
                                          pons__capture *ret);
// The match with the fewest unknown names.
const pons__pattern *pons__match_loosely(const pons__parse_state *s, pons__span w,
                                         pons__capture *ret);
// 1 when the wish became goals, 0 when it is not understood strictly, or an error.
int pons__parse_strictly(pons__parse_state *s, pons__span w, size_t depth);
