// effect_life.h - how an effect may move.
#pragma once

#include "pons/graph.h"

int pons__effect_check_move(pons_effect_state from, pons_effect_state to, const char *id,
                            pons_error *err);
