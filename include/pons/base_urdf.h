// base_urdf.h - a mobile base by its URDF: what of the floor it covers, its wheels, and where its lidar sits.
//
// Read are links (collision, and visual where a link has no collision) and joints (all kinds, origin, axis,
// limit), and of Gazebo's sensors (ray, gpu_ray, lidar, gpu_lidar) the range. The base is `base_footprint`, else `base_link`, else the root, unless it is named. What the links that
// hang rigidly on it, and its wheels, cover is the footprint. Meshes are counted, not read, and so are shapes on
// what else moves (a fork, a caster): where there are any, there is no footprint, as it would be less than the robot.
// Wheels are joints that turn without end, or are said to, about the base's y, hung on it rigidly, in pairs to both
// sides.
#pragma once

#include "pons/error.h"
#include "pons/footprint.h"
#include "pons/linkage.h"

PONS_C_BEGIN

#define PONS_URDF_NAME 128 // of a link or joint, with its zero

typedef struct pons_base_urdf {
    char name[PONS_URDF_NAME], base[PONS_URDF_NAME];
    int links, joints;
    bool has_footprint;
    pons_footprint footprint;
    int meshes;                    // of the base and its wheels: what they cover is not known;
    int moving;                    // shapes on joints that move, whose place is not;
    char left_out[PONS_URDF_NAME]; // and the link of the first of them
    int wheels;                    // 0: no pair was found
    double wheel_radius_m;         // NAN: unknown
    double track_m;                // between the wheels of a pair
    double wheel_max_radps;        // the slowest wheel's limit; NAN: none
    bool steers;                   // some wheels hang on joints that turn about z
    bool has_lidar;
    char lidar[PONS_URDF_NAME]; // its link
    double lidar_pose[4];       // x, y, z [m] and yaw [rad] in the base
    double lidar_range_m[2];    // min, max, of Gazebo's sensor at that link; NAN: not said
} pons_base_urdf;

// base: a link; NULL or "": found. PONS_ENOTFOUND, or PONS_EINVAL with file:line:col. Any thread.
int pons_base_urdf_load(const char *path, const char *base, pons_base_urdf *ret, pons_error *err);

PONS_C_END
