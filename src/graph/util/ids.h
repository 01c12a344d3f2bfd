// ids.h - checkpoint ids are moved several times a superstep: a copy that is not a print.
#pragma once

#include <string.h>

enum { PONS__CP_ID = 32 }; // as in the rows of pons/ext/store.h

// What does not fit is cut.
static inline void pons__id_copy(char to[PONS__CP_ID], const char *from)
{
    size_t n = strlen(from);
    n = n < PONS__CP_ID ? n : PONS__CP_ID - 1;
    memcpy(to, from, n);
    to[n] = '\0';
}
