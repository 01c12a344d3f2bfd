// conformance.h - what every robot driver must do, whatever moves it.
//
// Only pons_robot_ops is used, in the house and in variations of it. A driver of a robot that is elsewhere
// is joined with a played robot by its test, which lends it step, spawn, set_battery, truth and save.
#ifndef TESTS_DRIVERS_CONFORMANCE_H
#define TESTS_DRIVERS_CONFORMANCE_H

#include "pons/ext/robot.h"
#include "pons/value.h"
#include "unit.h"

#include <stdarg.h>
#include <stddef.h>

typedef struct driver_traits {
    const pons_robot_ops *ops;
    bool foreign; // the robot is elsewhere: it charges by itself, nothing restores it, and its
                  // messages come one by one
    bool remote;  // another program simulates it: time has begun, it saves and sets nothing, and a
                  // command is between two of its steps
    double battery_pct;  // what the wire takes from the battery's charge
    double depth_m;      // how far a hit may press into a wall
    double odom_m;       // odometry may be wrong by this much after a metre
    double odom_rad;     // and by this much after a quarter turn
    double brake_more_m; // above v²/2a
} driver_traits;

int conformance_run(const driver_traits *driver); // returns how many tests failed

// worlds/NAME.yaml as a value that may be changed, with "dir" and "path".
pons_value *house_world(void);
pons_value *world_from(const char *path, const char *dir);
// Sets world.SECTION.KEY (or world.KEY with section NULL); takes the value.
void world_set(pons_value *world, const char *section, const char *key, pons_value *value);
void *open_at(const pons_robot_ops *ops, const pons_value *world, pons_pose2 start, uint64_t seed);
// Steps by 10 ms for so long, holding a command.
void run_for(const pons_robot_ops *ops, void *robot, double seconds, double v, double w);
// Prints how many times faster than real time the robot runs, with its scans. Asserts nothing.
void print_realtime(const pons_robot_ops *ops, double seconds);

#endif
