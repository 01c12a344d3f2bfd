// conformance.h - what every SLAM module must do (include/pons/ext/slam.h).
#ifndef TESTS_SLAM_CONFORMANCE_H
#define TESTS_SLAM_CONFORMANCE_H

#include "pons/ext/slam.h"

// The module's functions; skips the test where the module was left out.
const pons_slam_ops *slam_ops(const char *kind);

// Each fails the test that calls it.
void slam_refuses_configurations(const pons_slam_ops *ops);
void slam_knows_nothing_at_first(const pons_slam_ops *ops);
void slam_drives_a_round(const pons_slam_ops *ops);
void slam_takes_odometry_where_scans_show_nothing(const pons_slam_ops *ops);
void slam_keeps_its_way_free(const pons_slam_ops *ops);
void slam_makes_the_same_map_again(const pons_slam_ops *ops);
void slam_goes_on_from_elsewhere(const pons_slam_ops *ops);
void slam_refuses_damaged_files(const pons_slam_ops *ops);
void slam_takes_any_scan(const pons_slam_ops *ops);

#endif
