// clock.h - where time comes from. Nothing in pons asks the operating system for the time except
// through one of these, so that any run can be replayed and simulated.
//
// There are two clocks in a robot: the *host clock* (monotonic) times heartbeats, leases, the model
// and approvals; the *robot clock*, like ROS's /clock, runs at --speed and times motion. Both are
// plain int64 nanoseconds; the robot clock comes from the driver.
#pragma once

#include "pons/linkage.h"

#include <stdbool.h>
#include <stdint.h>

PONS_C_BEGIN

#define PONS_NS_PER_MS 1000000LL
#define PONS_NS_PER_S  1000000000LL

// A vtable with its object; copied by value, the object outlives every copy.
typedef struct pons_clock {
    int64_t (*now_ns)(void *ctx);  // monotonic; any thread, never blocks
    int64_t (*wall_ms)(void *ctx); // Unix time in ms, for people; any thread
    int64_t (*boot_ns)(void *ctx); // CLOCK_BOOTTIME: shared by all processes of this host
    void *ctx;
} pons_clock;

pons_clock pons_clock_real(void);

// A clock that moves only when told: for tests and whole-system simulation. One thread.
typedef struct pons_clock_manual {
    int64_t now_ns;
    int64_t wall_epoch_ms; // wall_ms = this + now_ns / 1e6
} pons_clock_manual;

pons_clock pons_clock_from_manual(pons_clock_manual *m); // m outlives the clock

static inline int64_t pons_now_ns(const pons_clock *c)
{
    return c->now_ns(c->ctx);
}
static inline int64_t pons_now_ms(const pons_clock *c)
{
    return c->now_ns(c->ctx) / PONS_NS_PER_MS;
}
static inline int64_t pons_wall_ms(const pons_clock *c)
{
    return c->wall_ms(c->ctx);
}
// Times that are so many ms later, and no later than time goes: INT64_MAX.
static inline int64_t pons_later_ms(int64_t at_ms, int64_t ms)
{
    int64_t sum;
    return __builtin_add_overflow(at_ms, ms, &sum) ? (ms > 0 ? INT64_MAX : INT64_MIN) : sum;
}
static inline int64_t pons_later_ns(int64_t at_ns, int64_t ms)
{
    int64_t ns, sum;
    return __builtin_mul_overflow(ms, PONS_NS_PER_MS, &ns) ||
                   __builtin_add_overflow(at_ns, ns, &sum)
               ? (ms > 0 ? INT64_MAX : INT64_MIN)
               : sum;
}

// The second of a Unix time in ms as ISO 8601 has it, in UTC: "2026-11-29T08:15:00Z".
#define PONS_UTC_TEXT 32
void pons_utc_text(int64_t wall_ms, char ret[PONS_UTC_TEXT]);
// How long ago, for people: "just now", "40 min ago", "40 分钟前".
#define PONS_AGE_TEXT 40
const char *pons_age_text(double age_s, bool chinese, char ret[PONS_AGE_TEXT]);

PONS_C_END
