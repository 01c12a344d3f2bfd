// memory_pool.h - memory of a plan: all of its texts lie in a few blocks that are freed together.
#pragma once

#include <stddef.h>

typedef struct pons__arena { // zero-initialised: empty
    struct pons__block *blocks;
    char *at, *end; // free room of the newest block
} pons__arena;

void *pons__arena_take(pons__arena *a, size_t n);                  // aligned to 8; NULL: no memory
char *pons__arena_text(pons__arena *a, const char *s, size_t len); // a copy with a zero
// Gives back what the newest piece, of n bytes, does not use.
void pons__arena_trim(pons__arena *a, void *piece, size_t n, size_t used);
void pons__arena_fini(pons__arena *a);
