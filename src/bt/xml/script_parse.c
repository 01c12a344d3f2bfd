// script_parse.c - BehaviorTree.CPP's script language: compiled to a small tree, script_run.c
// evaluates it.
//
//     statements := [ expr ( ';'+ expr )* ';'* ]
//     primary    := number | 'string' | name | '(' ... ')'
//     number     := int64 | 0x... | real | true | false
//
//     low    := = += -= *= /=    not chained
//            ?:
//            ||   &&             both sides run
//            == != < > <= >=     chained
//            | ^    &
//            + - ..    * /
//     high   - ~ !
//
// As there, arithmetic gives reals, literals keep their type, and logic gives 1.0 or 0.0.
#include "bt/core/node_types.h"
#include "bt/xml/expr.h"
#include "bt/xml/script.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRIPT_MAX = 8 << 10 }; // [bytes] bounds the recursion over a long sum, too

typedef struct parser {
    const char *text, *at;
    pons_pool *arena;
    pons__bt_slot_of_fn slot_of;
    pons__bt_enum_of_fn enum_of;
    void *cx;
    int depth;
    char *error;
    size_t cap;
    bool failed;
} parser;

// ---- words --------------------------------------------------------------------------------------

static void *p_fail(parser *p, const char *what)
{
    if (!p->failed) {
        if (*p->at) {
            snprintf(p->error, p->cap, "script: %s at '%.20s' (column %d of the script)", what,
                     p->at, (int)(p->at - p->text) + 1);
        } else {
            snprintf(p->error, p->cap, "script: %s at its end", what);
        }
    }
    p->failed = true;
    return NULL;
}

static void p_space(parser *p)
{
    while (isspace((unsigned char)*p->at)) {
        p->at++;
    }
}

static pons__bt_expr *p_node(parser *p, pons__bt_op o, pons__bt_expr *a, pons__bt_expr *b)
{
    pons__bt_expr *e = p->failed ? NULL : pons_pool_take(p->arena, sizeof *e);
    if (!e) {
        return p_fail(p, "no memory");
    }
    e->op = (uint8_t)o;
    e->a = a;
    e->b = b;
    e->slot = PONS__BT_NONE;
    return e;
}

static bool p_take(parser *p, const char *token)
{
    p_space(p);
    const size_t n = strlen(token);
    if (strncmp(p->at, token, n) != 0) {
        return false;
    }
    p->at += n;
    return true;
}

static pons__bt_expr *p_number(parser *p)
{
    const char *s = p->at;
    char *end = (char *)s;
    pons__bt_expr *e = p_node(p, OP_LITERAL, NULL, NULL);
    if (!e) {
        return NULL;
    }
    const bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    size_t digits = 0;
    while (!hex && isdigit((unsigned char)s[digits])) {
        digits++;
    }
    const bool fraction = !hex && s[digits] == '.' && isdigit((unsigned char)s[digits + 1]);
    const bool exponent = !hex && (s[digits] == 'e' || s[digits] == 'E');
    errno = 0;
    if (fraction || exponent) {
        e->literal = (pons__bt_value){.kind = PONS__BT_REAL, .d = strtod(s, &end)};
        if (!isfinite(e->literal.d)) {
            return p_fail(p, "number out of range");
        }
    } else {
        e->literal = (pons__bt_value){.kind = PONS__BT_INT, .i = strtoll(s, &end, hex ? 16 : 10)};
        if (errno == ERANGE) {
            return p_fail(p, "integer overflow");
        }
    }
    if (isalnum((unsigned char)*end) || *end == '_' ||
        (*end == '.' && (end[1] != '.' || !fraction))) {
        return p_fail(p, "invalid suffix on a number");
    }
    p->at = end;
    return e;
}

static pons__bt_expr *p_string(parser *p)
{
    const char *s = p->at + 1;
    const char *end = strchr(s, *p->at);
    if (!end) {
        return p_fail(p, "a string without its closing quote");
    }
    pons__bt_expr *e = p_node(p, OP_LITERAL, NULL, NULL);
    char *copy = e ? pons_pool_text(p->arena, s, (size_t)(end - s)) : NULL;
    if (copy) {
        e->literal = (pons__bt_value){.kind = PONS__BT_STRING, .s = copy};
    }
    p->at = end + 1;
    return e;
}

static bool name_byte(char c, bool first)
{
    return (unsigned char)c >= 0x80 || isalpha((unsigned char)c) || c == '_' ||
           (first ? c == '@' : isdigit((unsigned char)c) != 0);
}

static pons__bt_expr *p_name(parser *p)
{
    const char *s = p->at;
    size_t n = 1;
    while (name_byte(s[n], false)) {
        n++;
    }
    pons__bt_expr *e = p_node(p, OP_NAME, NULL, NULL);
    e = e && (e->name = pons_pool_text(p->arena, s, n)) ? e : NULL;
    p->at += n;
    if (!e) {
        return p_fail(p, "no memory");
    }
    double number;
    if (strcmp(e->name, "true") == 0 || strcmp(e->name, "false") == 0) {
        e->op = OP_LITERAL;
        e->literal = (pons__bt_value){.kind = PONS__BT_INT, .i = e->name[0] == 't'};
    } else if (p->enum_of && p->enum_of(p->cx, e->name, &number)) {
        e->op = OP_LITERAL;
        e->literal = (pons__bt_value){.kind = PONS__BT_REAL, .d = number};
    } else if ((e->slot = p->slot_of(p->cx, e->name)) < 0) {
        return p_fail(p, "no memory");
    }
    return e;
}

// ---- expressions --------------------------------------------------------------------------------

typedef struct binary {
    const char *token;
    pons__bt_op o;
    int level;
} binary;

enum {
    LEVEL_OR,
    LEVEL_AND,
    LEVEL_COMPARE,
    LEVEL_BIT_OR,
    LEVEL_BIT_AND,
    LEVEL_ADD,
    LEVEL_MUL,
    LEVELS
};

static pons__bt_expr *p_expr(parser *p);

static pons__bt_expr *p_primary(parser *p)
{
    p_space(p);
    const char c = *p->at;
    if (++p->depth > PONS__BT_SCRIPT_DEPTH_MAX) {
        return p_fail(p, "nested too deep");
    }
    pons__bt_expr *e = NULL;
    if (c == '(') {
        p->at++;
        e = p_expr(p);
        if (!p->failed && !p_take(p, ")")) {
            e = p_fail(p, "expected ')'");
        }
    } else if (c == '-' || c == '~' || c == '!') {
        p->at++;
        e = p_primary(p);
        e = p_node(p, c == '-' ? OP_NEGATE : c == '~' ? OP_COMPLEMENT : OP_NOT, e, NULL);
    } else if (c == '+' && isdigit((unsigned char)p->at[1])) {
        p->at++; // a sign of a number; there is no unary plus
        e = p_number(p);
    } else if (isdigit((unsigned char)c)) {
        e = p_number(p);
    } else if (c == '\'' || c == '"') {
        e = p_string(p);
    } else if (name_byte(c, true)) {
        e = p_name(p);
    } else {
        e = p_fail(p, "expected an operand");
    }
    p->depth--;
    return e;
}

static const binary binaries[] = {{"||", OP_OR, LEVEL_OR},          {"&&", OP_AND, LEVEL_AND},
                                  {"==", OP_EQ, LEVEL_COMPARE},     {"!=", OP_NE, LEVEL_COMPARE},
                                  {"<=", OP_LE, LEVEL_COMPARE},     {">=", OP_GE, LEVEL_COMPARE},
                                  {"<", OP_LT, LEVEL_COMPARE},      {">", OP_GT, LEVEL_COMPARE},
                                  {"|", OP_BIT_OR, LEVEL_BIT_OR},   {"^", OP_BIT_XOR, LEVEL_BIT_OR},
                                  {"&", OP_BIT_AND, LEVEL_BIT_AND}, {"..", OP_CONCAT, LEVEL_ADD},
                                  {"+", OP_ADD, LEVEL_ADD},         {"-", OP_SUB, LEVEL_ADD},
                                  {"*", OP_MUL, LEVEL_MUL},         {"/", OP_DIV, LEVEL_MUL}};

static const binary *p_operator(parser *p, int level)
{
    p_space(p);
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        const binary *b = &binaries[i];
        const size_t n = strlen(b->token);
        if (strncmp(p->at, b->token, n) != 0) {
            continue;
        }
        // "+=" is an assignment, "||" is no "|".
        const char next = p->at[n];
        if (b->level != level || (strchr("+-*/", *b->token) && next == '=')) {
            return NULL;
        }
        p->at += n;
        return b;
    }
    return NULL;
}

static pons__bt_expr *p_binary(parser *p, int level)
{
    if (level == LEVELS) {
        return p_primary(p);
    }
    pons__bt_expr *left = p_binary(p, level + 1);
    pons__bt_expr *last = NULL;
    const binary *b;
    while (!p->failed && (b = p_operator(p, level))) {
        pons__bt_expr *right = p_binary(p, level + 1);
        pons__bt_expr *e = p_node(p, b->o, left, right);
        if (level == LEVEL_COMPARE && last && e) {
            e->a = NULL;
            last->chain = e; // the right side of the one before is the left side here
        } else {
            left = e;
        }
        last = e;
    }
    return left;
}

static pons__bt_expr *p_if(parser *p)
{
    pons__bt_expr *e = p_binary(p, LEVEL_OR);
    if (p->failed || !p_take(p, "?")) {
        return e;
    }
    if (++p->depth > PONS__BT_SCRIPT_DEPTH_MAX) {
        return p_fail(p, "nested too deep");
    }
    pons__bt_expr *then = p_expr(p); // enclosed by ? and :, so it may assign
    if (!p->failed && !p_take(p, ":")) {
        return p_fail(p, "expected ':'");
    }
    pons__bt_expr *other = p_if(p);
    p->depth--;
    pons__bt_expr *n = p_node(p, OP_IF, e, then);
    if (n) {
        n->c = other;
    }
    return n;
}

static pons__bt_expr *p_expr(parser *p)
{
    static const struct {
        const char *token;
        pons__bt_op o;
    } assigns[] = {{":=", OP_CREATE}, {"+=", OP_ADD_TO}, {"-=", OP_SUB_FROM},
                   {"*=", OP_MUL_BY}, {"/=", OP_DIV_BY}, {"=", OP_ASSIGN}};
    pons__bt_expr *left = p_if(p);
    for (size_t i = 0; !p->failed && i < sizeof assigns / sizeof *assigns; i++) {
        if (p_take(p, assigns[i].token)) {
            if (left->op != OP_NAME) {
                return p_fail(p, "the left side of an assignment is no blackboard entry");
            }
            return p_node(p, assigns[i].o, left, p_if(p));
        }
    }
    return left;
}

// ---- public functions ---------------------------------------------------------------------------

pons__bt_script *pons__bt_script_compile(pons_pool *a, const char *text,
                                         pons__bt_slot_of_fn slot_of, pons__bt_enum_of_fn enum_of,
                                         void *cx, char *ret_error, size_t cap)
{
    parser p = {.text = text,
                .at = text,
                .arena = a,
                .slot_of = slot_of,
                .enum_of = enum_of,
                .cx = cx,
                .error = ret_error,
                .cap = cap};
    pons__bt_script *s = pons_pool_take(a, sizeof *s);
    int room = 1;
    if (strlen(text) > SCRIPT_MAX) {
        return p_fail(&p, "longer than 8 KiB");
    }
    for (const char *c = text; *c; c++) {
        room += *c == ';';
    }
    pons__bt_expr **list = pons_pool_take(a, (size_t)room * sizeof(pons__bt_expr *));
    if (!s || !list) {
        return p_fail(&p, "no memory");
    }
    s->text = text;
    s->statements = list;
    p_space(&p);
    while (*p.at && !p.failed) {
        list[s->n++] = p_expr(&p);
        bool ended = false;
        while (!p.failed && p_take(&p, ";")) { // the last one may be missing, several may follow
            ended = true;
        }
        if (!p.failed && !ended && *p.at) {
            p_fail(&p, "expected ';'");
        }
    }
    return p.failed ? NULL : s;
}
