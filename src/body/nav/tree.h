// tree.h - the navigator's inside: what navigator.c and the files with its leaves share.
//
//   navigator.c          a navigation's life: load, begin, tick, end; result and live view
//   compute_path.c     ComputePathToPose, ComputePathThroughPoses, SmoothPath
//   follow_path.c   FollowPath and what looks at it
//   nav2_behaviors.c   Spin, BackUp, DriveOnHeading, Wait, clearing, cancelling
//   nav2_conditions.c    conditions, and what goals and paths are made into
//   blackboard_poses.c   poses and paths as blackboard values
#pragma once

#include "body/nav/navigator.h"
#include "body/nav/spin_back_up.h"
#include "body/planner/planner.h"
#include "pons/bt.h"

#define PONS__NAV_NODES_MAX      4096
#define PONS__NAV_TREE_BYTES_MAX ((size_t)256 << 10) // the robot's loop reads it
#define PONS__NAV_FAILS_MAX      16
#define PONS__NAV_TEXT_MAX       240
#define PONS__NAV_NAME_MAX       96 // of a plugin, with its zero
#define PONS__NAV_LEAVES_MAX     64

typedef enum pons__which_costmap { PONS__LOCAL, PONS__GLOBAL, PONS__COSTMAPS } pons__which_costmap;

typedef struct pons__nav_run { // of one leaf's node, from its start on
    int64_t start_ns;
    pons__motion motion;
} pons__nav_run;

typedef struct pons__nav_request { // what a tree asks the planner for
    pons_pose2 start;
    bool from_here; // start is where the robot is
    pons_pose2 goals[PONS_NAV_POSES_MAX];
    int n;
    bool any_yaw; // at the last
    pons__plan_kind kind;
    const pons_value *list;
} pons__nav_request;

typedef struct pons__nav_job { // a plan that is under way, between the ticks
    bool active;
    pons__nav_request asked; // its list is held
    int leg;                 // being planned
    int code;                // PONS__PLAN_GOES_ON, or how it has ended
    char msg[PONS__NAV_TEXT_MAX];
} pons__nav_job;

typedef struct pons__nav_plan { // the planner's memory of the path it gave last
    pons__planner *planner;
    pons__nav_job job;
    pons__path *kept, *candidate, *leg;
    pons_value *poses;    // of kept, as the board has them; NULL: none
    pons_value *goals;    // the list that it leads through
    pons__plan_kind kind; // by which it was planned
    double s;             // [m] the robot's projection on it; never falls
    double off_path;
    uint32_t planned, openings, checked; // the field's generation and openings then
    const pons_value *valid;             // a path that was free at the generation valid_at
    uint32_t valid_at;
    bool dearer; // it costs more than when it was planned
    int replans;
} pons__nav_plan;

typedef struct pons__nav_follow { // the controller
    pons__path *path;
    pons_value *poses; // what path was read from; NULL: none
    bool has_yaw;
    double yaw; // at the end
    pons__follower f;
    bool running;
    bool stopped;    // {path} was emptied: stands until there is one
    uint32_t node;   // that follows
    int64_t step_ns; // when it was stepped last
    int64_t blocked_ns;
    pons_pose2 anchor; // of the progress check
    int64_t anchor_ns;
    bool anchor_turning;
    double remaining_m;
    double best_m; // the least of them, by steps,
    int64_t best_ns;
    int detours; // and how often a longer way began it anew
} pons__nav_follow;

typedef enum pons__cancel {
    PONS__CANCEL_FOLLOW = 1,
    PONS__CANCEL_SPIN = 2,
    PONS__CANCEL_BACK_UP = 4,
    PONS__CANCEL_DRIVE = 8,
    PONS__CANCEL_WAIT = 16
} pons__cancel;

typedef struct pons__nav_fail {
    int code;
    uint32_t node;
    char msg[PONS__NAV_TEXT_MAX];
} pons__nav_fail;

typedef struct pons__nav_leaf pons__nav_leaf;
typedef struct pons__nav_bound { // a leaf of one navigator
    pons__nav *n;
    const pons__nav_leaf *leaf;
} pons__nav_bound;

struct pons__nav {
    pons__costmap *grid[PONS__COSTMAPS]; // the global one is borrowed
    pons__nav_params params;             /* const */
    pons__shape shape;                   /* const */
    char *workspace;                     // NULL: none
    pons_bt_registry *leaves;            /* const */
    pons__nav_bound bound[PONS__NAV_LEAVES_MAX];
    size_t n_bound;

    // the tree at work
    pons_bt_tree *tree;  // NULL: none yet
    pons__nav_run *runs; // (n_nodes)
    uint32_t n_nodes;
    char *file;
    int64_t file_stamp[3]; // inode, size, time
    uint64_t tree_id;

    // the goal
    pons__nav_status status;
    bool through;
    bool fresh; // begun, not stepped yet
    pons_pose2 last_goal;
    int64_t begun_ns;
    int error_code;
    char error_msg[PONS_NAV_MSG_MAX];
    int recoveries, recoveries_reported; // told: as the board has it

    // this step; times without what was spent on hold
    double slower;     // share of all speeds that a person has taken away
    int64_t spared_ns; // of the robot's time, that does not count because of it
    int64_t now_ns, robot_ns, held_ns;
    int64_t hold_from_ns; // robot time; -1: not on hold
    int64_t step_ns;      // robot time of the last step
    double dt_s;
    pons_pose2 pose;
    pons_twist2 twist;
    bool sensed;
    pons__nav_senses senses;
    int64_t scan_ns[PONS__COSTMAPS]; // stamp of the newest scan
    struct {
        bool waits; // cleared, and not seen again yet
        int64_t ns;
        int scans;
    } cleared[PONS__COSTMAPS];
    pons_twist2 cmd;      // last given
    pons_twist2 want;     // of this tick
    bool limited;         // want is within the accelerations
    int64_t still_ns;     // since when the robot stands; -1: it moves
    int64_t no_motion_ns; // since when it is told to move and does not; -1
    unsigned cancels;     // pons__cancel bits

    pons__nav_plan plan;
    pons__nav_follow follow;
    pons__nav_fail fails[PONS__NAV_FAILS_MAX];
    int n_fails;

    // live view
    uint32_t at_node;
    bool at_known;
    char at_text[PONS_NAV_MSG_MAX];
    uint32_t at_text_node;
    pons__nav_change changes[PONS_NAV_CHANGES_MAX];
    int n_changes;
    uint64_t lost;
};

// ---- navigator.c --------------------------------------------------------------------------------
// A leaf's function: what is its row's. Of a halt it hears when its row says so.
#define LEAF(name) static int name(pons__nav *n, pons_bt_call *call, int what, pons_error *err)
struct pons__nav_leaf {
    const char *name;
    bool condition;
    int (*fn)(pons__nav *n, pons_bt_call *call, int what, pons_error *err);
    int what;
    bool halts;
};
int pons__nav_register(pons__nav *n, const pons__nav_leaf *leaves, size_t count, pons_error *err);
// Ends a leaf: error_code_id and error_msg are written, the failure is remembered. Returns FAILURE.
int pons__nav_fail_leaf(pons__nav *n, const pons_bt_call *call, int code, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int pons__nav_ok(pons__nav *n, const pons_bt_call *call); // code 0; SUCCESS
void pons__nav_begin_leaf(pons__nav *n, const pons_bt_call *call);
int pons__nav_running(pons__nav *n,
                      const pons_bt_call *call); // notes it for the live view; RUNNING
static inline pons__nav_run *pons__nav_run_of(pons__nav *n, const pons_bt_call *call)
{
    return &n->runs[call->node];
}
static inline double pons__nav_run_s(pons__nav *n, const pons_bt_call *call)
{
    return (double)(n->now_ns - n->runs[call->node].start_ns) / (double)PONS_NS_PER_S;
}
// What the wheels shall do, within the accelerations from the last command.
void pons__nav_want(pons__nav *n, pons_twist2 want);
// A costmap that was cleared shows nothing before the lidar has looked again.
bool pons__nav_current(pons__nav *n, pons__which_costmap which);
static inline pons_pose2 pons__nav_odom(const pons__nav *n)
{
    return n->sensed ? n->senses.odom : n->pose;
}

// ---- compute_path.c -----------------------------------------------------------------------------
int pons__nav_plan_init(pons__nav *n);
void pons__nav_plan_fini(pons__nav *n);
void pons__nav_plan_forget(pons__nav *n); // the next path is planned afresh
void pons__nav_plan_drop(pons__nav *n);   // and what is under way is given up
int pons__nav_plan_leaves(pons__nav *n, pons_error *err);

// ---- follow_path.c ------------------------------------------------------------------------------
int pons__nav_follow_init(pons__nav *n);
void pons__nav_follow_fini(pons__nav *n);
void pons__nav_follow_reset(pons__nav *n);
int pons__nav_follow_leaves(pons__nav *n, pons_error *err);

// ---- nav2_behaviors.c, nav2_conditions.c --------------------------------------------------------
int pons__nav_behave_leaves(pons__nav *n, pons_error *err);
int pons__nav_node_leaves(pons__nav *n, pons_error *err);

// blackboard_poses.c: ports. A pose is {x, y, yaw?}; without yaw any heading will do. A path is
// {poses: [{x, y, yaw?}…], from_m?, length_m}: from_m of it lie behind the robot already, length_m
// are left.
pons_value *pons__nav_in(const pons_bt_call *call, const char *port); // new; NULL: none
double pons__nav_in_num(const pons_bt_call *call, const char *port, double fallback);
bool pons__nav_in_bool(const pons_bt_call *call, const char *port, bool fallback);
char *pons__nav_in_text(const pons_bt_call *call, const char *port, char *buf, size_t cap); // buf
bool pons__nav_in_pose(const pons_bt_call *call, const char *port, pons_pose2 *ret,
                       bool *ret_any_yaw);
void pons__nav_out(const pons_bt_call *call, const char *port, pons_value *value); // takes
pons_value *pons__nav_pose_value(pons_pose2 p, bool any_yaw);
bool pons__nav_pose_read(const pons_value *v, pons_pose2 *ret, bool *ret_any_yaw);
pons_value *pons__nav_path_value(pons_value *poses, double from_m, double length_m); // takes poses
pons_value *pons__nav_poses_of(const pons__path *path, double from_m, double to_m,
                               const double *end_yaw); // NULL: any
static inline const pons_value *pons__nav_poses(const pons_value *path)
{
    return json_is_array(path) ? path : pons_get(path, "poses");
}
// Fills x, y, n and s. False when it is no path; the yaw at its end, or any.
bool pons__nav_path_read(const pons_value *path, pons__path *ret, double *ret_yaw,
                         bool *ret_has_yaw);
// The name of a server's plugin: none, or one of a list that ends with NULL; nav2_x/Y is nav2_x::Y.
bool pons__nav_known(const char *name, const char *const *known);
