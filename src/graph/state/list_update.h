// list_update.h - lists and objects as updates change them; what every channel kind and its rows use.
#pragma once

#include "pons/value.h"

#include <stdbool.h>

const pons_value *pons__overwrite(const pons_value *update); // its value, or NULL
// Appends update's items (a list's, or itself) to list. False: no memory.
bool pons__list_extend(pons_value *list, const pons_value *update);
// Merges update into obj; null removes, or stays when keep_null.
bool pons__object_merge(pons_value *obj, const pons_value *update, bool keep_null);
