// nav.c - the navigator: plans, follows, notices that it does not get on, and recovers.
//
//                 ┌──────────────── path ───────────────┐
//     start ──► PLAN                                  FOLLOW ──► SUCCEEDED
//                 ▲ │ no path                           │ no progress, or the way is blocked
//                 │ ▼                                   ▼ and there is no other
//                 │        the recovery ladder, one rung each time
//                 └─── CLEAR ─ SPIN ─ WAIT ─ BACK UP ─── none left ──► FAILED
//
//   CLEAR    forget the obstacle layer, stand for half a second while scans fill it again
//   SPIN     a quarter turn, so that beams fall where none fell before
//   WAIT     someone may be in the way; looks for a path once a second meanwhile
//   BACK UP  a little, as far as it is free behind
//
// After each rung it plans anew. The ladder starts over once the robot is a metre nearer to the
// goal, along its path, than it ever was before the last rung: two blocked ways cannot send it to
// and fro for ever, with each CLEAR forgetting what the other had shown. FAILED carries the number
// and the measure of what started the last rung: 105 with how far in how long, 206–208 with the
// planner's words. What no recovery can change fails at once: places outside the map, and a goal
// that the map itself encloses.
//
// Progress is displacement: progress_m from the last anchor moves the anchor and restarts the
// clock. Turning to the final yaw is measured as an angle instead.
//
// Replanning. Every replan_s, but only when something has gone since the last plan or the path has
// become dearer, for else the answer would be the same; and the present path is kept unless the
// new one is clearly cheaper, so that two equal ways do not alternate. A path that has become
// blocked is replaced at once.
//
// One call a step, nothing allocated in it, no clock but its argument: the same calls give the same
// bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body/nav_parts.h"

enum {
    RUNGS = 4,
    RECOVERIES_MAX = 16 // of one navigation, however often the ladder starts over
};
static const double DT_NOMINAL_S = 0.05, DT_MAX_S = 0.2;
static const int64_t GAP_NS = PONS_NS_PER_S;              // not stepped for so long: was on hold
static const int64_t SETTLE_NS = PONS_NS_PER_S / 2;       // after clearing
static const int64_t BLOCKED_PLAN_NS = PONS_NS_PER_S / 5; // between plans around a blockage
static const int64_t WAIT_NS = 5 * PONS_NS_PER_S, WAIT_PLAN_NS = PONS_NS_PER_S;
static const double SPIN_RAD = M_PI / 2.0, SPIN_DONE_RAD = 0.1;
static const int64_t SPIN_MAX_NS = 5 * PONS_NS_PER_S;
static const double BACK_UP_M = 0.30, BACK_UP_MPS = 0.15;
static const int64_t BACK_UP_MAX_NS = 4 * PONS_NS_PER_S;
static const double LADDER_RESET_M = 1.0; // that much nearer than ever
static const double OFF_PATH_M = 0.40;
static const double CLEARLY_CHEAPER = 0.85, DEARER = 1.1;
static const double PROGRESS_RAD = 0.1;
static const double CRUISE_SHARE = 0.7; // of speed_max, for the time of arrival

typedef enum phase { PLAN, FOLLOW, CLEAR, SPIN, WAIT, BACK_UP } phase;

struct pons_nav {
    pons_grid *grid;        // borrowed
    pons_nav_params params; /* const */
    pons__planner *planner;
    pons__path *path, *candidate; // swapped when a candidate is taken
    pons__follower follower;

    pons_nav_status status;
    pons_pose2 goal;
    bool with_yaw;
    bool fresh; // started, not stepped yet
    phase phase;
    int error_code;
    char error_msg[160];
    int recoveries, replans;
    double remaining_m;
    double nearest_m; // the least that remained, ever

    int64_t step_ns;            // of the last step
    int64_t plan_ns;            // of the last attempt to plan
    uint32_t planned, openings; // the field's generation then, and its openings
    uint32_t checked;           // its generation when the path was last found free
    bool dearer;                // the path costs more than when it was planned

    pons_pose2 anchor; // of the progress check
    int64_t anchor_ns;
    bool anchor_turning;

    int rung;                // the next one
    pons_pose2 ladder_at;    // where the last one began
    double ladder_nearest_m; // and the least that had remained by then
    int64_t rung_ns;         // and when
    double turned;           // of a spin [rad]
    double last_yaw;
    int cause; // what the ladder is for
    char cause_msg[160];
};

typedef struct inputs {
    int64_t now_ns;
    double dt_s;
    pons_pose2 pose;
    pons_twist2 twist;
} inputs;

static void observe(pons_nav *n, const inputs *in, const pons_scan *scan);
static pons_twist2 run(pons_nav *n, const inputs *in);
static bool make_plan(pons_nav *n, const inputs *in);
static pons_twist2 follow(pons_nav *n, const inputs *in);
static pons_twist2 recovering(pons_nav *n, const inputs *in);
static void recover(pons_nav *n, const inputs *in);
static void fail(pons_nav *n, int code, const char *msg);
static void set_anchor(pons_nav *n, const inputs *in, bool turning);
static void fill(const pons_nav *n, const inputs *in, pons_twist2 cmd, pons_nav_output *ret);

const char *pons_nav_error_word(int code)
{
    switch (code) {
    case PONS_NAV_OK:
        return "OK";
    case PONS_FOLLOW_UNKNOWN:
        return "UNKNOWN";
    case PONS_FOLLOW_INVALID_CONTROLLER:
        return "INVALID_CONTROLLER";
    case PONS_FOLLOW_TF_ERROR:
    case PONS_PLAN_TF_ERROR:
        return "TF_ERROR";
    case PONS_FOLLOW_INVALID_PATH:
        return "INVALID_PATH";
    case PONS_FOLLOW_PATIENCE_EXCEEDED:
        return "PATIENCE_EXCEEDED";
    case PONS_FOLLOW_FAILED_TO_MAKE_PROGRESS:
        return "FAILED_TO_MAKE_PROGRESS";
    case PONS_FOLLOW_NO_VALID_CONTROL:
        return "NO_VALID_CONTROL";
    case PONS_PLAN_UNKNOWN:
        return "UNKNOWN";
    case PONS_PLAN_INVALID_PLANNER:
        return "INVALID_PLANNER";
    case PONS_PLAN_START_OUTSIDE_MAP:
        return "START_OUTSIDE_MAP";
    case PONS_PLAN_GOAL_OUTSIDE_MAP:
        return "GOAL_OUTSIDE_MAP";
    case PONS_PLAN_START_OCCUPIED:
        return "START_OCCUPIED";
    case PONS_PLAN_GOAL_OCCUPIED:
        return "GOAL_OCCUPIED";
    case PONS_PLAN_NO_VALID_PATH:
        return "NO_VALID_PATH";
    default:
        return "UNKNOWN";
    }
}

pons_nav *pons_nav_create(pons_grid *grid, const pons_nav_params *params)
{
    pons_nav *n = calloc(1, sizeof *n);
    if (!n) {
        return NULL;
    }
    n->grid = grid;
    n->params = *params;
    n->planner = pons__planner_create(grid, params->radius_m);
    n->path = calloc(1, sizeof *n->path);
    n->candidate = calloc(1, sizeof *n->candidate);
    if (!n->planner || !n->path || !n->candidate) {
        pons_nav_destroy(n);
        return NULL;
    }
    return n;
}

void pons_nav_destroy(pons_nav *n)
{
    if (!n) {
        return;
    }
    pons__planner_destroy(n->planner);
    free(n->path);
    free(n->candidate);
    free(n);
}

void pons_nav_start(pons_nav *n, pons_pose2 goal_in_map, bool with_yaw, int64_t now_ns)
{
    n->status = PONS_NAV_RUNNING;
    n->goal = goal_in_map;
    n->with_yaw = with_yaw;
    n->fresh = true;
    n->phase = PLAN;
    n->error_code = PONS_NAV_OK;
    n->error_msg[0] = '\0';
    n->cause = PONS_NAV_OK;
    n->cause_msg[0] = '\0';
    n->recoveries = n->replans = n->rung = 0;
    n->remaining_m = 0.0;
    n->path->n = 0;
    n->step_ns = n->plan_ns = n->rung_ns = n->anchor_ns = now_ns;
}

void pons_nav_cancel(pons_nav *n)
{
    n->status = PONS_NAV_IDLE;
    n->path->n = 0;
}

void pons_nav_step(pons_nav *n, int64_t now_ns, pons_pose2 pose_in_map, pons_twist2 twist,
                   const pons_scan *scan, pons_nav_output *ret)
{
    inputs in = {.now_ns = now_ns, .pose = pose_in_map, .twist = twist};
    in.dt_s = fmin((double)(now_ns - n->step_ns) / 1e9, DT_MAX_S);
    if (in.dt_s <= 0.0) {
        in.dt_s = DT_NOMINAL_S;
    }
    if (scan) {
        observe(n, &in, scan);
    }
    pons_twist2 cmd = {0.0, 0.0};
    if (n->status == PONS_NAV_RUNNING) {
        if (!isfinite(pose_in_map.x + pose_in_map.y + pose_in_map.yaw + twist.v + twist.w)) {
            fail(n, PONS_FOLLOW_TF_ERROR, "the robot's pose or speed is not a number");
        } else {
            cmd = run(n, &in);
        }
    }
    n->step_ns = now_ns;
    fill(n, &in, cmd, ret);
}

int pons_nav_path(const pons_nav *n, pons_pose2 *ret, int cap)
{
    const pons__path *p = n->path;
    if (n->status != PONS_NAV_RUNNING || p->n < 2 || cap < 2) {
        return 0;
    }
    int first = 0;
    while (first < p->n - 2 && p->s[first + 1] < n->follower.s) {
        first++;
    }
    const int have = p->n - first, count = have < cap ? have : cap;
    for (int k = 0; k < count; k++) {
        const int i = first + (int)((int64_t)k * (have - 1) / (count - 1));
        const int a = i > 0 ? i - 1 : 0, b = i < p->n - 1 ? i + 1 : i;
        ret[k] = (pons_pose2){p->x[i], p->y[i], atan2(p->y[b] - p->y[a], p->x[b] - p->x[a])};
    }
    return count;
}

// ---- the state machine ---------------------------------------------------------------------

// The body observes scans at the pose they were taken at; this is for those that it has not (the
// grid ignores a scan it knows), at the pose of then by the speed of now.
static void observe(pons_nav *n, const inputs *in, const pons_scan *scan)
{
    double age_s = (double)(in->now_ns - scan->stamp_ns) / 1e9;
    age_s = age_s < 0.0 || age_s > 1.0 ? 0.0 : age_s;
    const pons_pose2 then = {in->pose.x - in->twist.v * cos(in->pose.yaw) * age_s,
                             in->pose.y - in->twist.v * sin(in->pose.yaw) * age_s,
                             in->pose.yaw - in->twist.w * age_s};
    pons_grid_observe(n->grid, then, scan);
}

static pons_twist2 run(pons_nav *n, const inputs *in)
{
    if (n->fresh) {
        n->fresh = false;
        pons__follower_begin(&n->follower, in->twist);
        n->remaining_m = hypot(n->goal.x - in->pose.x, n->goal.y - in->pose.y);
        n->nearest_m = INFINITY;
        set_anchor(n, in, false);
    }
    if (in->now_ns - n->step_ns > GAP_NS) { // on hold meanwhile: that time does not count
        n->anchor_ns += in->now_ns - n->step_ns;
        n->rung_ns += in->now_ns - n->step_ns;
    }
    if (n->phase == PLAN) {
        if (make_plan(n, in)) {
            n->phase = FOLLOW;
            set_anchor(n, in, false);
        } else {
            recover(n, in);
        }
    }
    if (n->status != PONS_NAV_RUNNING) {
        return (pons_twist2){0.0, 0.0};
    }
    return n->phase == FOLLOW ? follow(n, in) : recovering(n, in);
}

// Plans into n->candidate; on failure n->cause says why.
static bool plan_candidate(pons_nav *n, const inputs *in)
{
    n->plan_ns = in->now_ns;
    char msg[sizeof n->cause_msg];
    const int code =
        pons__planner_plan(n->planner, in->pose, n->goal, n->candidate, msg, sizeof msg);
    n->planned = n->grid->generation;
    n->openings = n->grid->openings;
    n->dearer = false;
    if (code != PONS_NAV_OK) {
        n->cause = code;
        memcpy(n->cause_msg, msg, sizeof msg);
        return false;
    }
    return true;
}

static void take_candidate(pons_nav *n)
{
    pons__path *t = n->path;
    n->path = n->candidate;
    n->candidate = t;
    n->checked = n->planned;
    n->remaining_m = pons__path_length(n->path);
    pons__follower_new_path(&n->follower);
}

static bool make_plan(pons_nav *n, const inputs *in)
{
    if (!plan_candidate(n, in)) {
        return false;
    }
    take_candidate(n);
    return true;
}

// A changed field: is the path still free, and may there be a better one? False when there is none
// at all.
static bool keep_path_good(pons_nav *n, const inputs *in)
{
    const int64_t since_ns = in->now_ns - n->plan_ns;
    const bool due = since_ns >= (int64_t)(n->params.replan_s * 1e9);
    const bool lost_path = due && n->follower.off_path > OFF_PATH_M;
    const bool may_be_better = due && (n->dearer || n->grid->openings != n->openings);
    if (n->grid->generation == n->checked && !may_be_better && !lost_path) {
        return true;
    }
    double planned;
    const double left = pons__planner_cost_from(n->planner, n->path, n->follower.s, &planned);
    if (isinf(left)) { // not marked as checked: looked at again until there is another
        if (since_ns < BLOCKED_PLAN_NS) {
            return true;
        }
        n->replans++;
        return make_plan(n, in);
    }
    n->checked = n->grid->generation;
    n->dearer = left > DEARER * planned;
    if (!may_be_better && !lost_path) {
        return true;
    }
    if (!plan_candidate(n, in)) {
        return true; // the present one is free
    }
    if (lost_path || n->candidate->left[0] < CLEARLY_CHEAPER * left ||
        n->candidate->moved_goal != n->path->moved_goal) {
        n->replans++;
        take_candidate(n);
    }
    return true;
}

static void set_anchor(pons_nav *n, const inputs *in, bool turning)
{
    n->anchor = in->pose;
    n->anchor_ns = in->now_ns;
    n->anchor_turning = turning;
}

// True when too little has happened for too long; n->cause says so.
static bool is_stuck(pons_nav *n, const inputs *in)
{
    const bool turning = n->follower.phase == PONS__FOLLOW_ALIGN;
    const double moved = hypot(in->pose.x - n->anchor.x, in->pose.y - n->anchor.y);
    const double turned = fabs(pons_wrap_angle(in->pose.yaw - n->anchor.yaw));
    if (turning != n->anchor_turning ||
        (turning ? turned > PROGRESS_RAD : moved > n->params.progress_m)) {
        set_anchor(n, in, turning);
        return false;
    }
    const double for_s = (double)(in->now_ns - n->anchor_ns) / 1e9;
    if (for_s < n->params.progress_s) {
        return false;
    }
    n->cause = PONS_FOLLOW_FAILED_TO_MAKE_PROGRESS;
    if (turning) {
        snprintf(n->cause_msg, sizeof n->cause_msg,
                 "turned %.2f rad in %.1f s, %.2f needed, at the goal", turned, for_s,
                 PROGRESS_RAD);
    } else {
        snprintf(n->cause_msg, sizeof n->cause_msg,
                 "moved %.2f m in %.1f s, %.2f m needed, %.2f m from the goal", moved, for_s,
                 n->params.progress_m, n->remaining_m);
    }
    return true;
}

static pons_twist2 follow(pons_nav *n, const inputs *in)
{
    if (n->follower.phase != PONS__FOLLOW_ALIGN && !keep_path_good(n, in)) {
        recover(n, in);
        return (pons_twist2){0.0, 0.0};
    }
    const pons_twist2 cmd =
        pons__follower_step(&n->follower, &n->params, n->grid, n->path,
                            n->with_yaw ? &n->goal.yaw : NULL, in->pose, in->twist, in->dt_s);
    n->remaining_m = fmax(pons__path_length(n->path) - n->follower.s, 0.0) + n->follower.off_path;
    n->nearest_m = fmin(n->nearest_m, n->remaining_m);
    if (n->nearest_m < n->ladder_nearest_m - LADDER_RESET_M) {
        n->rung = 0;
    }
    if (n->follower.phase == PONS__FOLLOW_DONE) {
        n->status = PONS_NAV_SUCCEEDED;
        return (pons_twist2){0.0, 0.0};
    }
    if (is_stuck(n, in)) {
        recover(n, in);
        return (pons_twist2){0.0, 0.0};
    }
    return cmd;
}

// ---- recoveries ----------------------------------------------------------------------------

static void fail(pons_nav *n, int code, const char *msg)
{
    n->status = PONS_NAV_FAILED;
    n->error_code = code;
    snprintf(n->error_msg, sizeof n->error_msg, "%s", msg);
}

// No recovery changes the edges of the map, nor a map that holds no obstacle to go away.
static bool is_hopeless(const pons_nav *n)
{
    switch (n->cause) {
    case PONS_PLAN_START_OUTSIDE_MAP:
    case PONS_PLAN_GOAL_OUTSIDE_MAP:
        return true;
    case PONS_PLAN_GOAL_OCCUPIED:
    case PONS_PLAN_NO_VALID_PATH:
        return n->grid->n_seen == 0 || n->recoveries >= RECOVERIES_MAX;
    default:
        return n->recoveries >= RECOVERIES_MAX;
    }
}

// Climbs a rung, or fails for n->cause.
static void recover(pons_nav *n, const inputs *in)
{
    static const phase rungs[RUNGS] = {CLEAR, SPIN, WAIT, BACK_UP};
    if (n->rung >= RUNGS || is_hopeless(n)) {
        char msg[sizeof n->error_msg];
        const int len = snprintf(msg, sizeof msg, "%.120s", n->cause_msg);
        if (n->recoveries > 0) {
            snprintf(msg + len, sizeof msg - (size_t)len, "; %d recoveries tried", n->recoveries);
        }
        fail(n, n->cause, msg);
        return;
    }
    n->phase = rungs[n->rung++];
    n->recoveries++;
    n->rung_ns = n->plan_ns = in->now_ns;
    n->ladder_at = in->pose;
    n->ladder_nearest_m = n->nearest_m;
    n->turned = 0.0;
    n->last_yaw = in->pose.yaw;
    pons__follower_begin(&n->follower, in->twist);
    if (n->phase == CLEAR) {
        pons_grid_clear_obstacles(n->grid);
    }
}

static bool spin_step(pons_nav *n, const inputs *in, int64_t for_ns, pons_twist2 *want)
{
    n->turned += pons_wrap_angle(in->pose.yaw - n->last_yaw);
    n->last_yaw = in->pose.yaw;
    const double left = SPIN_RAD - n->turned;
    want->w = pons__turn_rate(&n->params, left);
    return left < SPIN_DONE_RAD || for_ns >= SPIN_MAX_NS;
}

static bool wait_step(pons_nav *n, const inputs *in, int64_t for_ns)
{
    // Waiting is for a way to open; a robot that had a way and did not move waits it out.
    if (n->cause != PONS_FOLLOW_FAILED_TO_MAKE_PROGRESS && for_ns < WAIT_NS &&
        n->grid->generation != n->planned && in->now_ns - n->plan_ns >= WAIT_PLAN_NS) {
        return plan_candidate(n, in);
    }
    return for_ns >= WAIT_NS;
}

static bool back_up_step(pons_nav *n, const inputs *in, int64_t for_ns, pons_twist2 *want)
{
    const double back = hypot(in->pose.x - n->ladder_at.x, in->pose.y - n->ladder_at.y);
    const double cx = cos(in->pose.yaw), cy = sin(in->pose.yaw);
    // Room behind: a little further back is not nearer to anything than the robot's edge.
    const double behind_m = 0.10;
    const double room =
        pons_grid_clearance(n->grid, in->pose.x - behind_m * cx, in->pose.y - behind_m * cy);
    want->v = -fmin(BACK_UP_MPS, n->params.speed_max_mps);
    return back >= BACK_UP_M || room < n->params.radius_m || for_ns >= BACK_UP_MAX_NS;
}

static pons_twist2 recovering(pons_nav *n, const inputs *in)
{
    const int64_t for_ns = in->now_ns - n->rung_ns;
    pons_twist2 want = {0.0, 0.0};
    bool done = false;
    switch (n->phase) {
    case CLEAR:
        done = for_ns >= SETTLE_NS;
        break;
    case SPIN:
        done = spin_step(n, in, for_ns, &want);
        break;
    case WAIT:
        done = wait_step(n, in, for_ns);
        break;
    case BACK_UP:
        done = back_up_step(n, in, for_ns, &want);
        break;
    case PLAN:
    case FOLLOW:
        break;
    }
    if (done) {
        n->phase = PLAN;
        n->replans++;
        n->follower.cmd = (pons_twist2){0.0, 0.0};
        return (pons_twist2){0.0, 0.0};
    }
    n->follower.cmd = pons__limit_accel(&n->params, n->follower.cmd, in->twist, want, in->dt_s);
    return n->follower.cmd;
}

static void fill(const pons_nav *n, const inputs *in, pons_twist2 cmd, pons_nav_output *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->status = n->status;
    ret->recoveries = n->recoveries;
    ret->replans = n->replans;
    if (n->status == PONS_NAV_FAILED) {
        ret->error_code = n->error_code;
        memcpy(ret->error_msg, n->error_msg, sizeof ret->error_msg);
    }
    if (n->status != PONS_NAV_RUNNING) {
        ret->distance_remaining_m = n->status == PONS_NAV_FAILED ? n->remaining_m : 0.0;
        return;
    }
    ret->cmd = cmd;
    ret->distance_remaining_m = n->remaining_m;
    const double turn = n->with_yaw ? fabs(pons_wrap_angle(n->goal.yaw - in->pose.yaw)) : 0.0;
    ret->eta_s = n->remaining_m / (CRUISE_SHARE * n->params.speed_max_mps) +
                 turn / n->params.yaw_rate_max_radps;
}
