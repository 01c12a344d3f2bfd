// own_returns.h - what a lidar sees of its own robot. The essay is in own_returns.c.
#pragma once

#include "pons/footprint.h"
#include "pons/value.h"

#include <stdint.h>

enum { PONS__OWN_PARTS = 16, PONS__OWN_BINS = 360 };

typedef struct pons__own_parts { // `own` of the world's lidar
    int n;
    struct {
        double from, span; // direction from the lidar, and so far to the left of it [rad]
        double within_m;   // where a beam of it ends
    } at[PONS__OWN_PARTS];
} pons__own_parts;

void pons__own_parts_read(const pons_value *lidar, pons__own_parts *ret);
// Takes out of a scan what is the robot's by a person's word. Any thread.
void pons__own_parts_drop(const pons__own_parts *p, pons_scan *scan);

typedef struct pons__own_returns { // the caller's storage, zeroed; one thread
    pons_footprint outline;        // without corners: the circle of radius_m
    double radius_m;
    bool covered;  // by the newest scan
    int64_t scans; // so far
    // By direction from the lidar, [-pi, pi): where beams ended near the outline [m], in every scan since the first. NAN: not in
    // every one; INFINITY: no beam yet.
    float near[PONS__OWN_BINS];
} pons__own_returns;

void pons__own_returns_look(pons__own_returns *o, const pons_scan *scan);
// A line about what covers the lidar, or what has been near the outline in every scan, in a few directions; "": nothing.
const char *pons__own_returns_say(const pons__own_returns *o, const pons_scan *scan, char *buf,
                                  size_t cap);
