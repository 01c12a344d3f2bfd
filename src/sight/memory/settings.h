// settings.h - what config/sight.yaml says of the memory, and the words that things are called by.
#pragma once

#include "pons/value.h"

typedef struct pons__sight_settings {
    pons_value *config, *objects; // NULL: none
    pons_value *names;            // {label: [word…]}: found so far
    int64_t known_after;          // sightings
    double sure_score;
    int64_t forget_ms, write_ms;
} pons__sight_settings;

int pons__sight_settings_init(pons__sight_settings *s, const pons_value *config,
                              const pons_value *objects, pons_error *err);
void pons__sight_settings_fini(pons__sight_settings *s); // NULL-safe parts
double pons__sight_half_life_s(const pons__sight_settings *s, const char *label);
double pons__sight_merge_m(const pons__sight_settings *s, const char *label);
// The words for a label, in both languages, itself first: from the table of synonyms and the world's objects, of those with
// a tag the one whose tag is the identity (NULL, "": any). Borrowed; NULL: no memory.
const pons_value *pons__sight_names(pons__sight_settings *s, const char *label,
                                    const char *identity);
