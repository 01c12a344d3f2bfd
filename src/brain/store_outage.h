// store_outage.h - a store that is away for now (store_outage.c).
#pragma once

#include "pons/brain.h"

typedef int pons__take_fn(pons_brain *b,
                          pons_error *err); // takes the thread; after a failure: let go
typedef void pons__let_go_fn(pons_brain *b);
// A poll has failed: rc, or PONS_OK when it failed because the store is away, and everything has been
// let go of.
int pons__away_or(pons_brain *b, int rc, const pons_error *err, pons__let_go_fn *let_go);
// Tries to take the thread again.
int pons__away_poll(pons_brain *b, pons__let_go_fn *let_go, pons__take_fn *take, pons_error *err);
