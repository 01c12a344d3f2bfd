// activity_executor.h - what changes the world because of an action.
#pragma once

#include "companion/life.h"

void pons__co_execute(pons_companion *c, const pons__co_activity *a, const pons__co_proposal *p);
void pons__co_apply(pons_companion *c); // carries out what pons__co_execute put on the board
void pons__co_end_what_is_over(pons_companion *c);
void pons__co_end(pons_companion *c, const char *status, const char *why);
void pons__co_live_a_minute(pons_companion *c); // energy
