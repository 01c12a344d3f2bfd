// script_run.c - scripts evaluated, by recursion over their expressions.
//
// As in BehaviorTree.CPP, arithmetic gives reals, literals keep their type, and logic gives 1.0 or
// 0.0; both sides of a logic operator run. What a double can't hold is where the two part: there an
// integer beyond 2^53 is rounded without a word, here what is computed from integers stays the
// integer that it is, and where it can't (a division, a real beside it, 64 bits) it is an error.
#include "bt/xml/expr.h"
#include "bt/xml/script.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- values -------------------------------------------------------------------------------------

static int not_permitted(const char *what, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, "bt", "script: %s", what);
}

static int real(double d, pons__bt_value *ret)
{
    *ret = (pons__bt_value){.kind = PONS__BT_REAL, .d = d};
    return PONS_OK;
}

static int too_big(int64_t i, pons_error *err)
{
    return pons_error_set(err, PONS_EINVAL, "bt",
                          "script: a real can't hold the integer %" PRId64
                          " exactly, and here it would have to be one",
                          i);
}

// An integer as a real where one holds it, which is what BehaviorTree.CPP makes of it.
static int whole_number(int64_t i, pons__bt_value *ret)
{
    if (pons__bt_exact(i) && i >= -(INT64_C(1) << 53) && i <= INT64_C(1) << 53) {
        return real((double)i, ret);
    }
    *ret = (pons__bt_value){.kind = PONS__BT_INT, .i = i};
    return PONS_OK;
}

// Numbers, and the text of numbers.
static int number(const pons__bt_value *v, double *ret, pons_error *err)
{
    pons__bt_value parsed;
    if (v->kind == PONS__BT_INT && !pons__bt_exact(v->i)) {
        return too_big(v->i, err);
    }
    if (pons__bt_value_number(v, ret)) {
        return PONS_OK;
    }
    if (v->kind == PONS__BT_STRING && pons__bt_parse(v->s, 'd', &parsed)) {
        *ret = parsed.d;
        return PONS_OK;
    }
    return pons_error_set(err, PONS_EINVAL, "bt", "script: %s%.60s%s is no number",
                          v->kind == PONS__BT_STRING ? "'" : "a ",
                          v->kind == PONS__BT_STRING ? v->s : pons__bt_kind_word(v->kind),
                          v->kind == PONS__BT_STRING ? "'" : "");
}

static int whole(const pons__bt_value *v, int64_t *ret, pons_error *err)
{
    if (v->kind == PONS__BT_INT || v->kind == PONS__BT_BOOL) {
        *ret = v->i;
    } else if (v->kind == PONS__BT_REAL && floor(v->d) == v->d && fabs(v->d) < 9.2e18) {
        *ret = (int64_t)v->d;
    } else {
        return not_permitted("binary operators want integers", err);
    }
    return PONS_OK;
}

static void text_of(const pons__bt_value *v, char *buf, size_t cap)
{
    if (v->kind == PONS__BT_REAL) {
        snprintf(buf, cap, "%f", v->d);
    } else {
        snprintf(buf, cap, "%" PRId64, v->i);
    }
}

static int concat(const pons__bt_value *a, const pons__bt_value *b, pons__bt_value *ret,
                  pons_error *err)
{
    char left[400], right[400];
    if (a->kind != PONS__BT_STRING && b->kind != PONS__BT_STRING) {
        return not_permitted("'..' joins strings", err);
    }
    if (a->kind == PONS__BT_JSON || b->kind == PONS__BT_JSON) {
        return not_permitted("'..' joins strings and numbers", err);
    }
    text_of(a, left, a->kind == PONS__BT_STRING ? 0 : sizeof left);
    text_of(b, right, b->kind == PONS__BT_STRING ? 0 : sizeof right);
    char *s;
    if (asprintf(&s, "%s%s", a->kind == PONS__BT_STRING ? a->s : left,
                 b->kind == PONS__BT_STRING ? b->s : right) < 0) {
        return pons_error_set(err, PONS_ENOMEM, "bt", "script: no memory");
    }
    *ret = (pons__bt_value){.kind = PONS__BT_STRING, .owned = true, .s = s};
    return PONS_OK;
}

// Logic and conditions: an integer must be 0 or 1, a real must not be negative, a text is no
// answer.
static int as_bool(const pons__bt_value *v, bool *ret, pons_error *err)
{
    if (v->kind == PONS__BT_REAL ? v->d < 0.0
                                 : (v->kind != PONS__BT_INT && v->kind != PONS__BT_BOOL)) {
        return pons_error_set(err, PONS_EINVAL, "bt", "script: a %s is no truth value",
                              v->kind == PONS__BT_REAL ? "negative number"
                                                       : pons__bt_kind_word(v->kind));
    }
    if (v->kind != PONS__BT_REAL && v->i != 0 && v->i != 1) {
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "script: the integer %" PRId64 " is no truth value, only 0 and 1 are",
                              v->i);
    }
    *ret = v->kind == PONS__BT_REAL ? v->d != 0.0 : v->i != 0;
    return PONS_OK;
}

// ---- operators ----------------------------------------------------------------------------------

// Both sides have been evaluated, as there.
static int logic(pons__bt_op o, const pons__bt_value *a, const pons__bt_value *b,
                 pons__bt_value *ret, pons_error *err)
{
    bool x = false, y = false;
    int rc = as_bool(a, &x, err);
    rc = rc < 0 ? rc : as_bool(b, &y, err);
    return rc < 0 ? rc : real(o == OP_AND ? x && y : x || y, ret);
}

// + - * / where an integer takes part and a double would lose digits. EUNSUPPORTED: reals will do.
static int integers(pons__bt_op o, const pons__bt_value *a, const pons__bt_value *b,
                    pons__bt_value *ret, pons_error *err)
{
    pons_error scratch;
    int64_t i, j, r;
    bool over;
    const bool big_a = a->kind == PONS__BT_INT && !pons__bt_exact(a->i);
    const bool big_b = b->kind == PONS__BT_INT && !pons__bt_exact(b->i);
    if (a->kind != PONS__BT_INT && b->kind != PONS__BT_INT) {
        return PONS_EUNSUPPORTED;
    }
    if (whole(a, &i, &scratch) < 0 || whole(b, &j, &scratch) < 0 ||
        (o == OP_DIV && (j == 0 || j == -1 || i % j != 0))) {
        return big_a ? too_big(a->i, err) : big_b ? too_big(b->i, err) : PONS_EUNSUPPORTED;
    }
    over = o == OP_ADD   ? __builtin_add_overflow(i, j, &r)
           : o == OP_SUB ? __builtin_sub_overflow(i, j, &r)
           : o == OP_MUL ? __builtin_mul_overflow(i, j, &r)
                         : (r = i / j, false);
    if (over) {
        return pons_error_set(err, PONS_EINVAL, "bt",
                              "script: the result of %" PRId64 " %c %" PRId64
                              " is beyond the 64 bits of an integer",
                              i,
                              o == OP_ADD   ? '+'
                              : o == OP_SUB ? '-'
                                            : '*',
                              j);
    }
    return whole_number(r, ret);
}

static int bits(pons__bt_op o, const pons__bt_value *a, const pons__bt_value *b,
                pons__bt_value *ret, pons_error *err)
{
    int64_t i = 0, j = 0;
    int rc = whole(a, &i, err);
    rc = rc < 0 ? rc : whole(b, &j, err);
    if (rc < 0) {
        return rc;
    }
    if (o == OP_BIT_AND) {
        return whole_number(i & j, ret);
    }
    return whole_number(o == OP_BIT_OR ? i | j : i ^ j, ret);
}

static int arithmetic(pons__bt_op o, const pons__bt_value *a, const pons__bt_value *b,
                      pons__bt_value *ret, pons_error *err)
{
    double x, y;
    if (a->kind == PONS__BT_EMPTY || b->kind == PONS__BT_EMPTY) {
        return not_permitted("an operand is not initialized", err);
    }
    if (o == OP_CONCAT) {
        return concat(a, b, ret, err);
    }
    if (o == OP_ADD && a->kind == PONS__BT_STRING && b->kind == PONS__BT_STRING) {
        return concat(a, b, ret, err);
    }
    if (!pons__bt_value_number(a, &x) || !pons__bt_value_number(b, &y)) {
        return not_permitted("operation not permitted between these types", err);
    }
    if (o == OP_ADD || o == OP_SUB || o == OP_MUL || o == OP_DIV) {
        const int rc = integers(o, a, b, ret, err);
        if (rc != PONS_EUNSUPPORTED) {
            return rc;
        }
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
        return bits(o, a, b, ret, err);
    }
}

static int compare(pons__bt_op o, const pons__bt_value *a, const pons__bt_value *b, bool *ret,
                   pons_error *err)
{
    double x, y;
    if (a->kind == PONS__BT_EMPTY || b->kind == PONS__BT_EMPTY) {
        return not_permitted("an operand is not initialized", err);
    }
    if (a->kind == PONS__BT_STRING && b->kind == PONS__BT_STRING) {
        const int c = strcmp(a->s, b->s);
        x = c;
        y = 0;
    } else if (a->kind == PONS__BT_INT && b->kind == PONS__BT_INT) {
        x = (a->i > b->i) - (a->i < b->i);
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

static int eval(const pons__bt_expr *e, pons_bt_tree *t, pons__bt_value *ret, pons_error *err);

static int e_compare(const pons__bt_expr *e, pons_bt_tree *t, pons__bt_value *ret, pons_error *err)
{
    pons__bt_value a = {.kind = PONS__BT_EMPTY}, b = {.kind = PONS__BT_EMPTY};
    bool holds = true;
    int rc = eval(e->a, t, &a, err);
    rc = rc < 0 ? rc : pons__bt_value_own(&a);
    for (; rc >= 0 && e && holds; e = e->chain) {
        rc = eval(e->b, t, &b, err);
        rc = rc < 0 ? rc : pons__bt_value_own(&b);
        rc = rc < 0 ? rc : compare((pons__bt_op)e->op, &a, &b, &holds, err);
        pons__bt_value_fini(&a);
        a = b;
        b = (pons__bt_value){.kind = PONS__BT_EMPTY};
    }
    pons__bt_value_fini(&a);
    return rc < 0 ? rc : real(holds, ret);
}

static int e_unary(const pons__bt_expr *e, pons_bt_tree *t, pons__bt_value *ret, pons_error *err)
{
    pons__bt_value v;
    double d;
    int rc = eval(e->a, t, &v, err);
    if (rc < 0) {
        return rc;
    }
    const bool ok = pons__bt_value_number(&v, &d);
    const pons__bt_value n = v;
    pons__bt_value_fini(&v);
    if (!ok) {
        return not_permitted("this operator wants a number", err);
    }
    if (e->op == OP_NOT) {
        return real(d == 0, ret);
    }
    if (n.kind == PONS__BT_INT && e->op == OP_NEGATE) {
        return n.i == INT64_MIN ? too_big(n.i, err)
               : n.i == 0       ? real(-d, ret)
                                : whole_number(-n.i, ret);
    }
    if (e->op == OP_NEGATE) {
        return real(-d, ret);
    }
    if (n.kind != PONS__BT_INT && !(fabs(d) < 9.2e18)) {
        return not_permitted("'~' wants an integer", err);
    }
    return whole_number(~(n.kind == PONS__BT_INT ? n.i : (int64_t)d), ret);
}

static int e_if(const pons__bt_expr *e, pons_bt_tree *t, pons__bt_value *ret, pons_error *err)
{
    pons__bt_value v;
    double d = 0;
    int rc = eval(e->a, t, &v, err);
    if (rc < 0) {
        return rc;
    }
    rc = v.kind == PONS__BT_INT ? (d = v.i != 0, PONS_OK) : number(&v, &d, err);
    pons__bt_value_fini(&v);
    return rc < 0 ? rc : eval(d != 0 ? e->b : e->c, t, ret, err);
}

static int e_assign(const pons__bt_expr *e, pons_bt_tree *t, pons__bt_value *ret, pons_error *err)
{
    pons__bt_slot *s = &t->slots[e->a->slot];
    const char *key = e->a->name;
    pons__bt_value v, w = {.kind = PONS__BT_EMPTY};
    if (!s->exists && e->op != OP_CREATE) {
        return pons__bt_slot_assign(s, key, &w, false, err); // says so
    }
    int rc = eval(e->b, t, &v, err);
    if (rc < 0) {
        return rc;
    }
    if (e->op == OP_CREATE || e->op == OP_ASSIGN) {
        rc = pons__bt_value_own(&v); // it may be the slot's own string
        rc = rc < 0 ? rc : pons__bt_slot_assign(s, key, &v, true, err);
    } else {
        rc = arithmetic((pons__bt_op)(e->op == OP_ADD_TO     ? OP_ADD
                                      : e->op == OP_SUB_FROM ? OP_SUB
                                      : e->op == OP_MUL_BY   ? OP_MUL
                                                             : OP_DIV),
                        &s->v, &v, &w, err);
        rc = rc < 0 ? rc : pons__bt_slot_assign(s, key, &w, true, err);
    }
    pons__bt_value_fini(&v);
    pons__bt_value_fini(&w);
    if (rc >= 0) {
        *ret = s->v;
        ret->owned = false;
    }
    return rc;
}

static int eval(const pons__bt_expr *e, pons_bt_tree *t, pons__bt_value *ret, pons_error *err)
{
    *ret = (pons__bt_value){.kind = PONS__BT_EMPTY};
    if (e->op == OP_LITERAL) {
        *ret = e->literal;
        return PONS_OK;
    }
    if (e->op == OP_NAME) {
        const pons__bt_slot *s = &t->slots[e->slot];
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
    pons__bt_value a, b = {.kind = PONS__BT_EMPTY};
    int rc = eval(e->a, t, &a, err);
    // The right side may write the entry whose string the left side has borrowed.
    if (rc >= 0 && e->b->op >= OP_NEGATE) {
        rc = pons__bt_value_own(&a);
    }
    rc = rc < 0 ? rc : eval(e->b, t, &b, err);
    rc = rc < 0 ? rc : arithmetic((pons__bt_op)e->op, &a, &b, ret, err);
    pons__bt_value_fini(&a);
    pons__bt_value_fini(&b);
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__bt_script_run(const pons__bt_script *s, pons_bt_tree *t, pons__bt_value *ret,
                        pons_error *err)
{
    pons__bt_value v = {.kind = PONS__BT_EMPTY};
    for (int i = 0; i < s->n; i++) {
        pons__bt_value_fini(&v);
        const int rc = eval(s->statements[i], t, &v, err);
        if (rc < 0) {
            return rc;
        }
    }
    if (ret) {
        *ret = v;
    } else {
        pons__bt_value_fini(&v);
    }
    return PONS_OK;
}

int pons__bt_script_bool(const pons__bt_script *s, pons_bt_tree *t, pons_error *err)
{
    pons__bt_value v = {.kind = PONS__BT_EMPTY};
    bool yes = false;
    int rc = pons__bt_script_run(s, t, &v, err);
    rc = rc < 0 ? rc : as_bool(&v, &yes, err);
    pons__bt_value_fini(&v);
    return rc < 0 ? rc : yes;
}
