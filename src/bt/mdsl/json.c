// json.c - mistreevous' JSON form into an AST.
//
// A small JSON reader of its own, because a complaint about a tree names file:line:col and jansson
// keeps no positions. It reads strict JSON, at most 1,024 levels deep, into the arena.
#include "bt/mdsl/ast.h"
#include "bt/mdsl/build.h"
#include "bt/mdsl/read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JSON_DEPTH_MAX = 1024 };

typedef struct jval {
    char type; // o object, a array, s string, i integer, d number, b boolean, n null
    pons__bt_pos pos;
    const char *key; // of a member
    pons__bt_pos key_pos;
    const char *text;
    size_t len;
    double number;
    struct jval *first, *next;
    int n;
} jval;

typedef struct reader {
    const char *at, *end, *line_start;
    uint32_t line;
    const char *file;
    pons_pool *arena;
    pons__bt_faults *faults;
    bool nomem, stop;
} reader;

// ---- JSON ---------------------------------------------------------------------------------------

static pons__bt_pos here(const reader *r)
{
    return (pons__bt_pos){r->file, r->line, (uint32_t)(r->at - r->line_start) + 1};
}

static void *need(reader *r, void *p)
{
    r->nomem |= !p;
    r->stop |= !p;
    return p;
}

static void fail(reader *r, const char *what)
{
    if (!r->stop && r->at < r->end) {
        pons__bt_fault(r->faults, here(r), "unexpected token '%.1s': %s", r->at, what);
    } else if (!r->stop) {
        pons__bt_fault(r->faults, here(r), "unexpected end of definition: %s", what);
    }
    r->stop = true;
}

static void space(reader *r)
{
    for (; r->at < r->end && strchr(" \t\r\n", *r->at); r->at++) {
        if (*r->at == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        }
    }
}

// A string is read by jansson, so that escapes and UTF-8 are checked once, where they are known.
static const char *read_string(reader *r, size_t *ret_len)
{
    const char *p = r->at + 1;
    while (p < r->end && *p != '"' && *p != '\n') {
        p += *p == '\\' && p + 1 < r->end ? 2 : 1;
    }
    if (p >= r->end || *p != '"') {
        fail(r, "the string does not end");
        return NULL;
    }
    pons_value *s = NULL;
    if (pons_value_parse(r->at, (size_t)(p + 1 - r->at), &s, NULL) == PONS_ENOMEM) {
        need(r, NULL);
        return NULL;
    }
    if (!s) {
        fail(r, "the string is not valid");
        return NULL;
    }
    const char *copy =
        need(r, pons_pool_text(r->arena, json_string_value(s), json_string_length(s)));
    *ret_len = json_string_length(s);
    json_decref(s);
    r->at = p + 1;
    return copy;
}

static jval *read_value(reader *r, int depth);

// A property's name and the colon; NULL: a fault.
static const char *read_key(reader *r)
{
    size_t len;
    if (r->at >= r->end || *r->at != '"') {
        fail(r, "a property's name is expected");
        return NULL;
    }
    const char *key = read_string(r, &len);
    space(r);
    if (r->stop || r->at >= r->end || *r->at != ':') {
        fail(r, "':' is expected");
        return NULL;
    }
    r->at++;
    return key;
}

static void read_members(reader *r, jval *v, int depth)
{
    const char close = v->type == 'o' ? '}' : ']';
    jval **tail = &v->first;
    r->at++;
    space(r);
    if (r->at < r->end && *r->at == close) {
        r->at++;
        return;
    }
    while (!r->stop) {
        const char *key = NULL;
        const pons__bt_pos key_pos = here(r);
        if (v->type == 'o' && !(key = read_key(r))) {
            return;
        }
        jval *k = read_value(r, depth + 1);
        if (!k) {
            return;
        }
        for (const jval *e = v->first; key && e && v->n < 64; e = e->next) {
            if (strcmp(e->key, key) == 0) {
                pons__bt_fault(r->faults, key_pos, "duplicate attribute '%.60s' found for node",
                               key);
            }
        }
        k->key = key;
        k->key_pos = key_pos;
        *tail = k;
        tail = &k->next;
        v->n++;
        space(r);
        if (r->at < r->end && *r->at == close) {
            r->at++;
            return;
        }
        if (r->at >= r->end || *r->at != ',') {
            fail(r, close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
            return;
        }
        r->at++;
        space(r);
    }
}

static void read_number(reader *r, jval *v)
{
    char text[64];
    size_t n = 0;
    while (r->at + n < r->end && n < sizeof text - 1 && strchr("+-.eE0123456789", r->at[n])) {
        text[n] = r->at[n];
        n++;
    }
    text[n] = '\0';
    pons_value *j = NULL;
    if (n > 0 && pons_value_parse(text, n, &j, NULL) == PONS_ENOMEM) {
        need(r, NULL);
        return;
    }
    if (!json_is_number(j)) {
        json_decref(j);
        fail(r, "a value is expected");
        return;
    }
    v->number = json_number_value(j);
    v->type = floor(v->number) == v->number && fabs(v->number) < 9e15 ? 'i' : 'd';
    json_decref(j);
    r->at += n;
}

static bool word(reader *r, const char *w)
{
    const size_t n = strlen(w);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, w, n) != 0) {
        return false;
    }
    r->at += n;
    return true;
}

// One value; behind the outermost one nothing but space may stand.
static jval *read_value(reader *r, int depth)
{
    jval *v = need(r, pons_pool_take(r->arena, sizeof *v));
    space(r);
    if (!v) {
        return NULL;
    }
    v->pos = here(r);
    const char c = r->at < r->end ? *r->at : '\0';
    if (depth > JSON_DEPTH_MAX) {
        fail(r, "the text is nested too deep");
    } else if (c == '{' || c == '[') {
        v->type = c == '{' ? 'o' : 'a';
        read_members(r, v, depth);
    } else if (c == '"') {
        v->type = 's';
        v->text = read_string(r, &v->len);
    } else if (word(r, "true") || word(r, "false")) {
        v->type = 'b';
        v->number = c == 't';
    } else if (word(r, "null")) {
        v->type = 'n';
    } else {
        read_number(r, v);
    }
    if (depth == 1 && !r->stop) {
        space(r);
        if (r->at < r->end) {
            fail(r, "nothing is expected behind the definition");
        }
    }
    return r->stop ? NULL : v;
}

// ---- nodes --------------------------------------------------------------------------------------

static const jval *member(const jval *v, const char *key)
{
    for (const jval *m = v->type == 'o' ? v->first : NULL; m; m = m->next) {
        if (strcmp(m->key, key) == 0) {
            return m;
        }
    }
    return NULL;
}

// NULL: no memory.
static pons_value *plain(const jval *v, int depth)
{
    switch (v->type) {
    case 's':
        return json_stringn(v->text, v->len);
    case 'i':
        return json_integer((json_int_t)v->number);
    case 'd':
        return json_real(v->number);
    case 'b':
        return json_boolean(v->number != 0);
    case 'n':
        return json_null();
    default:
        break;
    }
    pons_value *c = v->type == 'o' ? json_object() : json_array();
    int bad = c ? 0 : -1;
    for (const jval *m = v->first; m && depth < 64 && !bad; m = m->next) {
        bad = v->type == 'o' ? json_object_set_new(c, m->key, plain(m, depth + 1))
                             : json_array_append_new(c, plain(m, depth + 1));
    }
    if (bad) {
        pons_value_unref(c);
        return NULL;
    }
    return c;
}

static const char *name_of(reader *r, const jval *v, const char *key, const char *what,
                           pons__bt_pos pos)
{
    const jval *m = member(v, key);
    if (!m || m->type != 's' || m->len == 0) {
        pons__bt_fault(r->faults, m ? m->pos : pos,
                       "%s: expected non-empty string for '%s' property", what, key);
        return NULL;
    }
    return m->text;
}

static pons_value *args_of(reader *r, const jval *v)
{
    const jval *m = member(v, "args");
    if (m && m->type != 'a') {
        pons__bt_fault(r->faults, m->pos, "expected array for 'args' property if defined");
        return NULL;
    }
    for (const jval *a = m ? m->first : NULL; a; a = a->next) {
        const jval *p = a->type == 'o' && a->n == 1 ? member(a, "$") : NULL;
        if (p && (p->type != 's' || p->len == 0)) {
            pons__bt_fault(r->faults, p->pos, "a property reference {\"$\": …} needs a name");
        }
    }
    return m && m->first ? need(r, plain(m, 0)) : NULL;
}

static void read_counts(reader *r, const jval *v, pons__bt_ast *n, const char *key, bool list)
{
    const jval *m = member(v, key);
    int64_t c[3];
    int count = 0;
    if (!m) {
        return;
    }
    n->args_pos = m->pos;
    if (list && m->type != 'a') {
        pons__bt_fault(r->faults, m->pos, "expected an array of positive integer values for '%s'",
                       key);
        return;
    }
    if (list && m->n == 0) {
        pons__bt_fault(r->faults, m->pos,
                       "expected a number of '%s' matching the child nodes, not none", key);
        return;
    }
    if (list) {
        n->weights = need(r, pons_pool_take(r->arena, (size_t)(m->n + 1) * sizeof *n->weights));
    }
    for (const jval *x = m->type == 'a' ? m->first : m; x; x = m->type == 'a' ? x->next : NULL) {
        if (x->type != 'i' || (list && x->number < 0)) {
            pons__bt_fault(r->faults, x->pos, "'%s' of a %s node must be integer values", key,
                           pons__bt_types[n->type].word);
            return;
        }
        if (list && n->weights) {
            n->weights[n->n_weights++] = (int64_t)x->number;
        } else if (count < 3) {
            c[count++] = (int64_t)x->number;
        }
    }
    if (!list && m->type == 'a' && count != 2) {
        pons__bt_fault(r->faults, m->pos, "'%s' of a %s node must be a number or a list of two",
                       key, pons__bt_types[n->type].word);
    } else if (!list) {
        pons__bt_ast_counts(r->faults, n, c, count, m->pos);
    }
}

static void read_attributes(reader *r, const jval *v, pons__bt_ast *n)
{
    for (int i = 0; i < AT_COUNT; i++) {
        const jval *m = member(v, pons__bt_attr_words[i]);
        if (!m) {
            continue;
        }
        if (n->type == M_BRANCH) {
            pons__bt_fault(r->faults, m->key_pos, "a branch node may not have '%s'",
                           pons__bt_attr_words[i]);
            continue;
        }
        if (m->type != 'o') {
            pons__bt_fault(r->faults, m->pos, "expected attribute '%s' to be an object",
                           pons__bt_attr_words[i]);
            continue;
        }
        const char *name = name_of(r, m, "call", "missing function name", m->pos);
        n->at = n->at ? n->at : need(r, pons_pool_take(r->arena, AT_COUNT * sizeof *n->at));
        if (!n->at) {
            return;
        }
        n->at[i].name = name ? name : "";
        n->at[i].args = args_of(r, m);
        const jval *then = member(m, "succeedOnAbort");
        if (then && (i > AT_UNTIL || then->type != 'b')) {
            pons__bt_fault(r->faults, then->pos,
                           "expected 'succeedOnAbort' to be a boolean of a guard");
        }
        n->at[i].succeed = then && then->type == 'b' && then->number != 0;
    }
}

static pons__bt_ast *node_of(reader *r, const jval *v, int depth);

static void read_children(reader *r, const jval *v, pons__bt_ast *n, int depth)
{
    const bool one = pons__bt_types[n->type].most == 1;
    const jval *m = member(v, one ? "child" : "children");
    const jval *other = member(v, one ? "children" : "child");
    if (other) {
        pons__bt_fault(r->faults, other->key_pos, "%sa %s node has '%s', not '%s'",
                       one ? "single child expected: " : "", pons__bt_types[n->type].word,
                       one ? "child" : "children", other->key);
    }
    if (!m) {
        if (!other) {
            pons__bt_fault(r->faults, n->pos, "%s'%s' is not defined for %s node",
                           one ? "single child expected: " : "", one ? "child" : "children",
                           pons__bt_types[n->type].word);
        }
        n->n_kids = -1; // said already
        return;
    }
    if (!one && m->type != 'a') {
        pons__bt_fault(r->faults, m->pos,
                       "expected non-empty 'children' array to be defined for %s node",
                       pons__bt_types[n->type].word);
        n->n_kids = -1;
        return;
    }
    for (const jval *k = one ? m : m->first; k; k = one ? NULL : k->next) {
        pons__bt_ast *kid = node_of(r, k, depth + 1);
        if (kid) {
            *(n->last ? &n->last->next : &n->first) = kid;
            n->last = kid;
        }
        n->n_kids++;
    }
}

static int type_of(const jval *t)
{
    for (int i = M_ROOT; t && t->type == 's' && i <= M_BRANCH; i++) {
        if (strcmp(t->text, pons__bt_types[i].word) == 0) {
            return i;
        }
    }
    return -1;
}

static void no_type(reader *r, const jval *v, const jval *t, int depth)
{
    if (v->type == 'o' && t && t->type == 's' && t->len > 0) {
        pons__bt_fault(r->faults, t->pos, "unexpected node type of '%.60s' at depth %d", t->text,
                       depth);
        return;
    }
    pons__bt_fault(r->faults, v->pos,
                   "%snode definition is not an object or 'type' property is not a non-empty "
                   "string at depth %d",
                   depth == 0 ? "root node expected: " : "", depth);
}

// The property that has a node's numbers.
static const char *const counts[PONS__BT_TYPE_COUNT] = {[M_REPEAT] = "iterations",
                                                        [M_RETRY] = "attempts",
                                                        [M_WAIT] = "duration",
                                                        [M_LOTTO] = "weights"};

static pons__bt_ast *node_of(reader *r, const jval *v, int depth)
{
    const jval *t = member(v, "type");
    const int type = type_of(t);
    if (type < 0) {
        no_type(r, v, t, depth);
        return NULL;
    }
    if (depth >= PONS__BT_DEPTH_MAX) {
        pons__bt_fault(r->faults, v->pos, "nodes are nested deeper than %d", PONS__BT_DEPTH_MAX);
        return NULL;
    }
    if (depth == 0 && type != M_ROOT) {
        pons__bt_fault(r->faults, t->pos,
                       "root node expected at base of definition but got node of type '%s'",
                       pons__bt_types[type].word);
        return NULL;
    }
    pons__bt_ast *n = need(r, pons_pool_take(r->arena, sizeof *n));
    if (!n) {
        return NULL;
    }
    n->type = (pons__bt_type)type;
    n->pos = n->args_pos = v->pos;
    n->low = n->high = -1;
    if (depth > 0 && type == M_ROOT) {
        pons__bt_fault(r->faults, v->pos, "a root node cannot be the child of another node");
    }
    if (type == M_ROOT) {
        n->id = member(v, "id") ? name_of(r, v, "id", "root node", v->pos) : NULL;
    } else if (type == M_BRANCH) {
        n->id = name_of(r, v, "ref", "branch node", v->pos);
    } else if (type == M_ACTION || type == M_CONDITION) {
        n->id = name_of(r, v, "call", "missing function name", v->pos);
        n->args = args_of(r, v);
    } else if (counts[type]) {
        read_counts(r, v, n, counts[type], type == M_LOTTO);
    }
    read_attributes(r, v, n);
    if (pons__bt_types[type].most != 0) {
        read_children(r, v, n, depth);
    }
    return n;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__bt_load_json(const char *text, size_t len, const char *file,
                       const pons_bt_load_options *o, pons__bt_faults *faults, pons_bt **ret)
{
    pons_pool arena = {0};
    reader r = {.at = text,
                .end = text + len,
                .line_start = text,
                .line = 1,
                .file = file,
                .arena = &arena,
                .faults = faults};
    pons__bt_ast *first = NULL, **tail = &first;
    jval *top = read_value(&r, 1);
    if (top && !r.stop) {
        const bool list = top->type == 'a';
        if (list && !top->first) {
            pons__bt_fault(faults, top->pos, "root node expected: the list is empty");
        }
        for (const jval *v = list ? top->first : top; v; v = v->next) {
            pons__bt_ast *n = node_of(&r, v, 0);
            if (n) {
                *tail = n;
                tail = &n->next;
            }
        }
    }
    int rc = r.nomem || arena.failed ? PONS_ENOMEM : PONS_OK;
    if (rc == PONS_OK && (first || faults->n == 0)) {
        rc = pons__bt_build_mdsl(first, file, o, faults, ret);
    }
    pons__bt_ast_fini(first);
    pons_pool_fini(&arena);
    return rc;
}
