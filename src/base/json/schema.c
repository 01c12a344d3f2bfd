// schema.c - JSON Schema 2020-12, the part that pons needs, compiled to a tree of rules.
//
// Compiling turns every subschema into a `rule` and remembers its JSON pointer, so that a local
// $ref becomes a plain pointer to a rule. What cannot be right is refused there: an unknown
// keyword, a keyword with a value of the wrong kind, a $ref to nothing, a pattern that is
// none or too large, and a schema that applies to itself without going deeper
// into the value (checking it would not end).
//
// Checking walks rule and value together. A path of steps on the C stack says where the walk is;
// its text is only made when there is a fault to report. Inside anyOf, oneOf, not and if, faults
// are not faults yet; only when no alternative matches are all walked again, to explain it.
// Bounds: 128 levels, and a budget of rule visits, so that no value makes a check slow.
#include "pons/schema.h"

#include "base/json/regex.h"
#include "base/text/utf8.h"
#include "pons/buf.h"
#include "pons/growing_list.h"
#include "pons/module.h"
#include "pons/printable.h"
#include "pons/spelling.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE "schema" // in errors

enum {
    DEPTH_MAX = 128,      // levels of rule in rule, of a schema and of a check
    VISITS_MAX = 4000000, // rules applied in one check
    COMPARES = 16,        // comparisons of values that are worth one of those
    PATIENCE = 32,        // matches of patterns that may take long
    FAULTS_MAX = 32,      // told to a callback
    MESSAGE_MAX = 400,    // bytes of a fault's message, with its zero
    POINTER_MAX = 256,    // bytes of a pointer in an error
    DESCRIBE_MAX = 80,    // bytes of a description of a value, with its zero
    QUOTE_MAX = 40,       // bytes of a value or key that a message quotes
    LIST_MAX = 200,       // bytes of a list of what was expected
    UNIQUE_SORT_MIN = 16  // items from which uniqueness is found by sorting
};

typedef struct rule rule;

typedef enum type_bit {
    T_NULL = 1,
    T_BOOLEAN = 2,
    T_INTEGER = 4,
    T_NUMBER = 8,
    T_STRING = 16,
    T_ARRAY = 32,
    T_OBJECT = 64
} type_bit;

typedef struct rules { // a list of subschemas
    rule **items;
    size_t n;
} rules;

typedef struct property {
    const char *key; // borrowed from the schema
    size_t len;
    rule *rule;
} property;

typedef struct limit { // a bound that may be absent
    bool set;
    const json_t *value; // a number, borrowed from the schema
} limit;

struct rule {
    char *pointer;       // where in the schema it stands
    bool never;          // the schema `false`
    unsigned types;      // bits of type_bit; 0: any
    const json_t *enum_; // borrowed from the schema, as all below
    const json_t *const_;
    property *properties; // sorted by key
    size_t n_properties;
    const json_t *required; // array of strings
    rule *additional;       // NULL: anything
    rule *items;            // after the prefix; NULL: anything
    rules prefix;
    size_t min_items, max_items, min_length, max_length, min_properties, max_properties;
    bool unique;
    limit minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;
    pons__pattern *pattern;
    const char *pattern_text;
    rules any_of, one_of, all_of;
    rule *not_, *if_, *then_, *else_;
    const char *ref_text;
    rule *ref; // found after all rules are known
    int mark;  // of the search for loops: 0 new, 1 on the way, 2 done
};

struct pons_schema {
    json_t *source;
    rule **all; // every rule, owned
    size_t n, cap;
    rule *root;
};

typedef struct compiler {
    pons_schema *s;
    pons_error *err;
} compiler;

// What compiles one keyword: its value, and the pointer of the value.
typedef int (*keyword_fn)(compiler *c, rule *r, const json_t *v, const char *at, int depth);

typedef struct keyword {
    const char *name;
    keyword_fn compile; // NULL: an annotation
} keyword;

typedef struct step { // of the path from the root to the value that is being checked
    const struct step *up;
    const char *key; // NULL: an index
    size_t len;
    size_t index;
} step;

typedef enum fault_kind {
    FAULT_OTHER,
    FAULT_CHOICE // the value is of another kind altogether: type, const, enum
} fault_kind;

typedef struct checker {
    pons_schema_fault_fn fn; // NULL: only whether
    void *user;
    size_t reported;
    size_t reported_max;
    long visits;   // left
    long compares; // of values, since the last one that counted as a visit
    int patience;  // of patterns
    bool exhausted;
    bool failed;
    // A survey tells nobody either, but goes on after a fault, to find the nearest alternative.
    bool survey;
    int near;             // steps of the path down to which a value's kind tells alternatives apart
    bool other_kind;      // a FAULT_CHOICE so near was seen
    size_t faults;        // seen
    const json_t *want;   // the const that the first of those faults expected, or NULL
    const char *want_key; // of the member where it was expected; NULL: the value itself
} checker;

static const struct {
    const char *word;
    unsigned bit;
} type_table[] = {{"null", T_NULL},     {"boolean", T_BOOLEAN}, {"integer", T_INTEGER},
                  {"number", T_NUMBER}, {"string", T_STRING},   {"array", T_ARRAY},
                  {"object", T_OBJECT}};

enum { TYPES = sizeof type_table / sizeof *type_table };

// What is shown of a long pointer: its end, where the fault is.
static const char *pointer_end(const char *pointer)
{
    const size_t len = strlen(pointer);
    const char *shown = len < POINTER_MAX ? pointer : pointer + len - POINTER_MAX;
    while (shown > pointer && ((unsigned char)*shown & 0xc0) == 0x80) {
        shown++;
    }
    return shown;
}

__attribute__((format(printf, 3, 4))) static int bad(compiler *c, const char *at, const char *fmt,
                                                     ...)
{
    char message[MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(message, sizeof message, fmt, ap);
    va_end(ap);
    const char *shown = pointer_end(at);
    return pons_error_set(c->err, PONS_EINVAL, WHERE, "%s%s: %s", shown > at ? "…" : "",
                          *shown ? shown : "/", message);
}

static int no_memory(compiler *c)
{
    return pons_error_set(c->err, PONS_ENOMEM, WHERE, "out of memory");
}

// at/key with the key escaped (RFC 6901); the caller frees.
static char *pointer_join(const char *at, const char *key)
{
    pons_autobuf b = PONS_BUF_INIT;
    pons_buf_str(&b, at);
    pons_buf_pointer(&b, key, strlen(key));
    char *pointer = pons_buf_take(&b, NULL);
    return pointer;
}

static void rule_destroy(rule *r)
{
    pons__pattern_destroy(r->pattern);
    free(r->pointer);
    free(r->properties);
    free(r->prefix.items);
    free(r->any_of.items);
    free(r->one_of.items);
    free(r->all_of.items);
    free(r);
}

static int by_property(const void *a, const void *b)
{
    const property *x = a, *y = b;
    const int c = memcmp(x->key, y->key, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static const rule *find_property(const rule *r, const char *key, size_t len)
{
    if (r->n_properties == 0) {
        return NULL;
    }
    const property want = {.key = key, .len = len};
    const property *p =
        bsearch(&want, r->properties, r->n_properties, sizeof *r->properties, by_property);
    return p ? p->rule : NULL;
}

// ---- faults -------------------------------------------------------------------------------------

static bool same_key(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int path_length(const step *path)
{
    int n = 0;
    for (; path; path = path->up) {
        n++;
    }
    return n;
}

// Notes for a survey which constant a near value should have been.
static void note_want(checker *c, const json_t *want, const step *path)
{
    const int length = path_length(path);
    if (!c->survey || c->want || length > c->near) {
        return;
    }
    if (length == c->near && !path->key) {
        return; // an item of an array is no mark of its kind
    }
    c->want = want;
    c->want_key = length == c->near ? path->key : NULL;
}

static void write_path(const step *path, pons_buf *out)
{
    if (!path) {
        return;
    }
    write_path(path->up, out); // as deep as the check itself went
    if (!path->key) {
        pons_buf_printf(out, "/%zu", path->index);
        return;
    }
    pons_buf_pointer(out, path->key, path->len);
}

// Tells a fault; always false, so that `return fault(…)` reads well.
__attribute__((format(printf, 4, 5))) static bool fault(checker *c, fault_kind kind,
                                                        const step *path, const char *fmt, ...)
{
    c->failed = true;
    c->faults++;
    if (c->survey && kind == FAULT_CHOICE && path_length(path) <= c->near) {
        c->other_kind = true;
    }
    if (!c->fn || c->reported >= c->reported_max) {
        return false;
    }
    c->reported++;
    char message[2 * MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(message, sizeof message, fmt, ap);
    va_end(ap);
    pons_autobuf pointer = PONS_BUF_INIT;
    write_path(path, &pointer);
    c->fn(c->user, pointer.data && !pointer.failed ? pointer.data : "", message);
    return false;
}

static const char *describe(const json_t *v, char *buf, size_t cap)
{
    const size_t n = json_is_array(v) ? json_array_size(v) : json_object_size(v);
    char *text = NULL;
    switch (json_typeof(v)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        snprintf(buf, cap, "%s of %zu", json_is_array(v) ? "array" : "object", n);
        return buf;
    case JSON_STRING: {
        const char *s = json_string_value(v);
        const size_t len = json_string_length(v);
        snprintf(buf, cap, "string \"%.*s%s\"", (int)pons_text_whole(s, QUOTE_MAX), s,
                 len > QUOTE_MAX ? "…" : "");
        return buf;
    }
    case JSON_INTEGER:
        snprintf(buf, cap, "integer %lld", (long long)json_integer_value(v));
        return buf;
    case JSON_REAL:
        if (pons_value_line(v, &text) < 0) {
            text = NULL;
        }
        snprintf(buf, cap, "number %s", text ? text : "");
        free(text);
        return buf;
    case JSON_TRUE:
        return "true";
    case JSON_FALSE:
        return "false";
    case JSON_NULL:
        break;
    }
    return "null";
}

// "string or null".
static const char *type_words(unsigned types, char *buf, size_t cap)
{
    size_t used = 0;
    int left = __builtin_popcount(types);
    for (int i = 0; i < TYPES; i++) {
        if (!(types & type_table[i].bit)) {
            continue;
        }
        const char *join = used == 0 ? "" : left == 1 ? " or " : ", ";
        used += (size_t)snprintf(buf + used, cap - used, "%s%s", join, type_table[i].word);
        left--;
    }
    return buf;
}

// Adds a value to a list in words, or an ellipsis when there is no room for it.
static void add_choice(char *buf, size_t cap, const json_t *v)
{
    static const char more[] = ", …";
    const size_t used = strlen(buf);
    char *text = NULL;
    if (used >= strlen(more) && strcmp(buf + used - strlen(more), more) == 0) {
        return;
    }
    if (pons_value_line(v, &text) < 0) {
        return;
    }
    const bool fits = used + strlen(text) + 2 + sizeof more <= cap;
    snprintf(buf + used, cap - used, "%s%s", used ? ", " : "", fits ? text : "…");
    free(text);
}

static const char *choices(const json_t *list, char *buf, size_t cap)
{
    buf[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++) {
        add_choice(buf, cap, json_array_get(list, i));
    }
    return buf;
}

// The known property that a key probably is a misspelling of, or NULL.
static const char *meant(const rule *r, const char *key, size_t len)
{
    pons_meant m = pons_meant_of(key, len);
    for (size_t i = 0; i < r->n_properties; i++) {
        pons_meant_try(&m, r->properties[i].key, r->properties[i].len);
    }
    return m.best;
}

static int compile_rule(compiler *c, const json_t *v, const char *at, int depth, rule **ret);
static int compile_list(compiler *c, const json_t *v, const char *at, int depth, rules *ret);

// ---- compiling: one function a kind of keyword --------------------------------------------------

static int add_type(compiler *c, rule *r, const json_t *v, const char *at)
{
    const char *word = json_string_value(v);
    for (int i = 0; word && i < TYPES; i++) {
        if (strcmp(type_table[i].word, word) == 0) {
            r->types |= type_table[i].bit;
            return PONS_OK;
        }
    }
    char what[QUOTE_MAX + 32];
    return bad(c, at, "expected the name of a type, found %s", describe(v, what, sizeof what));
}

static int compile_type(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    if (!json_is_array(v)) {
        return add_type(c, r, v, at);
    }
    if (json_array_size(v) == 0) {
        return bad(c, at, "an empty list of types");
    }
    int status = PONS_OK;
    for (size_t i = 0; status == PONS_OK && i < json_array_size(v); i++) {
        status = add_type(c, r, json_array_get(v, i), at);
    }
    return status;
}

static int compile_enum(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    if (!json_is_array(v) || json_array_size(v) == 0) {
        return bad(c, at, "expected a list of at least one value");
    }
    r->enum_ = v;
    return PONS_OK;
}

static int compile_const(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    r->const_ = v;
    return PONS_OK;
}

static int compile_properties(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    if (!json_is_object(v)) {
        return bad(c, at, "expected an object of schemas");
    }
    r->properties = calloc(json_object_size(v) + 1, sizeof *r->properties);
    if (!r->properties) {
        return no_memory(c);
    }
    for (void *it = json_object_iter((json_t *)v); it;
         it = json_object_iter_next((json_t *)v, it)) {
        property *p = &r->properties[r->n_properties];
        p->key = json_object_iter_key(it);
        p->len = json_object_iter_key_len(it);
        char *below = pointer_join(at, p->key);
        const int status = below
                               ? compile_rule(c, json_object_iter_value(it), below, depth, &p->rule)
                               : no_memory(c);
        free(below);
        if (status < 0) {
            return status;
        }
        r->n_properties++;
    }
    qsort(r->properties, r->n_properties, sizeof *r->properties, by_property);
    return PONS_OK;
}

// $defs: compiled so that $ref finds them.
static int compile_defs(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    if (!json_is_object(v)) {
        return bad(c, at, "expected an object of schemas");
    }
    int status = PONS_OK;
    for (void *it = json_object_iter((json_t *)v); it && status == PONS_OK;
         it = json_object_iter_next((json_t *)v, it)) {
        rule *def = NULL;
        char *below = pointer_join(at, json_object_iter_key(it));
        status =
            below ? compile_rule(c, json_object_iter_value(it), below, depth, &def) : no_memory(c);
        free(below);
    }
    return status;
}

static int compile_required(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    pons_autovalue seen = json_object();
    if (!json_is_array(v)) {
        return bad(c, at, "expected a list of names");
    }
    pons_each(name, v) {
        if (!json_is_string(name)) {
            return bad(c, at, "expected a list of names");
        }
        const char *text = json_string_value(name);
        const size_t len = json_string_length(name);
        if (json_object_getn(seen, text, len)) {
            return bad(c, at, "'%s' twice", text);
        }
        if (json_object_setn_new(seen, text, len, json_true()) != 0) {
            return no_memory(c);
        }
    }
    r->required = v;
    return PONS_OK;
}

static int compile_unique(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    if (!json_is_boolean(v)) {
        return bad(c, at, "expected true or false");
    }
    r->unique = json_is_true(v);
    return PONS_OK;
}

static int compile_pattern(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    const char *text = json_string_value(v);
    if (!text) {
        return bad(c, at, "expected a regular expression");
    }
    char why[PONS__PATTERN_WHY_MAX];
    const int status = pons__pattern_compile(text, &r->pattern, why);
    if (status != PONS_OK) {
        return status == PONS_ENOMEM ? no_memory(c) : bad(c, at, "bad pattern: %s", why);
    }
    r->pattern_text = text;
    return PONS_OK;
}

static int compile_ref(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    r->ref_text = json_string_value(v);
    if (!r->ref_text || r->ref_text[0] != '#' || (r->ref_text[1] && r->ref_text[1] != '/')) {
        return bad(c, at, "expected a local reference such as \"#/$defs/name\"");
    }
    return PONS_OK;
}

static int compile_count(compiler *c, const json_t *v, const char *at, size_t *ret)
{
    const double d = json_number_value(v);
    if (!json_is_number(v) || d < 0 || d != floor(d) || d > 0x1p53) {
        return bad(c, at, "expected a count, 0 or more");
    }
    *ret = (size_t)d;
    return PONS_OK;
}

static int compile_limit(compiler *c, const json_t *v, const char *at, limit *ret)
{
    if (!json_is_number(v)) {
        return bad(c, at, "expected a number");
    }
    *ret = (limit){.set = true, .value = v};
    return PONS_OK;
}

static int compile_multiple(compiler *c, rule *r, const json_t *v, const char *at, int depth)
{
    if (!json_is_number(v) || json_number_value(v) <= 0) {
        return bad(c, at, "expected a number above 0");
    }
    return compile_limit(c, v, at, &r->multiple_of);
}

// The keywords that hold a count, a bound, one schema or a list of schemas differ only in the
// member that they fill.
#define KEYWORD_COUNT(member)                                                                      \
    static int compile_##member(compiler *c, rule *r, const json_t *v, const char *at, int depth)  \
    {                                                                                              \
        return compile_count(c, v, at, &r->member);                                                \
    }
#define KEYWORD_LIMIT(member)                                                                      \
    static int compile_##member(compiler *c, rule *r, const json_t *v, const char *at, int depth)  \
    {                                                                                              \
        return compile_limit(c, v, at, &r->member);                                                \
    }
#define KEYWORD_RULE(member)                                                                       \
    static int compile_##member(compiler *c, rule *r, const json_t *v, const char *at, int depth)  \
    {                                                                                              \
        return compile_rule(c, v, at, depth, &r->member);                                          \
    }
#define KEYWORD_RULES(member)                                                                      \
    static int compile_##member(compiler *c, rule *r, const json_t *v, const char *at, int depth)  \
    {                                                                                              \
        return compile_list(c, v, at, depth, &r->member);                                          \
    }
KEYWORD_COUNT(min_items)
KEYWORD_COUNT(max_items)
KEYWORD_COUNT(min_length)
KEYWORD_COUNT(max_length)
KEYWORD_COUNT(min_properties)
KEYWORD_COUNT(max_properties)
KEYWORD_LIMIT(minimum)
KEYWORD_LIMIT(maximum)
KEYWORD_LIMIT(exclusive_minimum)
KEYWORD_LIMIT(exclusive_maximum)
KEYWORD_RULE(additional)
KEYWORD_RULE(items)
KEYWORD_RULE(not_)
KEYWORD_RULE(if_)
KEYWORD_RULE(then_)
KEYWORD_RULE(else_)
KEYWORD_RULES(prefix)
KEYWORD_RULES(any_of)
KEYWORD_RULES(one_of)
KEYWORD_RULES(all_of)

static const keyword keywords[] = {
    {"type", compile_type},
    {"enum", compile_enum},
    {"const", compile_const},
    {"properties", compile_properties},
    {"required", compile_required},
    {"additionalProperties", compile_additional},
    {"minProperties", compile_min_properties},
    {"maxProperties", compile_max_properties},
    {"items", compile_items},
    {"prefixItems", compile_prefix},
    {"minItems", compile_min_items},
    {"maxItems", compile_max_items},
    {"uniqueItems", compile_unique},
    {"minLength", compile_min_length},
    {"maxLength", compile_max_length},
    {"pattern", compile_pattern},
    {"minimum", compile_minimum},
    {"maximum", compile_maximum},
    {"exclusiveMinimum", compile_exclusive_minimum},
    {"exclusiveMaximum", compile_exclusive_maximum},
    {"multipleOf", compile_multiple},
    {"anyOf", compile_any_of},
    {"oneOf", compile_one_of},
    {"allOf", compile_all_of},
    {"not", compile_not_},
    {"if", compile_if_},
    {"then", compile_then_},
    {"else", compile_else_},
    {"$ref", compile_ref},
    {"$defs", compile_defs},
};

// They say something about a value and check nothing.
static bool is_annotation(const char *name)
{
    static const char *const annotations[] = {
        "$id",       "$schema",         "$comment",        "title",      "description",
        "default",   "examples",        "format",          "deprecated", "readOnly",
        "writeOnly", "contentEncoding", "contentMediaType"};
    for (size_t i = 0; i < sizeof annotations / sizeof annotations[0]; i++) {
        if (strcmp(annotations[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static const keyword *find_keyword(const char *name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        if (strcmp(keywords[i].name, name) == 0) {
            return &keywords[i];
        }
    }
    return NULL;
}

// ---- compiling: the tree ------------------------------------------------------------------------

// A new rule, owned by the schema.
static rule *add_rule(compiler *c, const char *at)
{
    pons_schema *s = c->s;
    if (!pons_list_reserve(&s->all, &s->cap, s->n + 1, sizeof *s->all)) {
        return NULL;
    }
    rule *r = calloc(1, sizeof *r);
    if (!r || !(r->pointer = strdup(at))) {
        free(r);
        return NULL;
    }
    r->max_items = r->max_length = r->max_properties = SIZE_MAX;
    s->all[s->n++] = r;
    return r;
}

static int compile_rule(compiler *c, const json_t *v, const char *at, int depth, rule **ret)
{
    if (depth > DEPTH_MAX) {
        return bad(c, at, "nested deeper than %d", DEPTH_MAX);
    }
    if (!json_is_object(v) && !json_is_boolean(v)) {
        return bad(c, at, "expected a schema: an object, true or false");
    }
    rule *r = add_rule(c, at);
    if (!r) {
        return no_memory(c);
    }
    *ret = r;
    r->never = json_is_false(v);
    int status = PONS_OK;
    for (void *it = json_object_iter((json_t *)v); it && status == PONS_OK;
         it = json_object_iter_next((json_t *)v, it)) {
        const char *name = json_object_iter_key(it);
        const keyword *k = find_keyword(name);
        char *below = pointer_join(at, name);
        if (!below) {
            status = no_memory(c);
        } else if (k) {
            status = k->compile(c, r, json_object_iter_value(it), below, depth + 1);
        } else if (!is_annotation(name)) {
            status = bad(c, below, "unknown keyword");
        }
        free(below);
    }
    if (status == PONS_OK && (r->then_ || r->else_) && !r->if_) {
        status = bad(c, at, "then or else without if");
    }
    return status;
}

static int compile_list(compiler *c, const json_t *v, const char *at, int depth, rules *ret)
{
    const size_t n = json_array_size(v);
    if (n == 0) { // 0 for what is no array, too
        return bad(c, at, "expected a list of at least one schema");
    }
    ret->items = calloc(n, sizeof *ret->items);
    if (!ret->items) {
        return no_memory(c);
    }
    for (size_t i = 0; i < n; i++) {
        char index[24];
        snprintf(index, sizeof index, "%zu", i);
        char *below = pointer_join(at, index);
        const int status = below
                               ? compile_rule(c, json_array_get(v, i), below, depth, &ret->items[i])
                               : no_memory(c);
        free(below);
        if (status < 0) {
            return status;
        }
        ret->n = i + 1;
    }
    return PONS_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// A reference is a URI fragment: %XX is undone in place.
static void percent_decode(char *s)
{
    char *out = s;
    for (; *s; s++) {
        const int high = s[0] == '%' ? hex_digit(s[1]) : -1;
        const int low = high >= 0 ? hex_digit(s[2]) : -1;
        if (low >= 0) {
            *out++ = (char)(high * 16 + low);
            s += 2;
        } else {
            *out++ = *s;
        }
    }
    *out = '\0';
}

static int by_pointer(const void *a, const void *b)
{
    return strcmp((*(rule *const *)a)->pointer, (*(rule *const *)b)->pointer);
}

static int find_refs(compiler *c)
{
    qsort(c->s->all, c->s->n, sizeof *c->s->all, by_pointer);
    for (size_t i = 0; i < c->s->n; i++) {
        rule *r = c->s->all[i];
        if (!r->ref_text) {
            continue;
        }
        char *want = strdup(r->ref_text + 1);
        if (!want) {
            return no_memory(c);
        }
        percent_decode(want);
        rule key = {.pointer = want}, *sought = &key;
        rule **found = bsearch(&sought, c->s->all, c->s->n, sizeof *c->s->all, by_pointer);
        r->ref = found ? *found : NULL;
        free(want);
        if (!r->ref) {
            return bad(c, r->pointer, "$ref names no schema: '%s'", r->ref_text);
        }
    }
    return PONS_OK;
}

static int find_loops(compiler *c, rule *r, int depth);

static int find_loops_in(compiler *c, const rules *list, int depth)
{
    int status = PONS_OK;
    for (size_t i = 0; status == PONS_OK && i < list->n; i++) {
        status = find_loops(c, list->items[i], depth);
    }
    return status;
}

// Depth-first over what applies to the same value; a rule met on its own way is a loop.
static int find_loops(compiler *c, rule *r, int depth)
{
    if (!r || r->mark == 2) {
        return PONS_OK;
    }
    if (r->mark == 1) {
        return bad(c, r->pointer, "applies to itself without end");
    }
    if (depth > DEPTH_MAX) {
        return bad(c, r->pointer, "refers deeper than %d", DEPTH_MAX);
    }
    r->mark = 1;
    rule *const single[] = {r->ref, r->not_, r->if_, r->then_, r->else_};
    int status = find_loops_in(c, &r->all_of, depth + 1);
    if (status == PONS_OK) {
        status = find_loops_in(c, &r->any_of, depth + 1);
    }
    if (status == PONS_OK) {
        status = find_loops_in(c, &r->one_of, depth + 1);
    }
    for (size_t i = 0; status == PONS_OK && i < sizeof single / sizeof *single; i++) {
        status = find_loops(c, single[i], depth + 1);
    }
    r->mark = 2;
    return status;
}

// ---- checking: what is equal --------------------------------------------------------------------

// -1, 0, 1; exact also between an integer and a real.
static int compare_numbers(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b)) {
        const json_int_t x = json_integer_value(a), y = json_integer_value(b);
        return (x > y) - (x < y);
    }
    if (json_is_real(a) && json_is_real(b)) {
        const double x = json_real_value(a), y = json_real_value(b);
        return (x > y) - (x < y);
    }
    if (json_is_real(a)) {
        return -compare_numbers(b, a);
    }
    const json_int_t x = json_integer_value(a);
    const double y = json_real_value(b);
    if (y >= 0x1p63) {
        return -1;
    }
    if (y < -0x1p63) {
        return 1;
    }
    const json_int_t whole = (json_int_t)floor(y);
    return x > whole ? 1 : x < whole ? -1 : y > floor(y) ? -1 : 0;
}

static bool is_integral(const json_t *v)
{
    const double d = json_real_value(v);
    return json_is_integer(v) || (json_is_real(v) && isfinite(d) && d == floor(d));
}

static unsigned types_of(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return T_OBJECT;
    case JSON_ARRAY:
        return T_ARRAY;
    case JSON_STRING:
        return T_STRING;
    case JSON_INTEGER:
    case JSON_REAL:
        return is_integral(v) ? T_NUMBER | T_INTEGER : T_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE:
        return T_BOOLEAN;
    case JSON_NULL:
        break;
    }
    return T_NULL;
}

// Whether a check that already failed has anything left to find out.
static bool enough(const checker *c)
{
    if (c->exhausted) {
        return true;
    }
    return c->failed && !c->survey && (!c->fn || c->reported >= c->reported_max);
}

// Nothing of the check counts then: it fails as a whole, whatever stands around it.
static bool spent(checker *c, const step *path)
{
    c->exhausted = true;
    return fault(c, FAULT_OTHER, path, "too much to check");
}

// JSON Schema's: numbers are equal by value, 3 is 3.0; objects without order.
// Of a budget that is used up, nothing is equal; the check then fails as a whole.
static bool equal(checker *c, const json_t *a, const json_t *b)
{
    if (++c->compares >= COMPARES) {
        c->compares = 0;
        c->visits -= c->visits > 0;
    }
    if (c->visits <= 0) {
        return false;
    }
    if (a == b) {
        return true;
    }
    if (json_is_number(a) && json_is_number(b)) {
        return compare_numbers(a, b) == 0;
    }
    if (json_typeof(a) != json_typeof(b)) {
        return false;
    }
    if (json_is_array(a)) {
        const size_t n = json_array_size(a);
        if (json_array_size(b) != n) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            if (!equal(c, json_array_get(a, i), json_array_get(b, i))) {
                return false;
            }
        }
        return true;
    }
    if (json_is_object(a)) {
        if (json_object_size(a) != json_object_size(b)) {
            return false;
        }
        for (void *it = json_object_iter((json_t *)a); it;
             it = json_object_iter_next((json_t *)a, it)) {
            const json_t *other =
                json_object_getn(b, json_object_iter_key(it), json_object_iter_key_len(it));
            if (!other || !equal(c, json_object_iter_value(it), other)) {
                return false;
            }
        }
        return true;
    }
    return json_equal(a, b);
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t n) // FNV-1a
{
    const uint8_t *p = data;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * 0x100000001b3u;
    }
    return h;
}

// Equal values have equal hashes; members are summed, so that their order does not matter.
static uint64_t hash(const json_t *v)
{
    const json_type type = json_is_number(v) ? JSON_REAL : json_typeof(v);
    uint64_t h = hash_bytes(0xcbf29ce484222325u, &type, sizeof type);
    if (json_is_number(v)) {
        double d = json_number_value(v);
        if (d == 0.0) {
            d = 0.0 * 0.0; // no sign
        }
        return hash_bytes(h, &d, sizeof d);
    }
    if (json_is_string(v)) {
        return hash_bytes(h, json_string_value(v), json_string_length(v));
    }
    for (size_t i = 0; i < json_array_size(v); i++) {
        const uint64_t item = hash(json_array_get(v, i));
        h = hash_bytes(h, &item, sizeof item);
    }
    if (json_is_object(v)) {
        uint64_t sum = 0;
        for (void *it = json_object_iter((json_t *)v); it;
             it = json_object_iter_next((json_t *)v, it)) {
            const uint64_t value = hash(json_object_iter_value(it));
            const uint64_t member =
                hash_bytes(value, json_object_iter_key(it), json_object_iter_key_len(it));
            sum += member;
        }
        h = hash_bytes(h, &sum, sizeof sum);
    }
    return h;
}

typedef struct hashed {
    uint64_t hash;
    size_t index;
} hashed;

static int by_hash(const void *a, const void *b)
{
    const hashed *x = a, *y = b;
    if (x->hash != y->hash) {
        return x->hash < y->hash ? -1 : 1;
    }
    return (x->index > y->index) - (x->index < y->index);
}

// Whether no two items are equal; otherwise their indices.
static bool unique(checker *c, const json_t *v, size_t *ret_a, size_t *ret_b)
{
    const size_t n = json_array_size(v);
    hashed *order = n >= UNIQUE_SORT_MIN ? malloc(n * sizeof *order) : NULL;
    bool ok = true;
    if (order) {
        for (size_t i = 0; i < n; i++) {
            order[i] = (hashed){hash(json_array_get(v, i)), i};
        }
        qsort(order, n, sizeof *order, by_hash);
    }
    for (size_t i = 0; ok && i < n; i++) {
        const size_t a = order ? order[i].index : i;
        for (size_t j = i + 1; ok && j < n; j++) {
            const size_t b = order ? order[j].index : j;
            if (order && order[i].hash != order[j].hash) {
                break;
            }
            if (equal(c, json_array_get(v, a), json_array_get(v, b))) {
                *ret_a = a < b ? a : b;
                *ret_b = a < b ? b : a;
                ok = false;
            }
        }
    }
    free(order);
    return ok;
}

// ---- checking -----------------------------------------------------------------------------------

static bool apply(checker *c, const rule *r, const json_t *v, const step *path, int depth);

static bool is_multiple(const json_t *v, const json_t *of)
{
    if (json_is_integer(v) && json_is_integer(of)) {
        return json_integer_value(v) % json_integer_value(of) == 0;
    }
    // 0.3 is a multiple of 0.1 to people, if not to binary fractions.
    const double q = json_number_value(v) / json_number_value(of);
    const double tolerance = 1e-9 * fmax(1.0, fabs(q));
    return isfinite(q) && fabs(q - round(q)) <= tolerance;
}

static bool apply_number(checker *c, const rule *r, const json_t *v, const step *path)
{
    const struct {
        const limit *limit;
        const char *words;
        int low, high; // the comparisons that are right
    } bounds[] = {{&r->minimum, "at least", 0, 1},
                  {&r->maximum, "at most", -1, 0},
                  {&r->exclusive_minimum, "above", 1, 1},
                  {&r->exclusive_maximum, "below", -1, -1}};
    char a[DESCRIBE_MAX], b[LIST_MAX];
    bool ok = true;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        if (!bounds[i].limit->set) {
            continue;
        }
        const int order = compare_numbers(v, bounds[i].limit->value);
        if (order < bounds[i].low || order > bounds[i].high) {
            describe(bounds[i].limit->value, b, sizeof b);
            ok = fault(c, FAULT_OTHER, path, "expected a number %s %s, found %s", bounds[i].words,
                       strchr(b, ' ') + 1, describe(v, a, sizeof a));
        }
    }
    if (r->multiple_of.set && !is_multiple(v, r->multiple_of.value)) {
        describe(r->multiple_of.value, b, sizeof b);
        ok = fault(c, FAULT_OTHER, path, "expected a multiple of %s, found %s", strchr(b, ' ') + 1,
                   describe(v, a, sizeof a));
    }
    return ok;
}

static bool apply_count(checker *c, const step *path, size_t n, size_t min, size_t max,
                        const char *thing)
{
    if (n < min) {
        return fault(c, FAULT_OTHER, path, "expected at least %zu %s, found %zu", min, thing, n);
    }
    if (n > max) {
        return fault(c, FAULT_OTHER, path, "expected at most %zu %s, found %zu", max, thing, n);
    }
    return true;
}

static bool apply_pattern(checker *c, const rule *r, const json_t *v, const step *path)
{
    char a[DESCRIBE_MAX];
    switch (pons__pattern_match(r->pattern, json_string_value(v), json_string_length(v),
                                &c->patience)) {
    case PONS__MATCH_YES:
        return true;
    case PONS__MATCH_NO:
        return fault(c, FAULT_OTHER, path, "expected a match of %.*s, found %s", LIST_MAX,
                     r->pattern_text, describe(v, a, sizeof a));
    case PONS__MATCH_TOO_MUCH:
        c->exhausted = true;
        return fault(c, FAULT_OTHER, path, "too much to check against %.*s", LIST_MAX,
                     r->pattern_text);
    case PONS__MATCH_NOMEM:
        break;
    }
    c->exhausted = true;
    return fault(c, FAULT_OTHER, path, "no memory to check it");
}

static bool apply_string(checker *c, const rule *r, const json_t *v, const step *path)
{
    const char *s = json_string_value(v);
    bool ok = true;
    if (r->min_length > 0 || r->max_length < SIZE_MAX) {
        size_t n = 0; // characters, not bytes
        for (size_t i = 0; i < json_string_length(v); i++) {
            n += ((unsigned char)s[i] & 0xc0) != 0x80;
        }
        ok = apply_count(c, path, n, r->min_length, r->max_length, "characters");
    }
    return r->pattern ? apply_pattern(c, r, v, path) && ok : ok;
}

static bool apply_array(checker *c, const rule *r, const json_t *v, const step *path, int depth)
{
    const size_t n = json_array_size(v);
    bool ok = apply_count(c, path, n, r->min_items, r->max_items, "items");
    size_t i, j;
    const bool alike = r->unique && !unique(c, v, &i, &j);
    if (r->unique && !alike && c->visits <= 0) {
        return spent(c, path);
    }
    if (alike) {
        ok = fault(c, FAULT_OTHER, path, "expected different items, %zu and %zu are equal", i, j);
    }
    for (i = 0; i < n && !(!ok && enough(c)); i++) {
        const rule *item = i < r->prefix.n ? r->prefix.items[i] : r->items;
        if (!item) {
            continue;
        }
        const step below = {.up = path, .index = i};
        ok &= apply(c, item, json_array_get(v, i), &below, depth + 1);
    }
    return ok;
}

static bool apply_member(checker *c, const rule *r, const char *key, size_t len, const json_t *v,
                         const step *path, int depth)
{
    const step below = {.up = path, .key = key, .len = len};
    const rule *known = find_property(r, key, len);
    if (known) {
        return apply(c, known, v, &below, depth + 1);
    }
    if (!r->additional) {
        return true;
    }
    if (!r->additional->never) {
        return apply(c, r->additional, v, &below, depth + 1);
    }
    const char *other = meant(r, key, len);
    if (other) {
        return fault(c, FAULT_OTHER, &below, "unknown property, did you mean '%s'?", other);
    }
    char names[LIST_MAX];
    size_t used = 0;
    names[0] = '\0';
    for (size_t i = 0; i < r->n_properties && used < sizeof names - 1; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "",
                                 r->properties[i].key);
    }
    if (used == 0 || used >= sizeof names - 1) {
        return fault(c, FAULT_OTHER, &below, "unknown property");
    }
    return fault(c, FAULT_OTHER, &below, "unknown property, expected one of: %s", names);
}

static bool apply_object(checker *c, const rule *r, const json_t *v, const step *path, int depth)
{
    bool ok = apply_count(c, path, json_object_size(v), r->min_properties, r->max_properties,
                          "properties");
    for (size_t i = 0; i < json_array_size(r->required) && !(!ok && enough(c)); i++) {
        const char *name = json_string_value(json_array_get(r->required, i));
        if (!json_object_get(v, name)) {
            ok = fault(c, FAULT_OTHER, path, "missing property '%s'", name);
        }
    }
    if (r->n_properties == 0 && !r->additional) {
        return ok;
    }
    for (void *it = json_object_iter((json_t *)v); it && !(!ok && enough(c));
         it = json_object_iter_next((json_t *)v, it)) {
        ok &= apply_member(c, r, json_object_iter_key(it), json_object_iter_key_len(it),
                           json_object_iter_value(it), path, depth);
    }
    return ok;
}

// Checks on the side, telling nobody, within the same budget.
static bool aside(checker *c, checker *other, const rule *r, const json_t *v, const step *path,
                  int depth)
{
    other->visits = c->visits;
    other->patience = c->patience;
    const bool ok = apply(other, r, v, path, depth);
    c->visits = other->visits;
    c->patience = other->patience;
    if (other->exhausted && !c->exhausted) {
        c->exhausted = true;
        fault(c, FAULT_OTHER, path, "too much to check");
    }
    return ok;
}

static bool holds(checker *c, const rule *r, const json_t *v, const step *path, int depth)
{
    checker silent = {0};
    return aside(c, &silent, r, v, path, depth);
}

// No alternative matches: says what would have. Alternatives that differ in type, or in a constant
// at the same place ({"op": "dispatch"}, {"op": "cancel"}), are told together; otherwise the
// nearest one tells what it lacks: one of the right kind with the fewest faults.
static bool explain_choice(checker *c, const rules *list, const json_t *v, const step *path,
                           int depth)
{
    const rule *nearest = NULL;
    checker best = {0};
    bool only_types = true, only_wants = true;
    unsigned types = 0;
    char a[DESCRIBE_MAX], b[LIST_MAX], wants[LIST_MAX] = "";
    for (size_t i = 0; i < list->n && !c->exhausted; i++) {
        const rule *r = list->items[i];
        checker s = {.survey = true, .near = path_length(path) + 1};
        aside(c, &s, r, v, path, depth);
        types |= r->types;
        only_types &= r->types && !(r->types & types_of(v));
        only_wants &= s.want && (!nearest || same_key(s.want_key, best.want_key));
        if (s.want) {
            add_choice(wants, sizeof wants, s.want);
        }
        if (!nearest || (best.other_kind && !s.other_kind) ||
            (best.other_kind == s.other_kind && s.faults < best.faults)) {
            best = s;
            nearest = r;
        }
    }
    bool reported = true;
    if (c->exhausted) {
        // already told
    } else if (only_types) {
        fault(c, FAULT_CHOICE, path, "expected %s, found %s", type_words(types, b, sizeof b),
              describe(v, a, sizeof a));
    } else if (only_wants) {
        const step below = {
            .up = path, .key = best.want_key, .len = best.want_key ? strlen(best.want_key) : 0};
        const json_t *found = best.want_key ? json_object_get(v, best.want_key) : v;
        fault(c, FAULT_CHOICE, best.want_key ? &below : path, "expected one of %s, found %s", wants,
              describe(found, a, sizeof a));
    } else {
        reported = false;
    }
    return reported ? false : apply(c, nearest, v, path, depth);
}

static bool apply_choice(checker *c, const rules *list, bool one, const json_t *v, const step *path,
                         int depth)
{
    size_t matches[2] = {0}, n = 0;
    for (size_t i = 0; i < list->n && n < (one ? 2 : 1) && !c->exhausted; i++) {
        if (holds(c, list->items[i], v, path, depth)) {
            matches[n++] = i;
        }
    }
    if (c->exhausted || n == 1) {
        return n == 1 && !c->exhausted;
    }
    if (n > 1) {
        return fault(c, FAULT_OTHER, path, "matches alternatives %zu and %zu, expected only one",
                     matches[0], matches[1]);
    }
    if (!c->fn) {
        return fault(c, FAULT_OTHER, path, "matches no alternative");
    }
    return explain_choice(c, list, v, path, depth);
}

static bool apply_logic(checker *c, const rule *r, const json_t *v, const step *path, int depth)
{
    bool ok = true;
    if (r->ref) {
        ok &= apply(c, r->ref, v, path, depth + 1);
    }
    for (size_t i = 0; i < r->all_of.n && !(!ok && enough(c)); i++) {
        ok &= apply(c, r->all_of.items[i], v, path, depth + 1);
    }
    if (r->any_of.n && !(!ok && enough(c))) {
        ok &= apply_choice(c, &r->any_of, false, v, path, depth + 1);
    }
    if (r->one_of.n && !(!ok && enough(c))) {
        ok &= apply_choice(c, &r->one_of, true, v, path, depth + 1);
    }
    if (r->not_ && holds(c, r->not_, v, path, depth + 1)) {
        char a[DESCRIBE_MAX];
        ok = fault(c, FAULT_OTHER, path, "must not match %s, found %s", r->not_->pointer,
                   describe(v, a, sizeof a));
    }
    if (r->if_ && !c->exhausted) {
        const rule *next = holds(c, r->if_, v, path, depth + 1) ? r->then_ : r->else_;
        if (next && !c->exhausted) {
            ok &= apply(c, next, v, path, depth + 1);
        }
    }
    return ok && !c->exhausted;
}

static bool is_among(checker *c, const json_t *list, const json_t *v)
{
    bool found = false;
    for (size_t i = 0; !found && i < json_array_size(list); i++) {
        found = equal(c, json_array_get(list, i), v);
    }
    return found;
}

static bool apply_kind(checker *c, const rule *r, const json_t *v, const step *path, int depth)
{
    if (json_is_number(v)) {
        return apply_number(c, r, v, path);
    }
    if (json_is_string(v)) {
        return apply_string(c, r, v, path);
    }
    if (json_is_array(v)) {
        return apply_array(c, r, v, path, depth);
    }
    return !json_is_object(v) || apply_object(c, r, v, path, depth);
}

static bool apply(checker *c, const rule *r, const json_t *v, const step *path, int depth)
{
    char a[DESCRIBE_MAX], b[LIST_MAX];
    if (c->exhausted) {
        return false;
    }
    if (--c->visits < 0) {
        return spent(c, path);
    }
    if (depth > DEPTH_MAX) {
        return fault(c, FAULT_OTHER, path, "nested deeper than %d", DEPTH_MAX);
    }
    if (r->never) {
        return fault(c, FAULT_OTHER, path, "not allowed, found %s", describe(v, a, sizeof a));
    }
    // A value of the wrong type fails in everything else too: one fault tells it.
    if (r->types && !(types_of(v) & r->types)) {
        return fault(c, FAULT_CHOICE, path, "expected %s, found %s",
                     type_words(r->types, b, sizeof b), describe(v, a, sizeof a));
    }
    bool ok = true, same = !r->const_ || equal(c, r->const_, v);
    if (!same && c->visits <= 0) {
        return spent(c, path);
    }
    if (!same) {
        note_want(c, r->const_, path);
        ok = fault(c, FAULT_CHOICE, path, "expected %s, found %s", describe(r->const_, b, sizeof b),
                   describe(v, a, sizeof a));
    }
    if (r->enum_) {
        const bool found = is_among(c, r->enum_, v);
        if (!found && c->visits <= 0) {
            return spent(c, path);
        }
        if (!found) {
            ok = fault(c, FAULT_CHOICE, path, "expected one of %s, found %s",
                       choices(r->enum_, b, sizeof b), describe(v, a, sizeof a));
        }
    }
    ok &= apply_kind(c, r, v, path, depth);
    if (!ok && enough(c)) {
        return false;
    }
    return apply_logic(c, r, v, path, depth) && ok;
}

// ---- public -------------------------------------------------------------------------------------

int pons_schema_compile(const pons_value *schema, pons_schema **ret, pons_error *err)
{
    compiler c = {.s = calloc(1, sizeof *c.s), .err = err};
    if (!c.s) {
        return no_memory(&c);
    }
    c.s->source = pons_value_ref(schema);
    int r = compile_rule(&c, schema, "", 0, &c.s->root);
    if (r == PONS_OK) {
        r = find_refs(&c);
    }
    for (size_t i = 0; r == PONS_OK && i < c.s->n; i++) {
        r = find_loops(&c, c.s->all[i], 0);
    }
    if (r < 0) {
        pons_schema_destroy(c.s);
        return r;
    }
    *ret = c.s;
    return PONS_OK;
}

int pons_schema_shipped(const char *relative, pons_schema **ret, pons_error *err)
{
    char path[PATH_MAX];
    pons_autovalue value = NULL;
    int rc = pons_share_path(relative, path, sizeof path, err);
    rc = rc < 0 ? rc : pons_value_load(path, &value, err);
    return rc < 0 ? rc : pons_schema_compile(value, ret, err);
}

void pons_schema_destroy(pons_schema *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        rule_destroy(s->all[i]);
    }
    free(s->all);
    pons_value_unref(s->source);
    free(s);
}

typedef struct first_fault {
    pons_error *err;
    pons_buf pointer; // filled when wanted
    bool keep_pointer;
} first_fault;

static void keep_first(void *user, const char *pointer, const char *message)
{
    first_fault *f = user;
    const char *shown = pointer_end(pointer);
    pons_error_set(f->err, PONS_EINVAL, WHERE, "%s%s: %s", shown > pointer ? "…" : "",
                   *shown ? shown : "/", message);
    if (f->keep_pointer) {
        pons_buf_str(&f->pointer, pointer);
    }
}

static bool run(const pons_schema *s, const pons_value *v, size_t max, pons_schema_fault_fn fn,
                void *user)
{
    checker c = {
        .fn = fn, .user = user, .reported_max = max, .visits = VISITS_MAX, .patience = PATIENCE};
    return apply(&c, s->root, v, NULL, 0);
}

int pons_schema_check(const pons_schema *s, const pons_value *v, pons_error *err)
{
    first_fault f = {.err = err};
    return run(s, v, 1, keep_first, &f) ? PONS_OK : PONS_EINVAL;
}

int pons_schema_faults(const pons_schema *s, const pons_value *v, pons_schema_fault_fn fn,
                       void *user)
{
    return run(s, v, FAULTS_MAX, fn, user) ? PONS_OK : PONS_EINVAL;
}

int pons_schema_check_yaml(const pons_schema *s, const pons_yaml *y, pons_error *err)
{
    first_fault f = {.err = err, .keep_pointer = true};
    const bool ok = run(s, pons_yaml_value(y), 1, keep_first, &f);
    if (!ok) {
        char source[PONS_ERROR_SOURCE_MAX];
        const char *pointer = f.pointer.data ? f.pointer.data : "";
        pons_error_source(err, "%s", pons_yaml_position(y, pointer, source, sizeof source));
    }
    pons_buf_fini(&f.pointer);
    return ok ? PONS_OK : PONS_EINVAL;
}
