// zone_grid.h - where a robot may not be, and where it goes slowly, whatever stands there.
#pragma once

#include "pons/error.h"
#include "pons/geometry.h"

typedef struct pons__area pons__area; // immutable: any thread reads it

#define PONS__AREA_NAME_MAX 112 // bytes of a text of pons__area_nearest or pons__area_ids

typedef struct pons__area_frame { // the cells of a costmap
    double x0, y0, res;
    int w, h;
} pons__area_frame;

// Of a checked world (docs/reference/maps.md): its keep_out and speed_zones, and its filters' masks. *ret: NULL
// when it has none of them; the caller's.
int pons__area_create(const pons_value *world, const pons__area_frame *frame, pons__area **ret,
                      pons_error *err);
void pons__area_destroy(pons__area *a); // NULL-safe

// NULL has none. Outside of the frame nothing is forbidden, and nothing slow.
bool pons__area_keep_out(const pons__area *a, double x, double y);
bool pons__area_cell(const pons__area *a, int cx, int cy); // the same by cell, which must be inside
// May anything within_m of a point be kept out of? False is sure, and is known at once.
bool pons__area_near(const pons__area *a, double x, double y, double within_m);
double pons__area_speed(const pons__area *a, double x, double y); // [m/s]; INFINITY: no limit
bool pons__area_has_keep_out(const pons__area *a);
// Distance to the nearest keep-out area [m]: 0 inside it, INFINITY if none is within_m. buf: the area's id and reason ("wet:
// the floor is wet"). Of a mask: its file, if the point lies in the mask.
double pons__area_nearest(const pons__area *a, double x, double y, double within_m, char *buf,
                          size_t cap);
void pons__area_ids(const pons__area *a, char *buf,
                    size_t cap);               // ids of all keep-out areas: "wet, hall"
double pons__area_cell_m(const pons__area *a); // a cell's edge
