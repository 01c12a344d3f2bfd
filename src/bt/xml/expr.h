// expr.h - a script compiled: a tree of expressions.
#pragma once

#include "bt/xml/script.h"

typedef enum pons__bt_op {
    OP_LITERAL,
    OP_NAME,
    OP_NEGATE,
    OP_COMPLEMENT,
    OP_NOT,
    OP_ADD,
    OP_SUB,
    OP_CONCAT,
    OP_MUL,
    OP_DIV,
    OP_BIT_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_AND,
    OP_OR,
    OP_EQ,
    OP_NE,
    OP_LE,
    OP_GE,
    OP_LT,
    OP_GT, // c, then next: a chain
    OP_IF,
    OP_CREATE,
    OP_ASSIGN,
    OP_ADD_TO,
    OP_SUB_FROM,
    OP_MUL_BY,
    OP_DIV_BY
} pons__bt_op;

struct pons__bt_expr {
    uint8_t op;
    int32_t slot;
    pons__bt_value literal;
    const char *name;
    pons__bt_expr *a, *b, *c;
    pons__bt_expr *chain; // of comparisons: (a op b) && (b chain.op chain.b) ...
};
