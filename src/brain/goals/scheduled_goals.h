// scheduled_goals.h - goals of a time, in the brain (pons/brain_schedule.h).
#pragma once

#include "brain/state/self.h"

// What is due becomes letters; once a second. Whatever can't be done now is tried again at the next look.
int pons__schedules_look(pons_brain *b, pons_error *err);
// Whether these words say when. What they say is kept with the tick's own commit, or told why not. person: who says
// so is one; else nothing is kept.
bool pons__schedules_hear(pons_brain *b, pons_cx *cx, const char *text, const char *by);
// A letter's `by` that is a schedule's; NULL: it is none. Borrowed from by.
const char *pons__schedule_of(const char *by);
