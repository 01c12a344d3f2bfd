// schedule.h - when something is due, and the time zones that it is said in.
//
// A schedule is written in one of these ways:
//
//     M H D MON WDAY          five fields, as crontab(5) has them: "0 9 * * mon-fri", "*/15 8-18 * * *"
//     every N[s|m|h|d]        from when it was made on, by elapsed time: "every 90m"; at least a minute
//     at [DAY] H:MM           once: "at 9:00" (the next nine o'clock), "at tomorrow 9:00",
//                             "at mon 9:00" (the next Monday), "at next-mon 9:00" (the next
//                             week's), "at 02-28 9:00" (the next one), "at 2027-01-31 9:00"
//     in N[s|m|h|d]           once, so long after it was made: "in 10m"
//
// Fields and days are those of a time zone. A time that a zone skips (an hour in spring) is as much later; one that
// comes twice (an hour in autumn) counts once, the first time.
//
// Threads: pure, but that a zone is read from a file when it is opened.
#pragma once

#include "pons/error.h"
#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

PONS_C_BEGIN

// ---- time zones ---------------------------------------------------------------------------------

typedef struct pons_zone pons_zone;
// name: of the time zone database ("Europe/Berlin"), "UTC", or NULL or "": this machine's ($TZ, else
// /etc/localtime). PONS_EINVAL: there is none of that name. *ret is the caller's.
int pons_zone_open(const char *name, pons_zone **ret, pons_error *err);
// Of bytes as tzfile(5) has them, and the caller's.
int pons_zone_read(const void *bytes, size_t n, pons_zone **ret, pons_error *err);
void pons_zone_close(pons_zone *z); // NULL-safe
// Seconds east of UTC at a Unix time [s]. z NULL: UTC.
int32_t pons_zone_offset_s(const pons_zone *z, int64_t unix_s);
// The Unix time [s] of what clocks of the zone show, given as the Unix time at which UTC shows it.
int64_t pons_zone_unix_s(const pons_zone *z, int64_t shown_s);

// ---- schedules ----------------------------------------------------------------------------------

typedef enum pons_schedule_kind {
    PONS_SCHEDULE_FIELDS,
    PONS_SCHEDULE_EVERY,
    PONS_SCHEDULE_ONCE
} pons_schedule_kind;

typedef struct pons_schedule {
    pons_schedule_kind kind;
    uint64_t minutes; // FIELDS: a bit for each value
    uint32_t hours, days, months, weekdays;
    bool any_day, any_weekday;
    int64_t every_ms; // EVERY
    int64_t made_ms;  // EVERY: counted from here
    int64_t at_ms;    // ONCE: Unix time
} pons_schedule;

#define PONS_SCHEDULE_TEXT_MAX 128 // bytes of one as it is written, with the zero

// made_ms: Unix time; z NULL: UTC. PONS_EINVAL names what is wrong.
int pons_schedule_read(const char *text, int64_t made_ms, const pons_zone *z, pons_schedule *ret,
                       pons_error *err);
// The first time after that [Unix ms]; 0: none within ten years.
int64_t pons_schedule_next(const pons_schedule *s, const pons_zone *z, int64_t after_ms);
// "Tue 2026-11-24 09:00" in a zone; ret has at least 32 bytes.
void pons_schedule_show(int64_t unix_ms, const pons_zone *z, char *ret, size_t cap);

PONS_C_END
