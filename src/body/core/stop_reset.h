// stop_reset.h - stop, reset, set_pose, steer and pace over a link: when they are answered.
#pragma once

#include "body/core/body.h"

// Whether the client is the controller, or a process of the user that the body runs as.
bool pons__client_may_reset(const pons_body *b, const pons__client *c);
void pons__stop_asked(pons_body *b, pons__client *c, const pons_message *msg);
void pons__reset_asked(pons_body *b, pons__client *c, const pons_message *msg);
void pons__pose_reported(pons_body *b, pons__client *c, const pons_message *msg);
void pons__pace_asked(pons_body *b, pons__client *c, const pons_message *msg);
void pons__steered(pons_body *b, pons__client *c, const pons_message *msg);
void pons__requests_step(pons_body *b); // sends what waited, answers what has happened
void pons__note_latch(pons_body *b);    // the ledger's witness of a new latch

bool pons__requests_owed(
    const pons__client *c); // it waits for an answer to a stop, a reset or a pace
