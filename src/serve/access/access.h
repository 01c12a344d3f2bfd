// access.h - who may come in at all, before any route is looked for.
#pragma once

#include "serve/access/server.h"

bool pons__is_loopback(const char *address); // of this machine alone
// Gives the request its number, for the log and the reply.
void pons__door_begin(pons__request *r);
// Sets origin, and the body if it can be read; role stays nobody's. Negative: it was refused, and is answered.
int pons__door_look(pons__request *r);
// Sets role and origin, and reads the body. Negative: it was refused, and is answered; what has no
// role is not refused here, a route says whom it wants.
int pons__door_enter(pons__request *r);
// An OPTIONS of an admitted origin, answered; or refused.
void pons__door_preflight(pons__request *r);
