// sight_state.h - the process `pons sight`: what its sources of detections share.
//
// The simulated detector's detections come with the body's reports (sight.c, `hear`), those of pictures from children
// (detector_supervisor.c), which get their places by the poses that the same link reports.
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
    pons_link *link;                                   // NULL: no body is there
    bool looks;                                        // the robot does, to see what is there
    int64_t save_due_ms, connect_due_ms, prune_due_ms; // host
    int64_t warned_ms;                                 // when something was said to be wrong; host
    struct sight_detectors *detectors;                 // of pictures
    bool poses;                                        // they need to know where the robot is
} sight;

// A line of what is wrong, unless *last_ms, when that was done last, is less than a minute ago.
void sight_say(sight *s, int64_t *last_ms, const char *what);
// Detections of a view go into the memory; what is wrong with them is a line in the log, one a minute.
void sight_tell(sight *s, pons_object_view *view, const pons_detection *found, size_t n);
