// unmapped_world.h - the world of a story whose robot has no map of it, and makes one (`unmapped: true`).
#pragma once

#include "pons/scenario.h"

// Writes the robot's world into dir/unmapped, where its map will be; what an earlier run left there is deleted.
int pons__unmapped_create(const char *dir, const pons_value *real, pons_error *err);
// That world, with what is in its map by now; the caller's.
int pons__unmapped_load(const char *dir, pons_value **ret, pons_error *err);
// The floor of its map [m²]; 0: there is none.
double pons__unmapped_floor_m2(const char *dir);
void pons__unmapped_remove(const char *dir); // the folder; it need not be there
