// ast.h - what MDSL and its JSON form are read into, before branches are put in place.
#pragma once

#include "bt/core/definition.h"

typedef struct pons__bt_ast {
    pons__bt_type type;
    pons__bt_pos pos;
    const char *id; // root's name, branch's target, function
    pons_value *args;
    pons__bt_pos args_pos;
    int64_t low, high;
    bool drawn;
    int64_t *weights;
    int n_weights;
    struct pons__bt_ast_attr {
        const char *name;
        pons_value *args;
        bool succeed;
    } *at; // (AT_COUNT) while until entry step exit; NULL: none
    struct pons__bt_ast *first, *last, *next;
    int n_kids;
} pons__bt_ast;

void pons__bt_ast_fini(
    pons__bt_ast *n); // its values, and what is behind and below it; the arena has the rest
// Counts of repeat, retry and wait: none, one, or a range; weights are taken by the caller.
void pons__bt_ast_counts(pons__bt_faults *f, pons__bt_ast *n, const int64_t *v, int count,
                         pons__bt_pos pos);
