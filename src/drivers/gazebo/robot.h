// robot.h - the one object of the driver for Gazebo, of which both files have a part: gazebo.c the driver's calls and what
// goes out, gazebo_senses.c what comes in.
#pragma once

#include "drivers/gazebo/config.h"
#include "drivers/gazebo/keeper_process.h"
#include "drivers/gazebo/transport.h"
#include "drivers/outlet.h"
#include "drivers/sim/sim.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

typedef enum sense { ODOM, SCAN, BATTERY, CLOCK, SENSES } sense;

// Why the newest message of a sense was left out.
typedef enum fault {
    NO_FAULT,
    NO_NUMBER,
    TIME_BACK,   // its stamp is not behind the one before
    OTHER_CLOCK, // its stamp is far from /clock
    OTHER_TYPE   // somebody publishes another type there, and nobody the right one
} fault;

typedef struct received { // host times; 0: never
    _Atomic int64_t ns;
    _Atomic int bad; // fault
} received;

typedef struct order { // of one obstacle: what the courier still has to make true
    bool due;
    int made;       // how often it was asked for: part of the name that Gazebo knows it by
    char there[64]; // the name of the one that stands there; "": none
} order;

typedef struct robot {
    pons__sim sim;     // first: ops of the simulated robots take it
    gazebo_config c;   /* const */
    gazebo_wire *wire; /* const after open */
    gazebo_keep keep;  // its end of it; none where pons makes time go
    pthread_t writer, courier;
    bool writes, carries;
    _Atomic bool quit;
    pons__outlet outlet;
    sem_t asked; // the courier has something to do
    received received[SENSES];
    _Atomic bool paused, listened, stalled;
    _Atomic int64_t back_ns;               // host time at which the clock went back
    _Atomic int64_t front_ns, behind_ns;   // host times of the newest contacts
    _Atomic int power;                     // of the battery, as Gazebo says it
    pthread_mutex_t mtx;                   // of all below; taken after sim.step_lock
    pthread_cond_t moved;                  // clock or odometry has moved
    int64_t offset_ns;                     // robot time + this is Gazebo's
    int64_t clock_ns, odom_ns, period_ns;  // Gazebo's: the newest of each; between two odometries
    int64_t step_ns;                       // an iteration; 0: not said
    order orders[PONS__SIM_OBSTACLES_MAX]; // [sim.step_lock]
    bool charge_asked;                     // courier's: what was told last
    pons_pose2 truth;                      // [sim.step_lock]
    bool has_odom;                         // [sim.step_lock]
    pons_scan scan;    // [sim.step_lock] one that is newer than the odometry; n 0: none
    int64_t scan_ns;   // [sim.step_lock] stamp of the newest good one
    bool has_scan;     // [sim.step_lock]
    bool has_share;    // transport's: it was said that the battery may be a share
    int64_t looked_ns; // courier's: host time at which types were looked at
} robot;

// What is called with what the transport brings.
gazebo_ears gazebo_robot_ears(robot *r);
