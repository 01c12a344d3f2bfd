// stop_port.h - the Stop port.
#pragma once

#include "serve/access/server.h"

// Listens when it returns; s->stop_port is then its port.
int pons__stop_open(pons_serve *s, unsigned connections_max, pons__stop_port **ret,
                    pons_error *err);
void pons__stop_close(pons__stop_port *p); // NULL-safe
