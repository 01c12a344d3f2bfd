// driver-twin.c - a driver of somebody else's: the kinematic robot under another name.
#include "pons/drivers.h"
#include "pons/module.h"

static pons_robot_ops ops;

static __attribute__((constructor)) void make(void)
{
    ops = pons_robot_kinematic;
    ops.name = "twin";
}

PONS_MODULE_EXPORT("driver", "twin", &ops);
