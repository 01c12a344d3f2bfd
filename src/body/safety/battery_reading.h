// battery_reading.h - what the body believes of the battery's charge. The essay is in battery_reading.c.
#pragma once

#include "pons/ext/robot.h"

typedef struct pons__charge { // the caller's storage
    bool known;
    double pct;       // believed
    int64_t number;   // of the newest reading
    int n;            // readings in a row, up to that, which say another charge; 0: none
    double jump_pct;  // that the first of them said,
    int64_t since_ns; // robot time at which it came
} pons__charge;

// Takes the driver's reading in *state, and puts what is believed in its place; NAN: nothing has been told yet.
void pons__charge_believe(pons__charge *c, pons_robot_state *state, int64_t now_ns);
