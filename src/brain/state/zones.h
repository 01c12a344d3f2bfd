// zones.h - the world's zones and poses, as the brain looks at them (zones.c).
#pragma once

#include "brain/records/field_records.h"
#include "pons/brain.h"

typedef struct pons__pose { // in the map
    bool known;             // x and y were told
    double x, y, yaw;       // 0: not told
} pons__pose;
pons__pose pons__pose_of(const pons_value *v); // {x, y, yaw?}; NULL: not known

pons_value *pons__pose_write(const pons__pose *at); // new: {x, y, yaw}

typedef struct pons__zone {
    const char *id;
    const pons_value *names;      // {language: [text]}
    const pons_value *polygon;    // [[x, y]]
    const pons_value *target;     // {x, y, yaw?}: where one goes
    const pons_value *approaches; // other poses of it
} pons__zone;
PONS__RECORD_OF(zone);

// By id or any name; NULL: there is none. Borrowed until the body says hello anew.
const pons__zone *pons__zone_find(const pons_brain *b, const char *name);
// The zone where this is, in a list of pons__zone; NULL: between zones.
const pons__zone *pons__zone_at(const pons__list *zones, const pons__pose *at);
bool pons__zone_contains(const pons__zone *zone, const pons__pose *at);
