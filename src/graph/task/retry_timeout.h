// retry_timeout.h - retry, handlers and time-outs of a node.
#pragma once

#include "graph/core/task.h"

// Whether a failed task gets another attempt (it is parked for it, or TODO) or a handler.
bool pons__policy_failed(pons_cx *cx, const pons_error *err);
void pons__policy_park(pons_cx *cx);     // sets limit_ns
int64_t pons__policy_limit(pons_cx *cx); // the same, moved by a worker's progress
void pons__policy_expire(pons_cx *cx);   // a time-out: what it waits for is canceled
int pons__policy_timed_out(pons_cx *cx, pons_error *err);
