// navigator.h - occupancy grid and navigator: pure step functions.
// Poses are in map, [m] and [rad]; grids are row-major, cell (0,0) at the origin's corner.
#ifndef PONS_BODY_NAV_NAVIGATOR_H
#define PONS_BODY_NAV_NAVIGATOR_H

#include "pons/bt.h"
#include "pons/ext/robot.h"
#include "pons/footprint.h"
#include "pons/random.h"

typedef struct pons__costmap
    pons__costmap; // the static map of a world plus what the lidar has seen

// From the world value (map.resolution_m, bounds, map.boxes). PONS_EINVAL.
int pons__costmap_from_world(const pons_value *world, pons__costmap **ret, pons_error *err);
void pons__costmap_destroy(pons__costmap *g); // NULL-safe
// Where nobody goes, or slowly; NULL: nowhere. The grid's.
struct pons__area;
const struct pons__area *pons__costmap_area(const pons__costmap *g);
// Marks hits and clears along beams, in the obstacle layer; static cells stay.
// The scan that it was given last is ignored.
void pons__costmap_observe(pons__costmap *g, pons_pose2 pose_in_map, const pons_scan *scan);
void pons__costmap_clear_obstacles(pons__costmap *g);
// Summary of the obstacle layer's blobs: up to cap {x, y, radius}; returns how many.
typedef struct pons__blob {
    double x, y, r; // [m] in map
} pons__blob;
int pons__costmap_blobs(const pons__costmap *g, pons__blob *ret, int cap);
// Distance to the nearest occupied cell [m], capped at 2.
double pons__costmap_clearance(const pons__costmap *g, double x, double y);

// Nav2's numbers, X(symbol, number, word). Those of ComputePathThroughPoses are the planner's and
// 100 more; NavigateThroughPoses' are NavigateToPose's and 100 more.
#define PONS_NAV_ERROR_TABLE(X)                                                                    \
    X(PONS_NAV_OK, 0, "NONE")                                                                      \
    X(PONS_FOLLOW_UNKNOWN, 100, "UNKNOWN")                                                         \
    X(PONS_FOLLOW_INVALID_CONTROLLER, 101, "INVALID_CONTROLLER")                                   \
    X(PONS_FOLLOW_TF_ERROR, 102, "TF_ERROR")                                                       \
    X(PONS_FOLLOW_INVALID_PATH, 103, "INVALID_PATH")                                               \
    X(PONS_FOLLOW_PATIENCE_EXCEEDED, 104, "PATIENCE_EXCEEDED")                                     \
    X(PONS_FOLLOW_FAILED_TO_MAKE_PROGRESS, 105, "FAILED_TO_MAKE_PROGRESS")                         \
    X(PONS_FOLLOW_NO_VALID_CONTROL, 106, "NO_VALID_CONTROL")                                       \
    X(PONS_FOLLOW_CONTROLLER_TIMED_OUT, 107, "CONTROLLER_TIMED_OUT")                               \
    X(PONS_PLAN_UNKNOWN, 200, "UNKNOWN")                                                           \
    X(PONS_PLAN_INVALID_PLANNER, 201, "INVALID_PLANNER")                                           \
    X(PONS_PLAN_TF_ERROR, 202, "TF_ERROR")                                                         \
    X(PONS_PLAN_START_OUTSIDE_MAP, 203, "START_OUTSIDE_MAP")                                       \
    X(PONS_PLAN_GOAL_OUTSIDE_MAP, 204, "GOAL_OUTSIDE_MAP")                                         \
    X(PONS_PLAN_START_OCCUPIED, 205, "START_OCCUPIED")                                             \
    X(PONS_PLAN_GOAL_OCCUPIED, 206, "GOAL_OCCUPIED")                                               \
    X(PONS_PLAN_TIMEOUT, 207, "TIMEOUT")                                                           \
    X(PONS_PLAN_NO_VALID_PATH, 208, "NO_VALID_PATH")                                               \
    X(PONS_PLAN_NO_VIAPOINTS_GIVEN, 309, "NO_VIAPOINTS_GIVEN")                                     \
    X(PONS_SMOOTH_UNKNOWN, 500, "UNKNOWN")                                                         \
    X(PONS_SMOOTH_INVALID_SMOOTHER, 501, "INVALID_SMOOTHER")                                       \
    X(PONS_SMOOTH_TIMEOUT, 502, "TIMEOUT")                                                         \
    X(PONS_SMOOTH_IN_COLLISION, 503, "SMOOTHED_PATH_IN_COLLISION")                                 \
    X(PONS_SMOOTH_FAILED, 504, "FAILED_TO_SMOOTH_PATH")                                            \
    X(PONS_SMOOTH_INVALID_PATH, 505, "INVALID_PATH")                                               \
    X(PONS_SPIN_UNKNOWN, 700, "UNKNOWN")                                                           \
    X(PONS_SPIN_TIMEOUT, 701, "TIMEOUT")                                                           \
    X(PONS_SPIN_TF_ERROR, 702, "TF_ERROR")                                                         \
    X(PONS_SPIN_COLLISION, 703, "COLLISION_AHEAD")                                                 \
    X(PONS_BACKUP_UNKNOWN, 710, "UNKNOWN")                                                         \
    X(PONS_BACKUP_TIMEOUT, 711, "TIMEOUT")                                                         \
    X(PONS_BACKUP_TF_ERROR, 712, "TF_ERROR")                                                       \
    X(PONS_BACKUP_INVALID_INPUT, 713, "INVALID_INPUT")                                             \
    X(PONS_BACKUP_COLLISION, 714, "COLLISION_AHEAD")                                               \
    X(PONS_DRIVE_UNKNOWN, 720, "UNKNOWN")                                                          \
    X(PONS_DRIVE_TIMEOUT, 721, "TIMEOUT")                                                          \
    X(PONS_DRIVE_TF_ERROR, 722, "TF_ERROR")                                                        \
    X(PONS_DRIVE_COLLISION, 723, "COLLISION_AHEAD")                                                \
    X(PONS_DRIVE_INVALID_INPUT, 724, "INVALID_INPUT")                                              \
    X(PONS_WAIT_UNKNOWN, 740, "UNKNOWN")                                                           \
    X(PONS_WAIT_TIMEOUT, 741, "TIMEOUT")                                                           \
    X(PONS_NAVIGATE_UNKNOWN, 9000, "UNKNOWN")                                                      \
    X(PONS_NAVIGATE_BAD_TREE, 9001, "FAILED_TO_LOAD_BEHAVIOR_TREE")                                \
    X(PONS_NAVIGATE_TF_ERROR, 9002, "TF_ERROR")                                                    \
    X(PONS_NAVIGATE_TIMEOUT, 9003, "TIMEOUT")
typedef enum pons__nav_error {
#define PONS_NAV_ERROR_ENUM(sym, num, word) sym = (num),
    PONS_NAV_ERROR_TABLE(PONS_NAV_ERROR_ENUM)
#undef PONS_NAV_ERROR_ENUM
} pons__nav_error;
#define PONS_NAV_THROUGH 100 // added for ComputePathThroughPoses and NavigateThroughPoses
const char *pons__nav_error_word(int code); // "NO_VALID_PATH", …

struct pons__shape;
typedef struct pons__nav_params {
    pons_footprint footprint;        // without corners: the circle of radius_m
    const struct pons__shape *shape; // the navigator's own; NULL: that circle
    double turning_radius_m;         // of the tightest arc; 0: it turns where it stands
    double radius_m, speed_max_mps, yaw_rate_max_radps, accel_mps2;
    double reverse_max_mps;
    double xy_tolerance_m, yaw_tolerance_rad;
    double progress_m, progress_s; // less than this far in this long: FAILED_TO_MAKE_PROGRESS
} pons__nav_params;
#define PONS_NAV_PARAMS_INIT                                                                       \
    {                                                                                              \
        .radius_m = 0.22, .speed_max_mps = 0.6, .yaw_rate_max_radps = 1.5, .accel_mps2 = 1.0,      \
        .reverse_max_mps = 0.3, .xy_tolerance_m = 0.15, .yaw_tolerance_rad = 0.25,                 \
        .progress_m = 0.5, .progress_s = 10.0                                                      \
    }

// ---- the navigator: one navigation at a time, by a behaviour tree (navigator.c) -----------------
typedef struct pons__nav pons__nav; // borrows the grid, which is its global costmap
pons__nav *pons__nav_create(pons__costmap *grid, const pons__nav_params *params); // NULL: no memory
void pons__nav_destroy(pons__nav *n);                                             // NULL-safe
// Where trees are looked for besides the installed ones: DIR and DIR/trees. NULL: nowhere.
int pons__nav_workspace(pons__nav *n, const char *dir, pons_error *err);

#define PONS_NAV_POSES_MAX 64
typedef struct pons__nav_goal {
    const pons_pose2 *poses; // (n) in map; the last is where it ends
    const bool *any_yaw;     // (n) the heading there is free; NULL: none is
    int n;                   // 1 unless through
    bool through;            // {goals} and the 300s, else {goal} and the 200s
    const char *tree;        // path of its tree; NULL or "": the one for this kind of goal
} pons__nav_goal;
// Reads and checks a goal's tree, and does nothing else: PONS_EINVAL, PONS_ENOTFOUND with the first
// fault's file:line:col, PONS_EUNSUPPORTED by the names of the nodes that need what is not here.
int pons__nav_check(pons__nav *n, const pons__nav_goal *goal, pons_error *err);
// Begins. While a navigation runs whose tree is the same, that one goes on with the new goal:
// {goal} swapped, {path} emptied, nothing halted. Else what runs is halted first. A goal that
// cannot be planned shows at the next step. Errors as above (err must be given); then the next step
// says FAILED with 9001, or 9101.
int pons__nav_go(pons__nav *n, const pons__nav_goal *goal, int64_t now_ns, pons_error *err);
// The same to one pose, by the built-in tree and afresh. with_yaw false: any final heading.
void pons__nav_start(pons__nav *n, pons_pose2 goal_in_map, bool with_yaw, int64_t now_ns);
void pons__nav_cancel(pons__nav *n); // halts the tree, wherever it is
// Nobody steps it until resume: the tree keeps its place, its timers stand still.
// The pose has turned out to be another one: the path that is followed begins nowhere near, and what
// scans have shown is elsewhere. Both are forgotten; the goal stays.
void pons__nav_displaced(pons__nav *n);
void pons__nav_hold(pons__nav *n, int64_t now_ns);
// Everything moves at this share of its speed: time counts for so much less where something is to be
// done within it.
void pons__nav_pace(pons__nav *n, double share);
void pons__nav_resume(pons__nav *n, int64_t now_ns);

// What its conditions know of the robot besides pose and scan; all of it optional.
typedef struct pons__nav_senses {
    pons_pose2 odom;   // odom_from_base
    double odometer_m; // way driven
    pons_twist2 gate;  // what the safety gate wrote last
    double battery_pct;
    pons_battery_state battery;
    void (*relocalize)(void *user); // starts a search for where the robot is; NULL: cannot
    void *user;
} pons__nav_senses;
void pons__nav_sense(pons__nav *n, const pons__nav_senses *s);
// A scan that was taken at a pose, for the local costmap; the caller observes the global one.
void pons__nav_observe(pons__nav *n, pons_pose2 pose_in_map, const pons_scan *scan);
void pons__nav_forget(pons__nav *n); // clears both costmaps' obstacle layers
const pons__costmap *pons__nav_local(const pons__nav *n);

typedef enum pons__nav_status {
    PONS_NAV_IDLE,
    PONS_NAV_RUNNING,
    PONS_NAV_SUCCEEDED,
    PONS_NAV_FAILED
} pons__nav_status;
#define PONS_NAV_MSG_MAX 400
typedef struct pons__nav_output {
    pons__nav_status status;
    int error_code;                   // PONS_NAV_OK unless FAILED
    char error_msg[PONS_NAV_MSG_MAX]; // with its numbers, and the path of the node that failed
    pons_twist2 cmd;                  // in base; zero unless RUNNING
    double distance_remaining_m;      // NAN while no path is followed
    double eta_s;                     // NAN likewise
    double time_s;                    // navigating, without what was spent on hold
    int recoveries, replans;
    int poses_remaining; // through poses; else 1
} pons__nav_output;
// One control step (about 20 Hz of robot time): one tick of the tree. Observes the scan when nobody
// else has; scan may be NULL.
void pons__nav_step(pons__nav *n, int64_t now_ns, pons_pose2 pose_in_map, pons_twist2 twist,
                    const pons_scan *scan, pons__nav_output *ret);
// Between steps: goes on with a plan that is under way, for about so many cells. True: there is more.
bool pons__nav_think(pons__nav *n, int cells);
// The path in use, for display: up to cap points; returns how many.
int pons__nav_path(const pons__nav *n, pons_pose2 *ret, int cap);

// ---- the tree at work, for those who watch ------------------------------------------------------
typedef struct pons__nav_change {
    uint32_t node;
    uint8_t from, to; // pons_bt_status
    int64_t robot_ns;
} pons__nav_change;
#define PONS_NAV_CHANGES_MAX 8192 // two for each node of the largest tree, in one step
uint64_t pons__nav_tree_id(const pons__nav *n); // rises with every tree that begins; 0: none yet
const char *pons__nav_tree_file(const pons__nav *n);
uint32_t pons__nav_tree_nodes(const pons__nav *n);
// Each node's state before the changes that pons__nav_changes has still to give; ret (nodes).
void pons__nav_tree_states(const pons__nav *n, uint8_t *ret);
char *pons__nav_tree_path(const pons__nav *n, uint32_t node, char *buf, size_t cap);
// The leaf that was RUNNING at the last step, by its path; "" when there is none.
const char *pons__nav_tree_at(pons__nav *n);
// Takes the changes of state since the last call, oldest first; *ret_lost: how many more there
// were.
int pons__nav_changes(pons__nav *n, pons__nav_change *ret, int cap, uint64_t *ret_lost);

#endif
