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

// The free pose nearest to `from`, in a straight line, that faces the point (x, y, z) [m] in the map, in reach and with a clear
// line of sight. If the robot can see the point from where it stands, only the yaw changes. PONS_ENOTFOUND: there is none;
// PONS_ENOMEM.
int pons_viewpoint_of(const pons_value *world, double radius_m, const pons_pose2 *from,
                      const double at[3], pons_pose2 *ret, pons_error *err);
// Free positions that together see the polygon [[x, y]…] [m]: at most `most`, in ret[0…*ret_n). Positions are added until no
// further one would show 4 % of the polygon. If `first` is not NULL it is the first position; each next one is the nearest of
// the rest. They have no yaw: the robot turns once around at each. PONS_ENOMEM.
int pons_zone_viewpoints(const pons_value *world, double radius_m, const pons_value *polygon,
                         const pons_pose2 *first, pons_pose2 *ret, size_t most, size_t *ret_n,
                         pons_error *err);

PONS_C_END
