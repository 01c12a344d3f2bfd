// halt.h - how XML nodes are halted and reset, and their scripts asked: what their ticks share.
#pragma once

#include "bt/core/node_states.h"

int pons__bt_halt_xml(pons_bt_tree *t, uint32_t i, pons_error *err); // the node and what is below
int pons__bt_halt_child(pons_bt_tree *t, uint32_t i, pons_error *err);
int pons__bt_reset_kids(pons_bt_tree *t, uint32_t i, pons_error *err);
// The state and the marks of what completes are dropped. Returns s, or an error.
int pons__bt_end_with(pons_bt_tree *t, uint32_t i, int s, pons_error *err);

// A node's scripts: a failure names the node.
int pons__bt_run_script(pons_bt_tree *t, uint32_t i, const pons__bt_script *s,
                        pons_error *err); // s NULL: nothing
int pons__bt_ask_script(pons_bt_tree *t, uint32_t i, const pons__bt_script *s,
                        pons_error *err); // 0, 1 or an error

static inline bool pons__bt_completed(int s)
{
    return s == PONS_BT_SUCCESS || s == PONS_BT_FAILURE;
}
static inline uint32_t pons__bt_kid(const pons_bt_tree *t, uint32_t i, uint32_t k)
{
    return t->kids[t->nodes[i].kids + k];
}
