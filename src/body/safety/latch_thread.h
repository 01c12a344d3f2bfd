// latch_thread.h - the latch thread: writes to the disk what the safety thread wants to be there.
#pragma once

#include "body/safety/epoch_file.h"
#include "body/safety/gate.h"

#include <pthread.h>

// The one writer of the state that outlives the process, for the loop (epochs) and the latch thread.
typedef struct pons__keeper {
    pthread_mutex_t mtx;
    char *path;      /* const; NULL: in memory only. The keeper's. */
    pons__durable d; /* [mtx] what was written last, or is being tried */
} pons__keeper;
int pons__keeper_init(pons__keeper *k, const char *path, pons_error *err);
void pons__keeper_fini(pons__keeper *k);
// Each returns after the new state is on the disk, or with the failure and the old epoch in force.
int pons__keeper_epoch(pons__keeper *k, int64_t epoch, pons_error *err);
int pons__keeper_latch(pons__keeper *k, const pons__latch_want *w, pons_error *err);

typedef struct pons__saver {
    pons__gate *guard;    /* const */
    pons__keeper *keeper; /* const */
    void (*done)(void *); /* const; after each attempt, on the latch thread; NULL: none */
    void *done_ctx;       /* const */
    int wake_fd;          /* const: eventfd; -1: no thread */
    _Atomic bool quit;
    pthread_t thread;
    bool runs;
    bool failing;            /* latch thread */
    pons__latch_saved saved; /* latch thread */
} pons__saver;
void pons__saver_init(pons__saver *s, pons__gate *g, pons__keeper *k);
// One attempt, when something is to be saved; by the latch thread, or by the only one.
void pons__saver_work(pons__saver *s);
int pons__saver_start(pons__saver *s, pons_error *err);
void pons__saver_wake(void *s);        // any thread; neither allocates, locks nor waits
void pons__saver_stop(pons__saver *s); // after a last attempt
