// includes.h - trees and models of all files.
#pragma once

#include "bt/xml/loader.h"

void pons__bt_files_read(pons__bt_loader *l, const pons__bt_element *root, bool top, bool is_file);
pons__bt_subtree *pons__bt_files_tree(const pons__bt_loader *l, const char *id); // NULL: none
const pons__bt_node_model *pons__bt_files_model(const pons__bt_loader *l, const char *id,
                                                bool subtree); // NULL: none
