// inbox_read.h - what was said to the kernel, as K5 hears it (inbox_read.c).
#pragma once

#include "brain/kernel/task_lifecycle.h"

// Letters: those of the inner loop (results), or the others.
void pons__hear(pons__saying *s, const pons_value *pending, bool results);
// An answer that nobody posted: words that were one, and the kernel's own no.
bool pons__reply_hear(pons__saying *s, const pons__reply *reply);

// What the body has said of a pace, and what was said with that one.
void pons__hear_speed_request(pons__saying *s);
