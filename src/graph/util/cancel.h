// cancel.h - a request to end runs, which any thread may make and any may see.
#pragma once

#include "pons/graph.h"

pons_cancel *pons__cancel_ref(pons_cancel *c); // NULL-safe; given back by pons_cancel_destroy
// Called with user once nobody has it any more. One at most: false, there is one.
bool pons__cancel_attach(pons_cancel *c, void (*end)(void *user), void *user);
void pons__cancel_detach(pons_cancel *c);
