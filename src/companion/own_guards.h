// own_guards.h - guards that a world view adds to the tree's.
#pragma once

#include "companion/world_view.h"

typedef struct pons__co_guard { // "not InWindow(evening)"
    bool negated;
    char name[PONS__CO_ID_MAX], arg[PONS__CO_ID_MAX];
} pons__co_guard;

// False, and ret_why says what is wrong: it is no call, or of no guard of the companion's own.
bool pons__co_guard_read(const char *text, pons__co_guard *ret, char *ret_why, size_t cap);
// What a name's conditions are in the view: {id, any or all}; NULL: it has none of that name.
const pons_value *pons__co_condition(const pons_world_view *v, const char *name);
// Whether the companion has a guard or an action of that name itself.
bool pons__co_own_leaf(const char *name);
