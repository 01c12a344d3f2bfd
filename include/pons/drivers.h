// drivers.h - the robots that are linked in; others are modules, driver-NAME.so (pons/module.h).
#ifndef PONS_DRIVERS_H
#define PONS_DRIVERS_H

#include "pons/ext/robot.h"

#ifdef __cplusplus
extern "C" {
#endif

// A simulated base without physics, thousands of times real time.
extern const pons_robot_ops pons_robot_kinematic;

#ifdef __cplusplus
}
#endif

#endif
