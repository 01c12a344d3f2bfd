// pace.h - how a simulated world keeps to the host's clock, as a pure function.
//
// The world owes robot time at `speed` for each second of the host's. What it owes is bounded: a
// process that did not run (stopped, swapped out, a machine asleep) has lost that time, and the
// world with it. The bound is on robot time, so it holds however fast the steps are computed:
//
//     host    |--|--|--|. . . . stopped . . . .|--|--|
//     robot   |--|--|--|                       |--|--|     not    |--|--|--|--------------|--|--|
#pragma once

#include "pons/clock.h"

#define PONS__PACE_CATCH_UP_NS (50 * PONS_NS_PER_MS)  // host time that is made up at the most,
#define PONS__PACE_ROBOT_NS    (150 * PONS_NS_PER_MS) // and robot time, at any speed

typedef struct pons__pace {
    double speed;
    int64_t host0_ns, robot0_ns; // robot time was robot0 when host time was host0
    int64_t lost_ns;             // robot time given up so far
} pons__pace;

static inline void pons__pace_start(pons__pace *p, double speed, int64_t host_ns, int64_t robot_ns)
{
    *p = (pons__pace){.speed = speed, .host0_ns = host_ns, .robot0_ns = robot_ns};
}

// The robot time up to which a world that is at robot_ns may be stepped now; never more than
// PONS__PACE_ROBOT_NS from there. What it owed beyond PONS__PACE_CATCH_UP_NS of the host's is lost.
static inline int64_t pons__pace_due(pons__pace *p, int64_t host_ns, int64_t robot_ns)
{
    const int64_t due_ns = p->robot0_ns + (int64_t)((double)(host_ns - p->host0_ns) * p->speed);
    const int64_t most_ns = (int64_t)((double)PONS__PACE_CATCH_UP_NS * p->speed);
    if (due_ns - robot_ns > most_ns) {
        const int64_t kept_ns = most_ns < PONS__PACE_ROBOT_NS ? most_ns : PONS__PACE_ROBOT_NS;
        p->lost_ns += due_ns - robot_ns - kept_ns;
        p->host0_ns = host_ns;
        p->robot0_ns = robot_ns + kept_ns;
        return p->robot0_ns;
    }
    return due_ns - robot_ns > PONS__PACE_ROBOT_NS ? robot_ns + PONS__PACE_ROBOT_NS : due_ns;
}

// Host time at which the world owes the robot time t.
static inline int64_t pons__pace_wake(const pons__pace *p, int64_t t_ns)
{
    return p->host0_ns + (int64_t)((double)(t_ns - p->robot0_ns) / p->speed);
}
