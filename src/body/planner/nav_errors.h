// nav_errors.h - why a plan, a motion or a navigation failed, in Nav2's numbers.
#pragma once

// Nav2's numbers, X(symbol, number, word). Those of ComputePathThroughPoses are the planner's and
// 100 more; NavigateThroughPoses' are NavigateToPose's and 100 more. Those of the body itself are the same for all.
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
    X(PONS_NAVIGATE_TIMEOUT, 9003, "TIMEOUT")                                                      \
    X(PONS_PLAN_KEEP_OUT, 9912, "KEEP_OUT") /* the body's own: for any planner's leaf */
typedef enum pons__nav_error {
#define PONS_NAV_ERROR_ENUM(sym, num, word) sym = (num),
    PONS_NAV_ERROR_TABLE(PONS_NAV_ERROR_ENUM)
#undef PONS_NAV_ERROR_ENUM
} pons__nav_error;
#define PONS_NAV_THROUGH 100 // added for ComputePathThroughPoses and NavigateThroughPoses
