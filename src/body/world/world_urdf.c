// world_urdf.c - a robot that is described by a URDF becomes the keys of a world's robot.
//
//     footprint        what its collision shapes cover, unless the world has a radius_m or a footprint; none
//                      where there is more to the robot than these shapes
//     wheel_radius_m, track_m     of its pair of wheels
//     speed_max_mps, reverse_max_mps, yaw_rate_max_radps     what the wheels' limits allow, where it has them
//
//     lidar.pose       where the link of its lidar is, for the world's lidar; lidar_at is its name and height
//     lidar.range_min, range_max     what Gazebo's sensor at that link says
//
// What the world says beside it counts before it: a URDF knows nothing of accelerations, and seldom a limit that is
// meant. What neither says is told by its name.
#include "body/world/world_urdf.h"

#include "pons/base_urdf.h"

#include <limits.h>
#include <stdio.h>

#define MODULE    "world"
#define SPEED_MAX 3.0 // m/s, of wheels that say how fast they turn

static int fault(const pons_yaml *yaml, pons_error *err)
{
    char where[PONS_ERROR_SOURCE_MAX];
    return pons_error_source(err, "%s",
                             pons_yaml_position(yaml, "/robot/urdf", where, sizeof where));
}

// A number that the file says, unless the world does. False: no memory.
static bool offer(pons_value *robot, const char *key, double value)
{
    return !isfinite(value) || pons_get(robot, key) ||
           !json_object_set_new(robot, key, json_real(value));
}

static bool fill(pons_value *robot, const pons_base_urdf *u)
{
    const bool shaped = pons_get(robot, "footprint") || pons_get(robot, "radius_m");
    const bool wheels = u->wheels > 0;
    // A limit that was never meant is none: then the world has to say how fast it is.
    const double most = u->wheel_max_radps * u->wheel_radius_m,
                 speed = most > SPEED_MAX ? NAN : most;
    bool whole = shaped || !u->has_footprint ||
                 !json_object_set_new(robot, "footprint", pons_footprint_value(&u->footprint));
    whole = whole && offer(robot, "wheel_radius_m", wheels ? u->wheel_radius_m : NAN);
    whole = whole && offer(robot, "track_m", wheels ? u->track_m : NAN);
    whole = whole && offer(robot, "speed_max_mps", wheels ? speed : NAN);
    whole = whole && offer(robot, "reverse_max_mps", wheels ? speed : NAN);
    whole = whole && offer(robot, "yaw_rate_max_radps", wheels ? 2.0 * speed / u->track_m : NAN);
    return whole;
}

// The world's lidar is where its link is, and sees as far as its sensor, unless the world says it. False: no memory.
static bool place_lidar(pons_value *world, pons_value *robot, const pons_base_urdf *u)
{
    const pons_value *given = pons_get(world, "lidar");
    if (!u->has_lidar || !json_is_object(given)) {
        return true;
    }
    pons_autovalue lidar = json_copy((json_t *)(uintptr_t)given);
    bool whole = lidar && offer(lidar, "range_min", u->lidar_range_m[0]) &&
                 offer(lidar, "range_max", u->lidar_range_m[1]);
    if (whole && !pons_get(given, "pose")) {
        whole =
            !json_object_set_new(robot, "lidar_at",
                                 json_pack("{s:s,s:f}", "link", u->lidar, "z", u->lidar_pose[2])) &&
            !json_object_set_new(lidar, "pose",
                                 json_pack("{s:f,s:f,s:f}", "x", u->lidar_pose[0], "y",
                                           u->lidar_pose[1], "yaw", u->lidar_pose[3]));
    }
    whole = whole && !json_object_set(world, "lidar", lidar);
    return whole;
}

int pons__world_urdf(pons_value *world, const pons_yaml *yaml, pons_error *err)
{
    static const char *const needed[] = {
        "wheel_radius_m",     "track_m",        "speed_max_mps",  "reverse_max_mps",
        "yaw_rate_max_radps", "accel_max_mps2", "brake_max_mps2", "yaw_accel_max_radps2"};
    const pons_value *given = pons_get(world, "robot");
    const char *name = pons_get_str(given, "urdf", ""), *dir = pons_get_str(world, "dir", ".");
    char path[2 * PATH_MAX];
    pons_base_urdf u;
    snprintf(path, sizeof path, "%s%s%s", *name == '/' ? "" : dir, *name == '/' ? "" : "/", name);
    int rc = pons_base_urdf_load(path, pons_get_str(given, "base_link", NULL), &u, err);
    if (rc == PONS_ENOTFOUND) {
        pons_error_set(err, PONS_EINVAL, MODULE, "cannot read the robot's description %s", name);
        return fault(yaml, err);
    }
    if (rc < 0) {
        return rc;
    }
    pons_autovalue robot = json_copy((json_t *)(uintptr_t)given);
    if (!robot || !fill(robot, &u) || !place_lidar(world, robot, &u) ||
        json_object_set(world, "robot", robot)) {
        rc = pons_error_set(err, PONS_ENOMEM, MODULE, "no memory for the robot");
    }
    const bool shaped = pons_get(given, "footprint") || pons_get(given, "radius_m");
    if (rc == PONS_OK && !shaped && !u.has_footprint) {
        pons_error_set(
            err, PONS_EINVAL, MODULE,
            "%s does not say what the robot covers (meshes: %d, shapes on joints that move: "
            "%d%s%s): give radius_m or footprint beside it",
            name, u.meshes, u.moving, *u.left_out ? ", first at link " : "", u.left_out);
        rc = fault(yaml, err);
    }
    for (size_t i = 0; rc == PONS_OK && i < sizeof needed / sizeof *needed; i++) {
        if (!pons_get(robot, needed[i])) {
            pons_error_set(err, PONS_EINVAL, MODULE,
                           "%s does not say the robot's %s: give it beside it%s", name, needed[i],
                           u.steers ? " (its wheels steer: turning_radius_m too)" : "");
            rc = fault(yaml, err);
        }
    }
    return rc;
}
