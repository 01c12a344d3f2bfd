// viewpoints.h - where a robot has to stand to see a place, or all of a zone, by the map of its world.
//
// Functions of their arguments. world: of schemas/world.json, with `map`, `bounds`, `keep_out`, and `sight` for height and
// reach of the eye (without it: 1 m, 0.3 … 4 m). radius_m: of the robot [m]; NAN: it is a point. Poses are in the map
// [m, rad]. Any thread; some milliseconds.
#pragma once

#include "pons/error.h"
#include "pons/geometry.h"
#include "pons/linkage.h"
#include "pons/value.h"

PONS_C_BEGIN

// The nearest free pose by air from which a point (x, y, z) [m] is ahead, in reach and hidden by nothing of the map: where the robot
// stands, turned, if it is seen from there. PONS_ENOTFOUND: there is none; PONS_ENOMEM.
int pons_viewpoint_of(const pons_value *world, double radius_m, const pons_pose2 *from,
                      const double at[3], pons_pose2 *ret, pons_error *err);
// Free places in a polygon [[x, y]…] that together see all of it, but for what no place of a further 4 % of it shows; at most
// `most`, ret[0…*ret_n), without yaw: at each the robot has to turn round. first: is one of them in any case, and the first; NULL:
// none. The nearest follows each. PONS_ENOMEM.
int pons_zone_viewpoints(const pons_value *world, double radius_m, const pons_value *polygon,
                         const pons_pose2 *first, pons_pose2 *ret, size_t most, size_t *ret_n,
                         pons_error *err);

PONS_C_END
