// nav2_behaviors.c - what Nav2 has behaviour servers and costmap services for: Spin, BackUp,
// DriveOnHeading, Wait; clearing a costmap; cancelling one of these or FollowPath.
//
// A clearing takes the obstacle layer's evidence, never the map. What it means for the others is in
// pons__nav_current: the costmap says nothing until the lidar has looked at it again. Names are
// Nav2's services; what counts is the costmap that they begin with:
//
//     [/…/]local_costmap/clear_entirely_local_costmap    [/…/]global_costmap/…
#include "body/nav/tree.h"

#include <string.h>

static const double SPIN_RATE_RADPS = 1.0;
static const double SPIN_OK_RAD = 0.05, DRIVE_OK_M = 0.01;

// ---- motions ------------------------------------------------------------------------------------

typedef struct behavior {
    pons__cancel cancel;
    int timeout, collision, invalid; // error numbers
} behavior;

static int move(pons__nav *n, const pons_bt_call *call, const behavior *b)
{
    pons__motion *m = &pons__nav_run_of(n, call)->motion;
    if (n->cancels & b->cancel) {
        return pons__nav_ok(n, call);
    }
    const pons__motion_input in = {.now_ns = n->now_ns,
                                   .odom = pons__nav_odom(n),
                                   .pose = n->pose,
                                   .grid = n->grid[PONS__LOCAL],
                                   .radius_m = n->params.radius_m,
                                   .gate_known = n->sensed,
                                   .gate = n->senses.gate,
                                   .cmd = n->cmd};
    pons_twist2 want;
    char why[PONS__NAV_TEXT_MAX] = "";
    switch (pons__motion_step(m, &in, &want, why, sizeof why)) {
    case PONS__MOTION_DONE:
        return pons__nav_ok(n, call);
    case PONS__MOTION_TIMEOUT:
        return pons__nav_fail_leaf(n, call, b->timeout, "%s", why);
    case PONS__MOTION_COLLISION:
        return pons__nav_fail_leaf(n, call, b->collision, "%s", why);
    case PONS__MOTION_INVALID:
        return pons__nav_fail_leaf(n, call, b->invalid, "%s", why);
    case PONS__MOTION_RUNNING:
        break;
    }
    pons__nav_want(n, want);
    return pons__nav_running(n, call);
}

static void start_move(pons__nav *n, const pons_bt_call *call, const behavior *b,
                       const pons__motion_goal *goal, bool is_recovery)
{
    pons__nav_begin_leaf(n, call);
    n->cancels &= ~(unsigned)b->cancel;
    n->recoveries += is_recovery;
    pons__motion_start(&pons__nav_run_of(n, call)->motion, goal, n->now_ns, pons__nav_odom(n));
}

LEAF(spin)
{
    static const behavior b = {PONS__CANCEL_SPIN, PONS_SPIN_TIMEOUT, PONS_SPIN_COLLISION,
                               PONS_SPIN_UNKNOWN};
    if (call->reason == PONS_BT_START) {
        const pons__motion_goal goal = {
            .turn = true,
            .by = pons__nav_in_num(call, "spin_dist", 1.57),
            .rate = fmin(SPIN_RATE_RADPS, n->params.yaw_rate_max_radps),
            .accuracy = SPIN_OK_RAD,
            .allowance_s = pons__nav_in_num(call, "time_allowance", 10.0),
            .unchecked = pons__nav_in_bool(call, "disable_collision_checks", false)};
        start_move(n, call, &b, &goal, pons__nav_in_bool(call, "is_recovery", true));
    }
    return move(n, call, &b);
}

// dist and speed of one sign, or not at all: what is against that is INVALID_INPUT.
static pons__motion_goal straight(pons__nav *n, const pons_bt_call *call, double dist, double speed)
{
    const double most = dist < 0.0 && n->params.reverse_max_mps > 0.0 ? n->params.reverse_max_mps
                                                                      : n->params.speed_max_mps;
    return (pons__motion_goal){.by = dist,
                               .rate = dist * speed > 0.0 ? fmin(fabs(speed), most) : NAN,
                               .accuracy = DRIVE_OK_M,
                               .allowance_s = pons__nav_in_num(call, "time_allowance", 10.0),
                               .unchecked =
                                   pons__nav_in_bool(call, "disable_collision_checks", false)};
}

LEAF(back_up)
{
    static const behavior b = {PONS__CANCEL_BACK_UP, PONS_BACKUP_TIMEOUT, PONS_BACKUP_COLLISION,
                               PONS_BACKUP_INVALID_INPUT};
    if (call->reason == PONS_BT_START) {
        const pons__motion_goal goal =
            straight(n, call, -fabs(pons__nav_in_num(call, "backup_dist", 0.15)),
                     -fabs(pons__nav_in_num(call, "backup_speed", 0.025)));
        start_move(n, call, &b, &goal, true);
    }
    return move(n, call, &b);
}

LEAF(drive)
{
    static const behavior b = {PONS__CANCEL_DRIVE, PONS_DRIVE_TIMEOUT, PONS_DRIVE_COLLISION,
                               PONS_DRIVE_INVALID_INPUT};
    if (call->reason == PONS_BT_START) {
        const pons__motion_goal goal =
            straight(n, call, pons__nav_in_num(call, "dist_to_travel", 0.15),
                     pons__nav_in_num(call, "speed", 0.025));
        start_move(n, call, &b, &goal, false);
    }
    return move(n, call, &b);
}

LEAF(wait_a_while)
{
    if (call->reason == PONS_BT_START) {
        pons__nav_begin_leaf(n, call);
        n->cancels &= ~(unsigned)PONS__CANCEL_WAIT;
        n->recoveries++;
    }
    const double wait_s = fabs(pons__nav_in_num(call, "wait_duration", 1.0));
    if (!isfinite(wait_s)) {
        return pons__nav_fail_leaf(n, call, PONS_WAIT_UNKNOWN, "wait_duration is no number");
    }
    if (pons__nav_run_s(n, call) >= wait_s || (n->cancels & PONS__CANCEL_WAIT)) {
        return pons__nav_ok(n, call);
    }
    return pons__nav_running(n, call);
}

// ---- clearing -----------------------------------------------------------------------------------

typedef enum extent { ENTIRE, AROUND, EXCEPT, AROUND_POSE } extent;

// By the service's name; without one, or by another name, both.
static void which(const pons_bt_call *call, bool ret[PONS__COSTMAPS])
{
    char name[128];
    pons__nav_in_text(call, "service_name", name, sizeof name);
    ret[PONS__LOCAL] = strstr(name, "local_costmap") != NULL;
    ret[PONS__GLOBAL] = strstr(name, "global_costmap") != NULL;
    if (!ret[PONS__LOCAL] && !ret[PONS__GLOBAL]) {
        ret[PONS__LOCAL] = ret[PONS__GLOBAL] = *name == '\0';
    }
}

LEAF(clear) // what: an extent
{
    pons__nav_begin_leaf(n, call);
    bool these[PONS__COSTMAPS];
    which(call, these);
    pons_pose2 at = n->pose;
    if ((!these[PONS__LOCAL] && !these[PONS__GLOBAL]) ||
        (what == AROUND_POSE && !pons__nav_in_pose(call, "pose", &at, NULL))) {
        return pons__nav_fail_leaf(n, call, PONS_NAVIGATE_UNKNOWN,
                                   what == AROUND_POSE ? "there is no pose to clear around"
                                                       : "there is no costmap of that name");
    }
    const double half = 0.5 * fabs(pons__nav_in_num(call, "reset_distance", 1.0));
    for (int k = 0; k < PONS__COSTMAPS; k++) {
        pons__costmap *g = n->grid[k];
        const int32_t had = g->n_seen;
        if (!these[k]) {
            continue;
        }
        if (what == ENTIRE) {
            pons__costmap_clear_obstacles(g);
        } else {
            pons__costmap_clear_region(g, at.x, at.y, half, what == EXCEPT);
        }
        if (g->n_seen != had) {
            n->cleared[k].waits = true;
            n->cleared[k].ns = n->now_ns;
            n->cleared[k].scans = 0;
        }
    }
    n->recoveries++;
    return pons__nav_ok(n, call);
}

// ---- cancelling ---------------------------------------------------------------------------------

// What runs of that kind, elsewhere in the tree, ends with SUCCESS at its next tick, as a canceled
// action does for Nav2's leaves.
LEAF(cancel)
{
    n->cancels |= (unsigned)what;
    return PONS_BT_SUCCESS;
}

int pons__nav_behave_leaves(pons__nav *n, pons_error *err)
{
    static const pons__nav_leaf leaves[] = {
        {"Spin", false, spin},
        {"BackUp", false, back_up},
        {"DriveOnHeading", false, drive},
        {"Wait", false, wait_a_while},
        {"ClearEntireCostmap", false, clear, .what = ENTIRE},
        {"ClearCostmapAroundRobot", false, clear, .what = AROUND},
        {"ClearCostmapExceptRegion", false, clear, .what = EXCEPT},
        {"ClearCostmapAroundPose", false, clear, .what = AROUND_POSE},
        {"CancelControl", false, cancel, .what = PONS__CANCEL_FOLLOW},
        {"CancelSpin", false, cancel, .what = PONS__CANCEL_SPIN},
        {"CancelBackUp", false, cancel, .what = PONS__CANCEL_BACK_UP},
        {"CancelDriveOnHeading", false, cancel, .what = PONS__CANCEL_DRIVE},
        {"CancelWait", false, cancel, .what = PONS__CANCEL_WAIT},
    };
    return pons__nav_register(n, leaves, sizeof leaves / sizeof *leaves, err);
}
