// telemetry.h - what is told to everybody.
#ifndef PONS_BODY_CORE_TELEMETRY_H
#define PONS_BODY_CORE_TELEMETRY_H

#include "body/core/body.h"

pons_value *pons__body_hello(const pons_body *b, int64_t epoch);
pons_value *pons__body_telemetry(pons_body *b);
void pons__body_tell_tree(pons_body *b); // each control step: to those who watch it

#endif
