// battery_filter.h - the battery's charge without outliers. The essay is in battery_filter.c.
#pragma once

#include "pons/ext/robot.h"

typedef struct pons__battery_filter { // the caller's storage, zeroed
    bool known;
    double accepted;   // charge [%]
    int64_t number;    // of the newest reading; 0: the driver numbers none
    double newest;     // reading [%]
    int64_t newest_ns; // and the robot time at which it came
    int outliers;      // in a row, on one side of the accepted charge
    bool below;        // that side
    double nearest;    // of them, to the accepted charge [%]
    int64_t since_ns;  // robot time of the first of them
} pons__battery_filter;

// Replaces the charge in *state by the accepted one; NAN: no reading has come yet.
void pons__battery_filter_apply(pons__battery_filter *f, pons_robot_state *state, int64_t now_ns);
