// event_timer.h - events that are due at a time of the injected clock: what providers without a thread
// give their host. One thread.
#pragma once

#include "pons/ext/llm.h"

struct pons__due;

typedef struct pons__timed { // the caller's storage; all zero but for the clock: empty
    pons_clock clock;
    struct pons__due *first; // by due time, then in the order they were made
} pons__timed;

void pons__timed_fini(pons__timed *t);
// Takes the event, also on failure. PONS_OK or PONS_ENOMEM.
int pons__timed_push(pons__timed *t, int64_t due_ns, pons_llm_event ev);
void pons__timed_cancel(pons__timed *t, uint64_t call);
bool pons__timed_next(pons__timed *t, pons_llm_event *ret); // the oldest that is due
