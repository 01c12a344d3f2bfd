// ext/bridge.h - the contract of what shows a body to other software: a robot of ROS 2, say.
//
// A bridge is a process of its own, `pons body ros2`, and a client of the body's link (docs/reference/link.md): it
// hears the senses, and is the body's controller only while somebody over there wants the robot to move.
// Whatever becomes of it, the body is safe alone.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"
#include "pons/value.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_BRIDGE_ABI 1u

typedef struct
    pons_bridge_options {  // borrowed until run returns; functions are called by its thread
    const char *run_dir;   // with body.sock
    const char *workspace; // whose config/ comes before the installed one
    bool once;             // ends when the body that it found has gone
    // The world of that name (a hello's) as a value, the caller's; PONS_ENOTFOUND: it is not here.
    int (*world)(void *user, const char *name, pons_value **ret, pons_error *err);
    void (*ready)(void *user); // it can be found; called once
    void (*tell)(void *user, const char *line);
    void *user;
    volatile sig_atomic_t *quit;
} pons_bridge_options;

typedef struct pons_bridge_ops {
    uint32_t abi; // PONS_BRIDGE_ABI
    const char *name;
    // Until *quit is set, or the body has gone and `once`. PONS_EINVAL for a bad configuration, PONS_EENV
    // when it cannot be reached by others.
    int (*run)(const pons_bridge_options *o, pons_error *err);
} pons_bridge_ops;

PONS_C_END
