// tick.h - one tick of a BehaviorTree.CPP tree. What a node's own tick returns is a status, or an
// error.
#ifndef PONS_BT_XML_TICK_H
#define PONS_BT_XML_TICK_H

#include "bt/core/tree.h"

int pons__bt_tick_xml(pons_bt_tree *t, uint32_t i, pons_error *err); // conditions, tick, conditions

#endif
