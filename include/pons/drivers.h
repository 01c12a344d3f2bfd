// drivers.h - the robots that are linked in; others are modules, driver-NAME.so (pons/module.h).
#pragma once

#include "pons/ext/robot.h"
#include "pons/linkage.h"

PONS_C_BEGIN

// A simulated base without physics, thousands of times real time.
extern const pons_robot_ops pons_robot_kinematic;

PONS_C_END
