// tick.h - one step of a mistreevous tree.
#ifndef PONS_BT_MDSL_TICK_H
#define PONS_BT_MDSL_TICK_H

#include "bt/core/tree.h"

int pons__bt_step_mdsl(pons_bt_tree *t, pons_error *err);
int pons__bt_abort_mdsl(pons_bt_tree *t, uint32_t i, pons_error *err);

#endif
