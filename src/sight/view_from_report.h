// view_from_report.h - what a simulated detector reports over the link, as the memory takes it.
#pragma once

#include "pons/link_report.h"
#include "pons/object_memory.h"

typedef struct pons__simulated_view {
    pons_object_view view; // without `clear`
    pons_detection found[PONS_OBJECT_DETECTIONS];
    size_t n;
    char source[192];
} pons__simulated_view;

// Borrows from the report. detector: its name; boot_id: of the body, for the stamps are its; at_ms: wall clock. False: the
// robot does not know where it is, so nothing that it sees has a place. PONS_OBJECT_DETECTIONS at most.
bool pons__simulated_view_of(const pons_report_sees *r, const char *detector, const char *boot_id,
                             int64_t at_ms, pons__simulated_view *ret);
