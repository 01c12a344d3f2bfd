// robot_fields.h - the robot and the world, as the kernel has them from the newest telemetry (robot_fields.c; telemetry_sync.c fills it).
#pragma once

#include "brain/records/field_records.h"

typedef struct pons__latch {
    bool latched;
    const char *reason;
} pons__latch;
PONS__RECORD_OF(latch);

typedef struct pons__robot {
    const pons_value *pose, *twist, *resources, *arm, *scene;
    double battery_pct, odometer_m, nearest_m, distance_to_target; // NAN: not told
    const char *battery_state;
    const char *zone, *holding; // NULL: none
    pons__latch *stop;
    int64_t scan_age_ms;
    int64_t pace_percent;
    bool docked, held, collision_risk;
} pons__robot;
PONS__RECORD_OF(robot);

typedef struct pons__world { // as K3 has it
    const char *summary;
    const pons_value *zones;               // of the map, each with its state (pons__place)
    const pons_value *objects, *obstacles; // of the map; seen, and not on it
} pons__world;
PONS__RECORD_OF(world);

bool pons__charges_now(const pons__robot *robot);
