// telemetry.h - what is told to everybody.
#pragma once

#include "body/core/body.h"

void pons__body_greet(const pons_body *b, pons__client *c, int64_t epoch);
void pons__body_tell(pons_body *b, pons__client *c); // the telemetry; NULL: to all that said hello
void pons__body_tell_tree(pons_body *b);             // each control step: to those who watch it
void pons__body_tell_view(pons_body *b); // ten times a second: to those who asked (path_and_scan.c)
void pons__body_tell_senses(
    pons_body *b); // each control step: to those who asked (sensor_streams.c)
void pons__body_tell_sees(
    pons_body *b); // the same: what the simulated detector finds (sight_reports.c)
pons_value *pons__laser_value(const pons_body *b); // the scan as it was measured (path_and_scan.c)
const char *pons__battery_word(pons_battery_state s);
