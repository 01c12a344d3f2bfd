// follow_path.c - FollowPath: the controller behind a leaf.
//
// {path} is looked at in every tick. The same list of poses is the same path; another one is taken
// over without stopping, from where the robot is on it; an emptied one (a new goal has come) makes
// the robot stand until there is another.
//
//   103 INVALID_PATH             nothing to follow at the start
//   105 FAILED_TO_MAKE_PROGRESS  moved less than progress_m in progress_s. Progress is
//                                displacement: that far from the last anchor moves the anchor and
//                                restarts the clock. Turning to the final yaw is measured as an
//                                angle instead. Also: the rest of the path has had no new minimum,
//                                by NEARER_M, for SWAY times as long; a path that is longer by
//                                DETOUR_M begins this anew, DETOURS times.
//                                Where it failed is dear to the planner for a while.
//   106 NO_VALID_CONTROL         the local costmap shows something on the next stretch of the path,
//                                for PATIENCE_S; the robot stands before it meanwhile
#include "body/nav/tree.h"

#include <stdio.h>
#include <stdlib.h>

static const double PROGRESS_RAD = 0.1;
static const double AHEAD_FROM_M = 0.4, AHEAD_TO_M = 1.0; // the stretch that must be free
static const double PATIENCE_S = 3.0;
static const double NEARER_M = 0.25, SWAY = 3.0, DETOUR_M = 1.0;
static const int DETOURS = 3;
static const double AVOID_AHEAD_M = 0.35; // what is dear lies so far ahead on the path
static const double GAP_S = 0.5;          // not ticked for so long: that time does not count
static const char *const controllers[] = {
    "FollowPath", "nav2_regulated_pure_pursuit_controller::RegulatedPurePursuitController",
    "follow_path", "pons", NULL};
static const char *const samplers[] = {"DWB", "dwb_core::DWBLocalPlanner", "dwb", NULL};
static const char *const checkers[] = {"general_goal_checker",
                                       "goal_checker",
                                       "precise_goal_checker",
                                       "stopped_goal_checker",
                                       "progress_checker",
                                       "pons",
                                       NULL};

int pons__nav_follow_init(pons__nav *n)
{
    n->follow.path = calloc(1, sizeof *n->follow.path);
    return n->follow.path ? PONS_OK : PONS_ENOMEM;
}

void pons__nav_follow_fini(pons__nav *n)
{
    pons_value_unref(n->follow.poses);
    free(n->follow.path);
}

void pons__nav_follow_reset(pons__nav *n)
{
    pons__nav_follow *f = &n->follow;
    pons_value_unref(f->poses);
    f->poses = NULL;
    n->plan.valid = NULL;
    f->running = false;
    f->path->n = 0;
    f->remaining_m = NAN;
}

// Takes over what is on the board. False when that is no path at all.
static bool look_at_path(pons__nav *n, const pons_bt_call *call)
{
    pons__nav_follow *f = &n->follow;
    pons_autovalue value = pons__nav_in(call, "path");
    pons_value *poses = (pons_value *)(uintptr_t)pons__nav_poses(value);
    f->stopped = json_array_size(poses) == 0;
    if (f->stopped || poses == f->poses) {
        return true;
    }
    if (!pons__nav_path_read(value, f->path, &f->yaw, &f->has_yaw)) {
        return false;
    }
    pons_value_unref(f->poses);
    f->poses = pons_value_ref(poses);
    n->plan.valid = NULL;
    pons__follower_new_path(
        &f->f, fmin(fmax(pons_get_num(value, "from_m", 0.0), 0.0), pons__path_length(f->path)));
    f->blocked_ns = -1;
    return true;
}

static void set_anchor(pons__nav *n, bool turning)
{
    n->follow.anchor = n->pose;
    n->follow.anchor_ns = n->now_ns;
    n->follow.anchor_turning = turning;
}

static int begin(pons__nav *n, const pons_bt_call *call)
{
    pons__nav_follow *f = &n->follow;
    pons__nav_begin_leaf(n, call);
    n->cancels &= ~(unsigned)PONS__CANCEL_FOLLOW;
    char id[PONS__NAV_NAME_MAX];
    bool samples = false;
    static const char *const ports[] = {"controller_id", "goal_checker_id", "progress_checker_id"};
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
        pons__nav_in_text(call, ports[i], id, sizeof id);
        if (i == 0) {
            samples = *id && pons__nav_known(id, samplers);
        }
        if (!(i == 0 && samples) && !pons__nav_known(id, i == 0 ? controllers : checkers)) {
            return i == 0 ? pons__nav_fail_leaf(n, call, PONS_FOLLOW_INVALID_CONTROLLER,
                                                "there is no controller '%s' here, but %s and %s",
                                                id, controllers[0], samplers[0])
                          : pons__nav_fail_leaf(n, call, PONS_FOLLOW_INVALID_CONTROLLER,
                                                "%s '%s' is not known here", ports[i], id);
        }
    }
    pons__nav_follow_reset(n);
    pons__follower_begin(&f->f, n->twist);
    f->f.samples = samples;
    f->node = call->node;
    f->step_ns = n->now_ns;
    f->blocked_ns = -1;
    f->best_m = INFINITY;
    f->best_ns = n->now_ns;
    f->detours = 0;
    set_anchor(n, false);
    if (!look_at_path(n, call) || f->stopped) {
        pons__nav_follow_reset(n);
        return pons__nav_fail_leaf(n, call, PONS_FOLLOW_INVALID_PATH, "there is no path to follow");
    }
    f->running = true;
    return PONS_BT_RUNNING;
}

// Its beginning leads out of wherever the robot stands: only a thing right on it blocks it there.
static bool blocked(const pons__nav *n)
{
    const pons__nav_follow *f = &n->follow;
    const pons__costmap *g = n->grid[PONS__LOCAL];
    if (g->n_obstacles == 0 || f->f.phase == PONS__FOLLOW_ALIGN) {
        return false;
    }
    const double end = fmin(f->f.s + AHEAD_TO_M, pons__path_length(f->path));
    for (double s = f->f.s + g->res; s <= end; s += g->res) {
        double x, y;
        pons__path_at(f->path, s, &x, &y);
        const double need = s <= f->f.s + AHEAD_FROM_M ? g->res : n->params.radius_m;
        if ((double)pons__costmap_dist(g, x, y) < need) {
            return true;
        }
    }
    return false;
}

// To and fro is far enough from any anchor, and leads nowhere.
static bool sways(pons__nav *n, char *msg, size_t cap)
{
    pons__nav_follow *f = &n->follow;
    const bool detour = f->remaining_m > f->best_m + DETOUR_M && f->detours < DETOURS;
    if (f->remaining_m <= f->best_m - NEARER_M || detour || f->anchor_turning) {
        f->detours += detour;
        f->best_m = f->anchor_turning ? f->best_m : f->remaining_m;
        f->best_ns = n->now_ns;
        return false;
    }
    const double for_s = (double)(n->now_ns - f->best_ns) / (double)PONS_NS_PER_S;
    if (for_s < SWAY * n->params.progress_s) {
        return false;
    }
    snprintf(msg, cap, "%.2f m from the path's end, no nearer than %.2f m for %.1f s",
             f->remaining_m, f->best_m, for_s);
    return true;
}

static void avoid(pons__nav *n)
{
    double x, y;
    pons__path_at(n->follow.path, n->follow.f.s + AVOID_AHEAD_M, &x, &y);
    pons__planner_avoid(n->plan.planner, x, y, n->now_ns);
    pons__nav_plan_forget(n);
}

static bool is_stuck(pons__nav *n, char *msg, size_t cap)
{
    pons__nav_follow *f = &n->follow;
    const bool turning = f->f.phase == PONS__FOLLOW_ALIGN;
    const double moved = hypot(n->pose.x - f->anchor.x, n->pose.y - f->anchor.y);
    const double turned = fabs(pons_wrap_angle(n->pose.yaw - f->anchor.yaw));
    if (turning != f->anchor_turning ||
        (turning ? turned > PROGRESS_RAD : moved > n->params.progress_m)) {
        set_anchor(n, turning);
        return false;
    }
    const double for_s = (double)(n->now_ns - f->anchor_ns) / (double)PONS_NS_PER_S;
    if (for_s < n->params.progress_s) {
        return false;
    }
    if (turning) {
        snprintf(msg, cap, "turned %.2f rad in %.1f s, %.2f needed, at the goal", turned, for_s,
                 PROGRESS_RAD);
    } else {
        snprintf(msg, cap, "moved %.2f m in %.1f s, %.2f m needed, %.2f m from the path's end",
                 moved, for_s, n->params.progress_m, f->remaining_m);
    }
    return true;
}

static int step(pons__nav *n, const pons_bt_call *call)
{
    pons__nav_follow *f = &n->follow;
    const double gap_s = (double)(n->now_ns - f->step_ns) / (double)PONS_NS_PER_S;
    if (gap_s > GAP_S) {
        f->anchor_ns += n->now_ns - f->step_ns;
        f->best_ns += n->now_ns - f->step_ns;
    }
    f->step_ns = n->now_ns;
    f->f.cmd = n->cmd;
    if (f->stopped || !pons__nav_current(n, PONS__LOCAL)) {
        pons__nav_want(n, (pons_twist2){0.0, 0.0});
        const int64_t stood_ns = gap_s > GAP_S ? 0 : (int64_t)(n->dt_s * 1e9);
        f->anchor_ns += stood_ns;
        f->best_ns += stood_ns;
        return pons__nav_running(n, call);
    }
    const pons_twist2 cmd =
        pons__follower_step(&f->f, &n->params, n->grid[PONS__LOCAL], f->path,
                            f->has_yaw ? &f->yaw : NULL, n->pose, n->twist, n->dt_s);
    f->remaining_m = fmax(pons__path_length(f->path) - f->f.s, 0.0) + f->f.off_path;
    if (f->f.phase == PONS__FOLLOW_DONE) {
        return pons__nav_ok(n, call);
    }
    char msg[PONS__NAV_TEXT_MAX];
    if (is_stuck(n, msg, sizeof msg) || sways(n, msg, sizeof msg)) {
        avoid(n);
        return pons__nav_fail_leaf(n, call, PONS_FOLLOW_FAILED_TO_MAKE_PROGRESS, "%s", msg);
    }
    // Who tries velocities has seen what is on the path, and goes around it where it can.
    if ((f->f.samples && (cmd.v != 0.0 || cmd.w != 0.0)) || !blocked(n)) {
        f->blocked_ns = -1;
        n->want = cmd;
        n->limited = true;
        return pons__nav_running(n, call);
    }
    if (f->blocked_ns < 0) {
        f->blocked_ns = n->now_ns;
    }
    const double for_s = (double)(n->now_ns - f->blocked_ns) / (double)PONS_NS_PER_S;
    if (for_s > PATIENCE_S) {
        return pons__nav_fail_leaf(
            n, call, PONS_FOLLOW_NO_VALID_CONTROL,
            "the path is blocked within %.1f m for %.1f s, %.2f m from its end", AHEAD_TO_M, for_s,
            f->remaining_m);
    }
    pons__nav_want(n, (pons_twist2){0.0, 0.0});
    return pons__nav_running(n, call);
}

LEAF(follow_path)
{
    pons__nav_follow *f = &n->follow;
    if (call->reason == PONS_BT_HALT) {
        if (f->running && f->node == call->node) {
            pons__nav_follow_reset(n);
        }
        return PONS_BT_READY;
    }
    if (call->reason == PONS_BT_START) {
        const int s = begin(n, call);
        if (s != PONS_BT_RUNNING) {
            return s;
        }
    } else if (n->cancels & PONS__CANCEL_FOLLOW) {
        pons__nav_follow_reset(n);
        return pons__nav_ok(n, call);
    } else if (!look_at_path(n, call)) {
        pons__nav_follow_reset(n);
        return pons__nav_fail_leaf(n, call, PONS_FOLLOW_INVALID_PATH, "the new path has no poses");
    }
    const int s = step(n, call);
    if (s != PONS_BT_RUNNING) {
        pons__nav_follow_reset(n);
    }
    return s;
}

int pons__nav_follow_leaves(pons__nav *n, pons_error *err)
{
    static const pons__nav_leaf leaf = {"FollowPath", false, follow_path, .halts = true};
    return pons__nav_register(n, &leaf, 1, err);
}
