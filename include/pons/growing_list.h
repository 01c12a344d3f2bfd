// growing_list.h - lists that grow: a pointer to items in the heap, and how many it has room for.
#pragma once

#include "pons/linkage.h"

#include <stdbool.h>
#include <stddef.h>

PONS_C_BEGIN

// Makes room for `need` items of `size` bytes; `list` is the address of the pointer to them, which may move. *cap, how
// many there is room for, doubles, so that n appends cost n; cap NULL: for just so many. false: no memory, and nothing
// has changed.
bool pons_list_reserve(void *list, size_t *cap, size_t need, size_t size);

// The same in a process, which ends without memory (out_of_memory.h).
void pons_need_room(void *list, size_t *cap, size_t need, size_t size);

PONS_C_END
