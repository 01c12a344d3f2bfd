// ledger_index.h - what the ledger has in memory of each goal: 16 bytes. Loop thread only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PONS__PARTS_MAX ((UINT32_C(1) << 20) - 1)

typedef struct pons__place { // of a goal's newest line
    uint32_t part;           // of the ledger, from 1
    uint64_t at;             // byte in it
    int state;               // pons_goal_state, never NONE
    bool started;            // ever
} pons__place;

typedef struct pons__index {
    struct pons__slot *slots; // cap of them, a power of two; at most three quarters are used
    size_t cap, n;
} pons__index;

void pons__index_fini(pons__index *ix);
uint64_t pons__index_key(const char *goal_id); // of its SHA-256
// Room for so many more goals, so that put() cannot fail. PONS_ENOMEM.
int pons__index_reserve(pons__index *ix, size_t more);
// Replaces; what was started once stays started.
void pons__index_put(pons__index *ix, uint64_t key, pons__place p);
// A place as 64 bits, for a file: `part 20, byte 40, state 3, started 1`, and back.
uint64_t pons__index_raw(pons__place p);
void pons__index_put_raw(pons__index *ix, uint64_t key, uint64_t place); // of no state: none
bool pons__index_get(const pons__index *ix, uint64_t key, pons__place *ret);
// The next one from slot *at on, which it moves; begin with 0.
bool pons__index_next(const pons__index *ix, size_t *at, uint64_t *ret_key, pons__place *ret);
