// battery_filter.h - the battery's charge without outliers. The essay is in battery_filter.c.
#pragma once

#include "pons/ext/robot.h"

typedef struct pons__battery_filter { // the caller's storage, zeroed
    bool known;
    double accepted;   // charge [%]
    int64_t number;    // of the newest reading; 0: the driver numbers none
    double newest;     // reading [%]
    int64_t newest_ns; // robot time at which the newest reading came
    int outliers;      // how many in a row, all on one side of the accepted charge
    bool below;        // they lie below the accepted charge
    double nearest;    // the outlier that is nearest to the accepted charge [%]
    int64_t since_ns;  // robot time of the first outlier
} pons__battery_filter;

// Replaces the charge in *state by the accepted charge, or by NAN while no reading has come.
void pons__battery_filter_apply(pons__battery_filter *f, pons_robot_state *state, int64_t now_ns);
