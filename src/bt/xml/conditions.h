// conditions.h - the scripts of a node, compiled.
#pragma once

#include "bt/xml/loader.h"

// text: what the attribute `name` says. NULL: said why.
const pons__bt_script *pons__bt_conds_compile(pons__bt_loader *l, pons__bt_element *e,
                                              const char *name, const char *text, int32_t on);
void pons__bt_conds_set(pons__bt_loader *l, pons__bt_element *e, uint32_t at, int32_t on);
