// failing_store.h - a store that dies on time (failing_store.c).
#pragma once

#include "pons/ext/store.h"

// A store that passes everything on until the n-th commit; then the process it serves is as good as
// dead: every later call fails until it is revived. `before`: that commit itself is lost.
typedef struct pons__fault_store {
    pons_store inner;
    int64_t commits; // so far
    int64_t kill_at; // 0: never
    bool before;
    bool dead;
    pons_store_ops ops;
} pons__fault_store;
pons_store pons__fault_store_wrap(pons__fault_store *f, pons_store inner);
void pons__fault_store_revive(pons__fault_store *f);
