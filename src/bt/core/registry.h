// registry.h - the leaves and the numbers that a program brings.
#pragma once

#include "pons/bt.h"

const pons_bt_leaf *pons__bt_leaf_of(const pons_bt_registry *r, const char *name); // NULL: none
bool pons__bt_enum_of(const pons_bt_registry *r, const char *name, double *ret);
