// nav2.c - see nav2.h. Where the releases differ in a goal, the goal's own shape is asked.
#include "drivers/ros2/nav2.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SPIN_RADPS  1.0 // as the body's own
#define BACK_MPS    0.15
#define DRIVE_MPS   0.20
#define ALLOWANCE_S 10.0 // more than the motion would take, unless the goal says otherwise

static pons_value *pose(pons_pose2 p)
{
    return pons_object("x", json_real(p.x), "y", json_real(p.y), "yaw", json_real(p.yaw), NULL);
}

static const ros2_member *member(const ros2_shape *s, const char *name)
{
    for (int i = 0; i < s->n; i++) {
        if (strcmp(s->members[i].name, name) == 0) {
            return &s->members[i];
        }
    }
    return NULL;
}

static pons_value *to_pose(const ros2_order *o)
{
    if (o->goal->n < 1) {
        snprintf(o->why, o->cap, "the goal has no pose");
        return NULL;
    }
    return pons_object("pose", pose(o->goal->poses[0]), "behavior_tree",
                       json_string(o->goal->behavior_tree), NULL);
}

// A list of poses, or, since Kilted, a message around one.
static pons_value *listed(const ros2_order *o, pons_value *poses)
{
    const ros2_member *m = member(o->shape, "poses");
    return !m || m->sequence
               ? poses
               : pons_object("header", pons_object("frame_id", json_string(o->c->map), NULL),
                             "goals", poses, NULL);
}

static pons_value *through(const ros2_order *o)
{
    pons_value *poses = json_array();
    for (int i = 0; i < o->goal->n; i++) {
        json_array_append_new(poses, pose(o->goal->poses[i]));
    }
    return pons_object("poses", listed(o, poses), "behavior_tree",
                       json_string(o->goal->behavior_tree), NULL);
}

static pons_value *spin(const ros2_order *o)
{
    const double angle = pons_get_num(o->goal->args, "angle_rad", 0.0);
    return pons_object("target_yaw", json_real(angle), "time_allowance",
                       json_real(pons_get_num(o->goal->args, "time_allowance_s",
                                              2.0 * fabs(angle) / SPIN_RADPS + ALLOWANCE_S)),
                       NULL);
}

static pons_value *straight(const ros2_order *o, double usual_mps)
{
    const double way = pons_get_num(o->goal->args, "distance_m", 0.0),
                 speed = pons_get_num(o->goal->args, "speed_mps", usual_mps);
    return pons_object(
        "target", pons_object("x", json_real(way), NULL), "speed", json_real(speed),
        "time_allowance",
        json_real(pons_get_num(o->goal->args, "time_allowance_s", 2.0 * way / speed + ALLOWANCE_S)),
        NULL);
}

static pons_value *back_up(const ros2_order *o)
{
    return straight(o, BACK_MPS);
}

static pons_value *drive(const ros2_order *o)
{
    return straight(o, DRIVE_MPS);
}

// The dock that Nav2 knows by that name, else the world's charger.
static pons_value *dock(const ros2_order *o)
{
    const pons_value *charger = pons_get(pons_get(o->world, "charger"), "pose");
    if (*o->c->dock_id) {
        return pons_object("use_dock_id", json_true(), "dock_id", json_string(o->c->dock_id),
                           "dock_type", json_string(o->c->dock_type), NULL);
    }
    if (!charger) {
        snprintf(o->why, o->cap, "the world has no charger, and config/ros2.yaml no dock.id");
        return NULL;
    }
    return pons_object("use_dock_id", json_false(), "dock_pose", json_deep_copy(charger),
                       "dock_type", json_string(o->c->dock_type), NULL);
}

static pons_value *undock(const ros2_order *o)
{
    return pons_object("dock_type", json_string(o->c->dock_type), NULL);
}

static const pons_value *target(const pons_value *world, const char *name)
{
    return pons_get(pons_find(pons_get(world, "zones"), "id", name), "target");
}

static pons_value *waypoints(const ros2_order *o)
{
    const pons_value *zones = pons_get(o->goal->args, "zones"), *zone;
    pons_value *poses = json_array();
    size_t i;
    json_array_extend(poses, (json_t *)pons_get(o->goal->args, "poses"));
    json_array_foreach((json_t *)zones, i, zone) {
        const pons_value *at = target(o->world, json_string_value(zone));
        if (!at) {
            snprintf(o->why, o->cap, "there is no zone '%.60s'", json_string_value(zone));
            pons_value_unref(poses);
            return NULL;
        }
        json_array_append_new(poses, json_deep_copy(at));
    }
    return pons_object("poses", listed(o, poses), NULL);
}

static pons_value *path(const ros2_order *o)
{
    const char *zone = pons_get_str(o->goal->args, "zone", NULL);
    const pons_value *to = zone ? target(o->world, zone) : pons_get(o->goal->args, "pose"),
                     *from = pons_get(o->goal->args, "start");
    if (!to) {
        snprintf(o->why, o->cap, "there is no zone '%.60s'", zone ? zone : "");
        return NULL;
    }
    return pons_object("goal", json_deep_copy(to), "use_start", json_boolean(from != NULL),
                       "planner_id", json_string(pons_get_str(o->goal->args, "planner", "")),
                       "start", from ? json_deep_copy(from) : NULL, NULL);
}

// Never called: the robot carries them out.
static void nobody_steps(void *state, const pons_skill_view *now, pons_skill_answer *ret)
{
    pons_skill_fail(ret, PONS_SKILL_OWN_ERRORS, "the robot's own software carries this out");
}

#define POSE                                                                                       \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"                         \
    "\"x\":{\"type\":\"number\"},\"y\":{\"type\":\"number\"},\"yaw\":{\"type\":\"number\"}},"      \
    "\"required\":[\"x\",\"y\"]}"

static const pons_skill follow_waypoints = {
    .abi = PONS_SKILL_ABI,
    .name = "follow_waypoints",
    .description =
        "Drive to each of several zones or poses, stopping at each; the robot's waypoint "
        "follower does there what it is configured to do.",
    .args_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
                   "\"poses\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,\"items\":" POSE
                   "},\"zones\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":64,\"items\":"
                   "{\"type\":\"string\",\"minLength\":1}}},"
                   "\"oneOf\":[{\"required\":[\"poses\"]},{\"required\":[\"zones\"]}]}",
    .needs_base = true,
    .moves = true,
    .preemptible = true,
    .cancel_supported = true,
    .timeout_s = 1800.0,
    .success_criteria = "the robot has stood at every waypoint; answer.missed_waypoints is empty",
    .error_map = "{\"602\":\"abort\",\"9902\":\"ask_human\",\"9907\":\"ask_human\",\"default\":"
                 "\"replan\"}",
    .step = nobody_steps,
};

static const pons_skill compute_path = {
    .abi = PONS_SKILL_ABI,
    .name = "compute_path_to_pose",
    .description = "Ask the robot's planner for the way to a zone or a pose, without driving; "
                   "answer.path.length_m is its length.",
    .args_schema =
        "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        "\"pose\":" POSE ",\"start\":" POSE
        ",\"zone\":{\"type\":\"string\",\"minLength\":1},\"planner\":{\"type\":\"string\"}},"
        "\"oneOf\":[{\"required\":[\"pose\"]},{\"required\":[\"zone\"]}]}",
    .cancel_supported = true,
    .timeout_s = 30.0,
    .success_criteria = "the planner has found a way",
    .error_map = "{\"201\":\"abort\",\"default\":\"replan\"}",
    .step = nobody_steps,
};

#define NAV2(name) "nav2_msgs/action/" name
const ros2_nav2 ros2_nav2_all[ROS2_NAV2] = {
    [ROS2_TO_POSE] = {"navigate_to_pose", NAV2("NavigateToPose"), 9000, false, NULL, to_pose},
    [ROS2_THROUGH_POSES] = {"navigate_through_poses", NAV2("NavigateThroughPoses"), 9100, false,
                            NULL, through},
    [ROS2_SPIN] = {"spin", NAV2("Spin"), 700, false, NULL, spin},
    [ROS2_BACK_UP] = {"back_up", NAV2("BackUp"), 710, false, NULL, back_up},
    [ROS2_DRIVE] = {"drive_on_heading", NAV2("DriveOnHeading"), 720, false, NULL, drive},
    [ROS2_DOCK] = {"dock_to_charger", NAV2("DockRobot"), 999, false, NULL, dock},
    [ROS2_UNDOCK] = {"undock", NAV2("UndockRobot"), 999, false, NULL, undock},
    [ROS2_WAYPOINTS] = {"follow_waypoints", NAV2("FollowWaypoints"), 600, false, &follow_waypoints,
                        waypoints},
    [ROS2_PATH] = {"compute_path_to_pose", NAV2("ComputePathToPose"), 200, true, &compute_path,
                   path},
};
