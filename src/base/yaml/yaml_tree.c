// yaml_tree.c - libfyaml's events as nodes with their bytes and their faults.
//
// One pass: an event makes a node, the end of a collection closes it. A collection's node grows until
// its end is known: in brackets the bracket's, else that of its last node, so that comments and
// blank lines behind it belong to nobody. JSON is read by the same parser, being YAML 1.2; what
// YAML would take for a word (NaN, None, a name without quotes) is a fault there.
#include "pons/yaml_tree.h"

#include "base/yaml/yaml_events.h"
#include "pons/buf.h"
#include "pons/growing_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE         "tree"
#define TEXT_MAX      ((size_t)16 << 20)
#define TAG_PREFIX    "tag:yaml.org,2002:"
#define FAULT_MAX     160
#define QUOTE_MAX     40
#define NOT_A_SCALAR  "a key must be a scalar"
#define NO_ALIASES    "aliases and anchors are not supported"
#define TWO_DOCUMENTS "more than one document"

// CHUNK_MAX: a block that is not small makes malloc look through all that is free, so there are few of them.
enum {
    DEPTH_MAX = 64,
    NODES_FIRST = 64,
    NODES_MAX = 32768,
    LINE_MAX_BYTES = 65536,
    KEYS_FEW = 24,
    CHUNK = 4096,
    CHUNK_MAX = 256 * 1024
};

struct pons_tree_texts { // keys and faults, one behind the other: freed with the tree
    struct pons_tree_texts *next;
    size_t used, cap;
    char text[];
};

typedef struct frame {
    size_t node;
    const char *key; // of the member whose value comes next; NULL: a key comes
    size_t key_start, key_end;
    uint32_t key_line, key_column;
    const char *key_fault;
    bool bad_key;              // a collection where a key should be
    const char *few[KEYS_FEW]; // the keys so far, of a map
    size_t n_few;
    json_t *seen; // all of them, when there are more
} frame;

typedef struct reader {
    pons_tree t;
    size_t cap;
    const char *text;
    size_t len;
    frame frames[DEPTH_MAX];
    int depth, documents;
    bool ended, no_memory;
    pons_error *err;
} reader;

// ---- texts and failures -------------------------------------------------------------------------

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, WHERE, "out of memory");
}

// NULL: no memory.
static const char *keep(reader *r, const char *text, size_t len)
{
    struct pons_tree_texts *t = r->t.texts;
    if (!t || t->cap - t->used <= len) {
        const size_t more = !t ? CHUNK : t->cap < CHUNK_MAX / 2 ? 2 * t->cap : CHUNK_MAX;
        const size_t cap = len < more ? more : len + 1;
        t = malloc(sizeof *t + cap);
        if (!t) {
            r->no_memory = true;
            return NULL;
        }
        *t = (struct pons_tree_texts){.next = r->t.texts, .cap = cap};
        r->t.texts = t;
    }
    char *to = t->text + t->used;
    memcpy(to, text, len);
    to[len] = '\0';
    t->used += len + 1;
    return to;
}

// BEFORE what AFTER, cut where it is long.
static const char *fault_of(reader *r, const char *before, pons__span what, const char *after)
{
    char text[FAULT_MAX];
    size_t len = 0;
    while (len < what.len && len < QUOTE_MAX) {
        len += pons_utf8_sequence(what.s + len, what.len - len);
    }
    const int n = snprintf(text, sizeof text, "%s%.*s%s", before, (int)len, what.s, after);
    const char *kept = keep(r, text, n < FAULT_MAX ? (size_t)n : FAULT_MAX - 1);
    return kept ? kept : "out of memory";
}

static int refuse(reader *r, uint32_t line, uint32_t column, const char *what)
{
    pons_error_set(r->err, PONS_EINVAL, WHERE, "%s", what);
    pons_error_source(r->err, "%u:%u", line, column);
    return PONS_EINVAL;
}

// ---- reading ------------------------------------------------------------------------------------

// What libfyaml looks through to its end before it says the first thing of it: a long line in brackets, which might be
// a key, and brackets that only open. NULL: nothing; else what, and in which line.
static const char *looked_through(const char *text, size_t len, bool json, uint32_t *ret_line)
{
    size_t begins = 0, depth = 0;
    bool quoted = false;
    *ret_line = 1;
    for (size_t i = 0; i < len; i++) {
        const char c = text[i];
        if (c == '\n') {
            begins = i + 1;
            ++*ret_line;
        } else if (i - begins >= LINE_MAX_BYTES) {
            return "a line of more than 64 KiB";
        } else if (json && quoted && c == '\\') {
            i += i + 1 < len && text[i + 1] != '\n';
        } else if (json && c == '"') {
            quoted = !quoted;
        } else if (json && !quoted && (c == '[' || c == '{') && ++depth > DEPTH_MAX) {
            return "nested deeper than 64";
        } else if (json && !quoted && (c == ']' || c == '}') && depth > 0) {
            depth--;
        }
    }
    return NULL;
}

static int check_text(const char *text, size_t len, bool json, pons_error *err)
{
    if (len > TEXT_MAX) {
        pons_error_set(err, PONS_EINVAL, WHERE, "larger than 16 MiB");
        return pons_error_source(err, "1:1");
    }
    const size_t bad = pons_utf8_valid(text, len);
    uint32_t line = 1, column = 1;
    const char *slow = bad == len ? pons__yaml_slow(text, len, &line) : NULL;
    slow = bad < len || slow ? slow : looked_through(text, len, json, &line);
    if (bad == len && !slow) {
        return PONS_OK;
    }
    if (slow) {
        pons_error_set(err, PONS_EINVAL, WHERE, "%s", slow);
        return pons_error_source(err, "%u:1", line);
    }
    for (size_t i = 0; i < bad; i += pons_utf8_sequence(text + i, bad - i)) {
        column = text[i] == '\n' ? 1 : column + 1;
        line += text[i] == '\n';
    }
    pons_error_set(err, PONS_EINVAL, WHERE, "%s", text[bad] ? "not UTF-8" : "a zero byte");
    return pons_error_source(err, "%u:%u", line, column);
}

static frame *top(reader *r)
{
    return r->depth ? &r->frames[r->depth - 1] : NULL;
}

// Whether what comes is a member's key.
static bool at_key(reader *r)
{
    const frame *f = top(r);
    return f && r->t.nodes[f->node].kind == PONS_NODE_MAP && !f->key;
}

// libfyaml's marks of a quoted scalar stand within the quotes. A node without marks (an empty value)
// stands behind its key's colon.
static void take_marks(reader *r, struct fy_event *ev, pons_node *ret)
{
    const struct fy_mark *s = fy_event_start_mark(ev), *e = fy_event_end_mark(ev);
    const frame *f = top(r);
    if (s && s->line >= 0 && s->column >= 0) {
        const size_t q = pons__yaml_quoted(ev) && s->input_pos > 0;
        ret->start = s->input_pos - q;
        ret->end = e ? e->input_pos + q : ret->start;
        ret->line = (uint32_t)s->line + 1;
        ret->column = (uint32_t)s->column + 1 - (q && s->column > 0);
    } else {
        ret->start = f && f->key ? f->key_end : 0;
        while (f && ret->start < r->len && strchr(" \t:", r->text[ret->start])) {
            const char c = r->text[ret->start++];
            if (c == ':') {
                break;
            }
        }
        ret->end = ret->start;
        ret->line = ret->column = 1;
    }
    ret->end = ret->end < ret->start ? ret->start : ret->end > r->len ? r->len : ret->end;
    while (ret->end > ret->start && strchr(" \t\r\n", r->text[ret->end - 1])) {
        ret->end--; // of a block scalar
    }
    ret->key_start = ret->start;
    if (f && f->key) {
        ret->key = f->key;
        ret->key_start = f->key_start;
        ret->line = f->key_line;
        ret->column = f->key_column;
    }
}

static int add(reader *r, pons_node n, size_t *ret)
{
    if (r->t.n == NODES_MAX) {
        pons_value_unref(n.scalar);
        return refuse(r, n.line, n.column, "more than 32768 values");
    }
    if (!pons_list_reserve(&r->t.nodes, &r->cap, r->t.n + 1, sizeof *r->t.nodes)) {
        pons_value_unref(n.scalar);
        return no_memory(r->err);
    }
    frame *f = top(r);
    if (f) {
        if (n.key && !n.fault) {
            n.fault = f->key_fault;
        }
        f->key = NULL;
        f->key_fault = NULL;
    }
    n.size = 1;
    *ret = r->t.n;
    r->t.nodes[r->t.n++] = n;
    return PONS_OK;
}

static bool is_seen(const frame *f)
{
    for (size_t i = 0; !f->seen && i < f->n_few; i++) {
        if (strcmp(f->few[i], f->key) == 0) {
            return true;
        }
    }
    return f->seen && json_object_get(f->seen, f->key);
}

static bool add_seen(frame *f)
{
    if (!f->seen && f->n_few < KEYS_FEW) {
        f->few[f->n_few++] = f->key;
        return true;
    }
    bool ok = f->seen || (f->seen = json_object());
    for (size_t i = 0; ok && i < f->n_few; i++) {
        ok = json_object_set_new(f->seen, f->few[i], json_true()) == 0;
    }
    f->n_few = 0;
    return ok && json_object_set_new(f->seen, f->key, json_true()) == 0;
}

static int take_key(reader *r, struct fy_event *ev, pons__span text)
{
    frame *f = top(r);
    pons_node at = {.size = 1};
    take_marks(r, ev, &at);
    f->key_fault = ev->type == FYET_ALIAS ? NO_ALIASES : NULL;
    if (memchr(text.s, '\0', text.len)) {
        f->key_fault = "a zero character in a key";
        text.len = strlen(text.s);
    }
    f->key = keep(r, text.s, text.len);
    if (!f->key) {
        return no_memory(r->err);
    }
    if (!f->key_fault && is_seen(f)) {
        f->key_fault = fault_of(r, "the key '", text, "' is given twice");
    } else if (!add_seen(f)) {
        return no_memory(r->err);
    }
    f->key_start = at.start;
    f->key_end = at.end;
    f->key_line = at.line;
    f->key_column = at.column;
    return PONS_OK;
}

static const char *const not_finite[] = {"NaN", "nan",  "Infinity", "-Infinity",
                                         "inf", "-inf", NULL};

// What a plain word is; a fault of a word that is no JSON, where JSON is wanted.
static pons_value *plain(reader *r, pons__span t, const char **ret_fault)
{
    if (t.len && !r->t.json &&
        !strchr("~nNtTfFiI.+-0123456789", t.s[0])) { // most are no more than words
        return json_stringn(t.s, t.len);
    }
    pons_value *v = NULL;
    const int base = pons__yaml_int_base(t);
    bool fits = true;
    if (pons__yaml_is_null(t)) {
        v = json_null();
    } else if (pons__yaml_is_true(t) || pons__yaml_is_false(t)) {
        v = json_boolean(pons__yaml_is_true(t));
    } else if (base) {
        fits = pons__yaml_int(t, base, &v);
    } else if (pons__yaml_is_float(t)) {
        fits = pons__yaml_float(t, &v);
    } else if (pons__yaml_is_not_finite(t) ||
               (r->t.json && pons__span_one_of(t, not_finite))) { // in YAML a word: somebody's name
        *ret_fault = fault_of(r, "", t, " is not a number that JSON can hold");
    } else if (r->t.json) {
        *ret_fault = fault_of(r, "'", t, "' is no JSON");
    } else {
        v = json_stringn(t.s, t.len);
    }
    if (!fits) {
        *ret_fault = fault_of(r, "", t, " is out of range");
    }
    return *ret_fault ? json_null() : v;
}

static int take_scalar(reader *r, struct fy_event *ev)
{
    const bool alias = ev->type == FYET_ALIAS;
    const pons__span text = pons__yaml_text(alias ? ev->alias.anchor : ev->scalar.value);
    if (at_key(r)) {
        return take_key(r, ev, text);
    }
    pons_node n = {.kind = PONS_NODE_SCALAR};
    take_marks(r, ev, &n);
    if (alias) {
        n.fault = NO_ALIASES;
        n.scalar = json_null();
    } else {
        const pons__span tag = pons__yaml_text(ev->scalar.tag);
        const bool is_plain =
            !ev->scalar.value || fy_token_scalar_style(ev->scalar.value) == FYSS_PLAIN;
        if (tag.len && !pons__span_same(tag, TAG_PREFIX "str") && !pons__span_same(tag, "!")) {
            n.fault = fault_of(r, "the tag '", tag, "' is not supported");
        } else if (fy_event_get_anchor_token(ev)) {
            n.fault = NO_ALIASES;
        } else if (memchr(text.s, '\0', text.len)) {
            n.fault = "a zero character in a string";
        }
        n.scalar = n.fault                ? json_null()
                   : is_plain && !tag.len ? plain(r, text, &n.fault)
                                          : json_stringn(text.s, text.len);
    }
    size_t at;
    return n.scalar ? add(r, n, &at) : no_memory(r->err);
}

static int take_collection(reader *r, struct fy_event *ev, pons_node_kind kind)
{
    const bool map = kind == PONS_NODE_MAP;
    pons_node n = {.kind = kind};
    const char *fault = NULL;
    if (at_key(r)) { // its value, and it, are one faulty member
        frame *f = top(r);
        take_marks(r, ev, &n);
        f->key = "?";
        f->key_fault = NOT_A_SCALAR;
        f->key_start = f->key_end = n.start;
        f->key_line = n.line;
        f->key_column = n.column;
        f->bad_key = true;
        fault = NOT_A_SCALAR;
    }
    if (r->depth == DEPTH_MAX) {
        take_marks(r, ev, &n);
        return refuse(r, n.line, n.column, "nested deeper than 64");
    }
    take_marks(r, ev, &n);
    n.flow = n.start < r->len && r->text[n.start] == (map ? '{' : '[');
    n.fault = fault;
    if (!fault && fy_event_get_anchor_token(ev)) {
        n.fault = NO_ALIASES;
    } else if (!fault && pons__yaml_text(fy_event_get_tag_token(ev)).len) {
        n.fault = "tags are not supported";
    }
    size_t at = 0;
    const int rc = add(r, n, &at);
    if (rc == PONS_OK) {
        frame *f = &r->frames[r->depth++];
        f->node = at;
        f->key = f->key_fault = NULL;
        f->bad_key = false;
        f->n_few = 0;
        f->seen = NULL;
    }
    return rc;
}

static int end_collection(reader *r, struct fy_event *ev)
{
    frame *f = &r->frames[--r->depth];
    json_decref(f->seen);
    f->seen = NULL;
    pons_node *n = &r->t.nodes[f->node];
    const struct fy_mark *e = fy_event_end_mark(ev);
    n->size = (uint32_t)(r->t.n - f->node);
    if (n->flow && e && e->line >= 0) {
        n->end = e->input_pos > r->len ? r->len : e->input_pos;
    } else {
        for (size_t i = f->node + 1; i < r->t.n; i++) {
            n->end = r->t.nodes[i].end > n->end ? r->t.nodes[i].end : n->end;
        }
    }
    frame *outer = top(r);
    if (outer && outer->bad_key) { // the value of a key that was no scalar goes by its name too
        outer->bad_key = false;
        outer->key = "?";
        outer->key_fault = NOT_A_SCALAR;
        outer->key_start = outer->key_end = n->end;
        outer->key_line = n->line;
        outer->key_column = n->column;
    }
    return PONS_OK;
}

static int take(void *user, struct fy_event *ev)
{
    reader *r = user;
    switch (ev->type) {
    case FYET_DOCUMENT_START:
        return r->documents++ ? refuse(r, 1, 1, TWO_DOCUMENTS) : PONS_OK;
    case FYET_MAPPING_START:
        return take_collection(r, ev, PONS_NODE_MAP);
    case FYET_SEQUENCE_START:
        return take_collection(r, ev, PONS_NODE_LIST);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        return end_collection(r, ev);
    case FYET_SCALAR:
    case FYET_ALIAS:
        return take_scalar(r, ev);
    default:
        return PONS_OK;
    }
}

static int refuse_text(void *user, uint32_t line, uint32_t column, const char *why)
{
    reader *r = user;
    return r->no_memory ? no_memory(r->err) : refuse(r, line, column, why);
}

// ---- public -------------------------------------------------------------------------------------

int pons_tree_parse(const char *text, size_t len, pons_tree *ret, pons_error *err)
{
    size_t first = 0;
    while (first < len && (text[first] == ' ' || text[first] == '\t' || text[first] == '\r' ||
                           text[first] == '\n')) {
        first++;
    }
    const bool json = first < len && (text[first] == '{' || text[first] == '[');
    int rc = check_text(text, len, json, err);
    reader *r = rc < 0 ? NULL : calloc(1, sizeof *r);
    if (!r) {
        return rc < 0 ? rc : no_memory(err);
    }
    r->text = text;
    r->len = len;
    r->err = err;
    r->t.json = json;
    rc = pons__yaml_events(text, len,
                           &(pons__yaml_reader){.take = take, .refuse = refuse_text, .user = r});
    if (rc == PONS_ENOMEM || (rc == PONS_OK && r->no_memory)) {
        rc = no_memory(err);
    } else if (rc == PONS_OK && r->t.n == 0) {
        rc = refuse(r, 1, 1, "the text is empty");
    }
    for (int i = 0; i < r->depth; i++) {
        json_decref(r->frames[i].seen);
    }
    if (rc < 0) {
        pons_tree_fini(&r->t);
    } else {
        *ret = r->t;
    }
    free(r);
    return rc;
}

void pons_tree_fini(pons_tree *t)
{
    if (!t) {
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        pons_value_unref(t->nodes[i].scalar);
    }
    free(t->nodes);
    while (t->texts) {
        struct pons_tree_texts *next = t->texts->next;
        free(t->texts);
        t->texts = next;
    }
    *t = (pons_tree){.n = 0};
}

size_t pons_tree_member(const pons_tree *t, size_t map, const char *key)
{
    const pons_node *m = &t->nodes[map];
    if (m->kind != PONS_NODE_MAP) {
        return 0;
    }
    for (size_t i = map + 1; i < map + m->size; i += t->nodes[i].size) {
        if (t->nodes[i].key && strcmp(t->nodes[i].key, key) == 0) {
            return i;
        }
    }
    return 0;
}

pons_value *pons_tree_value(const pons_tree *t, size_t node)
{
    const pons_node *m = &t->nodes[node];
    if (m->kind == PONS_NODE_SCALAR) {
        return pons_value_ref(m->scalar);
    }
    pons_value *v = m->kind == PONS_NODE_MAP ? json_object() : json_array();
    for (size_t i = node + 1; v && i < node + m->size; i += t->nodes[i].size) {
        if (t->nodes[i].fault) {
            continue;
        }
        pons_value *child = pons_tree_value(t, i);
        const int bad = !child                     ? -1
                        : m->kind == PONS_NODE_MAP ? json_object_set_new(v, t->nodes[i].key, child)
                                                   : json_array_append_new(v, child);
        if (bad) {
            pons_value_unref(v);
            v = NULL;
        }
    }
    return v;
}

size_t pons_tree_fault(const pons_tree *t, size_t node, bool *ret_any)
{
    for (size_t i = node; i < node + t->nodes[node].size; i++) {
        if (t->nodes[i].fault) {
            *ret_any = true;
            return i;
        }
    }
    *ret_any = false;
    return 0;
}
