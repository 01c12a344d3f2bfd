// internal.h - the memory's one object, for the files that change it.
#pragma once

#include "sight/memory/object.h"
#include "sight/memory/settings.h"

struct pons_object_memory {
    pons_items items;
    char ns[PONS_ITEM_MAX];
    pons__sight_settings settings;
    pons_value *zones; // of the world; NULL: none
    pons__object *all; // known, gone and candidates, in the order in which they came
    size_t n, cap;
    int64_t next;        // number of the next object that is known
    pons_value *sources; // {source: stamp_ns} of the newest batch
    int64_t *forgotten;  // numbers whose items are to be deleted
    size_t n_forgotten, cap_forgotten;
    int64_t now_ms;     // of the newest view
    int64_t written_ms; // `now_ms` when it was written last
    bool taken;         // sources have changed since then
};

typedef struct pons__found { // a detection that is one
    const pons_detection *d;
    double cov[4];
    int object; // index in `all` that it belongs to; -1: to none
} pons__found;

// Gives each detection the object that it belongs to: one each. PONS_ENOMEM: none has one.
int pons__associate(const pons_object_memory *m, pons__found *found, size_t n);

// Belief in an object now, as log odds.
double pons__object_odds_at(const pons_object_memory *m, const pons__object *o, int64_t at_ms);
// What has moved: a thing that turned up (known) and one of its kind that is gone become one.
void pons__objects_reunite(pons_object_memory *m, pons_object_seen *ret);
