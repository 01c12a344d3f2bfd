// lidar_self_filter.h - the parts of the robot that its own lidar sees. The essay is in lidar_self_filter.c.
#pragma once

#include "pons/footprint.h"
#include "pons/value.h"

#include <stdint.h>

enum { PONS__SELF_PARTS = 16, PONS__NEAR_BINS = 360 };

typedef struct pons__self_filter { // `self_filter` of the world's lidar
    int n;
    struct {
        double from,
            span; // direction in the lidar's frame, and the extent counter-clockwise from it [rad]
        double within_m; // from the lidar
    } at[PONS__SELF_PARTS];
} pons__self_filter;

void pons__self_filter_read(const pons_value *lidar, pons__self_filter *ret);
// Sets the returns from these parts to NAN. It neither blocks nor allocates. Any thread.
void pons__self_filter_apply(const pons__self_filter *f, pons_scan *scan);

typedef struct pons__near_returns { // the caller's storage, zeroed; one thread
    pons_footprint outline;         // without corners: the circle of radius_m
    double radius_m;
    bool covered;  // most of the newest scan is inside the outline
    int64_t scans; // so far
    // By direction in the lidar's frame, from -pi: the range of returns near the outline in every scan since the first [m]. NAN:
    // not in every scan; INFINITY: no beam yet.
    float near[PONS__NEAR_BINS];
} pons__near_returns;

void pons__near_returns_update(pons__near_returns *r, const pons_scan *scan);
// Writes a line about a covered lidar, or about the first part that was near the outline in every scan; "": neither.
const char *pons__near_returns_report(const pons__near_returns *r, const pons_scan *scan, char *buf,
                                      size_t cap);
