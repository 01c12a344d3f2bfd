// life_checkpoint.h - a life as JSON and back, its commits, its inbox.
#pragma once

#include "companion/life.h"

pons_value *pons__co_state_json(const pons_companion *c);
int pons__co_state_read(pons_companion *c, const pons_value *state, pons_error *err);
int pons__co_take_messages(pons_companion *c, pons_error *err);
int pons__co_commit(pons_companion *c, pons_error *err);
void pons__co_prune(pons_companion *c);
