// detector_supervisor.h - detectors of pictures, each a child `pons sight detect NAME`: started, read, killed when one hangs,
// started again; what they find gets its place and goes into the memory.
#pragma once

#include "app/sight/sight_state.h"
#include "pons/link_report.h"

#include <poll.h>

enum { SIGHT_DETECTORS_MAX = 8 };

// Makes those of the configuration that are not the simulators' own. PONS_ENOMEM.
int sight_detectors_open(sight *s, pons_error *err);
void sight_detectors_close(sight *s); // and ends the children
// Of the world that the body is in now; called when that has changed.
void sight_detectors_world(sight *s);
// Where the robot is, as it says.
void sight_detectors_pose(sight *s, const pons_report_senses *r);
// What is due, and what the children have said: never waits.
void sight_detectors_look(sight *s);
// Adds what to wait for; how many there are then. fds has room for SIGHT_DETECTORS_MAX more.
nfds_t sight_detectors_fds(const sight *s, struct pollfd *fds, nfds_t n);
