// driver-gentle.c - a driver of one's own: the simulated robot as a careful person would drive it, at a
// third of its speed, and it never backs up faster than it sees. Built as lib/driver-gentle.so of the
// workspace: `pons run --driver gentle "go to the kitchen"`.
//
// What is the same as the other driver's is its function, with the same self. A driver of a real robot
// has its own for all of them, and none of those for simulations (ext/robot.h): `read` and `scan` give
// the newest that a thread of the driver's has published, `write_velocity` leaves the newest for it.
#include "pons/drivers.h"
#include "pons/module.h"

static const double SHARE = 1.0 / 3;          // of what the robot could do
static const double REVERSE_MAX_MPS = 0.1;    // its lidar sees less behind
static const double YAW_RATE_MAX_RADPS = 0.8; // a cup stays on the tray

static double within(double v, double low, double high)
{
    return v < low ? low : v > high ? high : v;
}

// What the body plans with, and what the safety gate holds it to. Any thread, constant after open.
static void caps(void *self, pons_robot_caps *ret)
{
    pons_robot_kinematic.caps(self, ret);
    ret->speed_max_mps *= SHARE;
    ret->accel_max_mps2 *= SHARE;
    ret->reverse_max_mps = within(ret->reverse_max_mps, 0, REVERSE_MAX_MPS);
    ret->yaw_rate_max_radps = within(ret->yaw_rate_max_radps, 0, YAW_RATE_MAX_RADPS);
}

// From the safety thread, after its gate: it must not block, lock or allocate. A driver keeps its own
// limits all the same: it is the last one before the motors.
static void write_velocity(void *self, pons_twist2 cmd)
{
    pons_robot_caps c;
    caps(self, &c);
    cmd.v = within(cmd.v, -c.reverse_max_mps, c.speed_max_mps);
    cmd.w = within(cmd.w, -c.yaw_rate_max_radps, c.yaw_rate_max_radps);
    pons_robot_kinematic.write_velocity(self, cmd);
}

static pons_robot_ops ops;

static __attribute__((constructor)) void make(void)
{
    ops = pons_robot_kinematic;
    ops.name = "gentle";
    ops.caps = caps;
    ops.write_velocity = write_velocity;
}

PONS_MODULE_EXPORT("driver", "gentle", &ops);
