// lidar_beams.h - what another program says of a lidar's beams, as the body has them: at most PONS_SCAN_MAX, counted to the
// left, seen from where the lidar is.
//
// As many beams as fit stay what they are. Of more, neighbours share a direction, and the nearest return counts: what is
// seen is then where it was measured but for half such a direction, (span / PONS_SCAN_MAX) / 2: a lidar that looks
// around has it 9 cm to the side at 10 m, at most. A beam of minus infinity has met something that is too near to be
// measured (REP 117), and counts as range_min. One that says nothing, as it is below that or no number, is not a number
// here: nothing is known of its direction, which is not the same as free.
#pragma once

#include "pons/ext/robot.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct pons__beams {
    size_t n;
    double angle_min, step; // in the lidar; step below 0: counted to the right
    double range_min, range_max;
    bool upside_down;
    pons_pose2 from; // in base
} pons__beams;

// A scan without ranges, but for its stamp; false: that is no lidar.
bool pons__beams_begin(const pons__beams *b, pons_scan *ret);
// What beam i (below n) has measured; true: it says something. Beyond range_max: nothing was met.
bool pons__beams_add(const pons__beams *b, size_t i, double range, pons_scan *scan);
