// environment_page.h - what a body says of itself and its world, in ENVIRONMENT.md.
#pragma once

#include "pons/workspace.h"

// status: what query_world says, {robot, world}. Writes the robot's own entry, and what of the world the file
// does not have yet; other robots' entries stay. Nothing new: no new generation. PONS_EBUSY: the file cannot
// be written as it stands.
int pons__ws_observe(pons_ws_place *place, const char *robot_id, const pons_value *status,
                     pons_error *err);

// Pictures of its cameras ([{name, rgb, depth?}]) into perception. PONS_ENOTFOUND: there is none among them.
int pons__ws_observe_pictures(pons_ws_place *place, const pons_value *pictures, pons_error *err);
