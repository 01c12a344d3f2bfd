// map_preview.h - a world as its body plans in it, without a body: what lies where, and the way from one
// place to another.
#pragma once

#include "pons/geometry.h"
#include "pons/linkage.h"

PONS_C_BEGIN

typedef enum pons_ground_kind { // the most forbidding of what a place is
    PONS_GROUND_FREE,
    PONS_GROUND_UNKNOWN, // to the world's map, through which no way leads
    PONS_GROUND_SLOW,
    PONS_GROUND_KEEP_OUT,
    PONS_GROUND_WALL // a wall or furniture; or outside
} pons_ground_kind;

typedef struct pons_ground pons_ground;

// Of a world from pons_world_load(), which is not kept. PONS_EINVAL, PONS_ENOMEM.
int pons_ground_open(const pons_value *world, pons_ground **ret, pons_error *err);
void pons_ground_close(pons_ground *g); // NULL-safe
pons_ground_kind pons_ground_at(const pons_ground *g, double x, double y);
// What a picture shows of xmin, ymin, xmax, ymax: the most forbidding of all cells that it overlaps, however few.
pons_ground_kind pons_ground_worst(const pons_ground *g, const double area[4]);
double pons_ground_speed(const pons_ground *g, double x, double y); // [m/s]; INFINITY: no limit
double pons_ground_room(const pons_ground *g, double x, double y); // [m] to what is not free; ≤ 2
double pons_ground_resolution(const pons_ground *g);               // [m]

typedef struct pons_ground_way {
    double length_m, time_s; // with the robot's speed, and the zones'
    bool moved_goal;         // the goal is occupied: it ends at the nearest free place
    int searched;            // cells
    int n;                   // points, every 5 cm or so
    double *x, *y;           // (n) in map
} pons_ground_way;
// The way that the body would plan; to.yaw NAN: any heading there will do. PONS_ENOTFOUND says why there is none, with Nav2's number. *ret is
// the caller's, by pons_ground_way_clear.
int pons_ground_plan(pons_ground *g, pons_pose2 from, pons_pose2 to, pons_ground_way *ret,
                     pons_error *err);
void pons_ground_way_clear(pons_ground_way *w); // after a zeroing too

PONS_C_END
