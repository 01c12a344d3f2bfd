// map_rooms.h - rooms of a map: parts of its free floor that doors divide.
#pragma once

#include "pons/linkage.h"
#include "pons/map.h"

#include <stddef.h>

PONS_C_BEGIN

#define PONS_ROOM_CORNERS_MAX 64
#define PONS_ROOM_DOOR_M      1.2 // what is narrower divides rooms

typedef struct pons_room {
    double area_m2;
    double x, y;                              // where it is widest, in map [m]
    int n;                                    // corners
    double corners[PONS_ROOM_CORNERS_MAX][2]; // (n) its outline, in map [m]
} pons_room;

// The rooms, the largest first, in the same order each time. door_m: passages that are narrower divide rooms, and a room is
// wider than that somewhere. *ret is the caller's, by free. PONS_ENOMEM.
int pons_map_rooms(const pons_map *m, double door_m, pons_room **ret, size_t *ret_n,
                   pons_error *err);

PONS_C_END
