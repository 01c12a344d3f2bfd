// relay.h - the DDS of the played robot, by a program that others' DDS speaks for: tests/ros2/relay.py.
//
// $PONS_ROS2_RELAY is the Python that has it (`./dev test --ros2` sets it); without it there is no relay.
#ifndef TESTS_DRIVERS_ROS2_RELAY_H
#define TESTS_DRIVERS_ROS2_RELAY_H

#include "pons/geometry.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct relay_word { // as relay.py unpacks it; its scan's ranges follow
    char kind;              // 'S' senses, 'B' a battery
    int64_t time_ns, scan_ns;
    double odom[3], twist[2], cov[9], places[3], battery_pct;
    int32_t battery_state, n_ranges;
    float angle_min, angle_increment, range_min, range_max;
} relay_word;

typedef struct relay {
    pid_t pid;
    int in, out;
    bool matched; // the driver's ends are there
} relay;

// NULL: none is wanted. Fails the test when it cannot be.
relay *relay_open(const char *ns, uint32_t domain);
void relay_close(relay *r); // NULL-safe
void relay_say(relay *r, const relay_word *word, const float *ranges);
bool relay_take(relay *r, pons_twist2 *ret); // the next velocity that has come

#endif
