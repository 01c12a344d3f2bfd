// growing_array.c - arrays that grow: to twice their size, so that n appends cost n.
#include "graph/util/growing_array.h"

#include <stdlib.h>

bool pons__reserve(void *items, size_t *cap, size_t need, size_t size)
{
    enum { FIRST = 8 };
    if (need <= *cap) {
        return true;
    }
    size_t room = *cap ? *cap : FIRST;
    while (room < need) {
        room *= 2;
    }
    void **at = items;
    void *v = realloc(*at, room * size);
    if (!v) {
        return false;
    }
    *at = v;
    *cap = room;
    return true;
}
