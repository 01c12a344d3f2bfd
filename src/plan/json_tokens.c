// json_tokens.c - strict JSON as a flat array of nodes.
//
// A plan is read once and most of it is copied as it stands, so its text is not made into a tree of
// values: one pass writes a node for every token, 32 bytes each, in the order of the text; a node
// knows where its subtree ends, so a reader walks members without recursion. Strings without
// escapes stay in the text.
//
//     {"a": [1, "x"]}     place   0   1     2   3   4
//                         node    {1  "a"   [2  1   "x"        both subtrees end at place 5
//
// The writer of canonical text sorts the members of an object by the bytes of their keys (for
// UTF-8: by code points) and copies tokens; as a token never grows when it is made canonical, the
// room it takes is known beforehand.
#include "plan/json_tokens.h"

#include "pons/buf.h"
#include "pons/growing_list.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEPTH_MAX = 256,       // containers in each other
    BYTES_A_NODE = 10,     // first guess
    MEMBERS_ON_STACK = 32, // sorted without heap
    PIECE_BYTES = 16       // copied at once
};

typedef struct parser {
    pons__tokens *tokens;
    const char *at, *end;
    pons_error *err;
} parser;

typedef struct writer {
    pons__tokens *tokens;
    char *at;
    pons_error *err;
} writer;

static int fail_at(const parser *p, const char *at, const char *what)
{
    int line, column;
    const size_t offset = (size_t)(at - p->tokens->text);
    pons__tokens_place(p->tokens, offset, &line, &column);
    pons_error_set(p->err, PONS_EINVAL, "plan", "%s", what);
    pons_error_source(p->err, "%d:%d", line, column);
    return PONS_EINVAL;
}

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static bool grow(parser *p)
{
    pons__tokens *t = p->tokens;
    if (!pons_list_reserve(&t->nodes, &t->cap, t->cap + 1, sizeof *t->nodes)) {
        pons_error_set(p->err, PONS_ENOMEM, "plan", "out of memory");
        return false;
    }
    return true;
}

// A new node at p->at, or NULL. Pointers to nodes end here.
static inline pons__node *node_new(parser *p, pons__kind kind)
{
    pons__tokens *t = p->tokens;
    if (t->n == t->cap && !grow(p)) {
        return NULL;
    }
    pons__node *node = &t->nodes[t->n++];
    *node = (pons__node){.at = (uint32_t)(p->at - t->text), .next = (uint32_t)t->n, .kind = kind};
    return node;
}

static int hex4(const char *s, const char *end)
{
    int v = 0;
    if (end - s < 4) {
        return -1;
    }
    for (int i = 0; i < 4; i++) {
        const char c = s[i];
        const int d = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
        if (d < 0) {
            return -1;
        }
        v = v * 16 + d;
    }
    return v;
}

static char *put_utf8(char *o, uint32_t c)
{
    if (c < 0x80) {
        *o++ = (char)c;
    } else if (c < 0x800) {
        *o++ = (char)(0xc0 | c >> 6);
        *o++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *o++ = (char)(0xe0 | c >> 12);
        *o++ = (char)(0x80 | (c >> 6 & 63));
        *o++ = (char)(0x80 | (c & 63));
    } else {
        *o++ = (char)(0xf0 | c >> 18);
        *o++ = (char)(0x80 | (c >> 12 & 63));
        *o++ = (char)(0x80 | (c >> 6 & 63));
        *o++ = (char)(0x80 | (c & 63));
    }
    return o;
}

// One \uXXXX, with its second half when it is a surrogate; p->at is behind the 'u'.
static int decode_unicode(parser *p, char **o)
{
    int c = hex4(p->at, p->end);
    if (c < 0) {
        return fail_at(p, p->at - 2, "\\u wants four hexadecimal digits");
    }
    if (c == 0) {
        return fail_at(p, p->at - 2, "a zero character in a string");
    }
    if (c >= 0xdc00 && c <= 0xdfff) {
        return fail_at(p, p->at - 2, "half of a surrogate pair");
    }
    if (c >= 0xd800 && c <= 0xdbff) {
        const bool more = p->end - p->at >= 10 && p->at[4] == '\\' && p->at[5] == 'u';
        const int low = more ? hex4(p->at + 6, p->end) : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            return fail_at(p, p->at - 2, "half of a surrogate pair");
        }
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        p->at += 6;
    }
    p->at += 4;
    *o = put_utf8(*o, (uint32_t)c);
    return PONS_OK;
}

// The rest of a string from its first escape on; what stands before is checked already.
static int decode(parser *p, const char *from, pons__node *node)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *quote = p->at;
    while (quote < p->end && *quote != '"') {
        quote += *quote == '\\' && quote + 1 < p->end ? 2 : 1;
    }
    char *const out = pons_pool_take(&p->tokens->strings, (size_t)(quote - from) + 1);
    if (!out) {
        return pons_error_set(p->err, PONS_ENOMEM, "plan", "out of memory");
    }
    memcpy(out, from, (size_t)(p->at - from));
    char *o = out + (p->at - from);
    while (p->at < p->end && *p->at != '"') {
        if (*p->at == '\\') {
            const char *letter = p->at + 1 < p->end && p->at[1] ? strchr(letters, p->at[1]) : NULL;
            p->at += 2;
            if (letter) {
                *o++ = bytes[letter - letters];
            } else if (p->at <= p->end && p->at[-1] == 'u') {
                const int rc = decode_unicode(p, &o);
                if (rc < 0) {
                    return rc;
                }
            } else {
                return fail_at(p, p->at - 2, "not an escape that JSON has");
            }
            continue;
        }
        if ((unsigned char)*p->at < 0x20) {
            return fail_at(p, p->at, "a control character in a string");
        }
        *o++ = *p->at++;
    }
    if (p->at >= p->end) {
        return fail_at(p, from - 1, "this string has no end");
    }
    p->at++;
    node->s = out;
    node->len = (uint32_t)(o - out);
    return PONS_OK;
}

// A string that has something else than plain bytes and its end; p->at is at that.
static int odd_string(parser *p, const char *start, pons__node *node)
{
    if (p->at == p->end) {
        return fail_at(p, start - 1, "this string has no end");
    }
    return *p->at == '\\' ? decode(p, start, node)
                          : fail_at(p, p->at, "a control character in a string");
}

// The two tokens that most of a text consists of, at *at; a cursor of its own stays in a register.
static inline int string_token(parser *p, const char **cursor)
{
    const char *at = *cursor;
    p->at = at;
    pons__node *node = node_new(p, PONS__STRING);
    if (!node) {
        return PONS_ENOMEM;
    }
    const char *start = ++at;
    at += pons__plain_length(at, (size_t)(p->end - at));
    if (at < p->end && *at == '"') {
        node->s = start;
        node->len = (uint32_t)(at++ - start);
        node->plain = true;
        *cursor = at;
        return PONS_OK;
    }
    p->at = at;
    const int rc = odd_string(p, start, node);
    *cursor = p->at;
    return rc;
}

static inline const char *past_blanks(const char *at, const char *end)
{
    while (at < end && (unsigned char)*at <= ' ' && is_blank(*at)) {
        at++;
    }
    return at;
}

static bool digits(parser *p)
{
    const char *start = p->at;
    while (p->at < p->end && *p->at >= '0' && *p->at <= '9') {
        p->at++;
    }
    return p->at > start;
}

static int number(parser *p)
{
    const char *start = p->at;
    const char first = *start == '-' && start + 1 < p->end ? start[1] : *start;
    if (first < '0' || first > '9') {
        return fail_at(p, start, "not a JSON value");
    }
    pons__node *node = node_new(p, PONS__NUMBER);
    if (!node) {
        return PONS_ENOMEM;
    }
    p->at += *start == '-';
    digits(p);
    if (first == '0' && p->at - start > 1 + (*start == '-')) {
        return fail_at(p, start, "a number with zeros in front");
    }
    node->integer = true;
    if (p->at < p->end && *p->at == '.') {
        node->integer = false;
        p->at++;
        if (!digits(p)) {
            return fail_at(p, start, "a number that ends with its point");
        }
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        node->integer = false;
        p->at++;
        p->at += p->at < p->end && (*p->at == '+' || *p->at == '-');
        if (!digits(p)) {
            return fail_at(p, start, "a number without its exponent");
        }
    }
    node->s = start;
    node->len = (uint32_t)(p->at - start);
    return PONS_OK;
}

// A value that is neither a string nor a container.
static int plain_value(parser *p, const char **cursor)
{
    static const struct {
        const char *word;
        size_t len;
        pons__kind kind;
    } words[] = {{"true", 4, PONS__TRUE}, {"false", 5, PONS__FALSE}, {"null", 4, PONS__NULL}};
    p->at = *cursor;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (*p->at != words[i].word[0]) {
            continue;
        }
        if ((size_t)(p->end - p->at) < words[i].len ||
            memcmp(p->at, words[i].word, words[i].len) != 0) {
            return fail_at(p, p->at, "not a JSON value");
        }
        if (!node_new(p, words[i].kind)) {
            return PONS_ENOMEM;
        }
        *cursor += words[i].len;
        return PONS_OK;
    }
    const int rc = number(p);
    *cursor = p->at;
    return rc;
}

// `"key" :` and the blanks behind.
static inline int key_token(parser *p, const char **cursor)
{
    if (*cursor == p->end || **cursor != '"') {
        return fail_at(p, *cursor, "a key in double quotes should stand here");
    }
    const int rc = string_token(p, cursor);
    if (rc < 0) {
        return rc;
    }
    *cursor = past_blanks(*cursor, p->end);
    if (*cursor == p->end || **cursor != ':') {
        return fail_at(p, *cursor, "a colon should stand here");
    }
    *cursor = past_blanks(*cursor + 1, p->end);
    return PONS_OK;
}

static char closer_of(bool object)
{
    return object ? '}' : ']';
}

// One pass, one loop. A container that is open is on the stack by its node's index; its len counts
// as its members come.
static int parse(parser *p)
{
    pons__tokens *const t = p->tokens;
    const char *const end = p->end, *at = past_blanks(p->at, end);
    size_t open[DEPTH_MAX], depth = 0;
    bool object = false; // the innermost container
    int rc;
member:
    rc = object ? key_token(p, &at) : PONS_OK;
    if (rc < 0) {
        return rc;
    }
    if (at == end) {
        return fail_at(p, at, "the text ends where a value should begin");
    }
    if (*at == '"') {
        rc = string_token(p, &at);
    } else if (*at == '{' || *at == '[') {
        if (depth == DEPTH_MAX) {
            return fail_at(p, at, "nested deeper than 256");
        }
        object = *at == '{';
        open[depth++] = t->n;
        p->at = at;
        if (!node_new(p, object ? PONS__OBJECT : PONS__ARRAY)) {
            return PONS_ENOMEM;
        }
        at = past_blanks(at + 1, end);
        if (at < end && *at == closer_of(object)) {
            goto close;
        }
        goto member;
    } else {
        rc = plain_value(p, &at);
    }
    if (rc < 0) {
        return rc;
    }
after:
    if (depth == 0) {
        p->at = at;
        return PONS_OK;
    }
    t->nodes[open[depth - 1]].len++;
    at = past_blanks(at, end);
    if (at < end && *at == ',') {
        at = past_blanks(at + 1, end);
        goto member;
    }
    if (at == end || *at != closer_of(object)) {
        return fail_at(
            p, at, object ? "a comma or } should stand here" : "a comma or ] should stand here");
    }
close:;
    pons__node *node = &t->nodes[open[--depth]];
    node->s = at++;
    node->next = (uint32_t)t->n;
    object = depth > 0 && t->nodes[open[depth - 1]].kind == PONS__OBJECT;
    goto after;
}

int pons__tokens_parse(pons__tokens *t, const char *text, size_t len, pons_error *err)
{
    parser p = {.tokens = t, .at = text, .end = text + len, .err = err};
    t->text = text;
    t->len = len;
    if (!t->places.text) {
        t->places = (pons__places){.text = text, .len = len};
    }
    t->n = 0;
    if (!t->nodes) {
        t->cap = len / BYTES_A_NODE + 16;
        t->nodes = malloc(t->cap * sizeof *t->nodes);
        if (!t->nodes) {
            return pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
        }
    }
    // The whole text at once, so that a string need not look at each of its bytes again.
    for (size_t i = pons__ascii_length(text, len); i < len;) {
        const size_t n = pons_utf8_sequence(text + i, len - i);
        if (n == 0) {
            return fail_at(&p, text + i, "not UTF-8");
        }
        i += n;
        i += pons__ascii_length(text + i, len - i);
    }
    const int rc = parse(&p);
    if (rc < 0) {
        return rc;
    }
    while (p.at < p.end && is_blank(*p.at)) {
        p.at++;
    }
    return p.at < p.end ? fail_at(&p, p.at, "text after the end of the JSON value") : PONS_OK;
}

void pons__tokens_fini(pons__tokens *t)
{
    free(t->nodes);
    pons_pool_fini(&t->strings);
    *t = (pons__tokens){0};
}

void pons__places_find(pons__places *p, size_t at, int *ret_line, int *ret_column)
{
    if (p->line == 0 || at < p->at) {
        p->line = 1;
        p->at = p->start = 0;
    }
    for (; p->at < at && p->at < p->len; p->at++) {
        if (p->text[p->at] == '\n') {
            p->line++;
            p->start = p->at + 1;
        }
    }
    *ret_line = p->line;
    *ret_column = (int)(at - p->start) + 1;
}

size_t pons__tokens_given(const pons__tokens *t, size_t at)
{
    if (!t->marks) {
        return at;
    }
    size_t low = 0, high = t->n_marks; // the last mark at or before `at`
    while (low < high) {
        const size_t mid = (low + high) / 2;
        if (t->marks[mid].out <= at) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low > 0 ? t->marks[low - 1].in : 0;
}

void pons__tokens_place(pons__tokens *t, size_t at, int *ret_line, int *ret_column)
{
    pons__places_find(&t->places, pons__tokens_given(t, at), ret_line, ret_column);
}

const pons__node *pons__tokens_get(const pons__tokens *t, const pons__node *object, const char *key)
{
    if (!object || object->kind != PONS__OBJECT) {
        return NULL;
    }
    const size_t len = strlen(key);
    const pons__node *k = object + 1;
    for (uint32_t i = 0; i < object->len; i++) {
        if (k->len == len && memcmp(k->s, key, len) == 0) {
            return k + 1;
        }
        k = &t->nodes[k[1].next];
    }
    return NULL;
}

// ---- canonical text -----------------------------------------------------------------------------

// Copies n bytes of the tape's text. Most pieces are short: one copy of a fixed size, for which
// there is always room behind what is written, and mostly behind what is read.
static inline void copy_piece(writer *w, const char *s, size_t n)
{
    if (n <= PIECE_BYTES && s >= w->tokens->text &&
        s + PIECE_BYTES <= w->tokens->text + w->tokens->len) {
        memcpy(w->at, s, PIECE_BYTES);
    } else {
        memcpy(w->at, s, n);
    }
    w->at += n;
}

static int put_object(writer *w, const pons__node *v);

static int put(writer *w, const pons__node *v)
{
    switch (v->kind) {
    case PONS__NULL:
        memcpy(w->at, "null", 4);
        w->at += 4;
        return PONS_OK;
    case PONS__TRUE:
        memcpy(w->at, "true", 4);
        w->at += 4;
        return PONS_OK;
    case PONS__FALSE:
        memcpy(w->at, "false", 5);
        w->at += 5;
        return PONS_OK;
    case PONS__NUMBER:
        copy_piece(w, v->s, v->len);
        return PONS_OK;
    case PONS__STRING:
        if (v->plain) {
            *w->at++ = '"';
            copy_piece(w, v->s, v->len);
            *w->at++ = '"';
        } else {
            w->at = pons__put_string(w->at, v->s, v->len);
        }
        return PONS_OK;
    case PONS__OBJECT:
        return put_object(w, v);
    default:
        break;
    }
    *w->at++ = '[';
    const pons__node *child = v + 1;
    for (uint32_t i = 0; i < v->len; i++) {
        if (i > 0) {
            *w->at++ = ',';
        }
        const int rc = put(w, child);
        if (rc < 0) {
            return rc;
        }
        child = &w->tokens->nodes[child->next];
    }
    *w->at++ = ']';
    return PONS_OK;
}

int pons__tokens_canonical(pons__tokens *t, const pons__node *v, pons_pool *arena, const char **ret,
                           pons_error *err)
{
    const char *last = v->kind == PONS__ARRAY || v->kind == PONS__OBJECT ? v->s : NULL;
    const size_t room = last ? (size_t)(last - (t->text + v->at)) + 1 : 6 * (size_t)v->len + 8;
    char *out = pons_pool_take(arena, room + 1 + PIECE_BYTES);
    if (!out) {
        return pons_error_set(err, PONS_ENOMEM, "plan", "out of memory");
    }
    writer w = {.tokens = t, .at = out, .err = err};
    const int rc = put(&w, v);
    if (rc < 0) {
        return rc;
    }
    *w.at++ = '\0';
    pons_pool_trim(arena, out, room + 1 + PIECE_BYTES, (size_t)(w.at - out));
    *ret = out;
    return PONS_OK;
}

static int by_key(const void *a, const void *b)
{
    const pons__node *x = *(const pons__node *const *)a, *y = *(const pons__node *const *)b;
    if (x->len && y->len && x->s[0] != y->s[0]) { // mostly told by the first byte
        return (unsigned char)x->s[0] < (unsigned char)y->s[0] ? -1 : 1;
    }
    const int c = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

static void sort_keys(const pons__node **keys, size_t n)
{
    if (n > MEMBERS_ON_STACK) {
        qsort(keys, n, sizeof(const pons__node *), by_key);
        return;
    }
    for (size_t i = 1; i < n; i++) { // few and mostly in order already
        const pons__node *k = keys[i];
        size_t j = i;
        for (; j > 0 && by_key(&keys[j - 1], &k) > 0; j--) {
            keys[j] = keys[j - 1];
        }
        keys[j] = k;
    }
}

static int twice(const writer *w, const pons__node *key)
{
    int line, column;
    pons__tokens_place(w->tokens, key->at, &line, &column);
    pons_error_set(w->err, PONS_EINVAL, "plan", "the key \"%.*s\" is there twice", (int)key->len,
                   key->s);
    pons_error_source(w->err, "%d:%d", line, column);
    return PONS_EINVAL;
}

static int put_object(writer *w, const pons__node *v)
{
    const pons__node *on_stack[MEMBERS_ON_STACK], **keys = on_stack;
    if (v->len > MEMBERS_ON_STACK) {
        keys = malloc(v->len * sizeof(const pons__node *));
        if (!keys) {
            return pons_error_set(w->err, PONS_ENOMEM, "plan", "out of memory");
        }
    }
    const pons__node *k = v + 1;
    for (uint32_t i = 0; i < v->len; i++) {
        keys[i] = k;
        k = &w->tokens->nodes[k[1].next];
    }
    sort_keys(keys, v->len);
    int rc = PONS_OK;
    *w->at++ = '{';
    for (uint32_t i = 0; rc >= 0 && i < v->len; i++) {
        if (i > 0 && by_key(&keys[i - 1], &keys[i]) == 0) {
            rc = twice(w, keys[i - 1]->at > keys[i]->at ? keys[i - 1] : keys[i]);
            break;
        }
        if (i > 0) {
            *w->at++ = ',';
        }
        rc = put(w, keys[i]);
        *w->at++ = ':';
        rc = rc < 0 ? rc : put(w, keys[i] + 1);
    }
    *w->at++ = '}';
    if (keys != on_stack) {
        free(keys);
    }
    return rc;
}

char *pons__put_string(char *p, const char *s, size_t len)
{
    static const char hex[] = "0123456789abcdef", shorts[] = "btn\0fr"; // from 8 on
    const char *const end = s + len;
    *p++ = '"';
    while (s < end) {
        const size_t n = pons__plain_length(s, (size_t)(end - s));
        memcpy(p, s, n);
        p += n;
        s += n;
        if (s == end) {
            break;
        }
        const unsigned char c = (unsigned char)*s++;
        if (c == '"' || c == '\\') {
            *p++ = '\\';
            *p++ = (char)c;
        } else if (c >= '\b' && c <= '\r' && shorts[c - '\b']) {
            *p++ = '\\';
            *p++ = shorts[c - '\b'];
        } else {
            *p++ = '\\';
            *p++ = 'u';
            *p++ = '0';
            *p++ = '0';
            *p++ = hex[c >> 4];
            *p++ = hex[c & 15];
        }
    }
    *p++ = '"';
    return p;
}

// What Python's str.isspace has.
static bool is_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

bool pons__is_blank(const char *s)
{
    if (!s) {
        return true;
    }
    const unsigned char *u = (const unsigned char *)s;
    while (*u) {
        uint32_t c = *u;
        size_t n = 1;
        if (c >= 0xe0 && c < 0xf0 && u[1] && u[2]) {
            c = (c & 15) << 12 | (uint32_t)(u[1] & 63) << 6 | (u[2] & 63);
            n = 3;
        } else if (c >= 0xc0 && c < 0xe0 && u[1]) {
            c = (c & 31) << 6 | (u[1] & 63);
            n = 2;
        }
        if (!is_space(c)) {
            return false;
        }
        u += n;
    }
    return true;
}
