// gate.h - the safety gate between its two mailboxes and the driver: what the safety thread runs,
// and what pons_body_step() runs under the virtual clock.
#pragma once

#include "body/safety/mailbox.h"
#include "body/safety/velocity_filter.h"
#include "pons/clock.h"

typedef struct pons__gate {
    const pons_robot_ops *robot;       /* const */
    void *self;                        /* const: the driver's object */
    pons_clock clock;                  /* const: host */
    pons__safety safety;               /* safety thread */
    pons_scan scan;                    /* safety thread */
    const pons_robot_arm_ops *arm_ops; /* const; NULL: no arm */
    pons__arm_gate arm;                /* safety thread */
    int64_t arm_ns;                    /* safety thread: robot time of the arm's last step */
    uint64_t grips_seen;               /* safety thread */
    pons__mailbox commands;            // loop → safety
    pons__command command[PONS__MAILBOX_SLOTS];
    pons__mailbox statuses; // safety → loop
    pons__safety_status status[PONS__MAILBOX_SLOTS];
    pons__mailbox wants; // safety → latch thread
    pons__latch_want want[PONS__MAILBOX_SLOTS];
    pons__mailbox saves; // latch thread → safety
    pons__latch_saved saved[PONS__MAILBOX_SLOTS];
    uint64_t reported_gen;         /* safety thread: the newest in wants */
    void (*wake_saver)(void *ctx); /* const; NULL: single thread */
    void *wake_ctx;                /* const */
} pons__gate;

void pons__gate_init(pons__gate *g, const pons_robot_ops *robot, void *self, pons_clock clock,
                     const pons__safety_params *params);

// Before any tick: there is an arm too.
void pons__gate_arm(pons__gate *g, const pons_robot_arm_ops *ops, const pons__arm_params *params);
// Safety thread, at its end: nothing moves any more.
void pons__gate_still(pons__gate *g);
// Safety thread, each tick: inputs → gate → write_velocity → status.
void pons__gate_tick(pons__gate *g);
// Safety thread: latches and writes zero before it returns; the host time of that write.
int64_t pons__gate_stop(pons__gate *g, const char *reason);
// Before the safety thread runs: the latch that is on the disk already.
void pons__gate_boot_latch(pons__gate *g, pons__origin origin, const char *reason);
// Before it too: the pace that is there.
void pons__gate_boot_pace(pons__gate *g, int taken_pct);
// Safety thread, after the latch thread's wake or before a tick: what it has saved.
void pons__gate_take_saved(pons__gate *g);
// Single thread: the requests of the newest command now, not at the next tick.
void pons__gate_requests(pons__gate *g);

// Latch thread: what should be on the disk, valid until the next call; and what is.
const pons__latch_want *pons__gate_want(pons__gate *g);
void pons__gate_saved(pons__gate *g, const pons__latch_saved *saved);

// Loop thread: a new command; and the newest status, valid until the next call.
void pons__gate_command(pons__gate *g, const pons__command *cmd);
const pons__safety_status *pons__gate_status(pons__gate *g);
