// tree_leaves.h - what the tree can call.
#pragma once

#include "companion/life.h"

int pons__co_check_call(void *user, const char *name, const pons_value *args, pons_error *err);
int pons__co_register_leaves(pons_bt_registry *r, pons_companion *c, pons_error *err);
