// battery_reading.h - what the body believes of the battery's charge. The essay is in battery_reading.c.
#pragma once

#include "pons/ext/robot.h"

typedef struct pons__charge { // the caller's storage
    bool known;
    double pct;        // believed
    int64_t number;    // of the newest reading; of a driver that numbers none 0
    double newest;     // reading,
    int64_t newest_ns; // and when it came; robot time, as the next
    int n;             // readings in a row, up to that, which say another charge; 0: none
    bool lower;        // than what is believed; else higher
    double nearest;    // of them, to what is believed
    int64_t since_ns;  // when the first of them came
} pons__charge;

// Takes the driver's reading in *state, and puts what is believed in its place; NAN: nothing has been told yet.
void pons__charge_believe(pons__charge *c, pons_robot_state *state, int64_t now_ns);
