// growing_list.c - lists that grow: to twice their size, so that n appends cost n.
#include "pons/growing_list.h"

#include "pons/out_of_memory.h"

#include <stdlib.h>

bool pons_list_reserve(void *list, size_t *cap, size_t need, size_t size)
{
    enum { FIRST = 8 };
    if (cap && need <= *cap) {
        return true;
    }
    size_t room = !cap ? need : *cap ? *cap : FIRST;
    while (room < need) {
        room *= 2;
    }
    void **at = list;
    void *v = realloc(*at, room * size);
    if (!v) {
        return false;
    }
    *at = v;
    if (cap) {
        *cap = room;
    }
    return true;
}

void pons_need_room(void *list, size_t *cap, size_t need, size_t size)
{
    if (!pons_list_reserve(list, cap, need, size)) {
        pons_end_no_memory("a list that grows");
    }
}
