// robot.h - the robot: what is, what a person says, where it is.
#pragma once

#include "serve/access/route.h"

extern const pons__route pons__words_routes[]; // state, say, pause, answer, reset …
extern const pons__route pons__live_routes[];  // map, live
extern const pons__route pons__past_routes[];  // history, state, fork, graphs, system, doctor
extern const pons__route pons__files_routes[]; // files of the workspace
extern const pons__route pons__camera_routes[];
extern const pons__route pons__fleet_routes[];
extern const pons__route pons__manual_control_routes[]; // drive, pose

int pons__steering_open(pons_serve *s, pons__steering **ret, pons_error *err);
void pons__steering_close(pons__steering *h); // NULL-safe
