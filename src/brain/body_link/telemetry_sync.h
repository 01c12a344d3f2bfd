// telemetry_sync.h - K2 and K3: what the body tells, as the kernel has it (telemetry_sync.c).
#pragma once

#include "brain/records/robot_fields.h"
#include "pons/brain.h"
#include "pons/graph.h"

int pons__sim_telemetry_sync(pons_cx *cx, void *user, pons_error *err); // K2
int pons__world_model_update(pons_cx *cx, void *user, pons_error *err); // K3

bool pons__latched(const pons_brain *b); // a protective stop, by the newest telemetry
void pons__senses_forget(pons_brain *b); // what K2 and K3 have
