// pictures.h - which of a conversation's pictures a server gets (pictures.c).
#pragma once

#include "pons/llm.h"

// Stands before a provider; config: that of pons_llm_factory_open. Takes inner, also on failure, and closes it.
int pons__llm_pictures(pons_llm inner, const pons_value *config, pons_llm *ret, pons_error *err);
