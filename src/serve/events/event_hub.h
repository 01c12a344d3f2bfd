// event_hub.h - the events of threads, to every client that listens.
#pragma once

#include "serve/access/route.h"

int pons__hub_open(pons_serve *s, pons__hub **ret, pons_error *err);
void pons__hub_stop(pons__hub *h);  // its thread ends, and every stream; NULL-safe
void pons__hub_close(pons__hub *h); // frees; after the server's last request. NULL-safe
void pons__hub_event(pons__hub *h, const pons_event *ev); // any thread
