// navigator.c - the navigator: a behaviour tree drives, and this gives it its goal, its ticks and its
// leaves.
//
//     goal --> load the tree --> {goal} on the board --> tick --> tick … --> SUCCESS -> succeeded
//                  | faults            ^ {path} emptied    |                 FAILURE -> code
//                  v                   |                   v
//                refused       another goal, same tree   leaves: planner, controller, motions,
//                                                        costmaps (compute_path.c, follow_path.c, …)
//
// The tree is Nav2's kind, BehaviorTree.CPP v4 XML: trees/navigate_to_pose.xml and
// trees/navigate_through_poses.xml are pons' own, and a goal may name another. All that a
// navigation does stands in its tree; what the leaves can do, and what their error numbers are, is
// Nav2's (docs/reference/navigation.md has the list).
//
// A leaf never waits: it answers RUNNING and is ticked again, 20 times a second of robot time. Of
// the leaves that want a velocity, the last one in a tick has it; when none wants one, the robot
// slows down to rest.
//
// Its result's number is the smallest that is not 0 of the board's *_error_code entries, as
// Nav2's is; of a tree without any, that of the leaf that failed last. The message says what that
// leaf measured, and names it by its path in the tree.
//
// Times are robot time without what was spent on hold: a tree that is held keeps its place, and its
// timers stand still. One call a step; no clock but its argument, no randomness: the same calls
// give the same bytes.
#include "body/nav/tree.h"
#include "pons/module.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double DT_NOMINAL_S = 0.05, DT_MAX_S = 0.2;
static const int64_t GAP_NS = PONS_NS_PER_S; // not stepped for so long: was on hold
static const double LOCAL_REACH_M = 3.0;
static const double CRUISE_SHARE = 0.7; // of speed_max, for the time of arrival
static const double STILL_MPS = 0.01, STILL_RADPS = 0.03, TOLD_MPS = 0.03, TOLD_RADPS = 0.1;
#define TREE_TO_POSE "trees/navigate_to_pose.xml"
#define TREE_THROUGH "trees/navigate_through_poses.xml"

typedef struct prepared { // a goal's tree, ready to begin
    char file[PATH_MAX];
    int64_t stamp[3];
    pons_bt_tree *tree;
    uint32_t nodes;
} prepared;

const char *pons__nav_error_word(int code)
{
    const int third = code / 100;
    if ((third == 3 && code != PONS_PLAN_NO_VIAPOINTS_GIVEN) || third == 91) {
        code -= PONS_NAV_THROUGH;
    }
    switch (code) {
#define PONS_NAV_ERROR_WORD(sym, num, word)                                                        \
    case num:                                                                                      \
        return word;
        PONS_NAV_ERROR_TABLE(PONS_NAV_ERROR_WORD)
#undef PONS_NAV_ERROR_WORD
    default:
        return "UNKNOWN";
    }
}

// ---- life ---------------------------------------------------------------------------------------

pons__nav *pons__nav_create(pons__costmap *grid, const pons__nav_params *params)
{
    pons__nav *n = calloc(1, sizeof *n);
    if (!n) {
        return NULL;
    }
    n->grid[PONS__GLOBAL] = grid;
    n->grid[PONS__LOCAL] = pons__local_costmap_create(grid, LOCAL_REACH_M);
    const pons_footprint f =
        params->footprint.n > 0 ? params->footprint : pons_footprint_circle(params->radius_m);
    pons__shape_of(&f, &n->shape);
    n->params = *params;
    n->params.shape = &n->shape;
    n->params.radius_m = n->shape.inscribed_m; // what costmaps are asked by, as Nav2 has it
    n->hold_from_ns = n->still_ns = n->no_motion_ns = -1;
    n->scan_ns[PONS__LOCAL] = n->scan_ns[PONS__GLOBAL] = INT64_MIN;
    n->leaves = pons_bt_registry_create();
    if (!n->grid[PONS__LOCAL] || !n->leaves || pons__nav_plan_init(n) < 0 ||
        pons__nav_follow_init(n) < 0 || pons__nav_plan_leaves(n, NULL) < 0 ||
        pons__nav_follow_leaves(n, NULL) < 0 || pons__nav_behave_leaves(n, NULL) < 0 ||
        pons__nav_node_leaves(n, NULL) < 0) {
        pons__nav_destroy(n);
        return NULL;
    }
    return n;
}

static void drop_tree(pons__nav *n)
{
    pons_bt_tree_destroy(n->tree);
    free(n->runs);
    free(n->file);
    n->tree = NULL;
    n->runs = NULL;
    n->file = NULL;
}

void pons__nav_destroy(pons__nav *n)
{
    if (!n) {
        return;
    }
    drop_tree(n);
    pons_bt_registry_destroy(n->leaves);
    pons__nav_plan_fini(n);
    pons__nav_follow_fini(n);
    pons__costmap_destroy(n->grid[PONS__LOCAL]);
    free(n->workspace);
    free(n);
}

int pons__nav_workspace(pons__nav *n, const char *dir, pons_error *err)
{
    char *copy = dir ? strdup(dir) : NULL;
    if (dir && !copy) {
        return pons_error_set(err, PONS_ENOMEM, "nav", "no memory for a path");
    }
    free(n->workspace);
    n->workspace = copy;
    return PONS_OK;
}

// ---- the step -----------------------------------------------------------------------------------

void pons__nav_sense(pons__nav *n, const pons__nav_senses *s)
{
    n->senses = *s;
    n->sensed = true;
}

void pons__nav_observe(pons__nav *n, pons_pose2 pose_in_map, const pons_scan *scan)
{
    pons__costmap *local = n->grid[PONS__LOCAL];
    const pons__costmap *global = n->grid[PONS__GLOBAL];
    pons__local_costmap_follow(local, global, pose_in_map);
    // What the global one has explained by the map is the map here, too: most scans of a quiet
    // house.
    if (local->n_seen > 0 || global->n_seen > 0 || global->scan_stamp_ns != scan->stamp_ns) {
        pons__costmap_observe(local, pose_in_map, scan);
    }
}

void pons__nav_forget(pons__nav *n)
{
    for (int k = 0; k < PONS__COSTMAPS; k++) {
        pons__costmap_clear_obstacles(n->grid[k]);
    }
}

void pons__nav_map_changed(pons__nav *n)
{
    pons__local_costmap_copy(n->grid[PONS__LOCAL], n->grid[PONS__GLOBAL]);
}

const pons__costmap *pons__nav_local(const pons__nav *n)
{
    return n->grid[PONS__LOCAL];
}

static void sense_step(pons__nav *n, int64_t now_ns, pons_pose2 pose, pons_twist2 twist)
{
    if (now_ns - n->step_ns > GAP_NS) { // on hold meanwhile: that time does not count
        n->held_ns += now_ns - n->step_ns;
    }
    n->dt_s = fmin((double)(now_ns - n->step_ns) / 1e9, DT_MAX_S);
    if (n->dt_s <= 0.0) {
        n->dt_s = DT_NOMINAL_S;
    }
    if (now_ns > n->step_ns && now_ns - n->step_ns <= GAP_NS) {
        n->spared_ns += (int64_t)(n->slower * (double)(now_ns - n->step_ns));
    }
    n->robot_ns = now_ns;
    n->now_ns = now_ns - n->held_ns - n->spared_ns;
    n->pose = pose;
    n->twist = twist;
    const bool still = fabs(twist.v) < STILL_MPS && fabs(twist.w) < STILL_RADPS;
    const bool reported = fabs(n->cmd.v) > TOLD_MPS || fabs(n->cmd.w) > TOLD_RADPS;
    n->still_ns = !still ? -1 : n->still_ns < 0 ? n->now_ns : n->still_ns;
    n->no_motion_ns = !still || !reported ? -1 : n->no_motion_ns < 0 ? n->now_ns : n->no_motion_ns;
}

__attribute__((format(printf, 3, 4))) static void fail(pons__nav *n, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(n->error_msg, sizeof n->error_msg, fmt, ap);
    va_end(ap);
    n->status = PONS_NAV_FAILED;
    n->error_code = code;
    n->cmd = (pons_twist2){0.0, 0.0};
    n->at_known = false;
}

static bool is_code(const char *key)
{
    static const char end[] = "_error_code";
    const size_t len = strlen(key), tail = sizeof end - 1;
    return len > tail && strcmp(key + len - tail, end) == 0;
}

// The smallest number on the board, and what the leaf that gave it had to say.
static void fail_by_tree(pons__nav *n)
{
    pons_autovalue board = pons_bt_board(n->tree);
    int code = 0;
    pons_each_member(key, v, board) {
        const double x = is_code(key) && json_is_number(v) ? json_number_value(v) : 0.0;
        const int c = x >= 1.0 && x <= UINT16_MAX ? (int)x : 0;
        if (c > 0 && (code == 0 || c < code)) {
            code = c;
        }
    }
    const pons__nav_fail *why = n->n_fails > 0 ? &n->fails[n->n_fails - 1] : NULL;
    for (int i = 0; code != 0 && i < n->n_fails; i++) {
        why = n->fails[i].code == code ? &n->fails[i] : why;
    }
    if (code == 0) {
        code = why ? why->code : PONS_NAVIGATE_UNKNOWN + (n->through ? PONS_NAV_THROUGH : 0);
    }
    char path[256] = "", tried[40] = "";
    if (why) {
        pons_bt_path(n->tree, why->node, path, sizeof path);
    }
    if (n->recoveries > 0) {
        snprintf(tried, sizeof tried, "; %d recoveries tried", n->recoveries);
    }
    fail(n, code, "%s%s%s%s", why ? why->msg : "the tree failed without saying why", tried,
         why ? "; at " : "", path);
}

static void tick(pons__nav *n)
{
    if (n->fresh) {
        n->fresh = false;
        n->cmd = n->twist; // it may be moving
    }
    n->limited = n->at_known = false;
    n->want = (pons_twist2){0.0, 0.0};
    if (n->recoveries != n->recoveries_reported) {
        n->recoveries_reported = n->recoveries;
        pons_bt_set(n->tree, "number_recoveries", json_integer(n->recoveries), NULL);
    }
    pons_bt_status s = PONS_BT_READY;
    pons_error err = PONS_ERROR_INIT;
    // Exactly one: a tree that repeats what ends at once, for ever, must not keep the body.
    if (pons_bt_tick(n->tree, PONS_BT_EXACTLY_ONCE, &s, &err) < 0) {
        pons_bt_halt(n->tree, NULL);
        fail(n, PONS_NAVIGATE_UNKNOWN + (n->through ? PONS_NAV_THROUGH : 0), "%s [%s]", err.message,
             err.source);
        return;
    }
    if (s == PONS_BT_SUCCESS) {
        n->status = PONS_NAV_SUCCEEDED;
    } else if (s != PONS_BT_RUNNING) {
        fail_by_tree(n);
    }
    if (n->status != PONS_NAV_RUNNING) {
        pons_bt_halt(n->tree, NULL);
        n->cmd = (pons_twist2){0.0, 0.0};
        pons__nav_follow_reset(n);
        return;
    }
    n->cmd =
        n->limited ? n->want : pons__limit_accel(&n->params, n->cmd, n->twist, n->want, n->dt_s);
}

static void fill(pons__nav *n, pons__nav_output *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->status = n->status;
    ret->recoveries = n->recoveries;
    ret->replans = n->plan.replans;
    ret->distance_remaining_m = ret->eta_s = NAN;
    ret->poses_remaining = 1;
    ret->time_s = (double)(n->now_ns - n->begun_ns + n->spared_ns) / 1e9;
    if (n->status == PONS_NAV_FAILED) {
        ret->error_code = n->error_code;
        memcpy(ret->error_msg, n->error_msg, sizeof ret->error_msg);
    }
    if (n->status == PONS_NAV_SUCCEEDED) {
        ret->distance_remaining_m = ret->eta_s = 0.0;
    }
    if (n->status != PONS_NAV_RUNNING) {
        return;
    }
    ret->cmd = n->cmd;
    if (n->through) {
        pons_value *goals = NULL;
        if (pons_bt_get(n->tree, "goals", &goals) == PONS_OK) {
            ret->poses_remaining = (int)json_array_size(goals);
        }
        pons_value_unref(goals);
    }
    if (n->follow.running && isfinite(n->follow.remaining_m)) {
        const double turn =
            n->follow.has_yaw ? fabs(pons_wrap_angle(n->follow.yaw - n->pose.yaw)) : 0.0;
        ret->distance_remaining_m = n->follow.remaining_m;
        ret->eta_s = n->follow.remaining_m / (CRUISE_SHARE * n->params.speed_max_mps) +
                     turn / n->params.yaw_rate_max_radps;
        ret->eta_s /= 1.0 - n->slower;
    }
}

void pons__nav_step(pons__nav *n, int64_t now_ns, pons_pose2 pose_in_map, pons_twist2 twist,
                    const pons_scan *scan, pons__nav_output *ret)
{
    if (n->status == PONS_NAV_RUNNING) {
        pons__nav_resume(n, now_ns);
    }
    sense_step(n, now_ns, pose_in_map, twist);
    if (scan) {
        // The body observes scans at the pose they were taken at; this is for those that it has
        // not (a grid ignores a scan it knows), at the pose of then by the speed of now.
        double age_s = (double)(now_ns - scan->stamp_ns) / 1e9;
        age_s = age_s < 0.0 || age_s > 1.0 ? 0.0 : age_s;
        const pons_pose2 then = {pose_in_map.x - twist.v * cos(pose_in_map.yaw) * age_s,
                                 pose_in_map.y - twist.v * sin(pose_in_map.yaw) * age_s,
                                 pose_in_map.yaw - twist.w * age_s};
        pons__costmap_observe(n->grid[PONS__GLOBAL], then, scan);
        pons__nav_observe(n, then, scan);
        for (int k = 0; k < PONS__COSTMAPS; k++) {
            n->cleared[k].scans += scan->stamp_ns != n->scan_ns[k];
            n->scan_ns[k] = scan->stamp_ns;
        }
    }
    if (n->status == PONS_NAV_RUNNING) {
        if (isfinite(pose_in_map.x + pose_in_map.y + pose_in_map.yaw + twist.v + twist.w)) {
            tick(n);
        } else {
            pons__nav_cancel(n);
            fail(n, PONS_NAVIGATE_TF_ERROR + (n->through ? PONS_NAV_THROUGH : 0),
                 "the robot's pose or speed is not a number");
        }
    }
    n->step_ns = now_ns;
    fill(n, ret);
}

void pons__nav_pace(pons__nav *n, double share)
{
    n->slower = 1.0 - share;
}

int pons__nav_path(const pons__nav *n, pons_pose2 *ret, int cap)
{
    const pons__path *p = n->follow.path;
    if (n->status != PONS_NAV_RUNNING || !n->follow.running || p->n < 2 || cap < 2) {
        return 0;
    }
    int first = 0;
    while (first < p->n - 2 && p->s[first + 1] < n->follow.f.s) {
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

// ---- for the leaves -----------------------------------------------------------------------------

static int64_t clock_now(void *ctx)
{
    return ((const pons__nav *)ctx)->now_ns;
}

static double odometer(void *user)
{
    const pons__nav *n = user;
    return n->sensed ? n->senses.odometer_m : 0.0;
}

static double speed(void *user)
{
    return ((const pons__nav *)user)->twist.v;
}

// ---- live view ----------------------------------------------------------------------------------

static void on_change(void *user, const pons_bt_change *change)
{
    pons__nav *n = user;
    if (n->n_changes == PONS_NAV_CHANGES_MAX) {
        n->lost++; // nobody has looked for long: the newest are in the states anyway
        return;
    }
    n->changes[n->n_changes++] = (pons__nav_change){.node = change->node,
                                                    .from = (uint8_t)change->from,
                                                    .to = (uint8_t)change->to,
                                                    .robot_ns = n->robot_ns};
}

uint64_t pons__nav_tree_id(const pons__nav *n)
{
    return n->tree_id;
}

const char *pons__nav_tree_file(const pons__nav *n)
{
    return n->file ? n->file : "";
}

uint32_t pons__nav_tree_nodes(const pons__nav *n)
{
    return n->tree ? n->n_nodes : 0;
}

void pons__nav_tree_states(const pons__nav *n, uint8_t *ret)
{
    for (uint32_t i = 0; i < pons__nav_tree_nodes(n); i++) {
        ret[i] = (uint8_t)pons_bt_state(n->tree, i);
    }
    for (int i = n->n_changes - 1; n->tree && i >= 0; i--) {
        ret[n->changes[i].node] = (uint8_t)n->changes[i].from;
    }
}

char *pons__nav_tree_path(const pons__nav *n, uint32_t node, char *buf, size_t cap)
{
    buf[0] = '\0';
    return n->tree ? pons_bt_path(n->tree, node, buf, cap) : buf;
}

const char *pons__nav_tree_at(pons__nav *n)
{
    if (!n->at_known || !n->tree) {
        return "";
    }
    if (!n->at_text[0] || n->at_text_node != n->at_node) {
        pons_bt_path(n->tree, n->at_node, n->at_text, sizeof n->at_text);
        n->at_text_node = n->at_node;
    }
    return n->at_text;
}

int pons__nav_changes(pons__nav *n, pons__nav_change *ret, int cap, uint64_t *ret_lost)
{
    const int count = n->n_changes < cap ? n->n_changes : cap;
    memcpy(ret, n->changes, sizeof *ret * (size_t)count);
    memmove(n->changes, n->changes + count, sizeof *ret * (size_t)(n->n_changes - count));
    n->n_changes -= count;
    *ret_lost = n->lost;
    n->lost = 0;
    return count;
}

// ---- goals --------------------------------------------------------------------------------------

// A pose that is no number is let through: the planner has a number for it.
static int check_goal(const pons__nav_goal *goal, pons_error *err)
{
    if (goal->n < 1 || goal->n > PONS_NAV_POSES_MAX || (!goal->through && goal->n != 1)) {
        return pons_error_set(err, PONS_EINVAL, "nav", "%d poses are not 1 to %d", goal->n,
                              goal->through ? PONS_NAV_POSES_MAX : 1);
    }
    return PONS_OK;
}

static bool try_file(const char *dir, const char *sub, const char *name, char *ret)
{
    struct stat st;
    // A file: a pipe of that name would keep its reader waiting.
    return snprintf(ret, PATH_MAX, "%s%s%s%s", dir, *dir ? "/" : "", sub, name) < PATH_MAX &&
           stat(ret, &st) == 0 && S_ISREG(st.st_mode) && access(ret, R_OK) == 0;
}

// Where a tree of that name is: the workspace, its trees/, what is installed, and that one's
// trees/.
static int find_tree(const pons__nav *n, const pons__nav_goal *goal, char *ret, pons_error *err)
{
    const char *name = goal->tree && *goal->tree ? goal->tree : NULL;
    if (!name) {
        return pons_share_path(goal->through ? TREE_THROUGH : TREE_TO_POSE, ret, PATH_MAX, err);
    }
    if (*name == '/' && try_file("", "", name, ret)) {
        return PONS_OK;
    }
    const bool up = strncmp(name, "../", 3) == 0 || strstr(name, "/../");
    if (*name != '/' && !up) {
        char below[PATH_MAX];
        if (n->workspace && (try_file(n->workspace, "", name, ret) ||
                             try_file(n->workspace, "trees/", name, ret))) {
            return PONS_OK;
        }
        snprintf(below, sizeof below, "trees/%s", name);
        char installed[PATH_MAX];
        if ((pons_share_path(name, installed, PATH_MAX, NULL) == PONS_OK &&
             try_file("", "", installed, ret)) ||
            (pons_share_path(below, installed, PATH_MAX, NULL) == PONS_OK &&
             try_file("", "", installed, ret))) {
            return PONS_OK;
        }
    }
    return pons_error_set(err, PONS_ENOTFOUND, "nav", "there is no tree '%.160s' in %.160s%strees/",
                          name, n->workspace ? n->workspace : "", n->workspace ? " or " : "");
}

static int prepare(pons__nav *n, const pons__nav_goal *goal, prepared *ret, pons_error *err)
{
    pons_bt *bt = NULL;
    int rc = find_tree(n, goal, ret->file, err);
    if (rc < 0) {
        return rc;
    }
    struct stat st;
    if (stat(ret->file, &st) == 0) {
        ret->stamp[0] = (int64_t)st.st_ino;
        ret->stamp[1] = (int64_t)st.st_size;
        ret->stamp[2] = (int64_t)st.st_mtim.tv_sec * PONS_NS_PER_S + st.st_mtim.tv_nsec;
    }
    const pons_bt_load_options load = {
        .format = PONS_BT_XML, .leaves = n->leaves, .bytes_max = PONS__NAV_TREE_BYTES_MAX};
    rc = pons_bt_load_file(ret->file, &load, &bt, NULL, err);
    if (rc < 0) {
        return rc;
    }
    ret->nodes = pons_bt_nodes(bt);
    if (ret->nodes > PONS__NAV_NODES_MAX) {
        rc = pons_error_set(err, PONS_EINVAL, "nav",
                            "a navigation's tree has at most %d nodes, not %u", PONS__NAV_NODES_MAX,
                            ret->nodes);
        pons_error_source(err, "%s", ret->file);
    } else {
        const pons_bt_tree_options o = {
            .clock = {.now_ns = clock_now, .wall_ms = clock_now, .boot_ns = clock_now, .ctx = n},
            .leaves = n->leaves,
            .seed = 1,
            .odometer_m = odometer,
            .speed_mps = speed,
            .on_change = on_change,
            .user = n};
        rc = pons_bt_tree_create(bt, &o, &ret->tree, err);
    }
    pons_bt_unref(bt);
    return rc;
}

int pons__nav_check(pons__nav *n, const pons__nav_goal *goal, pons_error *err)
{
    prepared p = {.tree = NULL};
    int rc = check_goal(goal, err);
    rc = rc < 0 ? rc : prepare(n, goal, &p, err);
    pons_bt_tree_destroy(p.tree);
    return rc;
}

// The tree cannot be had: that is how the navigation ends.
static int refuse(pons__nav *n, const pons__nav_goal *goal, int rc, const pons_error *err)
{
    char line[PONS_NAV_MSG_MAX];
    pons__nav_cancel(n);
    n->recoveries = 0;
    n->through = goal->through;
    n->begun_ns = n->now_ns + n->spared_ns;
    fail(n, PONS_NAVIGATE_BAD_TREE + (goal->through ? PONS_NAV_THROUGH : 0), "%s",
         pons_error_line(err, line, sizeof line));
    return rc;
}

static pons_value *goal_value(const pons__nav_goal *goal, int i)
{
    return pons__nav_pose_value(goal->poses[i], goal->any_yaw && goal->any_yaw[i]);
}

// An error of the goal before is not this one's.
static void clear_codes(pons__nav *n)
{
    pons_autovalue board = pons_bt_board(n->tree);
    pons_each_member(key, v, board) {
        if (is_code(key)) {
            pons_bt_set(n->tree, key, json_integer(0), NULL);
        }
    }
    n->n_fails = 0;
}

static void put_goal(pons__nav *n, const pons__nav_goal *goal)
{
    n->last_goal = goal->poses[goal->n - 1];
    pons__nav_plan_forget(n);
    clear_codes(n);
    if (goal->through) {
        pons_value *list = json_array();
        for (int i = 0; i < goal->n; i++) {
            json_array_append_new(list, goal_value(goal, i));
        }
        pons_bt_set(n->tree, "goals", list, NULL);
    } else {
        pons_bt_set(n->tree, "goal", goal_value(goal, 0), NULL);
    }
    pons_bt_set(n->tree, "path", pons__nav_path_value(json_array(), 0.0, 0.0), NULL);
    n->recoveries_reported = -1;
}

static void begin(pons__nav *n, const pons__nav_goal *goal, int64_t now_ns)
{
    n->status = PONS_NAV_RUNNING;
    n->through = goal->through;
    n->fresh = true;
    n->error_code = PONS_NAV_OK;
    n->error_msg[0] = '\0';
    n->recoveries = 0;
    n->plan.replans = 0;
    n->cancels = 0;
    n->n_fails = 0;
    n->held_ns = n->spared_ns = 0;
    n->step_ns = n->robot_ns = n->now_ns = n->begun_ns = now_ns;
    n->at_known = false;
    n->at_text[0] = '\0';
    n->n_changes = 0;
    n->lost = 0;
    n->still_ns = n->no_motion_ns = -1;
    for (int k = 0; k < PONS__COSTMAPS; k++) {
        n->cleared[k].waits = false;
    }
    pons__nav_follow_reset(n);
    pons__nav_plan_forget(n);
    put_goal(n, goal);
}

int pons__nav_go(pons__nav *n, const pons__nav_goal *goal, int64_t now_ns, pons_error *err)
{
    prepared p = {.tree = NULL};
    int rc = check_goal(goal, err);
    rc = rc < 0 ? rc : prepare(n, goal, &p, err);
    if (rc < 0) {
        return refuse(n, goal, rc, err);
    }
    if (n->status == PONS_NAV_RUNNING && n->through == goal->through &&
        strcmp(n->file, p.file) == 0 && memcmp(n->file_stamp, p.stamp, sizeof p.stamp) == 0) {
        pons_bt_tree_destroy(p.tree);
        pons__nav_resume(n, now_ns);
        n->recoveries = 0;
        n->begun_ns = n->now_ns + n->spared_ns;
        put_goal(n, goal);
        return PONS_OK;
    }
    pons__nav_cancel(n);
    pons__nav_run *runs = calloc(p.nodes, sizeof *runs);
    char *file = strdup(p.file);
    if (!runs || !file) {
        free(runs);
        free(file);
        pons_bt_tree_destroy(p.tree);
        rc = pons_error_set(err, PONS_ENOMEM, "nav", "no memory for a tree of %u nodes", p.nodes);
        return refuse(n, goal, rc, err);
    }
    drop_tree(n);
    n->tree = p.tree;
    n->runs = runs;
    n->n_nodes = p.nodes;
    n->file = file;
    memcpy(n->file_stamp, p.stamp, sizeof p.stamp);
    n->tree_id++;
    begin(n, goal, now_ns);
    return PONS_OK;
}

void pons__nav_start(pons__nav *n, pons_pose2 goal_in_map, bool with_yaw, int64_t now_ns)
{
    const bool any_yaw = !with_yaw;
    const pons__nav_goal goal = {.poses = &goal_in_map, .any_yaw = &any_yaw, .n = 1};
    pons_error err = PONS_ERROR_INIT;
    pons__nav_cancel(n);
    pons__nav_go(n, &goal, now_ns, &err); // an error shows at the next step
}

void pons__nav_cancel(pons__nav *n)
{
    if (n->tree && n->status == PONS_NAV_RUNNING) {
        pons_bt_halt(n->tree, NULL);
    }
    pons__nav_plan_drop(n);
    n->status = PONS_NAV_IDLE;
    n->cmd = (pons_twist2){0.0, 0.0};
    n->hold_from_ns = -1;
    n->at_known = false;
    pons__nav_follow_reset(n);
}

void pons__nav_displaced(pons__nav *n)
{
    pons__nav_plan_drop(n);
    pons__nav_forget(n);
    pons__nav_plan_forget(n);
    if (n->tree && n->status == PONS_NAV_RUNNING) {
        pons_bt_set(n->tree, "path", pons__nav_path_value(json_array(), 0.0, 0.0), NULL);
    }
}

void pons__nav_hold(pons__nav *n, int64_t now_ns)
{
    if (n->status == PONS_NAV_RUNNING && n->hold_from_ns < 0) {
        n->hold_from_ns = now_ns;
        n->cmd = (pons_twist2){0.0, 0.0};
    }
}

void pons__nav_resume(pons__nav *n, int64_t now_ns)
{
    if (n->hold_from_ns >= 0) {
        n->held_ns += now_ns - n->hold_from_ns;
        n->step_ns = now_ns;
        n->hold_from_ns = -1;
    }
}
