// spelling.h - which of the known words a misspelt one was probably meant to be.
//
//   pons_meant m = pons_meant_of(word, strlen(word));
//   for (…) pons_meant_try(&m, known[i], strlen(known[i]));
//   if (m.best) say "did you mean …?"
//
// Nothing is allocated; the words stay the caller's and are pointed to. From any thread.
#pragma once

#include "pons/linkage.h"

#include <stddef.h>

PONS_C_BEGIN

typedef struct pons_meant {
    const char *word;
    size_t n;
    const char *best; // the nearest so far, NULL: none is near enough
    int edits;        // between word and best
} pons_meant;

pons_meant pons_meant_of(const char *word, size_t n);

// One known word of len bytes, ending with a zero. It becomes the best one when it is nearer than
// those before it: one letter put in, left out, changed or swapped with its neighbour, or two in a
// word of seven letters and more; nearest of all is one that the word is the beginning of, from three
// letters on. Capital letters are small ones. Words of over 32 bytes are never near.
void pons_meant_try(pons_meant *m, const char *known, size_t len);

PONS_C_END
