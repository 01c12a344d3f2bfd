// summarize.h - a conversation summed up, at the beginning of a turn.
#pragma once

#include "agent/session.h"

#define PONS__COMPACT_FIRST "first" // sum up, then go on with the turn
#define PONS__COMPACT_ONLY  "only"

// Sums up what is before the turn where the state's `compact` says so. *ret_summary: {text, upto}, the
// caller's, or NULL; *ret_over: that was the whole turn, or the user stopped it.
int pons__loop_compact(pons__role *role, pons_cx *cx, pons_value **ret_summary, bool *ret_over,
                       pons_error *err);
// The turn's messages as an update of the conversation; where there is a summary, of all of it. Takes
// messages.
pons_value *pons__compacted(pons__role *role, pons_cx *cx, pons_value *messages);
int64_t pons__calls_before(const pons__role *role); // model calls of the turn before this loop
