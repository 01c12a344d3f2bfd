// object.h - one object of the memory as a struct, and as the item that is kept of it.
#pragma once

#include "pons/object_memory.h"

enum { PONS__PICTURE_TEXT = 80, PONS__OBJECT_ZONES = 8 };

typedef enum pons__object_state {
    PONS__OBJECT_CANDIDATE, // seen too little to be told
    PONS__OBJECT_KNOWN,
    PONS__OBJECT_GONE, // its place was looked at, and it was not there
    PONS__OBJECT_DEAD  // to be forgotten
} pons__object_state;

typedef struct pons__sighting {
    int64_t at_ms;
    double position[3], sd_m, score;
    char detector[PONS_OBJECT_TEXT], picture[PONS__PICTURE_TEXT];
} pons__sighting;

typedef struct pons__object {
    int64_t number; // of "obj-N"; 0: a candidate has none
    pons__object_state state;
    char label[PONS_OBJECT_TEXT], identity[PONS_OBJECT_TEXT], zone[PONS_OBJECT_TEXT];
    double position[3], cov[4];
    int64_t first_ms, last_ms, looked_ms;
    int64_t seen, missed;
    double odds;                                     // of belief, at looked_ms
    pons__sighting sightings[PONS_OBJECT_SIGHTINGS]; // newest first
    int n_sightings;
    struct {
        char id[PONS_OBJECT_TEXT];
        int64_t n;
    } zones[PONS__OBJECT_ZONES]; // where it was found, how often
    int n_zones;
    int64_t missed_ns;    // stamp of the view that it was missing from last
    bool urgent, changed; // to be written at once; when there is time
    bool turned;          // became known or gone in this batch
} pons__object;

// As documented in object_memory.h. NULL: no memory.
pons_value *pons__object_value(const pons__object *o, const pons_value *names, double half_life_s);
// False: the item is none of this form.
bool pons__object_read(const char *key, const pons_value *value, pons__object *ret);
void pons__object_key(int64_t number, char ret[32]);
// A sighting becomes the newest. One of the same detector, at the same place a short while ago, makes room for it.
void pons__object_add_sighting(pons__object *o, const pons__sighting *s);
// Found once more in its zone.
void pons__object_count_zone(pons__object *o);
