// events.h - events of the minute at hand, and the decision that each tick was.
#pragma once

#include "companion/life.h"

pons_value *pons__co_event(pons_companion *c, const char *type, ...) __attribute__((sentinel));
void pons__co_publish(pons_companion *c, const pons_value *ev);
bool pons__co_wanted(const pons_companion *c, const char *type);
pons_value *pons__co_action_json(const pons__co_activity *a);
void pons__co_note_filtered(pons_companion *c, const char *type, const char *by, const char *rule,
                            const char *reason);
void pons__co_record_decision(pons_companion *c);
void pons__co_board_clear(pons_companion *c);
