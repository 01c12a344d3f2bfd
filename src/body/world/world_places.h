// world_places.h - replaces what people name in a loaded world: its zones and its charger.
#pragma once

#include "pons/value.h"

// The world with these zones and this charger (NULL: its own), checked as pons_world_load checks them. *ret is the
// caller's. PONS_EINVAL: they would not be valid in the world's file.
int pons__world_with_places(const pons_value *world, const pons_value *zones,
                            const pons_value *charger, pons_value **ret, pons_error *err);
