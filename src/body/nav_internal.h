// nav_internal.h - occupancy grid, planner, controller, localiser: pure step functions.
// Poses are in map, [m] and [rad]; grids are row-major, cell (0,0) at the origin's corner.
#ifndef PONS_NAV_INTERNAL_H
#define PONS_NAV_INTERNAL_H

#include "pons/ext/robot.h"
#include "pons/rand.h"

typedef struct pons_grid pons_grid; // the static map of a world plus what the lidar has seen

// From the world value (map.resolution_m, bounds, map.boxes). PONS_EINVAL.
int pons_grid_from_world(const pons_value *world, pons_grid **ret, pons_error *err);
void pons_grid_destroy(pons_grid *g); // NULL-safe
// Marks hits and clears along beams, in the obstacle layer; static cells stay.
// The scan that it was given last is ignored.
void pons_grid_observe(pons_grid *g, pons_pose2 pose_in_map, const pons_scan *scan);
void pons_grid_clear_obstacles(pons_grid *g);
// Summary of the obstacle layer's blobs: up to cap {x, y, radius}; returns how many.
typedef struct pons_blob {
    double x, y, r; // [m] in map
} pons_blob;
int pons_grid_blobs(const pons_grid *g, pons_blob *ret, int cap);
// Distance to the nearest occupied cell [m], capped at 2.
double pons_grid_clearance(const pons_grid *g, double x, double y);

// Nav2's numbers.
enum {
    PONS_NAV_OK = 0,
    PONS_FOLLOW_UNKNOWN = 100,
    PONS_FOLLOW_INVALID_CONTROLLER = 101,
    PONS_FOLLOW_TF_ERROR = 102,
    PONS_FOLLOW_INVALID_PATH = 103,
    PONS_FOLLOW_PATIENCE_EXCEEDED = 104,
    PONS_FOLLOW_FAILED_TO_MAKE_PROGRESS = 105,
    PONS_FOLLOW_NO_VALID_CONTROL = 106,
    PONS_PLAN_UNKNOWN = 201,
    PONS_PLAN_INVALID_PLANNER = 202,
    PONS_PLAN_TF_ERROR = 203,
    PONS_PLAN_START_OUTSIDE_MAP = 204,
    PONS_PLAN_GOAL_OUTSIDE_MAP = 205,
    PONS_PLAN_START_OCCUPIED = 206,
    PONS_PLAN_GOAL_OCCUPIED = 207,
    PONS_PLAN_NO_VALID_PATH = 208
};
const char *pons_nav_error_word(int code); // "NO_VALID_PATH", …

typedef struct pons_nav_params {
    double radius_m, speed_max_mps, yaw_rate_max_radps, accel_mps2;
    double xy_tolerance_m, yaw_tolerance_rad;
    double progress_m, progress_s; // less than this far in this long: FAILED_TO_MAKE_PROGRESS
    double replan_s;
} pons_nav_params;
#define PONS_NAV_PARAMS_INIT                                                                       \
    {                                                                                              \
        .radius_m = 0.22, .speed_max_mps = 0.6, .yaw_rate_max_radps = 1.5, .accel_mps2 = 1.0,      \
        .xy_tolerance_m = 0.15, .yaw_tolerance_rad = 0.25, .progress_m = 0.1, .progress_s = 10.0,  \
        .replan_s = 1.0                                                                            \
    }

typedef struct pons_nav pons_nav; // one navigation at a time; borrows the grid
pons_nav *pons_nav_create(pons_grid *grid, const pons_nav_params *params); // NULL: no memory
void pons_nav_destroy(pons_nav *n);                                        // NULL-safe
// Begins towards a pose; a goal that cannot be planned shows at the next step. with_yaw false: any
// final heading.
void pons_nav_start(pons_nav *n, pons_pose2 goal_in_map, bool with_yaw, int64_t now_ns);
void pons_nav_cancel(pons_nav *n);

typedef enum pons_nav_status {
    PONS_NAV_IDLE,
    PONS_NAV_RUNNING,
    PONS_NAV_SUCCEEDED,
    PONS_NAV_FAILED
} pons_nav_status;
typedef struct pons_nav_output {
    pons_nav_status status;
    int error_code;      // PONS_NAV_OK unless FAILED
    char error_msg[160]; // with its numbers
    pons_twist2 cmd;     // in base; zero unless RUNNING
    double distance_remaining_m;
    double eta_s;
    int recoveries, replans;
} pons_nav_output;
// One control step (about 20 Hz of robot time). Includes its recoveries: clear, spin, wait, back
// up. Observes the scan when nobody else has; scan may be NULL.
void pons_nav_step(pons_nav *n, int64_t now_ns, pons_pose2 pose_in_map, pons_twist2 twist,
                   const pons_scan *scan, pons_nav_output *ret);
// The path in use, for display: up to cap points; returns how many.
int pons_nav_path(const pons_nav *n, pons_pose2 *ret, int cap);

typedef struct pons_localizer
    pons_localizer; // odometry corrected by matching scans to the static map
pons_localizer *pons_localizer_create(const pons_grid *grid, pons_pose2 start_in_map);
void pons_localizer_destroy(pons_localizer *l);
void pons_localizer_predict(pons_localizer *l, pons_pose2 odom_from_base); // odometry, any rate
// odom_at_scan: odometry at the scan's stamp. Corrects the map → odom transform.
void pons_localizer_correct(pons_localizer *l, const pons_scan *scan, pons_pose2 odom_at_scan);
pons_pose2 pons_localizer_pose(const pons_localizer *l); // base in map
double pons_localizer_std_m(const pons_localizer *l);    // position, 1 sigma, about
void pons_localizer_reset(pons_localizer *l, pons_pose2 pose_in_map, pons_pose2 odom_from_base);

#endif
