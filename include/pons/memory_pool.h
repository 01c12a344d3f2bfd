// memory_pool.h - pieces of memory from a few blocks that are freed together. One owner, one thread.
#pragma once

#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>

PONS_C_BEGIN

typedef struct pons_pool { // zero-initialised: empty
    struct pons__pool_block *blocks;
    char *at; // free room of the newest block
    size_t left;
    size_t bytes; // of all blocks
    bool failed;  // something did not find room
} pons_pool;

void *pons_pool_take(pons_pool *p, size_t n); // zeroed, aligned to 16; NULL: no memory
char *pons_pool_text(pons_pool *p, const char *s, size_t n); // a copy with a zero; NULL: no memory
// Gives back what the newest piece, of n bytes, does not use.
void pons_pool_trim(pons_pool *p, void *piece, size_t n, size_t used);
void pons_pool_fini(pons_pool *p); // empty, and usable again

PONS_C_END
