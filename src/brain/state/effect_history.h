// effect_history.h - the channel `trace` of both graphs: the newest entries, and what they add up to (effect_history.c).
#pragma once

#include "brain/records/kernel_fields.h"
#include "pons/brain.h"
#include "pons/graph.h"

typedef struct pons__entry { // what a node puts into the channel
    int64_t ts_ms;
    const char *arbitration;       // K4
    const char *decision, *reason; // R2
    const char *source;            // the same
    pons__list dispatched;         // R6: pons__op
    const pons_value *cancelled;   // the same: ids
    const char *skill, *status;    // R7: what has ended, and how
    int64_t error_code, took_ms;   // the same
} pons__entry;
PONS__RECORD_OF(entry);

typedef struct pons__metrics { // of a namespace, since its thread began
    int64_t arbitrations, decisions, replans, dispatched, ended, failed, skill_ms;
} pons__metrics;
PONS__RECORD_OF(metrics);

typedef struct pons__trace {
    const pons_value *log;
    pons__metrics *metrics;
} pons__trace;
PONS__RECORD_OF(trace);

// The reducer of `trace`.
int pons__trace_reduce(void *user, const pons_value *old, const pons_value *update,
                       pons_value **ret, pons_error *err);
// With the time; what it points to stays the caller's.
void pons__trace_put(const pons_brain *b, pons_cx *cx, pons__entry entry);
