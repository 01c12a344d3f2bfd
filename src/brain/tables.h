// tables.h - all tables of fields of the brain, for docs/brain.md (tables.c).
#ifndef PONS_BRAIN_TABLES_H
#define PONS_BRAIN_TABLES_H

#include "brain/record.h"

extern const pons__record *const pons__state_records[]; // ends with NULL
extern const pons__record
    *const pons__event_records[]; // the same of what it tells; named as the event is

#endif
