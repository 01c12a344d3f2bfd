// script.c - BehaviorTree.CPP's script language: compiled to a small tree, evaluated by recursion.
//
//     statements := expr (';' expr)*                       low  := = += -= *= /=   (not chained)
//     primary    := number | 'string' | name | '(' … ')'        ?:
//     number     := int64 | 0x… | real | true | false           ||   &&            (both sides run)
//                                                               == != < > <= >=    (chained)
//                                                               | ^    &
//                                                               + - ..    * /
//                                                          high - ~ !
// As there, arithmetic gives reals, literals keep their type, and logic gives 1.0 or 0.0.
#include "bt/bt_internal.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SCRIPT_MAX = 8 << 10 }; // [bytes] bounds the recursion over a long sum, too

typedef enum op {
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
} op;

struct bt_expr {
    uint8_t op;
    int32_t slot;
    bt_value literal;
    const char *name;
    bt_expr *a, *b, *c;
    bt_expr *chain; // of comparisons: (a op b) && (b chain.op chain.b) …
};

typedef struct parser {
    const char *text, *at;
    bt_arena *arena;
    bt_slot_of_fn slot_of;
    bt_enum_of_fn enum_of;
    void *cx;
    int depth;
    char *error;
    size_t cap;
    bool failed;
} parser;

static bt_expr *p_expr(parser *p);
static bt_expr *p_binary(parser *p, int level);
static int eval(const bt_expr *e, pons_bt_tree *t, bt_value *ret, pons_error *err);

// ---------------------------------------------------------------- compiling

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

static bt_expr *p_node(parser *p, op o, bt_expr *a, bt_expr *b)
{
    bt_expr *e = p->failed ? NULL : bt_alloc(p->arena, sizeof *e);
    if (!e) {
        return p_fail(p, "no memory");
    }
    e->op = (uint8_t)o;
    e->a = a;
    e->b = b;
    e->slot = BT_NONE;
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

static bt_expr *p_number(parser *p)
{
    const char *s = p->at;
    char *end = (char *)s;
    bt_expr *e = p_node(p, OP_LITERAL, NULL, NULL);
    const bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    size_t digits = 0;
    while (e && !hex && isdigit((unsigned char)s[digits])) {
        digits++;
    }
    const bool fraction = !hex && s[digits] == '.' && isdigit((unsigned char)s[digits + 1]);
    const bool exponent = !hex && (s[digits] == 'e' || s[digits] == 'E');
    if (!e) {
        return NULL;
    }
    errno = 0;
    if (fraction || exponent) {
        e->literal = (bt_value){.kind = BT_REAL, .d = strtod(s, &end)};
        if (!isfinite(e->literal.d)) {
            return p_fail(p, "number out of range");
        }
    } else {
        e->literal = (bt_value){.kind = BT_INT, .i = strtoll(s, &end, hex ? 16 : 10)};
        if (errno == ERANGE) {
            return p_fail(p, "integer overflow");
        }
    }
    if (isalnum((unsigned char)*end) || *end == '_' || (*end == '.' && end[1] != '.') ||
        (*end == '.' && !fraction)) {
        return p_fail(p, "invalid suffix on a number");
    }
    p->at = end;
    return e;
}

static bt_expr *p_string(parser *p)
{
    const char *s = p->at + 1;
    const char *end = strchr(s, *p->at);
    if (!end) {
        return p_fail(p, "a string without its closing quote");
    }
    bt_expr *e = p_node(p, OP_LITERAL, NULL, NULL);
    char *copy = e ? bt_strndup(p->arena, s, (size_t)(end - s)) : NULL;
    if (copy) {
        e->literal = (bt_value){.kind = BT_STRING, .s = copy};
    }
    p->at = end + 1;
    return e;
}

static bool name_byte(char c, bool first)
{
    return (unsigned char)c >= 0x80 || isalpha((unsigned char)c) || c == '_' ||
           (first ? c == '@' : isdigit((unsigned char)c) != 0);
}

static bt_expr *p_name(parser *p)
{
    const char *s = p->at;
    size_t n = 1;
    while (name_byte(s[n], false)) {
        n++;
    }
    bt_expr *e = p_node(p, OP_NAME, NULL, NULL);
    e = e && (e->name = bt_strndup(p->arena, s, n)) ? e : NULL;
    p->at += n;
    if (!e) {
        return p_fail(p, "no memory");
    }
    double number;
    if (strcmp(e->name, "true") == 0 || strcmp(e->name, "false") == 0) {
        e->op = OP_LITERAL;
        e->literal = (bt_value){.kind = BT_INT, .i = e->name[0] == 't'};
    } else if (p->enum_of && p->enum_of(p->cx, e->name, &number)) {
        e->op = OP_LITERAL;
        e->literal = (bt_value){.kind = BT_REAL, .d = number};
    } else if ((e->slot = p->slot_of(p->cx, e->name)) < 0) {
        return p_fail(p, "no memory");
    }
    return e;
}

static bt_expr *p_primary(parser *p)
{
    p_space(p);
    const char c = *p->at;
    if (++p->depth > BT_SCRIPT_DEPTH_MAX) {
        return p_fail(p, "nested too deep");
    }
    bt_expr *e = NULL;
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

typedef struct binary {
    const char *token;
    op o;
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

static bt_expr *p_binary(parser *p, int level)
{
    if (level == LEVELS) {
        return p_primary(p);
    }
    bt_expr *left = p_binary(p, level + 1);
    bt_expr *last = NULL;
    const binary *b;
    while (!p->failed && (b = p_operator(p, level))) {
        bt_expr *right = p_binary(p, level + 1);
        bt_expr *e = p_node(p, b->o, left, right);
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

static bt_expr *p_if(parser *p)
{
    bt_expr *e = p_binary(p, LEVEL_OR);
    if (p->failed || !p_take(p, "?")) {
        return e;
    }
    if (++p->depth > BT_SCRIPT_DEPTH_MAX) {
        return p_fail(p, "nested too deep");
    }
    bt_expr *then = p_expr(p); // enclosed by ? and :, so it may assign
    if (!p->failed && !p_take(p, ":")) {
        return p_fail(p, "expected ':'");
    }
    bt_expr *other = p_if(p);
    p->depth--;
    bt_expr *n = p_node(p, OP_IF, e, then);
    if (n) {
        n->c = other;
    }
    return n;
}

static bt_expr *p_expr(parser *p)
{
    static const struct {
        const char *token;
        op o;
    } assigns[] = {{":=", OP_CREATE}, {"+=", OP_ADD_TO}, {"-=", OP_SUB_FROM},
                   {"*=", OP_MUL_BY}, {"/=", OP_DIV_BY}, {"=", OP_ASSIGN}};
    bt_expr *left = p_if(p);
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

bt_script *bt_script_compile(bt_arena *a, const char *text, bt_slot_of_fn slot_of,
                             bt_enum_of_fn enum_of, void *cx, char *ret_error, size_t cap)
{
    parser p = {.text = text,
                .at = text,
                .arena = a,
                .slot_of = slot_of,
                .enum_of = enum_of,
                .cx = cx,
                .error = ret_error,
                .cap = cap};
    bt_script *s = bt_alloc(a, sizeof *s);
    int room = 1;
    if (strlen(text) > SCRIPT_MAX) {
        return p_fail(&p, "longer than 8 KiB");
    }
    for (const char *c = text; *c; c++) {
        room += *c == ';';
    }
    bt_expr **list = bt_alloc(a, (size_t)room * sizeof(bt_expr *));
    if (!s || !list) {
        return p_fail(&p, "no memory");
    }
    s->text = text;
    s->statements = list;
    p_space(&p);
    while (*p.at && !p.failed) {
        list[s->n++] = p_expr(&p);
        p_space(&p);
        if (!p.failed && *p.at == ';') {
            p.at++;
            p_space(&p);
            if (!*p.at) {
                p_fail(&p, "unexpected trailing separator");
            }
        } else if (!p.failed && *p.at) {
            p_fail(&p, "expected ';'");
        }
    }
    return p.failed ? NULL : s;
}

// ---------------------------------------------------------------- running

static int not_permitted(const char *what, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, "bt", "script: %s", what);
}

static int real(double d, bt_value *ret)
{
    *ret = (bt_value){.kind = BT_REAL, .d = d};
    return PONS_OK;
}

// Numbers, and the text of numbers.
static int number(const bt_value *v, double *ret, pons_error *err)
{
    bt_value parsed;
    if (bt_value_number(v, ret)) {
        return PONS_OK;
    }
    if (v->kind == BT_STRING && bt_parse(v->s, 'd', &parsed)) {
        *ret = parsed.d;
        return PONS_OK;
    }
    return pons_error_set(
        err, PONS_EINVAL, "bt", "script: %s%.60s%s is no number", v->kind == BT_STRING ? "'" : "a ",
        v->kind == BT_STRING ? v->s : bt_kind_word(v->kind), v->kind == BT_STRING ? "'" : "");
}

static int whole(const bt_value *v, int64_t *ret, pons_error *err)
{
    if (v->kind == BT_INT || v->kind == BT_BOOL) {
        *ret = v->i;
    } else if (v->kind == BT_REAL && floor(v->d) == v->d && fabs(v->d) < 9.2e18) {
        *ret = (int64_t)v->d;
    } else {
        return not_permitted("binary operators want integers", err);
    }
    return PONS_OK;
}

static void text_of(const bt_value *v, char *buf, size_t cap)
{
    if (v->kind == BT_REAL) {
        snprintf(buf, cap, "%f", v->d);
    } else {
        snprintf(buf, cap, "%" PRId64, v->i);
    }
}

static int concat(const bt_value *a, const bt_value *b, bt_value *ret, pons_error *err)
{
    char left[400], right[400];
    if (a->kind != BT_STRING && b->kind != BT_STRING) {
        return not_permitted("'..' joins strings", err);
    }
    if (a->kind == BT_JSON || b->kind == BT_JSON) {
        return not_permitted("'..' joins strings and numbers", err);
    }
    text_of(a, left, a->kind == BT_STRING ? 0 : sizeof left);
    text_of(b, right, b->kind == BT_STRING ? 0 : sizeof right);
    char *s;
    if (asprintf(&s, "%s%s", a->kind == BT_STRING ? a->s : left,
                 b->kind == BT_STRING ? b->s : right) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "script: no memory");
    }
    *ret = (bt_value){.kind = BT_STRING, .owned = true, .s = s};
    return PONS_OK;
}

// Logic and conditions: an integer must be 0 or 1, a real must not be negative, a text is no
// answer.
static int as_bool(const bt_value *v, bool *ret, pons_error *err)
{
    if (v->kind == BT_REAL ? v->d < 0.0 : (v->kind != BT_INT && v->kind != BT_BOOL)) {
        return pons_error_set(err, PONS_EINVAL, "bt", "script: a %s is no truth value",
                              v->kind == BT_REAL ? "negative number" : bt_kind_word(v->kind));
    }
    if (v->kind != BT_REAL && v->i != 0 && v->i != 1) {
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "script: the integer %" PRId64 " is no truth value, only 0 and 1 are",
                              v->i);
    }
    *ret = v->kind == BT_REAL ? v->d != 0.0 : v->i != 0;
    return PONS_OK;
}

// Both sides have been evaluated, as there.
static int logic(op o, const bt_value *a, const bt_value *b, bt_value *ret, pons_error *err)
{
    bool x = false, y = false;
    int rc = as_bool(a, &x, err);
    rc = rc < 0 ? rc : as_bool(b, &y, err);
    return rc < 0 ? rc : real(o == OP_AND ? x && y : x || y, ret);
}

static int arithmetic(op o, const bt_value *a, const bt_value *b, bt_value *ret, pons_error *err)
{
    double x, y;
    int64_t i = 0, j = 0;
    if (a->kind == BT_EMPTY || b->kind == BT_EMPTY) {
        return not_permitted("an operand is not initialized", err);
    }
    if (o == OP_CONCAT) {
        return concat(a, b, ret, err);
    }
    if (o == OP_ADD && a->kind == BT_STRING && b->kind == BT_STRING) {
        return concat(a, b, ret, err);
    }
    if (!bt_value_number(a, &x) || !bt_value_number(b, &y)) {
        return not_permitted("operation not permitted between these types", err);
    }
    switch (o) {
    case OP_ADD:
        return real(x + y, ret);
    case OP_SUB:
        return real(x - y, ret);
    case OP_MUL:
        return real(x * y, ret);
    case OP_DIV:
        return real(y != 0 ? x / y : x > 0 ? INFINITY : x < 0 ? -INFINITY : NAN, ret);
    case OP_AND:
    case OP_OR:
        return logic(o, a, b, ret, err);
    default:
        break;
    }
    int rc = whole(a, &i, err);
    rc = rc < 0 ? rc : whole(b, &j, err);
    return rc < 0 ? rc
                  : real((double)(o == OP_BIT_AND  ? i & j
                                  : o == OP_BIT_OR ? i | j
                                                   : i ^ j),
                         ret);
}

static int compare(op o, const bt_value *a, const bt_value *b, bool *ret, pons_error *err)
{
    double x, y;
    if (a->kind == BT_EMPTY || b->kind == BT_EMPTY) {
        return not_permitted("an operand is not initialized", err);
    }
    if (a->kind == BT_STRING && b->kind == BT_STRING) {
        const int c = strcmp(a->s, b->s);
        x = c;
        y = 0;
    } else {
        int rc = number(a, &x, err);
        rc = rc < 0 ? rc : number(b, &y, err);
        if (rc < 0) {
            return rc;
        }
    }
    const bool same = fabs(x - y) <= (double)FLT_EPSILON;
    *ret = o == OP_EQ   ? same
           : o == OP_NE ? !same
           : o == OP_LT ? x < y
           : o == OP_GT ? x > y
           : o == OP_LE ? x <= y
                        : x >= y;
    return PONS_OK;
}

static int e_compare(const bt_expr *e, pons_bt_tree *t, bt_value *ret, pons_error *err)
{
    bt_value a = {.kind = BT_EMPTY}, b = {.kind = BT_EMPTY};
    bool holds = true;
    int rc = eval(e->a, t, &a, err);
    rc = rc < 0 ? rc : bt_value_own(&a);
    for (; rc >= 0 && e && holds; e = e->chain) {
        rc = eval(e->b, t, &b, err);
        rc = rc < 0 ? rc : bt_value_own(&b);
        rc = rc < 0 ? rc : compare((op)e->op, &a, &b, &holds, err);
        bt_value_fini(&a);
        a = b;
        b = (bt_value){.kind = BT_EMPTY};
    }
    bt_value_fini(&a);
    return rc < 0 ? rc : real(holds, ret);
}

static int e_unary(const bt_expr *e, pons_bt_tree *t, bt_value *ret, pons_error *err)
{
    bt_value v;
    double d;
    int rc = eval(e->a, t, &v, err);
    if (rc < 0) {
        return rc;
    }
    const bool ok = bt_value_number(&v, &d);
    bt_value_fini(&v);
    if (!ok) {
        return not_permitted("this operator wants a number", err);
    }
    if (e->op == OP_COMPLEMENT && !(fabs(d) < 9.2e18)) {
        return not_permitted("'~' wants an integer", err);
    }
    return real(e->op == OP_NEGATE ? -d : e->op == OP_NOT ? d == 0 : (double)~(int64_t)d, ret);
}

static int e_if(const bt_expr *e, pons_bt_tree *t, bt_value *ret, pons_error *err)
{
    bt_value v;
    double d = 0;
    int rc = eval(e->a, t, &v, err);
    if (rc < 0) {
        return rc;
    }
    rc = number(&v, &d, err);
    bt_value_fini(&v);
    return rc < 0 ? rc : eval(d != 0 ? e->b : e->c, t, ret, err);
}

static int e_assign(const bt_expr *e, pons_bt_tree *t, bt_value *ret, pons_error *err)
{
    bt_slot *s = &t->slots[e->a->slot];
    const char *key = e->a->name;
    bt_value v, w = {.kind = BT_EMPTY};
    if (!s->exists && e->op != OP_CREATE) {
        return bt_slot_assign(s, key, &w, false, err); // says so
    }
    int rc = eval(e->b, t, &v, err);
    if (rc < 0) {
        return rc;
    }
    if (e->op == OP_CREATE || e->op == OP_ASSIGN) {
        rc = bt_value_own(&v); // it may be the slot's own string
        rc = rc < 0 ? rc : bt_slot_assign(s, key, &v, true, err);
    } else {
        rc = arithmetic((op)(e->op == OP_ADD_TO     ? OP_ADD
                             : e->op == OP_SUB_FROM ? OP_SUB
                             : e->op == OP_MUL_BY   ? OP_MUL
                                                    : OP_DIV),
                        &s->v, &v, &w, err);
        rc = rc < 0 ? rc : bt_slot_assign(s, key, &w, true, err);
    }
    bt_value_fini(&v);
    bt_value_fini(&w);
    if (rc >= 0) {
        *ret = s->v;
        ret->owned = false;
    }
    return rc;
}

static int eval(const bt_expr *e, pons_bt_tree *t, bt_value *ret, pons_error *err)
{
    *ret = (bt_value){.kind = BT_EMPTY};
    if (e->op == OP_LITERAL) {
        *ret = e->literal;
        return PONS_OK;
    }
    if (e->op == OP_NAME) {
        const bt_slot *s = &t->slots[e->slot];
        if (!s->exists) {
            return pons_error_set(err, PONS_ENOTFOUND, "bt", "script: variable not found: %s",
                                  e->name);
        }
        *ret = s->v;
        ret->owned = false;
        return PONS_OK;
    }
    if (e->op <= OP_NOT) {
        return e_unary(e, t, ret, err);
    }
    if (e->op >= OP_EQ && e->op <= OP_GT) {
        return e_compare(e, t, ret, err);
    }
    if (e->op == OP_IF) {
        return e_if(e, t, ret, err);
    }
    if (e->op >= OP_CREATE) {
        return e_assign(e, t, ret, err);
    }
    bt_value a, b = {.kind = BT_EMPTY};
    int rc = eval(e->a, t, &a, err);
    // The right side may write the entry whose string the left side has borrowed.
    if (rc >= 0 && e->b->op >= OP_NEGATE) {
        rc = bt_value_own(&a);
    }
    rc = rc < 0 ? rc : eval(e->b, t, &b, err);
    rc = rc < 0 ? rc : arithmetic((op)e->op, &a, &b, ret, err);
    bt_value_fini(&a);
    bt_value_fini(&b);
    return rc;
}

int bt_script_run(const bt_script *s, pons_bt_tree *t, bt_value *ret, pons_error *err)
{
    bt_value v = {.kind = BT_EMPTY};
    for (int i = 0; i < s->n; i++) {
        bt_value_fini(&v);
        const int rc = eval(s->statements[i], t, &v, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (ret) {
        *ret = v;
    } else {
        bt_value_fini(&v);
    }
    return PONS_OK;
}

int bt_script_bool(const bt_script *s, pons_bt_tree *t, pons_error *err)
{
    bt_value v = {.kind = BT_EMPTY};
    bool yes = false;
    int rc = bt_script_run(s, t, &v, err);
    rc = rc < 0 ? rc : as_bool(&v, &yes, err);
    bt_value_fini(&v);
    return rc < 0 ? rc : yes;
}
