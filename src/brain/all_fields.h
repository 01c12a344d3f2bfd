// all_fields.h - all tables of fields of the brain, for docs/internals/brain-state.md (all_fields.c).
#ifndef PONS_BRAIN_ALL_FIELDS_H
#define PONS_BRAIN_ALL_FIELDS_H

#include "brain/records/field_records.h"

extern const pons__record *const pons__state_records[]; // ends with NULL
extern const pons__record
    *const pons__event_records[]; // the same of what it tells; named as the event is

#endif
