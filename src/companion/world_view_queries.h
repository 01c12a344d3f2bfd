// world_view_queries.h - what a world view says: places, activities, days, windows of time.
#pragma once

#include "companion/world_view.h"

enum {
    PONS__CO_NEVER_MIN = 1 << 30, // days ahead of any life, as minutes from now
    PONS__CO_DAYS_AHEAD = 16,     // how far the next opening of a window is looked for
};

const pons__co_place *pons__co_place_of(const pons_world_view *v, const char *id);
const pons__co_device *pons__co_device_of(const pons_world_view *v, const char *id);
const pons__co_activity *pons__co_activity_of(const pons_world_view *v, const char *id);
const char *pons__co_forbidden(const pons_world_view *v, const char *type); // why, or NULL
bool pons__co_is_school_day(const pons_world_view *v, int64_t day, const char **ret_why);
int64_t pons__co_local(const pons_world_view *v, int64_t minute);

// Spans of a seed's life: windows that follow sleep move by its tendency and each day's jitter.
bool pons__co_in_window(const pons_world_view *v, const char *id, uint64_t seed, int64_t minute,
                        int64_t *ret_end);
int64_t pons__co_window_opens(const pons_world_view *v, const char *id, uint64_t seed,
                              int64_t after);
bool pons__co_place_open(const pons_world_view *v, const pons__co_place *p, int64_t minute,
                         int64_t *ret_end);
int pons__co_commute_min(const pons_world_view *v, uint64_t seed, int64_t minute);
