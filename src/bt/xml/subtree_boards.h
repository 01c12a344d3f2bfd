// subtree_boards.h - blackboards of subtrees.
#pragma once

#include "bt/xml/loader.h"

int32_t pons__bt_board_add(pons__bt_loader *l, int32_t parent, bool autoremap);
// The slot of a board itself, made when it is not there and `make` says so.
int32_t pons__bt_board_local(pons__bt_loader *l, uint32_t on, const char *key, bool make);
// NONE of both, when it is not there or there is no memory. Where a key of a board ends: its own, the remapped one, the parent's, or its own newly made.
int32_t pons__bt_board_slot(pons__bt_loader *l, int32_t on, const char *key);
// "{key}" and "{=}": the key, in buf; NULL for a literal.
const char *pons__bt_board_pointer(const pons__bt_loader *l, const char *text, const char *port,
                                   char *buf, size_t cap);
