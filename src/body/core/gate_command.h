// gate_command.h - what the loop asks of the gate.
#pragma once

#include "body/core/body.h"

void pons__body_publish(pons_body *b); // the command, to the safety thread
void pons__body_env(pons_body *b, pons__skill_env *ret);
void pons__body_stop_request(pons_body *b, pons__origin origin, const char *reason);
// Single thread: the gate takes its requests, and the disk follows, until neither has more to do.
void pons__body_settle(pons_body *b);
void pons__body_send_command(pons_body *b);  // now, not at the next control step
bool pons__body_latched(const pons_body *b); // or about to be
// Of the newest stop, those on their way to the gate included; a reset names it.
uint64_t pons__body_latch_number(const pons_body *b);
double pons__body_rate(const pons_body *b); // robot seconds in a host second, lately
