// heartbeat.h - the heartbeat to the body: a proof that the loop lives (heartbeat.c).
#pragma once

#include "brain/state/link_state.h"

void pons__heart_init(pons__heart *h, const pons_clock *clock);
void pons__heart_fini(pons__heart *h);
// The body is ours: it is told from now on that the loop lives. A link with a descriptor gets a
// thread, and then the clock is read by two.
void pons__heart_attach(pons__heart *h, pons_link *link);
void pons__heart_detach(pons__heart *h); // before the link is closed; never waits for long
void pons__heart_tick(pons__heart *h);   // the loop has come round
