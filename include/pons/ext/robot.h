// ext/robot.h - the contract of a robot driver, simulated or real.
//
// Frames map → odom → base (REP 105); stamps are robot time; SI units and radians. A driver gives
// odometry, scans and battery, and takes velocities; localisation in the map, navigation and safety
// are the body's. Velocity reaches a driver only from the safety thread, after the gate.
//
// Threads: `open`, `close`, `step`, `save`, `restore`, `spawn`, `set_battery`, `truth` are called
// from one owner (the simulation thread, or the only thread under the virtual clock; under threads,
// spawn, set_battery and truth come from the loop thread while step runs elsewhere: the driver
// locks that for itself). `read`, `scan`, `write_velocity`, `charge` and `fault` are called from
// the safety thread and the loop thread at any time while step runs: they never block, lock,
// allocate or do I/O in a simulated driver (publish through a sequence lock); a real robot's driver
// hands I/O to a thread of its own.
#pragma once

#include "pons/ext/arm.h"
#include "pons/ext/outside.h"
#include "pons/footprint.h"
#include "pons/geometry.h"
#include "pons/linkage.h"
#include "pons/value.h"

#include <stdbool.h>
#include <stddef.h>

PONS_C_BEGIN

// 1 (no `arm`, no `cameras`), 2 (no `outside`), 3 (no errands), 4 (a circle), 5 (scans from the robot's
// middle) and 6 (no `battery_number`, no map of its own) are understood.
#define PONS_ROBOT_ABI       7u
#define PONS_ROBOT_ABI_FIRST 1u

typedef enum pons_battery_state { // sensor_msgs/BatteryState POWER_SUPPLY_STATUS_*
    PONS_BATTERY_UNKNOWN = 0,
    PONS_BATTERY_CHARGING = 1,
    PONS_BATTERY_DISCHARGING = 2,
    PONS_BATTERY_NOT_CHARGING = 3,
    PONS_BATTERY_FULL = 4
} pons_battery_state;

typedef struct pons_robot_caps {
    char robot_id[64];
    double radius_m;        // of the circle about the base that holds the footprint
    double speed_max_mps;   // forward
    double reverse_max_mps; // positive number
    double yaw_rate_max_radps;
    double accel_max_mps2; // comfortable
    double brake_max_mps2; // what the safety gate may ask for
    double yaw_accel_max_radps2;
    bool simulated;  // step, save, restore, spawn, set_battery, truth are there
    bool can_charge; // charge is there
    double scan_hz;

    // Since version 5.
    pons_footprint footprint; // without corners: the circle of radius_m
    double turning_radius_m;  // of the tightest arc; 0: it turns where it stands
} pons_robot_caps;

typedef struct pons_robot_state {
    int64_t stamp_ns;          // robot time
    pons_pose2 odom_from_base; // wheel odometry: drifts
    pons_twist2 twist;         // measured, in base
    double cov[9];             // of (x, y, yaw), row-major 3×3
    double battery_pct;        // 0–100
    pons_battery_state battery;
    bool on_charger; // contacts touch

    // Since version 7.
    int64_t battery_number; // number of the battery's newest reading; 0: the driver numbers none
} pons_robot_state;

typedef struct pons_robot_ops {
    uint32_t abi; // PONS_ROBOT_ABI
    const char *name;

    // world: the world file as a value (docs/reference/worlds.md), with "dir" (where its files are) and
    // "path" added. config: {seed, battery_pct?, start?{x,y,yaw}}. PONS_EINVAL for a bad world,
    // PONS_EENV for a missing library or device.
    int (*open)(const pons_value *world, const pons_value *config, void **ret_self,
                pons_error *err);
    void (*close)(void *self);                       // NULL-safe
    void (*caps)(void *self, pons_robot_caps *ret);  // constant after open; *ret comes zeroed
    int64_t (*time_ns)(void *self);                  // robot clock; any thread
    void (*read)(void *self, pons_robot_state *ret); // the newest
    bool (*scan)(void *self, pons_scan *ret);        // the newest; false before the first
    void (*write_velocity)(void *self, pons_twist2 cmd_in_base); // held until the next write
    int (*charge)(void *self, bool on, pons_error *err); // asynchronous: watch read().battery
    // A fault that has latched ("NaN in qacc at 12.3 s"), or NULL. Static or self's storage.
    const char *(*fault)(void *self);

    // Simulation only (NULL on a real robot).
    int (*step)(void *self, int64_t dt_ns, pons_error *err); // advances physics and the robot clock
    int (*save)(void *self, pons_value **ret, pons_error *err);
    int (*restore)(void *self, const pons_value *saved, pons_error *err);
    // {id, x, y, sx, sy, height?}: an obstacle appears (or moves); with "remove": true it goes.
    int (*spawn)(void *self, const pons_value *what, pons_error *err);
    void (*set_battery)(void *self, double pct);
    void (*truth)(void *self, pons_pose2 *ret_pose_in_map); // for judges only

    // Since version 2; NULL: none.
    const pons_robot_arm_ops *arm;
    const pons_robot_camera_ops *cameras;

    // Since version 3; NULL: the robot brings no software of its own.
    const pons_robot_outside_ops *outside;
} pons_robot_ops;

// A driver's arm and cameras, whatever its version; NULL: none.
static inline const pons_robot_arm_ops *pons_robot_arm(const pons_robot_ops *ops)
{
    return ops->abi >= 2u ? ops->arm : NULL;
}
static inline const pons_robot_camera_ops *pons_robot_cameras(const pons_robot_ops *ops)
{
    return ops->abi >= 2u ? ops->cameras : NULL;
}
// Whether a driver, whatever its version, has a simulated detector, and it has looked.
static inline bool pons_robot_see(const pons_robot_ops *ops, void *self, pons_robot_sight *ret)
{
    const pons_robot_camera_ops *cameras = pons_robot_cameras(ops);
    return cameras && cameras->abi >= 2u && cameras->see && cameras->see(self, ret);
}
static inline const pons_robot_outside_ops *pons_robot_outside(const pons_robot_ops *ops)
{
    return ops->abi >= 3u ? ops->outside : NULL;
}
// Whether the robot's own SLAM can give its map.
static inline bool pons_robot_gives_map(const pons_robot_ops *ops)
{
    const pons_robot_outside_ops *outside = pons_robot_outside(ops);
    return outside && ops->abi >= 7u && outside->map;
}

PONS_C_END
