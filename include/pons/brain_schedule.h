// brain_schedule.h - goals of a time: what is to be done at nine, or every morning, as an item of the store.
//
//     {id, text, schedule, zone, enabled, made_ms, set_ms, next_ms, late_ms, priority?, deadline_ms?, by,
//      done, last_ms?, missed, missed_ms?, seen_ms?, again_ms?}
//
// A brain that is given their namespace (pons_brain_options.schedules) looks once a second. What is due becomes a
// letter to its kernel, in the very commit that writes when it is due next, so a brain that dies between the two has
// done neither. What was due while nobody looked is done once, at most late_ms after its time; else it is missed,
// and told. One whose last goal is still in the queue is not queued again. Times are wall clock: a clock that goes
// back does nothing twice, and one that was wrong by more than a day is forgotten.
//
// A schedule "when THING", or "when THING at PLACE", is a watch: it is due when the memory of objects (pons/object_memory.h)
// records such a thing in that zone, or within 2 m of that object, after again_ms without it. What was seen before the watch
// was made or switched on does not count. The sighting and the letter are one commit, so a crash neither loses nor repeats
// the goal.
#pragma once

#include "pons/items.h"
#include "pons/linkage.h"

PONS_C_BEGIN

#define PONS_SCHEDULES_MAX          200
#define PONS_SCHEDULE_GOAL_MAX      1024 // bytes of a goal
#define PONS_SCHEDULE_LATE_USUAL_MS INT64_C(3600000)
#define PONS_WATCH_AGAIN_USUAL_MS   INT64_C(300000)

typedef struct pons_schedule_goal {
    const char *id;   // NULL: a new one
    const char *text; // what is to be done, in words
    const char *schedule,
        *zone;            // pons/schedule.h, or "when THING at PLACE"; zone NULL: this machine's
    int64_t late_ms;      // < 0: however late
    const char *priority; // NULL: as usual
    int64_t deadline_ms;  // > 0: it is over so long after it was due
    int64_t again_ms;     // of a watch; 0: as usual, 5 min
    const char *by;
} pons_schedule_goal;

// *ret: the item's value, the caller's, made at a wall time. PONS_EINVAL: the schedule or the zone is none, is
// never due, or the text is too long or empty.
int pons_schedule_goal_make(const pons_schedule_goal *g, int64_t now_ms, pons_value **ret,
                            pons_error *err);
// The same item switched on, so that it is due next after now, or off. PONS_EINVAL: its time is over.
int pons_schedule_goal_enable(const pons_value *was, bool on, int64_t now_ms, pons_value **ret,
                              pons_error *err);
// Keeps it. PONS_EINVAL: there are PONS_SCHEDULES_MAX.
int pons_schedule_goal_put(const pons_items *it, const char *ns, const pons_value *value,
                           pons_error *err);

PONS_C_END
