// pose_history.h - where the robot was, and what its lidar saw, at a picture's time: the last minute of its reports.
#pragma once

#include "pons/geometry.h"
#include "pons/link_report.h"

enum { PONS__POSES = 2048, PONS__SCANS = 64 };

typedef struct pons__pose_at {
    int64_t robot_ns, wall_ns; // the body's stamp, and when the report was heard
    pons_pose2 in_map;
    double sd_m;
    double speed_mps, turn_radps; // how fast it went, without sign
    bool placed;                  // the robot knew where it was
} pons__pose_at;

typedef struct pons__pose_history {
    pons__pose_at poses[PONS__POSES]; // rings: number i is at i % size
    pons_scan scans[PONS__SCANS];
    uint64_t n, n_scans;
} pons__pose_history;

// A `senses` report. One that is older than the last (another body, a clock that was set) begins anew.
void pons__pose_add(pons__pose_history *h, const pons_report_senses *r, int64_t wall_ns);
// The pose at a stamp of the robot's clock, or the wall's, between the two reports around it. false, and why (static).
// *ret_soon: only because the report after it has not come yet.
bool pons__pose_at_stamp(const pons__pose_history *h, int64_t stamp_ns, bool wall,
                         pons__pose_at *ret, bool *ret_soon, const char **why);
// The scan nearest to a robot time, within a quarter of a second; NULL: none.
const pons_scan *pons__scan_at(const pons__pose_history *h, int64_t robot_ns);
