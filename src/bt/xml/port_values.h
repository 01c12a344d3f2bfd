// port_values.h - a node's ports at work.
#pragma once

#include "bt/core/tree.h"

const pons__bt_port *pons__bt_port_of(const pons__bt_node *n, const char *name);
// A port's value, borrowed for as long as nothing is written. PONS_ENOTFOUND.
int pons__bt_input(pons_bt_tree *t, uint32_t i, const char *name, pons__bt_value *ret);
int64_t pons__bt_input_int(pons_bt_tree *t, uint32_t i, const char *name, int64_t fallback);
double pons__bt_input_num(pons_bt_tree *t, uint32_t i, const char *name, double fallback);
// A number that a node cannot do without: PONS_EINVAL when its entry is empty or has none.
int pons__bt_need_int(pons_bt_tree *t, uint32_t i, const char *name, int64_t fallback, int64_t *ret,
                      pons_error *err);
int pons__bt_output(pons_bt_tree *t, uint32_t i, const char *name, const pons__bt_value *v,
                    pons_error *err);
