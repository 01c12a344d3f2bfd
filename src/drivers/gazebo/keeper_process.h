// keeper_process.h - the process that outlives the driver's, to stop the robot (gazebo_keeper/dead_body_stop.c): its life.
//
// One thread beats, another minds; both may be the same. Neither is the safety thread.
#pragma once

#include "pons/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct gazebo_keep {
    char path[4096];               // of the program
    const char *partition, *topic; // borrowed
    pthread_mutex_t mtx;     // of the number of its descriptor, which another file may have next
    int fd;                  // [mtx] -1: there is no keeper
    _Atomic bool received;   // it is there, and the robot hears it
    _Atomic bool gone;       // it has ended by itself
    _Atomic int64_t said_ns; // host time of its newest word
    pid_t pid;               // minder's
    int64_t again_ns;        // host time before which no other one is started
} gazebo_keep;

#define GAZEBO_KEEP_INIT                                                                           \
    {                                                                                              \
        .fd = -1, .mtx = PTHREAD_MUTEX_INITIALIZER                                                 \
    }

// of: anything of the module that the program lies beside.
int gazebo_keep_open(gazebo_keep *k, const void *of, const char *partition, const char *topic,
                     pons_error *err);
bool gazebo_keep_ready(gazebo_keep *k, int64_t host_ns); // any thread: it would stop the robot
void gazebo_keep_beat(gazebo_keep *k, bool moves);       // a velocity was published
void gazebo_keep_mind(gazebo_keep *k);  // is it there? One that is gone, or hangs, is started anew
void gazebo_keep_close(gazebo_keep *k); // the robot stands: there is nothing to keep
