// all_fields.h - all tables of fields of the brain, for docs/brain.md (all_fields.c).
#ifndef PONS_BRAIN_ALL_FIELDS_H
#define PONS_BRAIN_ALL_FIELDS_H

#include "brain/records/field_records.h"
#include "brain/state/transitions.h"

extern const pons__record *const pons__state_records[]; // ends with NULL
extern const pons__record
    *const pons__event_records[]; // the same of what it tells; named as the event is
extern const pons__machine *const pons__machines[]; // NULL at the end

#endif
