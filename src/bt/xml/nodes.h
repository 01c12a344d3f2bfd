// nodes.h - the ticks of the less common nodes, by family. Children are ticked through the tree.
#pragma once

#include "bt/core/tree.h"

int pons__bt_tick_control(pons_bt_tree *t, uint32_t i, pons_error *err); // Parallel to TryCatch
int pons__bt_tick_decorator(pons_bt_tree *t, uint32_t i,
                            pons_error *err); // Inverter to WaitValueUpdate,
                                              // Sleep, WasEntryUpdated
int pons__bt_tick_nav2(pons_bt_tree *t, uint32_t i, pons_error *err); // Nav2's
