// navigator.h - the navigator: pure step functions.
// Poses are in map, [m] and [rad].
#pragma once

#include "body/controller/controller.h"
#include "pons/bt.h"
#include "pons/random.h"

const char *pons__nav_error_word(int code); // "NO_VALID_PATH", …

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
void pons__nav_forget(pons__nav *n);      // clears both costmaps' obstacle layers
void pons__nav_map_changed(pons__nav *n); // the global costmap's static layer is another one
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
