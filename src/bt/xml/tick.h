// tick.h - one tick of a BehaviorTree.CPP tree. What a node's own tick returns is a status, or an
// error.
#pragma once

#include "bt/core/tree.h"

int pons__bt_tick_xml(pons_bt_tree *t, uint32_t i, pons_error *err); // conditions, tick, conditions
