// sight_state.h - the process `pons sight`: what its sources of detections share.
//
// The simulated detector's detections come with the body's reports (sight.c, `hear`). Another source of detections would
// hear the same link for poses, and end in sight_tell as the simulated one does.
#pragma once

#include "app/sight/sight.h"
#include "pons/link.h"
#include "sight/line_of_sight.h"

typedef struct sight {
    const app_context *c;
    const volatile sig_atomic_t *quit;
    pons_clock clock;
    pons_value *config;
    pons_store store;
    pons_object_memory *memory; // NULL: no body has been heard of yet
    pons_value *world;          // of the body
    pons__walls walls;
    char world_id[32]; // as its hello says
    char boot_id[64];
    pons_link *link;                     // NULL: no body is there
    bool looks;                          // the robot does, to see what is there
    int64_t save_due_ms, connect_due_ms; // host
    int64_t warned_ms;                   // when something was said to be wrong; host
} sight;

// Detections of a view go into the memory; what is wrong with them is a line in the log, one a minute.
void sight_tell(sight *s, pons_object_view *view, const pons_detection *found, size_t n);
