// item_fields.h - what the brain keeps as items of the store (pons/items.h), beside its threads (item_fields.c).
#pragma once

#include "brain/records/field_records.h"

typedef struct pons__item { // a row of the store's items (pons/items.h)
    const char *key;
    const pons_value *value;
} pons__item;
PONS__RECORD_OF(item);

typedef struct pons__scheduled { // an item
    const char *id, *text, *schedule, *by;
    const char *zone; // "": this machine's
    bool enabled;
    int64_t made_ms, set_ms, next_ms; // next_ms 0: never again
    int64_t late_ms;                  // < 0: however late
    const pons_value *priority;
    int64_t deadline_ms;
    int64_t done, last_ms, missed, missed_ms;
    int64_t seen_ms, again_ms; // of a watch
} pons__scheduled;
PONS__RECORD_OF(scheduled);

typedef struct pons__named { // an item
    const char *name, *world, *by;
    double x, y, yaw;
    int64_t made_ms;
} pons__named;
PONS__RECORD_OF(named);
