// outlet.h - what drivers of robots outside this process share: host time, and how the thread that writes a
// velocity learns that the gate (body/safety/gate.h) has let one through.
//
//     safety thread: the velocity, then pons__outlet_wrote --> writer: pons__outlet_wait, pons__outlet_silent, the velocity
//
// The safety thread stores an atomic and posts a semaphore. The time is stored after the velocity and read
// before it: an old one never looks like a new one.
#pragma once

#include "pons/clock.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#define PONS__OUTLET_AGAIN_NS (50 * PONS_NS_PER_MS) // between publications of an unchanged velocity
#define PONS__OUTLET_SILENT_NS                                                                     \
    (250 * PONS_NS_PER_MS) // then the robot stands: it would obey for ever

typedef struct pons__outlet {
    sem_t written;      // a velocity that differs, or the end
    _Atomic int64_t ns; // host time of the newest
} pons__outlet;

static inline int64_t pons__host_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * PONS_NS_PER_S + t.tv_nsec;
}

static inline struct timespec pons__host_time(int64_t ns)
{
    return (struct timespec){ns / PONS_NS_PER_S, ns % PONS_NS_PER_S};
}

// Until the semaphore is posted, or so long.
static inline void pons__host_wait(sem_t *sem, int64_t ns)
{
    const struct timespec t = pons__host_time(pons__host_now() + ns);
    sem_clockwait(sem, CLOCK_MONOTONIC, &t);
}

static inline void pons__outlet_init(pons__outlet *o)
{
    sem_init(&o->written, 0, 0);
}

static inline void pons__outlet_fini(pons__outlet *o)
{
    sem_destroy(&o->written);
}

static inline void pons__outlet_wrote(pons__outlet *o, bool differs)
{
    atomic_store_explicit(&o->ns, pons__host_now(), memory_order_release);
    if (differs) {
        sem_post(&o->written);
    }
}

static inline void pons__outlet_wait(pons__outlet *o)
{
    pons__host_wait(&o->written, PONS__OUTLET_AGAIN_NS);
}

static inline void pons__outlet_wake(pons__outlet *o) // the writer's thread is to end
{
    sem_post(&o->written);
}

static inline bool pons__outlet_silent(pons__outlet *o)
{
    const int64_t ns = atomic_load_explicit(&o->ns, memory_order_acquire);
    return pons__host_now() - ns > PONS__OUTLET_SILENT_NS;
}
