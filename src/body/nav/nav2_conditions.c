// nav2_conditions.c - Nav2's conditions about the robot, and the leaves that make goals and paths into
// other goals and paths. None of them moves anything; each answers in the tick that asks.
#include "body/nav/tree.h"

#include <stdio.h>
#include <string.h>

static const double REACHED_M = 0.25; // Nav2's goal_reached_tol
static const double STUCK_S = 1.0;    // told to move for so long, and did not
static const double SEARCH_M = 1e9;   // the whole path

static int answer(bool yes)
{
    return yes ? PONS_BT_SUCCESS : PONS_BT_FAILURE;
}

// ---- conditions ---------------------------------------------------------------------------------

LEAF(is_stuck)
{
    return answer(n->no_motion_ns >= 0 && (double)(n->now_ns - n->no_motion_ns) >= STUCK_S * 1e9);
}

LEAF(is_stopped)
{
    const double limit = pons__nav_in_num(call, "velocity_threshold", 0.01);
    const double ms = pons__nav_in_num(call, "duration_stopped", 1000.0);
    return answer(fabs(n->twist.v) <= limit && n->still_ns >= 0 &&
                  (double)(n->now_ns - n->still_ns) >= ms * 1e6);
}

LEAF(stop_status)
{
    const int s = is_stopped(n, call, what, err);
    return s == PONS_BT_FAILURE && n->still_ns >= 0 &&
                   fabs(n->twist.v) <= pons__nav_in_num(call, "velocity_threshold", 0.01)
               ? PONS_BT_RUNNING
               : s;
}

LEAF(is_path_valid)
{
    pons_autovalue value = pons__nav_in(call, "path");
    const pons_value *poses = pons__nav_poses(value);
    const double max_cost = pons__nav_in_num(call, "max_cost", PONS__COST_LETHAL);
    const pons__path *path = NULL;
    double from = pons_get_num(value, "from_m", 0.0), planned;
    if (json_array_size(poses) < 2) {
        return PONS_BT_FAILURE;
    }
    const uint32_t generation = n->grid[PONS__GLOBAL]->generation;
    const bool plain = poses == n->follow.poses && max_cost >= PONS__COST_LETHAL;
    if (plain && n->plan.valid == poses && n->plan.valid_at == generation) {
        return PONS_BT_SUCCESS; // nothing has changed since it was free
    }
    if (poses == n->follow.poses) { // read already
        path = n->follow.path;
        from = fmax(from, n->follow.f.s);
    } else if (poses == n->plan.poses) {
        path = n->plan.kept;
    } else {
        double yaw;
        bool has_yaw;
        path = n->plan.leg;
        if (!pons__nav_path_read(value, n->plan.leg, &yaw, &has_yaw)) {
            return PONS_BT_FAILURE;
        }
    }
    if (!isfinite(pons__planner_cost_from(n->plan.planner, path, from, &planned))) {
        return PONS_BT_FAILURE;
    }
    for (int i = 0; i < path->n && max_cost < PONS__COST_INSCRIBED; i++) {
        if (path->s[i] >= from && pons__costmap_cost(n->grid[PONS__GLOBAL], path->x[i], path->y[i],
                                                     n->params.radius_m) >= max_cost) {
            return PONS_BT_FAILURE;
        }
    }
    n->plan.valid = plain ? poses : NULL;
    n->plan.valid_at = generation;
    return PONS_BT_SUCCESS;
}

LEAF(validate_path)
{
    static const char *const absent[] = {"layer_name", "footprint"};
    for (int i = 0; i < 2; i++) {
        pons_autovalue v = pons__nav_in(call, absent[i]);
        if (v && *(json_is_string(v) ? json_string_value(v) : "?")) {
            return pons_error_set(
                err, PONS_EUNSUPPORTED, "nav",
                "ValidatePath: %s, but here the whole costmap and the robot's own "
                "radius are checked",
                absent[i]);
        }
    }
    return is_path_valid(n, call, what, err);
}

// min_battery is a share, 0 to 1, as in sensor_msgs/BatteryState.
LEAF(is_battery_low)
{
    if (pons__nav_in_bool(call, "is_voltage", false)) {
        return pons_error_set(err, PONS_EUNSUPPORTED, "nav",
                              "IsBatteryLow: is_voltage, but no voltage is measured here");
    }
    return answer(n->sensed &&
                  n->senses.battery_pct <= 100.0 * pons__nav_in_num(call, "min_battery", 0.0));
}

LEAF(is_battery_charging)
{
    return answer(n->sensed && n->senses.battery == PONS_BATTERY_CHARGING);
}

LEAF(goal_reached)
{
    pons_pose2 goal;
    return answer(pons__nav_in_pose(call, "goal", &goal, NULL) &&
                  hypot(goal.x - n->pose.x, goal.y - n->pose.y) <= REACHED_M);
}

LEAF(transform_available)
{
    static const char *const frames[] = {"map",       "odom",           "base",
                                         "base_link", "base_footprint", NULL};
    char child[64], parent[64];
    pons__nav_in_text(call, "child", child, sizeof child);
    pons__nav_in_text(call, "parent", parent, sizeof parent);
    return answer(*child && *parent && pons__nav_known(child, frames) &&
                  pons__nav_known(parent, frames));
}

// The robot knows from the start where it is; a tree may say otherwise.
LEAF(initial_pose_received)
{
    return answer(pons__nav_in_bool(call, "initial_pose_received", true));
}

LEAF(would_smoother_help)
{
    static const double codes[] = {PONS_SMOOTH_UNKNOWN, PONS_SMOOTH_TIMEOUT,
                                   PONS_SMOOTH_IN_COLLISION, PONS_SMOOTH_FAILED};
    const double code = pons__nav_in_num(call, "error_code", 0.0);
    bool helps = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        helps = helps || code == codes[i];
    }
    return answer(helps);
}

LEAF(poses_near)
{
    pons_pose2 a, b;
    return answer(pons__nav_in_pose(call, "ref_pose", &a, NULL) &&
                  pons__nav_in_pose(call, "target_pose", &b, NULL) &&
                  hypot(a.x - b.x, a.y - b.y) <= pons__nav_in_num(call, "tolerance", 0.5));
}

LEAF(pose_occupied)
{
    pons_pose2 p;
    return answer(pons__nav_in_pose(call, "pose", &p, NULL) &&
                  pons__costmap_cost(n->grid[PONS__GLOBAL], p.x, p.y, n->params.radius_m) >=
                      pons__nav_in_num(call, "cost_threshold", PONS__COST_INSCRIBED));
}

LEAF(goal_nearby)
{
    pons_autovalue path = pons__nav_in(call, "path");
    return answer(json_array_size(pons__nav_poses(path)) > 0 &&
                  pons_get_num(path, "length_m", INFINITY) <=
                      pons__nav_in_num(call, "proximity_threshold", 3.0));
}

// Where the robot is beside the path that it follows, left positive.
LEAF(within_bounds)
{
    const pons__nav_follow *f = &n->follow;
    if (!f->running) {
        return PONS_BT_SUCCESS; // nothing is followed, so nothing is left
    }
    double ax, ay, bx, by;
    pons__path_at(f->path, f->f.s, &ax, &ay);
    pons__path_at(f->path, f->f.s + 0.1, &bx, &by);
    const double along = atan2(by - ay, bx - ax);
    const double side = -sin(along) * (n->pose.x - ax) + cos(along) * (n->pose.y - ay);
    const double off = fabs(pons_wrap_angle(n->pose.yaw - along));
    return answer(side <= pons__nav_in_num(call, "max_position_error_left", 0.5) &&
                  -side <= pons__nav_in_num(call, "max_position_error_right", 0.5) &&
                  off <= pons__nav_in_num(call, "max_heading_error", M_PI));
}

// pons's own: whether the costmap holds an obstacle that is not in the map, and could be the reason for no plan. If the map
// itself blocks the goal, clearing the costmap and waiting does not help.
LEAF(obstacles_seen)
{
    char name[128];
    pons__nav_in_text(call, "service_name", name, sizeof name);
    const pons__costmap *g = n->grid[strstr(name, "local_costmap") ? PONS__LOCAL : PONS__GLOBAL];
    return answer(g->n_seen > 0 && !pons__planner_shut_by_map(n->plan.planner));
}

// ---- goals --------------------------------------------------------------------------------------

static const pons_value *goal_list(const pons_value *v)
{
    return json_is_array(v) ? v : pons_get(v, "goals");
}

// Takes goals. Writes nothing when they stand there already: a write is news to GoalUpdated.
static int give_goals(const pons_bt_call *call, pons_value *goals)
{
    pons_autovalue there = pons__nav_in(call, "output_goals");
    if (there && json_equal(there, goals)) {
        pons_value_unref(goals);
    } else {
        pons__nav_out(call, "output_goals", goals);
    }
    return PONS_BT_SUCCESS;
}

// The last goal stays: whether that one is reached is not this node's to say.
LEAF(remove_passed)
{
    pons_autovalue in = pons__nav_in(call, "input_goals");
    const pons_value *goals = goal_list(in);
    if (!json_is_array(goals)) {
        return PONS_BT_FAILURE;
    }
    const double radius = pons__nav_in_num(call, "radius", 0.5);
    pons_value *left = json_copy((pons_value *)(uintptr_t)goals);
    pons_pose2 p;
    while (json_array_size(left) > 1 && pons__nav_pose_read(json_array_get(left, 0), &p, NULL) &&
           hypot(p.x - n->pose.x, p.y - n->pose.y) <= radius) {
        json_array_remove(left, 0);
    }
    return give_goals(call, left);
}

LEAF(remove_in_collision)
{
    pons_autovalue in = pons__nav_in(call, "input_goals");
    const pons_value *goals = goal_list(in);
    if (!json_is_array(goals)) {
        return PONS_BT_FAILURE;
    }
    const double limit = pons__nav_in_num(call, "cost_threshold", PONS__COST_LETHAL);
    const bool footprint = pons__nav_in_bool(call, "use_footprint", true);
    pons_value *left = json_array();
    for (size_t i = 0; i < json_array_size(goals); i++) {
        pons_pose2 p;
        const pons_value *g = json_array_get(goals, i);
        if (!pons__nav_pose_read(g, &p, NULL)) {
            continue;
        }
        int cost = pons__costmap_cost(n->grid[PONS__GLOBAL], p.x, p.y, n->params.radius_m);
        if (footprint && cost == PONS__COST_INSCRIBED) {
            cost = PONS__COST_LETHAL; // the footprint is round: it touches
        }
        if (cost < limit) {
            json_array_append(left, (pons_value *)(uintptr_t)g);
        }
    }
    return give_goals(call, left);
}

LEAF(next_few_goals)
{
    pons_autovalue in = pons__nav_in(call, "input_goals");
    const pons_value *goals = goal_list(in);
    const double asked = pons__nav_in_num(call, "num_goals", 1.0);
    const size_t most = (size_t)fmin(fmax(asked, 0.0), PONS_NAV_POSES_MAX);
    pons_value *few = json_array();
    for (size_t i = 0; i < json_array_size(goals) && i < most; i++) {
        json_array_append(few, json_array_get(goals, i));
    }
    return give_goals(call, few);
}

LEAF(append_goal)
{
    pons_autovalue in = pons__nav_in(call, "input_goals");
    const pons_value *goals = goal_list(in);
    pons_pose2 p;
    bool any_yaw;
    if (!pons__nav_in_pose(call, "goal_pose", &p, &any_yaw)) {
        return PONS_BT_FAILURE;
    }
    pons_value *more = goals ? json_copy((pons_value *)(uintptr_t)goals) : json_array();
    json_array_append_new(more, pons__nav_pose_value(p, any_yaw));
    return give_goals(call, more);
}

// ---- poses and paths ----------------------------------------------------------------------------

LEAF(current_pose)
{
    pons__nav_out(call, "current_pose", pons__nav_pose_value(n->pose, false));
    return PONS_BT_SUCCESS;
}

LEAF(pose_from_path)
{
    pons_autovalue path = pons__nav_in(call, "path");
    const pons_value *poses = pons__nav_poses(path);
    const double have = (double)json_array_size(poses);
    const double asked = pons__nav_in_num(call, "index", 0.0);
    const double at = asked < 0.0 ? have + asked : asked;
    if (!(at >= 0.0 && at < have)) {
        return PONS_BT_FAILURE;
    }
    pons__nav_out(call, "pose", pons_value_ref(json_array_get(poses, (size_t)at)));
    return PONS_BT_SUCCESS;
}

LEAF(concatenate)
{
    static const char *const ports[] = {"input_path1", "input_path2"};
    pons_value *all = json_array();
    double length = 0.0;
    for (size_t i = 0; i < 2; i++) {
        pons_autovalue path = pons__nav_in(call, ports[i]);
        json_array_extend(all, (pons_value *)(uintptr_t)pons__nav_poses(path));
        length += pons_get_num(path, "length_m", 0.0);
    }
    if (json_array_size(all) == 0) {
        pons_value_unref(all);
        return PONS_BT_FAILURE;
    }
    pons__nav_out(call, "output_path", pons__nav_path_value(all, 0.0, length));
    return PONS_BT_SUCCESS;
}

// The stretch [from, to] of a path as a path; its end's heading is free when it is not the path's.
static int give_stretch(const pons_bt_call *call, const pons__path *path, double from, double to,
                        const double *yaw)
{
    const double length = pons__path_length(path);
    from = fmin(fmax(from, 0.0), length);
    to = fmin(fmax(to, from), length);
    pons__nav_out(
        call, "output_path",
        pons__nav_path_value(pons__nav_poses_of(path, from, to, to >= length - 1e-6 ? yaw : NULL),
                             0.0, to - from));
    return PONS_BT_SUCCESS;
}

LEAF(truncate_end)
{
    pons_autovalue in = pons__nav_in(call, "input_path");
    double yaw;
    bool has_yaw;
    pons__path *path = n->plan.leg;
    if (!in || !pons__nav_path_read(in, path, &yaw, &has_yaw)) {
        return PONS_BT_FAILURE;
    }
    return give_stretch(call, path, pons_get_num(in, "from_m", 0.0),
                        pons__path_length(path) - pons__nav_in_num(call, "distance", 1.0),
                        has_yaw ? &yaw : NULL);
}

LEAF(truncate_local)
{
    pons_autovalue in = pons__nav_in(call, "input_path");
    double yaw, off;
    bool has_yaw;
    pons_pose2 at = n->pose;
    pons__nav_in_pose(call, "pose", &at, NULL);
    pons__path *path = n->plan.leg;
    if (!in || !pons__nav_path_read(in, path, &yaw, &has_yaw)) {
        return PONS_BT_FAILURE;
    }
    const double s = pons__path_project(
        path, pons_get_num(in, "from_m", 0.0),
        pons__nav_in_num(call, "max_robot_pose_search_dist", SEARCH_M), at, &off);
    return give_stretch(call, path, s - pons__nav_in_num(call, "distance_backward", 4.0),
                        s + pons__nav_in_num(call, "distance_forward", 8.0), has_yaw ? &yaw : NULL);
}

// ---- the rest -----------------------------------------------------------------------------------

// There is one planner, one controller, one smoother: what is selected is what the tree has as its
// default, and whether that exists is for whoever uses it to say.
LEAF(select_plugin)
{
    static const char *const kinds[] = {"controller",   "planner",          "smoother",
                                        "goal_checker", "progress_checker", "path_handler"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char in[64], out[64], id[64];
        snprintf(in, sizeof in, "default_%s", kinds[i]);
        snprintf(out, sizeof out, "selected_%s", kinds[i]);
        if (*pons__nav_in_text(call, in, id, sizeof id)) {
            pons__nav_out(call, out, json_string(id));
            return PONS_BT_SUCCESS;
        }
    }
    return PONS_BT_FAILURE;
}

LEAF(relocalize)
{
    if (!n->sensed || !n->senses.relocalize) {
        return PONS_BT_FAILURE;
    }
    n->senses.relocalize(n->senses.user);
    return PONS_BT_SUCCESS;
}

int pons__nav_node_leaves(pons__nav *n, pons_error *err)
{
    static const pons__nav_leaf leaves[] = {
        {"IsStuck", true, is_stuck},
        {"IsStopped", true, is_stopped},
        {"IsPathValid", true, is_path_valid},
        {"IsBatteryLow", true, is_battery_low},
        {"IsBatteryCharging", true, is_battery_charging},
        {"GoalReached", true, goal_reached},
        {"TransformAvailable", true, transform_available},
        {"InitialPoseReceived", true, initial_pose_received},
        {"WouldASmootherRecoveryHelp", true, would_smoother_help},
        {"ArePosesNear", true, poses_near},
        {"IsPoseOccupied", true, pose_occupied},
        {"IsGoalNearby", true, goal_nearby},
        {"IsWithinPathTrackingBounds", true, within_bounds},
        {"ObstaclesSeen", true, obstacles_seen},
        {"RemovePassedGoals", false, remove_passed},
        {"RemoveInCollisionGoals", false, remove_in_collision},
        {"GetNextFewGoals", false, next_few_goals},
        {"AppendGoalPoseToGoals", false, append_goal},
        {"GetCurrentPose", false, current_pose},
        {"GetPoseFromPath", false, pose_from_path},
        {"ConcatenatePaths", false, concatenate},
        {"TruncatePath", false, truncate_end},
        {"TruncatePathLocal", false, truncate_local},
        {"ControllerSelector", false, select_plugin},
        {"PlannerSelector", false, select_plugin},
        {"SmootherSelector", false, select_plugin},
        {"GoalCheckerSelector", false, select_plugin},
        {"ProgressCheckerSelector", false, select_plugin},
        {"PathHandlerSelector", false, select_plugin},
        {"ReinitializeGlobalLocalization", false, relocalize},
        {"ValidatePath", false, validate_path}, // three conditions that later became actions
        {"CheckPoseOccupancy", false, pose_occupied},
        {"CheckStopStatus", false, stop_status},
    };
    return pons__nav_register(n, leaves, sizeof leaves / sizeof *leaves, err);
}
