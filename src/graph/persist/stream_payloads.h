// stream_payloads.h - the payloads of what a run streams. Each is a new value, or NULL: no memory.
#pragma once

#include "graph/core/task.h"

// v when nothing of it was lost, else nothing: what is streamed has no holes.
pons_value *pons__whole(pons_value *v, bool ok);
pons_value *pons__shown_state(const pons_run *r); // {channel: value}
// What a task wrote: {channel: value}, a list of them when a channel was written twice, null.
pons_value *pons__shown_update(const pons_cx *cx);
// The checkpoint that the run stands on. input: that of the input before it, whose state is values.
pons_value *pons__shown_checkpoint(pons_run *r, bool input, pons_value *values); // takes values
pons_value *pons__shown_task(pons_cx *cx);
pons_value *pons__shown_result(pons_cx *cx, pons_value *asked); // takes asked; NULL: nothing
// What says of a message where it comes from, with given over it.
pons_value *pons__shown_origin(pons_cx *cx, const pons_value *given);
pons_value *pons__shown_time(int64_t wall_ms); // 2026-11-22T21:07:49.295+00:00
// "a:1|b:2" as a list; the root is the empty one.
pons_value *pons__shown_namespace(const char *ns);
