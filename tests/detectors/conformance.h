// conformance.h - what every detector of pictures must do (include/pons/ext/detector.h), whoever it is.
#ifndef TESTS_DETECTORS_CONFORMANCE_H
#define TESTS_DETECTORS_CONFORMANCE_H

#include "pons/ext/detector.h"

typedef struct detector_subject {
    const char *kind;
    pons_value *config;       // that opens
    pons_picture_raw picture; // in which it finds this, with this box, to `near_px`
    pons_lens lens;
    const char *label;
    double box[4], near_px;
    const struct
        detector_refusal { // configurations that do not open, and what is said of them; ends with NULL
        const char *json, *says;
    } *refused;
} detector_subject;

// The module's functions; skips the test where the module was left out.
const pons_detector_ops *detector_ops(const char *kind);
// Fails the test that calls it.
void detector_conformance(const detector_subject *s);

#endif
