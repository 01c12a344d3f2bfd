// worker_pool.h - worker threads for functions that block. One thread, the loop, puts work in and takes it
// back; what is between is a worker's.
#pragma once

#include "pons/graph.h"

#include <stdatomic.h>

struct pons_work {
    struct pons_work *next;
    pons_blocking_fn fn; // const
    void *user;          // const
    pons_value *input;   // the worker's from put to take
    atomic_bool canceled;
    pons_cancel *cancel;  // of its run; const; or NULL
    atomic_uint progress; // how often it has told
    unsigned seen;        // loop: of those
    int64_t moved_ns;     // loop: when it looked and there was more
    int st;               // the worker's until taken
    pons_value *update;   // the same
    pons_error err;       // the same
    pons_cx *cx;          // loop: for whom; NULL: nobody waits
    bool finished;        // loop
};

typedef struct pons__pool pons__pool;

pons__pool *pons__pool_create(void);       // NULL: no memory, or no descriptor
void pons__pool_destroy(pons__pool *p);    // waits for the workers; NULL-safe
int pons__pool_fd(const pons__pool *p);    // readable when work has come back
bool pons__pool_busy(const pons__pool *p); // something was put and not taken
// Takes w. An error: nobody will do it, as no worker could be started.
int pons__pool_put(pons__pool *p, pons_work *w, pons_error *err);
pons_work *pons__pool_take(pons__pool *p); // a list of what has come back, the caller's; or NULL
// Nobody waits for it any more: freed, or told so and freed when it comes back. NULL-safe.
void pons__work_cancel(pons_work *w);
void pons__work_free(pons_work *w);
