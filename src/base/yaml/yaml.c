// yaml.c - YAML 1.2 to values, and where in the text each node stands.
//
// libfyaml gives events; this file makes of them a value and a flat list of positions. The list is
// in pre-order: a node, then its children's subtrees one after another, each node knowing how many
// entries its subtree takes. jansson keeps an object's members in the order of insertion, so a JSON
// pointer is followed by walking value and list together, and a position costs 12 bytes.
//
//     zones:          [0] 1:1 size 4      (the mapping starts at its first key)
//       - id: a       [1] 2:3 size 3      /zones
//                     [2] 2:5 size 2      /zones/0
//                     [3] 2:9 size 1      /zones/0/id
//
// Plain scalars follow the core schema of YAML 1.2 (chapter 10.3): null, true, 12, 0x1f, 1.5; the
// words of YAML 1.1 (yes, off, 12:30) are strings. What JSON can't hold is refused, never bent:
// .nan, .inf, integers beyond 64 bits, a zero character, keys that are not scalars.
#include "pons/yaml.h"

#include "base/text/utf8.h"
#include "base/yaml/yaml_events.h"
#include "pons/buf.h"
#include "pons/file.h"
#include "pons/growing_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE           "yaml" // in errors
#define SECOND_DOCUMENT "more than one document"
#define TAG_PREFIX      "tag:yaml.org,2002:"
#define SIZE_MAX_YAML   ((size_t)4 << 20) // bytes of a text

enum {
    DEPTH_MAX = 64,   // collections in each other
    NODES_FIRST = 64, // entries of the first allocation of positions
    QUOTE_MAX = 60    // bytes of a text that a message quotes
};

typedef struct node {
    uint32_t line, column; // from 1; column in characters
    uint32_t size;         // entries of the subtree, itself included
} node;

struct pons_yaml {
    char *name;
    json_t *value;
    node *nodes; // pre-order; [0] is the root
    size_t n, cap;
};

typedef struct frame { // a collection that is being read
    json_t *container; // borrowed: its parent, or the document, holds it
    size_t node;       // its index in nodes
    pons_buf key;      // of the member whose value comes next
    bool has_key;
    uint32_t key_line, key_column;
} frame;

typedef struct builder {
    pons_yaml *y;
    frame frames[DEPTH_MAX];
    int depth;     // frames in use
    int documents; // begun
    bool done;     // the first one ended
    pons_error *err;
} builder;

typedef pons__span span;

// ---- failures -----------------------------------------------------------------------------------

// The position of an event, from 1. An event without a mark of its own (an empty value) stands
// where its key does.
static void position(const builder *b, struct fy_event *ev, uint32_t *line, uint32_t *column)
{
    const struct fy_mark *mark = fy_event_start_mark(ev);
    const frame *f = b->depth > 0 ? &b->frames[b->depth - 1] : NULL;
    *line = *column = 1;
    if (mark && mark->line >= 0 && mark->column >= 0) {
        *line = (uint32_t)mark->line + 1;
        *column = (uint32_t)mark->column + 1;
        // libfyaml's mark of a quoted scalar stands behind the quote.
        if (*column > 1 && pons__yaml_quoted(ev)) {
            --*column;
        }
    } else if (f && f->has_key) {
        *line = f->key_line;
        *column = f->key_column;
    } else if (b->y->n > 0) {
        *line = b->y->nodes[b->y->n - 1].line;
        *column = b->y->nodes[b->y->n - 1].column;
    }
}

static char *write_position(const pons_yaml *y, uint32_t line, uint32_t column, char *buf,
                            size_t cap)
{
    char tail[32];
    const int tail_len = snprintf(tail, sizeof tail, ":%u:%u", line, column);
    const size_t len = strlen(y->name);
    // Line and column are what people need: of a name that does not fit, the end is kept.
    size_t skip = 0;
    if (len + (size_t)tail_len >= cap && (size_t)tail_len < cap) {
        skip = len + (size_t)tail_len + 1 - cap;
    }
    while (skip > 0 && skip < len && ((unsigned char)y->name[skip] & 0xc0) == 0x80) {
        skip++;
    }
    snprintf(buf, cap, "%s%s", y->name + skip, tail);
    return buf;
}

__attribute__((format(printf, 5, 6))) static int
refuse_at(const pons_yaml *y, uint32_t line, uint32_t column, pons_error *err, const char *fmt, ...)
{
    char message[PONS_ERROR_MESSAGE_MAX], source[PONS_ERROR_SOURCE_MAX];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(message, sizeof message, fmt, ap);
    va_end(ap);
    pons_error_set(err, PONS_EINVAL, WHERE, "%s", message);
    pons_error_source(err, "%s", write_position(y, line, column, source, sizeof source));
    return PONS_EINVAL;
}

__attribute__((format(printf, 3, 4))) static int refuse(builder *b, struct fy_event *ev,
                                                        const char *fmt, ...)
{
    char message[PONS_ERROR_MESSAGE_MAX];
    va_list ap;
    va_start(ap, fmt);
    pons__format_line(message, sizeof message, fmt, ap);
    va_end(ap);
    uint32_t line, column;
    position(b, ev, &line, &column);
    return refuse_at(b->y, line, column, b->err, "%s", message);
}

static int no_memory(pons_error *err)
{
    return pons_error_set(err, PONS_ENOMEM, WHERE, "out of memory");
}

// ---- positions ----------------------------------------------------------------------------------

// The entry of an object's member, 0 when it has none of that name; *ret is the member.
static size_t member_node(const pons_yaml *y, json_t *obj, size_t at, const char *key, size_t len,
                          json_t **ret)
{
    json_t *found = json_object_getn(obj, key, len);
    if (!found) {
        return 0;
    }
    size_t next = at + 1;
    for (void *it = json_object_iter(obj); it; it = json_object_iter_next(obj, it)) {
        if (json_object_iter_value(it) == found && json_object_iter_key_len(it) == len &&
            memcmp(json_object_iter_key(it), key, len) == 0) {
            break;
        }
        next += y->nodes[next].size;
    }
    *ret = found;
    return next;
}

// ---- reading ------------------------------------------------------------------------------------

// 0 or -errno.
// Size and encoding, before the parser sees the text.
static int check_text(const pons_yaml *y, const char *text, size_t len, pons_error *err)
{
    uint32_t line = 1, column = 1;
    if (len > SIZE_MAX_YAML) {
        return refuse_at(y, 1, 1, err, "larger than %zu MiB", SIZE_MAX_YAML >> 20);
    }
    for (size_t i = 0; i < len;) {
        const size_t n = pons_utf8_sequence(text + i, len - i);
        if (n == 0) {
            return refuse_at(y, line, column, err, "not UTF-8: byte 0x%02x", (uint8_t)text[i]);
        }
        if (text[i] == '\0') {
            return refuse_at(y, line, column, err, "a zero byte");
        }
        column++;
        if (text[i] == '\n') {
            line++;
            column = 1;
        }
        i += n;
    }
    const char *slow = pons__yaml_slow(text, len, &line);
    return slow ? refuse_at(y, line, 1, err, "%s", slow) : PONS_OK;
}

static int take_document(builder *b, struct fy_event *ev)
{
    struct fy_document_state *state = ev->document_start.document_state;
    const struct fy_version *version = fy_document_state_version(state);
    if (b->documents++ > 0) {
        return ev->document_start.implicit ? PONS_OK : refuse(b, ev, SECOND_DOCUMENT);
    }
    if (version && fy_document_state_version_explicit(state) &&
        (version->major != 1 || version->minor != 2)) {
        return refuse(b, ev, "YAML %d.%d; only YAML 1.2 is supported", version->major,
                      version->minor);
    }
    return PONS_OK;
}

static int quote_len(span t)
{
    return (int)(t.len <= QUOTE_MAX ? t.len : pons__utf8_cut(t.s, QUOTE_MAX));
}

// Puts a value, which it takes, where the next one belongs, and notes its position.
static int attach(builder *b, json_t *v, uint32_t line, uint32_t column)
{
    pons_yaml *y = b->y;
    if (!pons_list_reserve(&y->nodes, &y->cap, y->n + 1, sizeof *y->nodes)) {
        json_decref(v);
        return no_memory(b->err);
    }
    int r = 0;
    if (b->depth == 0) {
        y->value = v;
    } else {
        frame *f = &b->frames[b->depth - 1];
        if (json_is_array(f->container)) {
            r = json_array_append_new(f->container, v);
        } else {
            r = json_object_setn_new(f->container, f->key.data, f->key.len, v);
        }
        f->has_key = false;
    }
    if (r != 0) {
        return no_memory(b->err);
    }
    y->nodes[y->n++] = (node){.line = line, .column = column, .size = 1};
    return PONS_OK;
}

static int take_collection(builder *b, struct fy_event *ev, json_t *container)
{
    if (!container) {
        return no_memory(b->err);
    }
    const span tag = pons__yaml_text(fy_event_get_tag_token(ev));
    const char *expected = json_is_object(container) ? TAG_PREFIX "map" : TAG_PREFIX "seq";
    const bool in_mapping = b->depth > 0 && json_is_object(b->frames[b->depth - 1].container);
    int r = PONS_OK;
    if (in_mapping && !b->frames[b->depth - 1].has_key) {
        r = refuse(b, ev, "a key must be a scalar");
    } else if (tag.len && !pons__span_same(tag, expected) && !pons__span_same(tag, "!")) {
        r = refuse(b, ev, "unsupported tag '%.*s'", quote_len(tag), tag.s);
    } else if (b->depth == DEPTH_MAX) {
        r = refuse(b, ev, "nested deeper than %d", DEPTH_MAX);
    }
    if (r < 0) {
        json_decref(container);
        return r;
    }
    uint32_t line, column;
    position(b, ev, &line, &column);
    r = attach(b, container, line, column);
    if (r < 0) {
        return r;
    }
    frame *f = &b->frames[b->depth++];
    f->container = container;
    f->node = b->y->n - 1;
    f->has_key = false;
    return PONS_OK;
}

static int take_key(builder *b, struct fy_event *ev, span text)
{
    frame *f = &b->frames[b->depth - 1];
    const span tag = pons__yaml_text(ev->scalar.tag);
    const bool plain = fy_token_scalar_style(ev->scalar.value) == FYSS_PLAIN;
    if (tag.len && !pons__span_same(tag, TAG_PREFIX "str") && !pons__span_same(tag, "!")) {
        return refuse(b, ev, "unsupported tag '%.*s' on a key", quote_len(tag), tag.s);
    }
    if (plain && text.len == 0) {
        return refuse(b, ev, "an empty key");
    }
    if (plain && pons__span_same(text, "<<")) {
        return refuse(b, ev, "merge keys are not supported");
    }
    json_t *first = NULL;
    const size_t at = member_node(b->y, f->container, f->node, text.s, text.len, &first);
    if (at) {
        return refuse(b, ev, "duplicate key '%.*s', first at line %u", quote_len(text), text.s,
                      b->y->nodes[at].line);
    }
    pons_buf_clear(&f->key);
    if (pons_buf_bytes(&f->key, text.s, text.len) < 0) {
        return no_memory(b->err);
    }
    position(b, ev, &f->key_line, &f->key_column);
    f->has_key = true;
    return PONS_OK;
}

static int make_int(builder *b, struct fy_event *ev, span t, int base, json_t **ret)
{
    if (!pons__yaml_int(t, base, ret)) {
        return refuse(b, ev, "integer out of range: %.*s", quote_len(t), t.s);
    }
    return PONS_OK;
}

static int make_float(builder *b, struct fy_event *ev, span t, json_t **ret)
{
    if (!pons__yaml_float(t, ret)) {
        return refuse(b, ev, "number out of range: %.*s", quote_len(t), t.s);
    }
    return PONS_OK;
}

// Resolves a scalar by its look, or holds it to its tag.
static int make_plain(builder *b, struct fy_event *ev, span text, span tag, json_t **ret)
{
    const bool any = tag.len == 0;
    const bool real = pons__span_same(tag, TAG_PREFIX "float");
    const int base = pons__yaml_int_base(text);
    if ((any || pons__span_same(tag, TAG_PREFIX "null")) && pons__yaml_is_null(text)) {
        *ret = json_null();
    } else if ((any || pons__span_same(tag, TAG_PREFIX "bool")) &&
               (pons__yaml_is_true(text) || pons__yaml_is_false(text))) {
        *ret = json_boolean(pons__yaml_is_true(text));
    } else if ((any || pons__span_same(tag, TAG_PREFIX "int")) && base) {
        return make_int(b, ev, text, base, ret);
    } else if ((any || real) && pons__yaml_is_float(text)) {
        return make_float(b, ev, text, ret);
    } else if ((any || real) && pons__yaml_is_not_finite(text)) {
        return refuse(b, ev, "%.*s is not a number that JSON can hold", quote_len(text), text.s);
    } else if (any) {
        *ret = json_stringn(text.s, text.len);
    } else if (tag.len > strlen(TAG_PREFIX) &&
               pons__span_one_of(tag, (const char *const[]){TAG_PREFIX "null", TAG_PREFIX "bool",
                                                            TAG_PREFIX "int", TAG_PREFIX "float",
                                                            NULL})) {
        return refuse(b, ev, "'%.*s' is not of type %.*s", quote_len(text), text.s,
                      (int)(tag.len - strlen(TAG_PREFIX)), tag.s + strlen(TAG_PREFIX));
    } else {
        return refuse(b, ev, "unsupported tag '%.*s'", quote_len(tag), tag.s);
    }
    return PONS_OK;
}

static int make_scalar(builder *b, struct fy_event *ev, span text, json_t **ret)
{
    const span tag = pons__yaml_text(ev->scalar.tag);
    const bool plain = fy_token_scalar_style(ev->scalar.value) == FYSS_PLAIN || !ev->scalar.value;
    int r = PONS_OK;
    if (pons__span_same(tag, TAG_PREFIX "str") || pons__span_same(tag, "!") ||
        (!tag.len && !plain)) {
        *ret = json_stringn(text.s, text.len);
    } else {
        r = make_plain(b, ev, text, tag, ret);
    }
    if (r == PONS_OK && !*ret) {
        r = no_memory(b->err);
    }
    return r;
}

static int take_scalar(builder *b, struct fy_event *ev)
{
    const span text = pons__yaml_text(ev->scalar.value);
    frame *f = b->depth > 0 ? &b->frames[b->depth - 1] : NULL;
    if (memchr(text.s, '\0', text.len)) {
        return refuse(b, ev, "a zero character in a string");
    }
    if (f && json_is_object(f->container) && !f->has_key) {
        return take_key(b, ev, text);
    }
    json_t *v = NULL;
    const int r = make_scalar(b, ev, text, &v);
    if (r < 0) {
        return r;
    }
    uint32_t line, column;
    position(b, ev, &line, &column);
    return attach(b, v, line, column);
}

static int take_event(void *user, struct fy_event *ev)
{
    builder *b = user;
    // A document without "---" has no mark of its own; its first node has.
    if (b->done && b->documents > 1 && ev->type != FYET_DOCUMENT_START) {
        return refuse(b, ev, SECOND_DOCUMENT);
    }
    if (fy_event_get_anchor_token(ev) && ev->type != FYET_ALIAS) {
        return refuse(b, ev, "anchors are not supported");
    }
    switch (ev->type) {
    case FYET_DOCUMENT_START:
        return take_document(b, ev);
    case FYET_MAPPING_START:
        return take_collection(b, ev, json_object());
    case FYET_SEQUENCE_START:
        return take_collection(b, ev, json_array());
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END: {
        const frame *f = &b->frames[--b->depth];
        b->y->nodes[f->node].size = (uint32_t)(b->y->n - f->node);
        return PONS_OK;
    }
    case FYET_SCALAR:
        return take_scalar(b, ev);
    case FYET_ALIAS:
        return refuse(b, ev, "aliases are not supported");
    case FYET_DOCUMENT_END:
        b->done = true;
        return PONS_OK;
    default:
        return PONS_OK;
    }
}

static int refuse_text(void *user, uint32_t line, uint32_t column, const char *why)
{
    const builder *b = user;
    return refuse_at(b->y, line, column, b->err, "%s", why);
}

static int build(builder *b, const char *text, size_t len)
{
    const pons__yaml_reader reader = {.take = take_event, .refuse = refuse_text, .user = b};
    int r = pons__yaml_events(text, len, &reader);
    if (r == PONS_OK && !b->done) {
        r = refuse_at(b->y, 1, 1, b->err, "no document: the text is empty");
    }
    for (int i = 0; i < DEPTH_MAX; i++) {
        pons_buf_fini(&b->frames[i].key);
    }
    return r == PONS_ENOMEM ? no_memory(b->err) : r;
}

// ---- public -------------------------------------------------------------------------------------

int pons_yaml_parse(const char *text, size_t len, const char *name, pons_yaml **ret,
                    pons_error *err)
{
    pons_yaml *y = calloc(1, sizeof *y);
    builder *b = calloc(1, sizeof *b);
    int r = PONS_ENOMEM;
    if (!y || !b || !(y->name = strdup(name))) {
        no_memory(err);
        goto out;
    }
    *b = (builder){.y = y, .err = err};
    r = check_text(y, text, len, err);
    if (r == PONS_OK) {
        r = build(b, text, len);
    }
    if (r == PONS_OK) {
        *ret = y;
        y = NULL;
    }
out:
    free(b);
    pons_yaml_destroy(y);
    return r;
}

int pons_yaml_load(const char *path, pons_yaml **ret, pons_error *err)
{
    size_t n = 0;
    char *text = pons_file_text(path, SIZE_MAX_YAML, &n); // one byte more is the parser's to tell
    if (!text) {
        const int why = errno;
        const int status = why == ENOENT || why == ENOTDIR ? PONS_ENOTFOUND : PONS_EIO;
        if (why == ENOMEM) {
            return no_memory(err);
        }
        pons_error_set(err, status, WHERE, "cannot read the file");
        pons_error_source(err, "%s", path);
        pons_error_cause(err, "%s", pons_file_why(why));
        return status;
    }
    const int rc = pons_yaml_parse(text, n, path, ret, err);
    free(text);
    return rc;
}

void pons_yaml_destroy(pons_yaml *y)
{
    if (!y) {
        return;
    }
    pons_value_unref(y->value);
    free(y->nodes);
    free(y->name);
    free(y);
}

const pons_value *pons_yaml_value(const pons_yaml *y)
{
    return y->value;
}

// One step of a JSON pointer (RFC 6901) unescaped into key, which is as long as the pointer.
// Returns what follows the step.
static const char *pointer_step(const char *pointer, char *key)
{
    const char *p = pointer + 1; // after '/'
    while (*p && *p != '/') {
        if (p[0] == '~' && (p[1] == '0' || p[1] == '1')) {
            *key++ = p[1] == '0' ? '~' : '/';
            p += 2;
        } else {
            *key++ = *p++;
        }
    }
    *key = '\0';
    return p;
}

// The entry of the node that the pointer names, or of its nearest known ancestor.
static size_t find_node(const pons_yaml *y, const char *pointer, char *key)
{
    json_t *v = y->value;
    size_t at = 0;
    while (*pointer == '/') {
        pointer = pointer_step(pointer, key);
        size_t next = 0; // the root is nobody's child: 0 is "not found"
        if (json_is_object(v)) {
            next = member_node(y, v, at, key, strlen(key), &v);
        } else if (json_is_array(v) && *key && strspn(key, "0123456789") == strlen(key)) {
            const size_t i = strtoul(key, NULL, 10);
            if (i < json_array_size(v)) {
                next = at + 1;
                for (size_t skip = 0; skip < i; skip++) {
                    next += y->nodes[next].size;
                }
                v = json_array_get(v, i);
            }
        }
        if (!next) {
            break;
        }
        at = next;
    }
    return at;
}

char *pons_yaml_position(const pons_yaml *y, const char *pointer, char *buf, size_t cap)
{
    char *key = malloc(strlen(pointer) + 1);
    const node *n = &y->nodes[key ? find_node(y, pointer, key) : 0];
    free(key);
    return write_position(y, n->line, n->column, buf, cap);
}

int pons_yaml_vfault(const pons_yaml *y, const char *pointer, const char *module, pons_error *err,
                     const char *fmt, va_list args)
{
    char message[PONS_ERROR_MESSAGE_MAX], where[PONS_ERROR_SOURCE_MAX];
    vsnprintf(message, sizeof message, fmt, args);
    pons_error_set(err, PONS_EINVAL, module, "%s", message);
    pons_error_source(err, "%s", pons_yaml_position(y, pointer, where, sizeof where));
    return PONS_EINVAL;
}

int pons_yaml_fault(const pons_yaml *y, const char *pointer, const char *module, pons_error *err,
                    const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const int rc = pons_yaml_vfault(y, pointer, module, err, fmt, args);
    va_end(args);
    return rc;
}
