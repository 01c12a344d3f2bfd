// stop_state.h - what a protective stop leaves behind in the kernel (stop_state.c).
#pragma once

#include "brain/records/inbox_fields.h"
#include "brain/tasks/tasks.h"

void pons__stopped_say(pons_brain *b, pons__tasks *t, const pons__said *said, const char *reason);
void pons__stopped_hear(pons__tasks *t, int64_t activation, const char *reason);
void pons__stopped_look(pons_brain *b, pons_cx *cx, pons__tasks *t, bool battery_low, bool had);
// Why it is ignored, static text; or NULL.
const char *pons__stopped_release(pons_brain *b, pons_cx *cx, pons__tasks *t,
                                  const pons__said *said);
const char *pons__stopped_reset(pons_brain *b, pons__tasks *t, const pons__said *said,
                                bool after_stop);
// Whether a stop was in force when it was said, or came since.
bool pons__stopped_since(const pons_brain *b, const pons__said *said);
void pons__stopped_send(pons_brain *b);
