// heartbeat.h - the heartbeat to the body: a proof that the loop lives (heartbeat.c).
#ifndef PONS_BRAIN_HEARTBEAT_H
#define PONS_BRAIN_HEARTBEAT_H

#include "pons/clock.h"
#include "pons/link.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct pons__heart {
    pons_clock clock; // const
    pthread_mutex_t mtx;
    pthread_cond_t stopped;
    pons_link *link;           // [mtx] who hears it; NULL: nobody
    bool stop;                 // [mtx]
    _Atomic int64_t ticked_ns; // of the loop's last round; 0: none
    bool threaded;             // loop: there is a thread; else a tick beats
    pthread_t thread;          // loop
    int64_t next_ns;           // loop: without a thread, when the next beat is due
} pons__heart;

void pons__heart_init(pons__heart *h, const pons_clock *clock);
void pons__heart_fini(pons__heart *h);
// The body is ours: it is told from now on that the loop lives. A link with a descriptor gets a
// thread, and then the clock is read by two.
void pons__heart_attach(pons__heart *h, pons_link *link);
void pons__heart_detach(pons__heart *h); // before the link is closed; never waits for long
void pons__heart_tick(pons__heart *h);   // the loop has come round

#endif
