// internal.h - what the files of the run host share.
#pragma once

#include "serve/runs/job_queue.h"
#include "serve/runs/run_host.h"

enum { PONS__WORKERS_MAX = 64 };

typedef struct pons__doomed { // a thread that goes when nobody follows it any more
    struct pons__doomed *next;
    char thread[PONS_NAME_MAX];
    int64_t since_ms;
} pons__doomed;

typedef struct pons__unkept { // a run that has ended, which the store could not take yet
    struct pons__unkept *next;
    pons__job *job; // a reference
    bool writing;   // by the thread that ended it, or the one that tries again
} pons__unkept;

struct pons__runhost {
    pons_serve *s;
    pons_items items;
    pons__jobs queue;
    pons__watcher *watcher;
    pthread_mutex_t mtx;
    pthread_t workers[PONS__WORKERS_MAX]; // [queue's lock]
    size_t n_workers;                     // [queue's lock]
    pons__doomed *doomed;                 // [mtx]
    pons__unkept *unkept;                 // [mtx]
    void (*each)(pons_serve *s);          // [mtx] called each second; NULL: nobody wants it
    int64_t each_at_ms;                   // [mtx]
};

// run_worker.c: a thread's main; user is the host.
void *pons__worker(void *user);
// run_end.c. A thread goes a while after its run's end.
void pons__runhost_doom(pons__runhost *h, const char *thread);
// What is left to be done with a job that ended: its record, its followers, its thread. Fails when
// the store cannot take the record; then nothing is done.
int pons__runhost_ended(pons__runhost *h, const pons__job *j, pons_error *err);
