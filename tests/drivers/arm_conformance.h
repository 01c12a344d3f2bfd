// arm_conformance.h - what every simulated driver's arm must do (ext/arm.h), by the contract alone.
#ifndef TESTS_DRIVERS_ARM_CONFORMANCE_H
#define TESTS_DRIVERS_ARM_CONFORMANCE_H

#include "pons/ext/robot.h"

int arm_conformance_run(const pons_robot_ops *ops); // in the tabletop; how many tests failed

#endif
