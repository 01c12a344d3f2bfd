// builtin_nodes.h - what a built-in XML node takes.
#pragma once

#include <stdbool.h>

typedef struct pons__bt_manifest {
    const char *id;
    int type;          // pons__bt_type; X_ACTION, X_CONDITION: a leaf that the program brings
    const char *ports; // "name:type=default name:type! ..."; ! mandatory, > output, <> both
} pons__bt_manifest;
const pons__bt_manifest *pons__bt_manifest_of(const char *id);
bool pons__bt_manifest_btcpp(const pons__bt_manifest *m); // BehaviorTree.CPP's own, not Nav2's
