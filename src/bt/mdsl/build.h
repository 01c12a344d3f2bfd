// build.h - from what was read to a definition.
#pragma once

#include "bt/mdsl/ast.h"

// Checks what both forms share, and builds. Takes nothing (args are referenced).
int pons__bt_build_mdsl(pons__bt_ast *roots, const char *file, const pons_bt_load_options *o,
                        pons__bt_faults *faults, pons_bt **ret);
