// world_moment.h - what a life's world says at this minute.
#pragma once

#include "companion/life.h"

bool pons__co_sleeping(const pons_companion *c);
bool pons__co_is_morning(const pons_companion *c);
bool pons__co_is_urgent(const pons_companion *c,
                        const pons__co_message *m); // by flag, sender or word
// A waiting message that may interrupt what goes on; NULL with the reason why not.
const pons__co_message *pons__co_message_that_may(const pons_companion *c, char *ret_reason,
                                                  size_t cap);
void pons__co_message_fini(pons__co_message *m);
// The first minute when an activity is over that begins now; the present one for what does not
// last.
int64_t pons__co_ends_at(const pons_companion *c, const pons__co_activity *a);
