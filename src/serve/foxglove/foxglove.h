// foxglove.h - the robot's topics to those who speak Foxglove's WebSocket protocol.
#pragma once

#include "serve/access/route.h"

int pons__foxglove_open(pons_serve *s, pons__foxglove **ret, pons_error *err);
void pons__foxglove_stop(pons__foxglove *f);  // its threads end, and every socket; NULL-safe
void pons__foxglove_close(pons__foxglove *f); // frees; after the server's last request. NULL-safe
