// stream.h - what a run shows of itself. All cost nothing when the run streams nothing.
#pragma once

#include "graph/core/task.h"

#define PONS__STREAM_PREFIX "stream." // of the events' types
const char *pons__stream_word(uint32_t mode);

void pons__stream_state(pons_run *r, bool wrote, bool stored); // after an apply
// The input's checkpoint: before is the state without the input (taken).
void pons__stream_input(pons_run *r, pons_value *before);
pons_value *pons__stream_snapshot(const pons_run *r); // the state; NULL when nobody wants it
void pons__stream_task(pons_cx *cx, bool start);
void pons__stream_interrupts(pons_run *r);
// What a task says while it works, or while it waits: committed, or queued, at once. Take their values.
// may_wait: it may be queued, since whoever says it says it again when it was lost.
int pons__stream_say(pons_cx *cx, uint32_t mode, pons_value *payload, bool may_wait,
                     pons_error *err);
int pons__stream_message(pons_cx *cx, pons_value *chunk, pons_value *metadata, pons_error *err);
void pons__stream_stop(pons_run *r); // held by interrupt_before or interrupt_after
