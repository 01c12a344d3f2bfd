// world_urdf.h - a world's robot that is described by a URDF. The essay is in world_urdf.c.
#pragma once

#include "pons/value.h"
#include "pons/yaml.h"

// Fills the keys of world.robot that its file does not have. PONS_EINVAL, PONS_ENOTFOUND, PONS_ENOMEM.
int pons__world_urdf(pons_value *world, const pons_yaml *yaml, pons_error *err);
