// spin_back_up.h - the two motions besides following a path: turning in place, and driving straight. A
// pure step function; the essay is in spin_back_up.c.
#pragma once

#include "body/controller/controller.h"

typedef enum pons__motion_status {
    PONS__MOTION_RUNNING,
    PONS__MOTION_DONE,
    PONS__MOTION_TIMEOUT,
    PONS__MOTION_COLLISION,
    PONS__MOTION_INVALID // what is asked makes no sense
} pons__motion_status;

typedef struct pons__motion_goal {
    bool turn;          // in place; else straight
    double by;          // [rad], counter-clockwise; or [m], forwards
    double rate;        // [rad/s] or [m/s], at most; positive
    double accuracy;    // [rad] or [m]
    double allowance_s; // longer: TIMEOUT
    bool unchecked;     // no look ahead; the gate still looks
} pons__motion_goal;

typedef struct pons__motion { // of one motion; the caller's storage
    pons__motion_goal goal;
    int64_t start_ns;
    int64_t blocked_ns; // since when the gate lets nothing through; -1
    pons_pose2 from;    // in odom
    double last_yaw;    // in odom
    double done;        // so far, signed like `by`
} pons__motion;

typedef struct pons__motion_input {
    int64_t now_ns;            // robot time
    pons_pose2 odom;           // odom_from_base
    pons_pose2 pose;           // in map
    const pons__costmap *grid; // what to look ahead in; NULL: nothing
    double radius_m;
    bool gate_known;       // gate is what the safety gate wrote last
    pons_twist2 gate, cmd; // cmd: what was asked last
} pons__motion_input;

void pons__motion_start(pons__motion *m, const pons__motion_goal *goal, int64_t now_ns,
                        pons_pose2 odom);
// *ret_want: the velocity it would like, not limited in acceleration. ret_why gets the measure of
// what ended it.
pons__motion_status pons__motion_step(pons__motion *m, const pons__motion_input *in,
                                      pons_twist2 *ret_want, char *ret_why, size_t cap);
// What a step begins with; of a motion that somebody else drives, all that there is to do.
void pons__motion_track(pons__motion *m, pons_pose2 odom);
double pons__motion_left(const pons__motion *m); // [rad] or [m], never negative
