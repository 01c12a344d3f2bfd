// world_names.h - names of zones and objects, as the world has them.
#pragma once

#include "intents/sentence/parse_state.h"

int pons__parse_no_memory(pons_error *err);
int pons__names_load(pons__parse_state *s, const char *key, bool object);
// The longest name at pos; 0, or the position after it.
size_t pons__name_here(const pons__parse_state *s, size_t pos, size_t end, const pons__name **ret);
bool pons__name_fits(pons__slot slot, const pons__name *n);
// One zone, article and all: 0, or the position after it.
size_t pons__zone_here(const pons__parse_state *s, size_t pos, size_t end, const pons__name **ret);
