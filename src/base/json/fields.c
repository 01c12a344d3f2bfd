// fields.c - reads, checks, writes and documents an object by a table of its members.
//
//   decode   for each field: absent or null? of its kind? within its limits? --> struct, first fault
//   encode   for each field: is it said?                                     --> object
//   describe for each field: a row
//
// A field's place in the struct is an offset, also of what lies in a group: a table of a group has
// offsets of the whole struct, so that one pointer does for all. Any thread; nothing is allocated
// by a decode.
#include "pons/fields.h"

#include "base/text/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REQUIRED PONS_FIELD_REQUIRED
#define USUAL    PONS_FIELD_USUAL
#define NULLABLE PONS_FIELD_NULLABLE
#define OPTIONAL PONS_FIELD_OPTIONAL

#define PATH_MAX_BYTES 80 // of a field's name with its groups'
#define PLAIN_MAX      1024

// What a kind is called, with its article.
static const char *const kind_words[] = {
    [PONS_FIELD_STRING] = "a string",       [PONS_FIELD_WORD] = "a word",
    [PONS_FIELD_INTEGER] = "an integer",    [PONS_FIELD_NUMBER] = "a number",
    [PONS_FIELD_BOOLEAN] = "true or false", [PONS_FIELD_OBJECT] = "an object",
    [PONS_FIELD_LIST] = "a list",           [PONS_FIELD_GROUP] = "an object",
};

typedef struct reader { // of one decode
    void *into;
    pons_field_fault *fault; // NULL: nobody asks
} reader;

// ---- describe -----------------------------------------------------------------------------------

static void limits_of(const pons_field *f, char *ret, size_t cap)
{
    static const char *const of[] = {
        [PONS_FIELD_STRING] = " bytes", [PONS_FIELD_LIST] = " items", [PONS_FIELD_GROUP] = NULL};
    ret[0] = '\0';
    if (f->kind == PONS_FIELD_WORD) {
        size_t used = (size_t)snprintf(ret, cap, ":");
        for (size_t i = 0; f->choices[i] && used < cap; i++) {
            if (*f->choices[i]) {
                used += (size_t)snprintf(ret + used, cap - used, " `%s`", f->choices[i]);
            }
        }
    } else if (f->max > 0) {
        snprintf(ret, cap, ", %" PRId64 "–%" PRId64 "%s", f->min, f->max,
                 of[f->kind] ? of[f->kind] : "");
    }
}

static int describe(const pons_field *fields, size_t n, const char *word, const char *path,
                    pons_buf *out)
{
    static const char *const uses[] = {"yes", "–", "–", "–"};
    int rc = PONS_OK;
    for (size_t i = 0; i < n && rc >= 0; i++) {
        const pons_field *f = &fields[i];
        char limits[160], inner[PATH_MAX_BYTES];
        limits_of(f, limits, sizeof limits);
        if (*f->name) {
            rc = pons_buf_printf(out, "| `%s` | `%s%s` | %s%s%s | %s | %s |\n", word, path, f->name,
                                 kind_words[f->kind], limits,
                                 f->use == NULLABLE ? " or `null`" : "", uses[f->use], f->means);
        }
        snprintf(inner, sizeof inner, "%s%s%s", path, f->name,
                 f->kind == PONS_FIELD_LIST ? "[]."
                 : *f->name                 ? "."
                                            : "");
        if (rc >= 0 && f->n_fields > 0) {
            rc = describe(f->fields, f->n_fields, word, inner, out);
        }
    }
    return rc;
}

// ---- public functions ---------------------------------------------------------------------------

static void *place(const pons_field *f, void *into)
{
    return (char *)into + f->offset;
}

static const void *place_of(const pons_field *f, const void *from)
{
    return (const char *)from + f->offset;
}

static bool is_there(const pons_field *group, const void *from)
{
    return group->offset == PONS_FIELD_ALWAYS || *(const bool *)place_of(group, from);
}

static void set_default(const pons_field *f, void *at)
{
    switch (f->kind) {
    case PONS_FIELD_STRING:
        *(const char **)at = f->words ? f->words : "";
        break;
    case PONS_FIELD_WORD:
        *(int *)at = (int)f->preset;
        break;
    case PONS_FIELD_INTEGER:
        *(int64_t *)at = f->preset;
        break;
    case PONS_FIELD_NUMBER:
        *(double *)at = NAN;
        break;
    case PONS_FIELD_BOOLEAN:
        *(bool *)at = false;
        break;
    case PONS_FIELD_OBJECT:
    case PONS_FIELD_LIST:
        *(const pons_value **)at = NULL;
        break;
    case PONS_FIELD_GROUP:
        break;
    }
}

static bool set_word(const pons_field *f, const pons_value *v, int *at)
{
    const char *word = json_string_value(v);
    const bool empty = f->use != REQUIRED; // may be said by "" too
    for (int i = 0; word && (*word || empty) && f->choices[i]; i++) {
        if (strcmp(f->choices[i], word) == 0) {
            *at = i;
            return true;
        }
    }
    return false;
}

static bool set_integer(const pons_value *v, int64_t *at)
{
    const double d = json_number_value(v);
    if (json_is_integer(v)) {
        *at = json_integer_value(v);
    } else if (json_is_real(v) && d == floor(d) && d >= -0x1p63 && d < 0x1p63) {
        *at = (int64_t)d;
    } else {
        return false;
    }
    return true;
}

// false: v is of another kind.
static bool set_value(const pons_field *f, const pons_value *v, void *at)
{
    switch (f->kind) {
    case PONS_FIELD_STRING:
        if (json_is_string(v)) {
            *(const char **)at = json_string_value(v);
        }
        return json_is_string(v);
    case PONS_FIELD_WORD:
        return set_word(f, v, at);
    case PONS_FIELD_INTEGER:
        return set_integer(v, at);
    case PONS_FIELD_NUMBER:
        if (json_is_number(v)) {
            *(double *)at = json_number_value(v);
        }
        return json_is_number(v);
    case PONS_FIELD_BOOLEAN:
        *(bool *)at = json_is_true(v);
        return json_is_boolean(v);
    case PONS_FIELD_OBJECT:
    case PONS_FIELD_LIST: {
        const bool fits = f->kind == PONS_FIELD_LIST ? json_is_array(v) : json_is_object(v);
        if (fits) {
            *(const pons_value **)at = v;
        }
        return fits;
    }
    case PONS_FIELD_GROUP:
        break;
    }
    return false;
}

// The first fault is the one that is told.
__attribute__((format(printf, 3, 4))) static void wrong(const reader *r, const pons_field *f,
                                                        const char *fmt, ...)
{
    if (!r->fault || r->fault->text[0]) {
        return;
    }
    r->fault->code = f->code ? f->code : "bad_args";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->fault->text, sizeof r->fault->text, fmt, ap);
    va_end(ap);
}

static void check_limits(const reader *r, const char *path, const pons_field *f, const void *at)
{
    if (f->max == 0) {
        return;
    }
    if (f->kind == PONS_FIELD_STRING || f->kind == PONS_FIELD_LIST) {
        const bool list = f->kind == PONS_FIELD_LIST;
        const int64_t n = (int64_t)(list ? json_array_size(*(const pons_value *const *)at)
                                         : strlen(*(const char *const *)at));
        if (n < f->min || n > f->max) {
            wrong(r, f, "%s%s must have %" PRId64 " to %" PRId64 " %s, not %" PRId64, path, f->name,
                  f->min, f->max, list ? "items" : "bytes", n);
        }
    } else if (f->kind == PONS_FIELD_INTEGER || f->kind == PONS_FIELD_NUMBER) {
        const double x =
            f->kind == PONS_FIELD_NUMBER ? *(const double *)at : (double)*(const int64_t *)at;
        if (x < (double)f->min || x > (double)f->max) {
            wrong(r, f, "%s%s must be from %" PRId64 " to %" PRId64 ", not %g", path, f->name,
                  f->min, f->max, x);
        }
    }
}

static const char *found(const pons_value *v)
{
    switch (json_typeof(v)) {
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_NULL:
        break;
    }
    return "null";
}

static void read_group(const reader *r, const char *path, const pons_field *f,
                       const pons_value *json, const pons_value *v);

// path: the groups around them, "pose."
static void read_fields(const reader *r, const char *path, const pons_field *fields, size_t n,
                        const pons_value *json)
{
    for (size_t i = 0; i < n; i++) {
        const pons_field *f = &fields[i];
        const pons_value *v = *f->name ? pons_get(json, f->name) : json;
        v = json_is_null(v) ? NULL : v;
        if (f->kind == PONS_FIELD_GROUP) {
            read_group(r, path, f, json, v);
            continue;
        }
        set_default(f, place(f, r->into));
        if (!v) {
            if (f->use == REQUIRED && json) {
                wrong(r, f, "%s%s is missing", path, f->name);
            }
        } else if (!set_value(f, v, place(f, r->into))) {
            if (f->kind == PONS_FIELD_WORD && json_is_string(v)) {
                wrong(r, f, "%s%s cannot be %.40s", path, f->name, json_string_value(v));
                continue;
            }
            wrong(r, f, "%s%s must be %s, not %s", path, f->name, kind_words[f->kind], found(v));
        } else {
            check_limits(r, path, f, place(f, r->into));
        }
    }
}

void pons_fields_decode(const pons_field *fields, size_t n, const pons_value *json, void *into,
                        pons_field_fault *ret)
{
    const reader r = {into, ret};
    read_fields(&r, "", fields, n, json);
}

// How many of the first n bytes are whole characters.
static size_t valid(const char *text, size_t n)
{
    size_t at = 0;
    for (size_t k = 1; at < n && k > 0; at += k) {
        k = pons_utf8_sequence(text + at, n - at);
    }
    return at;
}

static int said_string(const pons_field *f, const char *s, pons_value **ret)
{
    const char *preset = f->words ? f->words : "";
    s = s ? s : preset;
    const bool plain = strcmp(s, preset) == 0;
    if (plain && f->use == OPTIONAL) {
        return PONS_OK;
    }
    if (plain && f->use == NULLABLE) {
        *ret = json_null();
        return PONS_OK;
    }
    if (!f->any_bytes && valid(s, strlen(s)) < strlen(s)) {
        return PONS_OK; // left out
    }
    *ret = pons_text(s);
    return *ret ? PONS_OK : PONS_ENOMEM;
}

static pons_value *value_or_empty(const pons_field *f, const pons_value *v)
{
    if (v) {
        return pons_value_ref(v);
    }
    return f->kind == PONS_FIELD_LIST ? json_array() : json_object();
}

// What stands for a field; *ret stays NULL: it is not said. Of an unnamed group nothing.
static int said(const pons_field *f, const void *from, pons_value **ret)
{
    const void *at = f->kind == PONS_FIELD_GROUP ? NULL : place_of(f, from);
    bool plain = true;  // it is its default
    bool empty = false; // there is nothing to be said of it
    switch (f->kind) {
    case PONS_FIELD_STRING:
        return said_string(f, *(const char *const *)at, ret);
    case PONS_FIELD_WORD: {
        const int word = *(const int *)at;
        plain = word == f->preset;
        empty = !*f->choices[word];
        *ret = empty || (plain && f->use > USUAL) ? NULL : json_string(f->choices[word]);
        break;
    }
    case PONS_FIELD_INTEGER: {
        const int64_t n = *(const int64_t *)at;
        plain = n == f->preset;
        *ret = plain && f->use > USUAL ? NULL : json_integer(n);
        break;
    }
    case PONS_FIELD_NUMBER: {
        const double x = *(const double *)at;
        empty = plain = !isfinite(x);
        *ret = json_real(x); // NULL: it is not finite
        break;
    }
    case PONS_FIELD_BOOLEAN:
        plain = !*(const bool *)at;
        *ret = plain && f->use > USUAL ? NULL : json_boolean(!plain);
        break;
    case PONS_FIELD_OBJECT:
    case PONS_FIELD_LIST: {
        const pons_value *v = *(const pons_value *const *)at;
        plain = v == NULL;
        empty = plain && f->use != USUAL;
        *ret = empty ? NULL : value_or_empty(f, v);
        break;
    }
    case PONS_FIELD_GROUP:
        empty = plain = !is_there(f, from);
        *ret = plain ? NULL : pons_fields_object(f->fields, f->n_fields, from);
        break;
    }
    if (!*ret && plain && f->use == NULLABLE) {
        *ret = json_null();
    }
    return *ret || empty || (plain && f->use == OPTIONAL) ? PONS_OK : PONS_ENOMEM;
}

int pons_fields_encode(const pons_field *fields, size_t n, const void *from, pons_value *object)
{
    for (size_t i = 0; i < n; i++) {
        const pons_field *f = &fields[i];
        int rc = PONS_OK;
        pons_value *v = NULL;
        if (f->kind == PONS_FIELD_GROUP && !*f->name) {
            rc = is_there(f, from) ? pons_fields_encode(f->fields, f->n_fields, from, object)
                                   : PONS_OK;
        } else {
            rc = said(f, from, &v);
        }
        if (rc < 0 || (v && json_object_set_new(object, f->name, v) < 0)) {
            return PONS_ENOMEM;
        }
    }
    return PONS_OK;
}

pons_value *pons_fields_object(const pons_field *fields, size_t n, const void *from)
{
    pons_value *object = json_object();
    if (object && pons_fields_encode(fields, n, from, object) < 0) {
        pons_value_unref(object);
        return NULL;
    }
    return object;
}

int pons_fields_describe(const pons_field *fields, size_t n, const char *word, pons_buf *out)
{
    return describe(fields, n, word, "", out);
}

// ---- decode -------------------------------------------------------------------------------------

// What stands before the names of a group's members: copied by hand, because every group of every message
// comes here and hardly ever one is told.
static void inner_path(char out[PATH_MAX_BYTES], const char *path, const char *name)
{
    const size_t a = strnlen(path, PATH_MAX_BYTES - 1);
    const size_t b = strnlen(name, PATH_MAX_BYTES - 1 - a);
    const bool dot = b > 0 && a + b < PATH_MAX_BYTES - 1;
    memcpy(out, path, a);
    memcpy(out + a, name, b);
    memcpy(out + a + b, ".", dot);
    out[a + b + dot] = '\0';
}

// The members of a group that is not there have their defaults.
static void read_group(const reader *r, const char *path, const pons_field *f,
                       const pons_value *json, const pons_value *v)
{
    char inner[PATH_MAX_BYTES];
    const bool object = json_is_object(v);
    const bool named = *f->name != '\0';
    const bool there = named ? object : pons_get(json, f->fields[0].name) != NULL;
    if (named && v && !object) {
        wrong(r, f, "%s%s must be %s, not %s", path, f->name, kind_words[f->kind], found(v));
    } else if (named && !v && json && f->use == REQUIRED) {
        wrong(r, f, "%s%s is missing", path, f->name);
    }
    inner_path(inner, path, f->name);
    if (f->offset != PONS_FIELD_ALWAYS) {
        *(bool *)place(f, r->into) = there;
    }
    read_fields(r, inner, f->fields, f->n_fields, there ? v : NULL);
}

// ---- encode -------------------------------------------------------------------------------------

pons_value *pons_text(const char *text)
{
    const size_t n = strlen(text), good = valid(text, n);
    if (pons__utf8_cut(text, n) == good) { // all, or all but a cut character
        return json_stringn_nocheck(text, good);
    }
    char plain[PLAIN_MAX];
    size_t i = 0;
    for (; i < n && i < sizeof plain - 1; i++) {
        plain[i] = (char)((unsigned char)text[i] < 0x80 ? text[i] : '?');
    }
    plain[i] = '\0';
    return json_string(plain);
}
