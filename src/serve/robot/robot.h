// robot.h - the robot: what is, what a person says, where it is.
#ifndef PONS_SERVE_ROBOT_ROBOT_H
#define PONS_SERVE_ROBOT_ROBOT_H

#include "serve/door/route.h"

extern const pons__route pons__words_routes[]; // state, say, pause, answer, reset …
extern const pons__route pons__live_routes[];  // map, live

#endif
