// status.h - the status object, from channels that may each be NULL (status.c).
#ifndef PONS_BRAIN_STATUS_H
#define PONS_BRAIN_STATUS_H

#include "brain/state.h"

pons_value *pons__status_build(const char *thread, const pons__tasks *tasks,
                               const pons__react *react, const pons__skills *skills,
                               const pons_value *telemetry, const pons_value *hello);

#endif
