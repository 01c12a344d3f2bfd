// lasting_memories.h - what a companion knows of people: an item each, written with the minute that read them.
#pragma once

#include "companion/life.h"

typedef struct pons__co_memories { // writes of one commit
    pons_item_write *rows;         // (n), for the store
    pons_item_write **blocks;      // (n), what they point into
    size_t n, cap;
} pons__co_memories;

// A simulation that begins knows nobody.
int pons__co_memories_begin(pons_companion *c, pons_error *err);
// What was read since the last commit, as writes. The caller ends ret also on failure.
int pons__co_memories_make(pons_companion *c, pons__co_memories *ret, pons_error *err);
void pons__co_memories_fini(pons__co_memories *m);
// Whom the companion heard of last, for the model: [{from, text, at, messages}]; NULL: of nobody.
pons_value *pons__co_memories_newest(const pons_companion *c);
