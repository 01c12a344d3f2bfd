// arm_gate.h - the gate between any wish and an arm's motors: a pure step function. The essay is in arm_gate.c.
#pragma once

#include "pons/arm.h"

enum { PONS__ARM_BOXES = 24 };

// What the gate did to the last command, most severe last.
#define PONS__ARM_ZONE_TABLE(X)                                                                    \
    X(PONS__ARM_CLEAR, "clear")                                                                    \
    X(PONS__ARM_LIMITED, "limit")       /* speeds, accelerations, the ends of joints */            \
    X(PONS__ARM_NEAR, "near")           /* slower: something, or the arm itself, is near */        \
    X(PONS__ARM_WORKSPACE, "workspace") /* slower: the tool would leave its box */                 \
    X(PONS__ARM_FORCE, "force")         /* a joint pushes too hard: it gives way */                \
    X(PONS__ARM_HELD, "held")           /* nobody is in control */                                 \
    X(PONS__ARM_OLD_COMMAND, "stale_command")                                                      \
    X(PONS__ARM_LATCHED, "latched")
typedef enum pons__arm_zone {
#define PONS__ARM_ZONE_ENUM(sym, word) sym,
    PONS__ARM_ZONE_TABLE(PONS__ARM_ZONE_ENUM)
#undef PONS__ARM_ZONE_ENUM
} pons__arm_zone;
const char *pons__arm_zone_word(pons__arm_zone z);

typedef struct pons__arm_params {
    const pons_arm *model;               // NULL: there is no arm
    double accel, brake;                 // of a joint [rad/s²]
    double speed_share;                  // of the joints' own limits
    double effort_share;                 // of the joints' own limits: more than that for
    double effort_s;                     // so long gives way
    double margin_m;                     // kept from what stands, and between links
    double react_s;                      // the arm goes on for so long before it can brake
    pons_arm_box boxes[PONS__ARM_BOXES]; // what stands, in the frame of the arm's base
    int n_boxes;
    double floor;
    double workspace_min[3], workspace_max[3]; // of the tool, in the same frame
} pons__arm_params;

typedef struct pons__arm_status {
    pons__arm_zone zone;
    double out[PONS_ARM_JOINTS]; // velocities written last
    double clearance_m;          // now
} pons__arm_status;

typedef struct pons__arm_gate { // the caller's storage; one thread
    pons__arm_params p;
    pons__arm_status status;
    double last[PONS_ARM_JOINTS];
    int taken_pct;   // of the joints' speeds, by a person; before each step
    double pushed_s; // for which a joint has pushed too hard
    bool gives_way;  // until it pushes less than half of that
} pons__arm_gate;

void pons__arm_gate_init(pons__arm_gate *g, const pons__arm_params *p);
// The velocities that may be written now. why: CLEAR, or what forbids all motion. Allocates nothing.
void pons__arm_gate_step(pons__arm_gate *g, pons__arm_zone why, const double *want,
                         const pons_robot_arm_state *state, double dt_s, double *ret);
