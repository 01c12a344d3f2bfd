// goals.h - the goal protocol, and the life of a goal.
#pragma once

#include "body/core/body.h"

// Messages. The first three look at msg->fault themselves: who is not in control does not hear of it.
void pons__goal_request(pons_body *b, pons__client *c, const pons_message *msg);
void pons__goal_cancel(pons_body *b, pons__client *c, const pons_message *msg);
void pons__goal_adopt(pons_body *b, pons__client *c, const pons_message *msg);
void pons__goal_status(pons_body *b, pons__client *c, const pons_message *msg);
void pons__goals_step(pons_body *b); // each control step
void pons__goals_hold(pons_body *b); // brain lost
void pons__goals_watch(
    pons_body *b); // BRAIN_LOST; what the robot's own software has answered; who waits for it
// A latch: goals up to that number fail.
void pons__goals_stopped(pons_body *b, const char *reason, uint64_t up_to_seq);
void pons__goals_end(pons_body *b, const char *why); // a good end: canceled
bool pons__goals_ending(const pons_body *b);         // the robot's own software owes an answer,
void pons__goals_give_up(pons_body *b);              // which is not waited for any longer
