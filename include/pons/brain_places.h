// brain_places.h - places that a person has named where the robot stood: "remember this place as …".
//
// Each is an item of the store, by its name: {name, world, x, y, yaw, made_ms, by}, a pose in the map of a world. A goal
// may go to one as to a zone of the world; in another world it is not known.
#pragma once

#include "pons/ext/policy.h"
#include "pons/items.h"
#include "pons/linkage.h"

PONS_C_BEGIN

#define PONS_PLACES_MAX 200

// The world ({name, zones, …}) with the places that were named in it as further zones, so that words are understood
// with them; zones of the world come first. *ret is the caller's.
int pons_places_in(const pons_items *it, const char *ns, const pons_value *world, pons_value **ret,
                   pons_error *err);

// Why a place or a room of this world cannot have this name: the name is a command, the world has it already, it is blank, or
// it has control characters or more than 64 bytes. NULL: it can. The text is borrowed, and always valid.
const char *pons_place_name_refused(const pons_policy *policy, const pons_value *world,
                                    const char *name);

PONS_C_END
