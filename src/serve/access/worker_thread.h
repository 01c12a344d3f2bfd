// worker_thread.h - a thread of the server: begun, woken, told to end.
#pragma once

#include "pons/error.h"

#include <pthread.h>
#include <stdbool.h>

typedef struct pons__thread { // in what it works for
    pthread_t id;
    bool runs;
    int wake; // an eventfd: there is something to do; -1: none
    pthread_mutex_t mtx;
    bool closing; // [mtx]
} pons__thread;

// PONS_EENV: "no thread WHAT"; then, too, pons__thread_fini frees what there is.
int pons__thread_begin(pons__thread *t, void *(*run)(void *user), void *user, const char *what,
                       pons_error *err);
void pons__thread_wake(const pons__thread *t);  // any thread
void pons__thread_awake(const pons__thread *t); // itself: it looks at what woke it
bool pons__thread_closing(pons__thread *t);     // whether it is to end
void pons__thread_stop(pons__thread *t);        // ends it, once
void pons__thread_fini(pons__thread *t);        // stops it, and frees
