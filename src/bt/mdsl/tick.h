// tick.h - one step of a mistreevous tree.
#pragma once

#include "bt/core/tree.h"

int pons__bt_step_mdsl(pons_bt_tree *t, pons_error *err);
int pons__bt_abort_mdsl(pons_bt_tree *t, uint32_t i, pons_error *err);
