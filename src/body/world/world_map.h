// world_map.h - between a world file (world.c) and the map that it names (world_map.c).
#pragma once

#include "pons/yaml.h"

// Says where the filters' masks lie (filters.*.path). With `map.file`: adds its walls to `map.boxes`, and says what it knows better than the world's file
// (bounds, resolution_m) and where it lies (map.path). The world's values are replaced, not changed.
// PONS_EINVAL with file:line:col in the world, or in the map.
int pons__world_map(pons_value *world, const pons_yaml *yaml, pons_error *err);
