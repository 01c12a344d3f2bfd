// compute_path.c - the planner's leaves: ComputePathToPose, ComputePathThroughPoses, SmoothPath.
//
// A tree asks for a path once a second or so, and most of the time nothing has changed. So the path
// that was given last is kept, and given again, as long as
//
//     it leads to the same goals  ·  it is free  ·  the robot is near it
//
// and, when an obstacle has gone or the path has become dearer than it was planned, the new one is
// not clearly cheaper: two equal ways must not alternate. A path that is given again has the very
// same list of poses, by which FollowPath knows it.
//
// A plan takes its time in a large map, and nothing else may wait for it: it is a job that goes on in
// steps, one in each tick that asks for it and as many between the ticks as there is time for
// (pons__nav_think). Meanwhile the answer is RUNNING, and FollowPath goes on with what it has. In a
// house a step is enough. Another request, or a halt, drops the job.
//
//     asked --> begin leg 1 --> step … --> begin leg 2 … --> measured: the candidate
//
// While the global costmap waits for its first scans after it was cleared, the answer is RUNNING; a
// lidar that says nothing for CURRENT_MAX_S ends that with TIMEOUT.
#include "body/nav/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double OFF_PATH_M = 0.40;
static const double CLEARLY_CHEAPER = 0.85, DEARER = 1.1;
static const double SEARCH_M = 3.0; // how far along the kept path the robot may have come
static const double CURRENT_MAX_S = 3.0;
enum { STEP_CELLS = 60000 }; // of a tick: some milliseconds, and more than a house has
// The names that Nav2's configurations give them, and the plugins that do the same there, by what they look
// for: a search on the costmap's cells, without a heading; one with headings for a base that may turn where
// it stands; and one for a base that drives curves.
static const char *const planners[][8] = {
    [PONS__PLAN_CELLS] = {"GridBased", "nav2_navfn_planner::NavfnPlanner",
                          "nav2_smac_planner::SmacPlanner2D",
                          "nav2_theta_star_planner::ThetaStarPlanner", "grid_based", "pons", NULL},
    [PONS__PLAN_TURNS] = {"Lattice", "nav2_smac_planner::SmacPlannerLattice", "SmacLattice",
                          "lattice", NULL},
    [PONS__PLAN_CURVES] = {"Hybrid", "nav2_smac_planner::SmacPlannerHybrid", "SmacHybrid", "hybrid",
                           NULL},
};
static const char *const smoothers[] = {"SmoothPath",
                                        "nav2_smoother::SimpleSmoother",
                                        "simple_smoother",
                                        "smooth_path",
                                        "route_smoother",
                                        "pons",
                                        NULL};

typedef pons__nav_request request;

int pons__nav_plan_init(pons__nav *n)
{
    pons__nav_plan *p = &n->plan;
    p->planner =
        pons__planner_create_for(n->grid[PONS__GLOBAL], &n->shape, n->params.turning_radius_m);
    p->kept = calloc(1, sizeof *p->kept);
    p->candidate = calloc(1, sizeof *p->candidate);
    p->leg = calloc(1, sizeof *p->leg);
    return p->planner && p->kept && p->candidate && p->leg ? PONS_OK : PONS_ENOMEM;
}

void pons__nav_plan_forget(pons__nav *n)
{
    pons_value_unref(n->plan.poses);
    pons_value_unref(n->plan.goals);
    n->plan.poses = n->plan.goals = NULL;
}

void pons__nav_plan_drop(pons__nav *n)
{
    pons__nav_job *j = &n->plan.job;
    if (j->active) {
        pons__planner_drop(n->plan.planner);
        pons_value_unref((pons_value *)(uintptr_t)j->asked.list);
    }
    j->active = false;
    j->asked.list = NULL;
}

void pons__nav_plan_fini(pons__nav *n)
{
    pons__nav_plan_drop(n);
    pons__nav_plan_forget(n);
    pons__planner_destroy(n->plan.planner);
    free(n->plan.kept);
    free(n->plan.candidate);
    free(n->plan.leg);
}

static bool read_request(pons__nav *n, const pons_bt_call *call, bool through, pons_value *list,
                         request *ret)
{
    pons_pose2 start;
    if (pons__nav_in_bool(call, "use_start", true) &&
        pons__nav_in_pose(call, "start", &start, NULL)) {
        ret->start = start;
        ret->from_here = false;
    }
    if (!through) {
        ret->n = 1;
        return pons__nav_in_pose(call, "goal", &ret->goals[0], &ret->any_yaw);
    }
    const pons_value *poses = json_is_array(list) ? list : pons_get(list, "goals");
    for (size_t i = 0; i < json_array_size(poses); i++) {
        if (ret->n == PONS_NAV_POSES_MAX ||
            !pons__nav_pose_read(json_array_get(poses, i), &ret->goals[ret->n++], &ret->any_yaw)) {
            return false;
        }
    }
    return ret->n > 0;
}

static void keep(pons__nav *n, const request *r)
{
    pons__nav_plan *p = &n->plan;
    pons__path *t = p->kept;
    p->kept = p->candidate;
    p->candidate = t;
    pons__nav_plan_forget(n);
    p->goals = pons_value_ref(r->list);
    p->kind = r->kind;
    p->poses = pons__nav_poses_of(p->kept, 0.0, pons__path_length(p->kept),
                                  r->any_yaw ? NULL : &r->goals[r->n - 1].yaw);
    p->s = p->off_path = 0.0;
    p->checked = p->planned;
    p->dearer = false;
}

// Of several goals the message says which one it is about.
static void end_leg(pons__nav_job *j, int code)
{
    const size_t at = strlen(j->msg);
    j->code = code;
    if (code != PONS__PLAN_GOES_ON && code != PONS_NAV_OK && j->asked.n > 1) {
        snprintf(j->msg + at, sizeof j->msg - at, " (goal %d of %d)", j->leg + 1, j->asked.n);
    }
}

static void begin_leg(pons__nav *n)
{
    const pons__nav_plan *p = &n->plan;
    pons__nav_job *j = &n->plan.job;
    pons_pose2 from = j->asked.start, to = j->asked.goals[j->leg];
    if (j->leg > 0) {
        const pons__path *before = p->candidate; // what there is so far
        const int last = before->n - 1, near = last > 0 ? last - 1 : 0;
        from = (pons_pose2){
            before->x[last], before->y[last],
            atan2(before->y[last] - before->y[near], before->x[last] - before->x[near])};
    }
    if (j->asked.any_yaw || j->leg < j->asked.n - 1) {
        to.yaw = NAN;
    }
    pons__planner_use(p->planner, j->asked.kind);
    end_leg(j, pons__planner_begin(p->planner, from, to, j->msg, sizeof j->msg));
}

static void begin_job(pons__nav *n, const request *r)
{
    pons__nav_job *j = &n->plan.job;
    pons__nav_plan_drop(n);
    *j = (pons__nav_job){.active = true, .asked = *r};
    pons_value_ref(r->list);
    pons__planner_now(n->plan.planner, n->now_ns);
    begin_leg(n);
}

// Joins a leg to a path; when there is no room, every second point of both goes.
static void append(pons__path *path, const pons__path *leg)
{
    int stride = 1;
    if (path->n + leg->n > PONS__PATH_MAX - 2) {
        int kept = 0;
        for (int i = 0; i < path->n; i += 2) {
            path->x[kept] = path->x[i];
            path->y[kept++] = path->y[i];
        }
        path->n = kept;
        stride = 2 + (kept + leg->n / 2 > PONS__PATH_MAX - 2 ? leg->n / (PONS__PATH_MAX / 2) : 0);
    }
    for (int i = 1; i < leg->n && path->n < PONS__PATH_MAX - 1; i += stride) {
        path->x[path->n] = leg->x[i];
        path->y[path->n++] = leg->y[i];
    }
    path->x[path->n] = leg->x[leg->n - 1];
    path->y[path->n++] = leg->y[leg->n - 1];
    path->moved_goal = leg->moved_goal;
}

// A house's legs are short: all of them in one step.
static void step_job(pons__nav *n, int cells)
{
    pons__nav_plan *p = &n->plan;
    pons__nav_job *j = &p->job;
    do {
        pons__path *to = j->leg == 0 ? p->candidate : p->leg;
        end_leg(j, pons__planner_step(p->planner, cells, to, j->msg, sizeof j->msg));
        if (j->code != PONS_NAV_OK) {
            return;
        }
        if (j->leg > 0) {
            append(p->candidate, to);
        }
        if (++j->leg < j->asked.n) {
            begin_leg(n);
        }
    } while (j->code == PONS__PLAN_GOES_ON && !pons__planner_is_large(p->planner));
    if (j->code == PONS_NAV_OK && j->asked.n > 1) {
        pons__planner_measure(p->planner, p->candidate);
    }
}

// The candidate, or why there is none; or that it goes on.
static int plan_legs(pons__nav *n, const request *r, char *msg, size_t cap)
{
    pons__nav_job *j = &n->plan.job;
    const request *of = &j->asked;
    const bool same = j->active && of->from_here == r->from_here && of->kind == r->kind &&
                      json_equal(of->list, r->list) &&
                      (r->from_here || (of->start.x == r->start.x && of->start.y == r->start.y &&
                                        of->start.yaw == r->start.yaw));
    if (!same) {
        begin_job(n, r);
    }
    if (j->code == PONS__PLAN_GOES_ON) {
        step_job(n, STEP_CELLS);
    }
    if (j->code == PONS__PLAN_GOES_ON) {
        return j->code;
    }
    snprintf(msg, cap, "%s", j->msg);
    const int code = j->code;
    pons__nav_plan_drop(n);
    return code;
}

// A path from where the robot is ends up in kept, another one in candidate.
static int path_for(pons__nav *n, const request *r, char *msg, size_t cap)
{
    pons__nav_plan *p = &n->plan;
    const pons__costmap *grid = n->grid[PONS__GLOBAL];
    if (!r->from_here) {
        return plan_legs(n, r, msg, cap);
    }
    bool better = false, lost = false;
    double left = 0.0;
    const bool same = p->poses && p->kind == r->kind && json_equal(p->goals, r->list);
    if (same) {
        if (n->follow.running && n->follow.poses == p->poses) {
            p->s = fmax(p->s, n->follow.f.s);
            p->off_path = n->follow.f.off_path;
        } else {
            p->s = pons__path_project(p->kept, p->s, SEARCH_M, n->pose, &p->off_path);
        }
        double planned;
        lost = p->off_path > OFF_PATH_M;
        better = p->dearer || grid->openings != p->openings;
        if (grid->generation == p->checked && !better && !lost) {
            return PONS_NAV_OK;
        }
        left = pons__planner_cost_from(p->planner, p->kept, p->s, &planned);
        p->checked = grid->generation;
        p->dearer = left > DEARER * planned;
        if (isfinite(left) && !lost && !p->dearer && grid->openings == p->openings) {
            return PONS_NAV_OK;
        }
    }
    const int code = plan_legs(n, r, msg, cap);
    if (code == PONS__PLAN_GOES_ON) {
        return code;
    }
    p->planned = grid->generation;
    p->openings = grid->openings;
    if (same && isfinite(left)) {
        p->dearer = false; // the answer will be the same until something changes
        if (code != PONS_NAV_OK || (!lost && p->candidate->left[0] >= CLEARLY_CHEAPER * left &&
                                    p->candidate->moved_goal == p->kept->moved_goal)) {
            return PONS_NAV_OK; // the present one is free
        }
    }
    if (code != PONS_NAV_OK) {
        pons__nav_plan_forget(n);
        return code;
    }
    p->replans += same;
    keep(n, r);
    return PONS_NAV_OK;
}

LEAF(compute) // what: 1 for several goals
{
    const bool through = what != 0;
    const int more = through ? PONS_NAV_THROUGH : 0;
    if (call->reason == PONS_BT_HALT) {
        pons__nav_plan_drop(n);
        return PONS_BT_READY;
    }
    if (call->reason == PONS_BT_START) {
        pons__nav_begin_leaf(n, call);
    }
    if (!pons__nav_current(n, PONS__GLOBAL)) {
        return pons__nav_run_s(n, call) > CURRENT_MAX_S
                   ? pons__nav_fail_leaf(n, call, PONS_PLAN_TIMEOUT + more,
                                         "no scan for %.1f s after the costmap was cleared",
                                         CURRENT_MAX_S)
                   : pons__nav_running(n, call);
    }
    char planner[PONS__NAV_NAME_MAX], msg[PONS__NAV_TEXT_MAX];
    pons__plan_kind kind = PONS__PLAN_CELLS;
    pons__nav_in_text(call, "planner_id", planner, sizeof planner);
    while (kind <= PONS__PLAN_CURVES && !pons__nav_known(planner, planners[kind])) {
        kind++;
    }
    if (kind > PONS__PLAN_CURVES) {
        return pons__nav_fail_leaf(n, call, PONS_PLAN_INVALID_PLANNER + more,
                                   "there is no planner '%s' here, but %s, %s and %s", planner,
                                   planners[PONS__PLAN_CELLS][0], planners[PONS__PLAN_TURNS][0],
                                   planners[PONS__PLAN_CURVES][0]);
    }
    pons_autovalue list = pons__nav_in(call, through ? "goals" : "goal");
    request r = {.start = n->pose, .from_here = true, .kind = kind, .list = list};
    if (!read_request(n, call, through, list, &r)) {
        return r.n == 0 && through ? pons__nav_fail_leaf(n, call, PONS_PLAN_NO_VIAPOINTS_GIVEN,
                                                         "no goals are given")
                                   : pons__nav_fail_leaf(n, call, PONS_PLAN_UNKNOWN + more,
                                                         "the goal is no pose in the map");
    }
    const int code = path_for(n, &r, msg, sizeof msg);
    if (code == PONS__PLAN_GOES_ON) {
        return pons__nav_running(n, call);
    }
    if (code != PONS_NAV_OK) {
        return pons__nav_fail_leaf(n, call, code == PONS_PLAN_KEEP_OUT ? code : code + more, "%s",
                                   msg);
    }
    if (r.from_here) {
        const pons__nav_plan *p = &n->plan;
        pons__nav_out(call, "path",
                      pons__nav_path_value(pons_value_ref(p->poses), p->s,
                                           pons__path_length(p->kept) - p->s));
    } else {
        const pons__path *p = n->plan.candidate;
        const double length = pons__path_length(p);
        pons_value *poses =
            pons__nav_poses_of(p, 0.0, length, r.any_yaw ? NULL : &r.goals[r.n - 1].yaw);
        pons__nav_out(call, "path", pons__nav_path_value(poses, 0.0, length));
    }
    return pons__nav_ok(n, call);
}

LEAF(smooth)
{
    pons__nav_begin_leaf(n, call);
    char id[PONS__NAV_NAME_MAX];
    if (!pons__nav_known(pons__nav_in_text(call, "smoother_id", id, sizeof id), smoothers)) {
        return pons__nav_fail_leaf(n, call, PONS_SMOOTH_INVALID_SMOOTHER,
                                   "there is no smoother '%s' here, but %s and %s", id,
                                   smoothers[0], smoothers[1]);
    }
    pons_autovalue in = pons__nav_in(call, "unsmoothed_path");
    pons__path *path = n->plan.leg;
    double yaw;
    bool has_yaw;
    if (!in || !pons__nav_path_read(in, path, &yaw, &has_yaw)) {
        return pons__nav_fail_leaf(n, call, PONS_SMOOTH_INVALID_PATH, "there is no path to smooth");
    }
    pons__planner_smooth(n->plan.planner, path);
    pons__planner_measure(n->plan.planner, path);
    double planned;
    const double from = fmin(pons_get_num(in, "from_m", 0.0), pons__path_length(path));
    if (pons__nav_in_bool(call, "check_for_collisions", false) &&
        !isfinite(pons__planner_cost_from(n->plan.planner, path, from, &planned))) {
        return pons__nav_fail_leaf(n, call, PONS_SMOOTH_IN_COLLISION,
                                   "the smoothed path is not free");
    }
    const double length = pons__path_length(path);
    pons__nav_out(
        call, "smoothed_path",
        pons__nav_path_value(pons__nav_poses_of(path, from, length, has_yaw ? &yaw : NULL), 0.0,
                             length - from));
    pons__nav_out(call, "smoothing_duration", json_real(0.0));
    pons__nav_out(call, "was_completed", json_true());
    return pons__nav_ok(n, call);
}

int pons__nav_plan_leaves(pons__nav *n, pons_error *err)
{
    static const pons__nav_leaf leaves[] = {
        {"ComputePathToPose", false, compute, .halts = true},
        {"ComputePathThroughPoses", false, compute, .what = 1, .halts = true},
        {"SmoothPath", false, smooth},
    };
    return pons__nav_register(n, leaves, sizeof leaves / sizeof *leaves, err);
}

bool pons__nav_think(pons__nav *n, int cells)
{
    const pons__nav_job *j = &n->plan.job;
    if (n->status != PONS_NAV_RUNNING || n->hold_from_ns >= 0) {
        return false;
    }
    if (j->active && j->code == PONS__PLAN_GOES_ON) {
        step_job(n, cells);
    }
    return j->active && j->code == PONS__PLAN_GOES_ON;
}
