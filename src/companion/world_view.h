// world_view.h - a world view as it was read: immutable, shared by lives and threads.
#pragma once

#include "pons/companion.h"

enum { PONS__CO_ID_MAX = 48 }; // bytes of an id, with its zero

typedef enum pons__co_days {
    PONS__CO_DAYS_ANY,
    PONS__CO_DAYS_SCHOOL,
    PONS__CO_DAYS_FREE
} pons__co_days;

typedef struct pons__co_span { // of every day of its kind; local minutes of the day
    char id[PONS__CO_ID_MAX];  // of the window; empty for opening hours
    pons__co_days days;
    int from, to; // to > from; beyond midnight it is more than a day
    bool follows_sleep;
} pons__co_span;

typedef struct pons__co_place {
    char id[PONS__CO_ID_MAX];
    pons__co_span *open; // (n_open); none: always
    size_t n_open;
} pons__co_place;

typedef struct pons__co_device {
    char id[PONS__CO_ID_MAX];
    const pons_value *can; // list of strings
} pons__co_device;

typedef struct pons__co_holiday {
    int64_t from, to; // days, both in it
    const char *name; // borrowed from the document
} pons__co_holiday;

typedef struct pons__co_activity {
    char id[PONS__CO_ID_MAX], place[PONS__CO_ID_MAX], to[PONS__CO_ID_MAX], device[PONS__CO_ID_MAX],
        ends[PONS__CO_ID_MAX];
    char until_window[PONS__CO_ID_MAX];
    const char *needs;         // what the device must be able to do, or NULL
    const pons_value *windows; // list of ids, or NULL
    bool until_closes;
    int minutes; // 0: by commute or until; else over at once
    bool commute, interruptible, ask_model, preemptive, reads_messages, duty;
    double energy_per_h, energy_min;
} pons__co_activity;

struct pons_world_view {
    int refs; // atomic
    pons_value *doc;
    int offset_min;
    char start_place[PONS__CO_ID_MAX];
    double start_energy, idle_energy_per_h;
    int sleep_tendency_min, sleep_jitter_min, commute_min, commute_jitter_min;
    pons__co_place *places;
    pons__co_device *devices;
    pons__co_holiday *holidays;
    int64_t *school_days;
    pons__co_span *windows;
    pons__co_activity *activities;
    size_t n_places, n_devices, n_holidays, n_school_days, n_windows, n_activities;
    // policy
    char interrupt; // u urgent, a always, n never
    int window_min, failure_cooldown_min, rejection_cooldown_min, repeat_cooldown_min;
    double timeout_s;
};
