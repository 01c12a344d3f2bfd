// script.h - BehaviorTree.CPP's scripts: compiled once, run at every tick that asks.
#pragma once

#include "bt/core/tree.h"

typedef struct pons__bt_expr pons__bt_expr;
struct pons__bt_script {
    const char *text;
    pons__bt_expr **statements;
    int n;
};
// Resolves a name of a script to a slot; called while compiling.
typedef int32_t (*pons__bt_slot_of_fn)(void *cx, const char *key);
typedef bool (*pons__bt_enum_of_fn)(void *cx, const char *name, double *ret);
// NULL and *ret_error (static or in the arena) when the text is no script.
pons__bt_script *pons__bt_script_compile(pons_pool *a, const char *text,
                                         pons__bt_slot_of_fn slot_of, pons__bt_enum_of_fn enum_of,
                                         void *cx, char *ret_error, size_t cap);
int pons__bt_script_run(const pons__bt_script *s, pons_bt_tree *t, pons__bt_value *ret,
                        pons_error *err);
int pons__bt_script_bool(const pons__bt_script *s, pons_bt_tree *t,
                         pons_error *err); // 0, 1 or an error
