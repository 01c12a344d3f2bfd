// sighting_thumbnail.h - small pictures of what was seen: when a new one is due, and which can be removed (sighting_thumbnail.c).
#pragma once

#include "pons/ext/detector.h"
#include "pons/items.h"
#include "pons/picture.h"
#include "sight/detection_json.h"

#define PONS__SEEN_EDGE_MAX  320 // pixels
#define PONS__SEEN_BYTES_MAX (16 * 1000)

typedef struct pons__thumbnail { // the picture that was kept last; zero-initialise
    char name[PONS_PICTURE_NAME];
    int64_t at_ms;
    size_t n;
    char of[PONS_DETECTED_MAX][2 * PONS_DETECTED_TEXT]; // what it shows: label and identity
} pons__thumbnail;

// Whether these detections need a new picture at this time [ms]: the last one does not show them, or is too old.
bool pons__thumbnail_due(const pons__thumbnail *last, const pons__boxed *found, size_t n,
                         int64_t now_ms);
void pons__thumbnail_kept(pons__thumbnail *last, const pons__boxed *found, size_t n, int64_t now_ms,
                          const char *name);
// Removes the pictures of a folder that no object's sighting names and that were written before this time (wall clock, ms).
int pons__thumbnail_prune(const pons_items *items, const char *space, const char *folder,
                          int64_t before_ms, pons_error *err);
