// velocity_filter.h - the gate between any velocity command and the wheels: a pure step function. The essay
// is in velocity_filter.c. Poses and points in metres and radians, times in nanoseconds; "robot" times are
// the robot clock's, "host" times the host's.
#pragma once

#include "body/area/zone_grid.h"
#include "body/safety/arm_gate.h"
#include "body/safety/epoch_file.h"
#include "body/sensing/lidar_self_filter.h"
#include "pons/clock.h"
#include "pons/ext/robot.h"

#include <stdbool.h>
#include <stdint.h>

#define PONS__REASON_MAX 96 // bytes of a stop's reason, with the zero

// What the gate did to the last command, most severe last.
#define PONS__ZONE_TABLE(X)                                                                        \
    X(PONS__ZONE_CLEAR, "clear")       /* the command passed */                                    \
    X(PONS__ZONE_LIMIT, "limit")       /* something is near: a lower top speed */                  \
    X(PONS__ZONE_SLOW, "slow")         /* something is very near: slow */                          \
    X(PONS__ZONE_APPROACH, "approach") /* something is ahead: v²/2a */                            \
    X(PONS__ZONE_STOP, "stop")         /* something is at the footprint, that way */               \
    X(PONS__ZONE_HELD, "held")         /* nobody is in control: braked */                          \
    X(PONS__ZONE_OLD_COMMAND, "stale_command")                                                     \
    X(PONS__ZONE_OLD_SCAN, "stale_scan")                                                           \
    X(PONS__ZONE_LACKS, "lacks")     /* the driver lacks a sense, or its wheels */                 \
    X(PONS__ZONE_LATCHED, "latched") /* until reset */
typedef enum pons__zone {
#define PONS__ZONE_ENUM(sym, word) sym,
    PONS__ZONE_TABLE(PONS__ZONE_ENUM)
#undef PONS__ZONE_ENUM
} pons__zone;
const char *pons__zone_word(pons__zone z);

typedef struct pons__safety_params {
    const pons__area
        *area;       // outlives the gate; NULL: the ground is the same everywhere. By set_area
    double radius_m; // of the circle that holds the footprint
    pons_footprint footprint;      // without corners: that circle
    pons__self_filter self_filter; // what the lidar sees of the robot
    double speed_max_mps, reverse_max_mps, yaw_rate_max_radps;
    double accel_mps2, brake_mps2, yaw_accel_radps2;
    double approach_mps2;    // comfortable braking towards something ahead
    double surprise_mps2;    // braking that is needed only after a surprise
    double stop_margin_m;    // beyond the footprint, in the direction of travel
    double side_margin_m;    // beyond the footprint, to the sides of the way
    double turn_margin_m;    // beyond a round footprint, to turn in place as fast as wanted
    double leave_mps;        // away from what is inside the stop margin,
    double leave_radps;      // and turning where something touches
    double slow_m, limit_m;  // clearance at which the slow and the limit zone begin
    double creep_mps;        // the slow zone's speed at contact
    double dock_mps;         // top speed of a docking command
    double dock_margin_m;    // its stop margin, beside that to the sides
    int64_t cmd_timeout_ns;  // robot time
    int64_t scan_timeout_ns; // robot time
    int64_t risk_hold_ns;    // robot time for which collision_risk stays set
    int64_t gap_host_ns;     // between two steps: longer is a gap, after which the gate is blind
    int64_t gap_robot_ns;    // until it has a scan and a command from behind it
} pons__safety_params;
void pons__safety_params_from_caps(pons__safety_params *p, const pons_robot_caps *caps);

// What the loop thread wants; the newest one counts.
typedef struct pons__command {
    pons_twist2 want;              // in base
    pons_pose2 map_from_odom;      // where the loop takes the robot to be
    int64_t stamp_ns;              // robot time at which it was computed
    uint64_t goal_seq;             // rises with every goal that starts
    bool hold;                     // nobody is in control
    bool docking;                  // towards the charger: slow, and closer than else
    int taken_pct;                 // of every speed limit, that a person takes away; 0: nothing
    uint64_t pace_count;           // rises with every word on that
    int64_t alive_until_host_ns;   // the controller's heartbeat is good until then
    uint64_t stop_count;           // rises with every stop that came over a link
    pons__origin stop_origin;      // of the last of these stops
    uint64_t reset_count;          // rises with every reset
    uint64_t reset_latch;          // the latch_count that the last reset means to lift
    uint64_t reset_goal_seq;       // goal_seq at the last reset: goals up to it stay void
    char reason[PONS__REASON_MAX]; // of the last of these stops
    struct {
        double qd[PONS_ARM_JOINTS]; // joint velocities that are wanted
        uint64_t goal_seq;          // of the goal that wants them
        bool hold;                  // nobody is in control
        uint64_t grips;             // rises with every wish of the gripper,
        uint64_t grip_seq;          // of this goal:
        double width_m, force_n;
    } arm;
} pons__command;

// What the gate did; for telemetry and for the loop thread.
typedef struct pons__safety_status {
    bool latched;
    char reason[PONS__REASON_MAX];  // of the latch, or of the last one
    pons__origin origin;            // who latched
    uint64_t latch_count;           // rises with every latch, also of what is latched already
    bool lifting;                   // a reset was taken and waits for the disk; still latched
    uint64_t gen;                   // rises whenever what should be on the disk changes
    uint64_t saved_gen;             // the newest that is on the disk
    char unsaved[PONS__REASON_MAX]; // why gen is not, when that was tried
    int taken_pct;  // of every speed limit, in force: more at once, less once it is on the disk
    int taken_seen; // of the command
    uint64_t paces_seen;  // of the command's pace_count
    uint64_t stops_seen;  // of the command's stop_count
    uint64_t resets_seen; // of the command's reset_count
    pons__zone zone;
    pons_twist2 out;     // last velocity written
    double nearest_m;    // nearest return from the robot's centre; INFINITY: none within reach
    double free_m;       // along the commanded way, to the footprint
    bool collision_risk; // harder braking was needed than the approach zone ever leaves to need
    int64_t scan_age_ns;
    bool fifo;             // the thread runs under SCHED_FIFO
    bool memory_locked;    // its stack cannot be paged out
    int64_t write_host_ns; // host time of the last write
    uint64_t ticks;
    uint64_t gaps; // in its own clocks, so far
    pons__arm_status arm;
} pons__safety_status;

// What should be on the disk, for the latch thread; and what is, from there.
typedef struct pons__latch_want {
    uint64_t gen;
    bool latched;
    pons__origin origin;
    char reason[PONS__REASON_MAX];
    int taken_pct;
} pons__latch_want;
typedef struct pons__latch_saved {
    uint64_t gen;               // newest that is on the disk
    uint64_t tried;             // and that was tried
    char why[PONS__REASON_MAX]; // that attempt failed: why
} pons__latch_saved;

#define PONS__SAFETY_HISTORY 64 // odometry samples kept, to know where a scan was taken
#define PONS__RIM_MAX        512

typedef struct pons__safety { // the caller's storage; one thread
    bool lacks;               // the driver says that the robot should stand, at this step
    pons__safety_params p;
    pons__safety_status status;
    pons_twist2 last;       // written
    int64_t last_ns;        // robot time of the last step; -1 before the first
    int64_t last_host_ns;   // and host time
    int64_t blind_until_ns; // robot time: scans and commands up to then are from before a gap
    uint64_t dead_goal_seq; // commands up to this goal are void: they are from before a latch
    bool lift_wanted;       // a reset came, and the latch it lifts is not on the disk yet
    uint64_t lift_goal_seq; // that becomes dead with it
    int64_t risk_until_ns;
    struct {
        int64_t stamp_ns;
        pons_pose2 pose;
    } odom[PONS__SAFETY_HISTORY]; // a ring
    int odom_n, odom_head;
    int64_t scan_stamp_ns;    // -1: none yet
    int n;                    // points
    double px[PONS_SCAN_MAX]; // in odom [m]
    double py[PONS_SCAN_MAX]; // in odom [m]
    double bx[PONS_SCAN_MAX]; // in base, now [m]
    double by[PONS_SCAN_MAX]; // in base, now [m]
    struct {
        int n;
        double x[PONS__RIM_MAX],
            y[PONS__RIM_MAX]; // (n) the footprint's middle and outline, in base [m]
        double step_m;        // that a place of it moves by, from one look to the next
    } rim;
} pons__safety;

void pons__safety_init(pons__safety *s, const pons__safety_params *p);
// Latches; the first reason is kept while it lasts, but a doubt at boot gives way to a real one. By
// the thread that owns s, as the next three.
void pons__safety_latch(pons__safety *s, pons__origin origin, const char *reason);
// The stops, resets and pace of a command, and a driver's fault (or NULL). Part of a step.
void pons__safety_requests(pons__safety *s, const pons__command *cmd, const char *fault);
// What the latch thread has done; a reset that waited for it goes on.
void pons__safety_saved(pons__safety *s, const pons__latch_saved *saved);
pons__latch_want pons__safety_want(const pons__safety *s);
// One step: the velocity to write now. scan: the newest, or NULL before the first. fault: the
// driver's, or NULL.
pons_twist2 pons__safety_step(pons__safety *s, const pons__command *cmd,
                              const pons_robot_state *state, const pons_scan *scan,
                              const char *fault, int64_t robot_ns, int64_t host_ns);

// person_speed_limit.c: what is left of a wish, and of a joint's share of its speed, when a person wants it slower.
pons_twist2 pons__safety_pace(pons__safety *s, pons_twist2 want);
double pons__pace_share(int taken_pct); // never above 1, nor below PONS__PACE_LEAST_PCT

// zone_limits.c: which areas there are, before the first step; what is left of a wish where keep-out and slow zones lie, a
// part of a step. `at`: the pose in map.
void pons__safety_set_area(pons__safety *s, const pons__area *area);
pons_twist2 pons__safety_ground(pons__safety *s, pons_twist2 want, pons_pose2 at);

// Distance that a disc of radius r may go along an arc before it touches a point: dir +1 forwards,
// -1 backwards; curvature = w / v [1/m]. At most `reach`; zero when a point is inside already and
// the motion goes towards it. For the tests' tables.
double pons__safety_free(const double *x, const double *y, int n, double r, int dir,
                         double curvature, double reach);
