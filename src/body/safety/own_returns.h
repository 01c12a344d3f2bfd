// own_returns.h - what a lidar sees of its own robot. The essay is in own_returns.c.
#pragma once

#include "pons/footprint.h"

#include <stdint.h>

typedef struct pons__own_returns { // the caller's storage, zeroed; one thread
    pons_footprint outline;        // without corners: the circle of radius_m
    double radius_m;
    bool cautious; // nothing of a circle is left out while it is learned, and that takes a turn
    bool covered;  // by the newest scan
    int64_t scans; // so far, of one lidar
    double first_yaw, turned_rad; // of the robot since the first of them
    int n;                        // beams; another number, or another direction, is another lidar
    float angle_min;              // [rad]
    float within
        [PONS_SCAN_MAX]; // [m] at which a beam ended inside the circle from the start; NAN: none did, or several
    float beside[PONS_SCAN_MAX]; // the same just outside of the outline, in every scan
} pons__own_returns;

// Takes the robot's own returns out of a scan. False, and none is left: most of them were, so something covers the lidar.
// yaw: the robot's in odom, at the scan.
bool pons__own_returns_drop(pons__own_returns *o, double yaw, pons_scan *scan);
// A line about what covers the lidar, or what has been beside the outline in every scan, in a few directions; "": nothing.
const char *pons__own_returns_say(const pons__own_returns *o, const pons_scan *scan, char *buf,
                                  size_t cap);
