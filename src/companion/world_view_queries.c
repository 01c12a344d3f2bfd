// world_view_queries.c - what a world view says: where things are, and what time it is in that world.
//
// A window is a span of every day of its kind (school, free, any). Those that follow sleep move
// with the person: by a tendency, and by each day's own jitter, which is a function of the life's
// seed and the day alone, so that it is the same after a restart.
#include "companion/world_view_queries.h"

#include "companion/calendar.h"
#include "pons/random.h"

#include <string.h>

#define FIND(list, n, key)                                                                         \
    for (size_t i = 0; i < v->n; i++) {                                                            \
        if (strcmp(v->list[i].id, key) == 0) {                                                     \
            return &v->list[i];                                                                    \
        }                                                                                          \
    }                                                                                              \
    return NULL

const pons__co_place *pons__co_place_of(const pons_world_view *v, const char *id)
{
    FIND(places, n_places, id);
}

const pons__co_device *pons__co_device_of(const pons_world_view *v, const char *id)
{
    FIND(devices, n_devices, id);
}

const pons__co_activity *pons__co_activity_of(const pons_world_view *v, const char *id)
{
    FIND(activities, n_activities, id);
}

const char *pons__co_forbidden(const pons_world_view *v, const char *type)
{
    const pons_value *o =
        pons_find(pons_get(pons_get(v->doc, "reality"), "forbidden"), "type", type);
    return o ? pons_get_str(o, "why", "") : NULL;
}

int64_t pons__co_local(const pons_world_view *v, int64_t minute)
{
    return minute + v->offset_min;
}

bool pons__co_is_school_day(const pons_world_view *v, int64_t day, const char **ret_why)
{
    const int saturday = 5;
    const char *why = NULL;
    bool school = pons__co_weekday(day) < saturday;
    for (size_t i = 0; i < v->n_holidays; i++) {
        if (day >= v->holidays[i].from && day <= v->holidays[i].to) {
            school = false;
            why = v->holidays[i].name;
        }
    }
    for (size_t i = 0; i < v->n_school_days; i++) {
        if (v->school_days[i] == day) {
            school = true;
            why = NULL;
        }
    }
    if (ret_why) {
        *ret_why = why;
    }
    return school;
}

// -most ... +most, the same for the same seed, day and purpose.
static int64_t jitter(uint64_t seed, int64_t day, uint64_t purpose, int most)
{
    if (most <= 0) {
        return 0;
    }
    pons_rand r;
    pons_rand_seed(&r, seed ^ ((uint64_t)day << 8 | purpose));
    return (int64_t)pons_rand_below(&r, 2 * (uint64_t)most + 1) - most;
}

// Where a span begins and ends when it is of this day; false when the day is of another kind.
static bool span_on(const pons_world_view *v, const pons__co_span *s, uint64_t seed, int64_t day,
                    int64_t *ret_from, int64_t *ret_to)
{
    if (s->days != PONS__CO_DAYS_ANY &&
        pons__co_is_school_day(v, day, NULL) != (s->days == PONS__CO_DAYS_SCHOOL)) {
        return false;
    }
    const int64_t shift =
        s->follows_sleep
            ? v->sleep_tendency_min + jitter(seed, day, (uint64_t)s->from, v->sleep_jitter_min)
            : 0;
    *ret_from = day * PONS__CO_MINUTES_A_DAY + s->from + shift - v->offset_min;
    *ret_to = *ret_from + s->to - s->from;
    return true;
}

static bool pons__co_span_has(const pons_world_view *v, const pons__co_span *s, uint64_t seed,
                              int64_t minute, int64_t *ret_end)
{
    const int64_t local = pons__co_local(v, minute), day = pons__co_floor_day(local);
    const int of_day = (int)(local - day * PONS__CO_MINUTES_A_DAY);
    const int slack = s->follows_sleep ? abs(v->sleep_tendency_min) + v->sleep_jitter_min : 0;
    for (int64_t d = -1; d <= 1; d++) { // a span of yesterday may last, one of tomorrow be early
        const int at = of_day - (int)d * PONS__CO_MINUTES_A_DAY;
        int64_t from, to;
        if (at >= s->from - slack && at < s->to + slack &&
            span_on(v, s, seed, day + d, &from, &to) && minute >= from && minute < to) {
            if (ret_end) {
                *ret_end = to;
            }
            return true;
        }
    }
    return false;
}

bool pons__co_in_window(const pons_world_view *v, const char *id, uint64_t seed, int64_t minute,
                        int64_t *ret_end)
{
    for (size_t i = 0; i < v->n_windows; i++) {
        if (strcmp(v->windows[i].id, id) == 0 &&
            pons__co_span_has(v, &v->windows[i], seed, minute, ret_end)) {
            return true;
        }
    }
    return false;
}

int64_t pons__co_window_opens(const pons_world_view *v, const char *id, uint64_t seed,
                              int64_t after)
{
    const int64_t day = pons__co_floor_day(pons__co_local(v, after));
    int64_t best = after + PONS__CO_NEVER_MIN;
    for (size_t i = 0; i < v->n_windows; i++) {
        for (int64_t d = -1; d <= PONS__CO_DAYS_AHEAD && strcmp(v->windows[i].id, id) == 0; d++) {
            int64_t from, to;
            if (span_on(v, &v->windows[i], seed, day + d, &from, &to) && from > after &&
                from < best) {
                best = from;
            }
        }
    }
    return best;
}

bool pons__co_place_open(const pons_world_view *v, const pons__co_place *p, int64_t minute,
                         int64_t *ret_end)
{
    *ret_end = minute + PONS__CO_NEVER_MIN;
    for (size_t i = 0; i < p->n_open; i++) {
        if (pons__co_span_has(v, &p->open[i], 0, minute, ret_end)) {
            return true;
        }
    }
    return p->n_open == 0;
}

int pons__co_commute_min(const pons_world_view *v, uint64_t seed, int64_t minute)
{
    const int64_t n = v->commute_min + jitter(seed, minute, 'c', v->commute_jitter_min);
    return n < 1 ? 1 : (int)n;
}

bool pons_world_view_school_day(const pons_world_view *v, int64_t minute, const char **ret_why)
{
    return pons__co_is_school_day(v, pons__co_floor_day(pons__co_local(v, minute)), ret_why);
}
