// build.h - from elements to nodes.
#pragma once

#include "bt/xml/loader.h"

void pons__bt_build_xml(pons__bt_loader *l, pons__bt_subtree *tr, uint32_t parent, int depth,
                        int32_t on, pons__bt_pos from);
