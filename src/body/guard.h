// guard.h - the safety gate between its two mailboxes and the driver: what the safety thread runs,
// and what pons_body_step() runs under the virtual clock.
#ifndef PONS_BODY_GUARD_H
#define PONS_BODY_GUARD_H

#include "body/mailbox.h"
#include "body/safety.h"
#include "pons/clock.h"

typedef struct pons__guard {
    const pons_robot_ops *robot; /* const */
    void *self;                  /* const: the driver's object */
    pons_clock clock;            /* const: host */
    pons__safety safety;         /* safety thread */
    pons_scan scan;              /* safety thread */
    pons__mailbox commands;      // loop → safety
    pons__command command[PONS__MAILBOX_SLOTS];
    pons__mailbox statuses; // safety → loop
    pons__safety_status status[PONS__MAILBOX_SLOTS];
} pons__guard;

void pons__guard_init(pons__guard *g, const pons_robot_ops *robot, void *self, pons_clock clock,
                      const pons__safety_params *params);

// Safety thread, each tick: inputs → gate → write_velocity → status.
void pons__guard_tick(pons__guard *g);
// Safety thread: latches and writes zero before it returns; the host time of that write.
int64_t pons__guard_stop(pons__guard *g, const char *reason);

// Loop thread: a new command; and the newest status, valid until the next call.
void pons__guard_command(pons__guard *g, const pons__command *cmd);
const pons__safety_status *pons__guard_status(pons__guard *g);

#endif
