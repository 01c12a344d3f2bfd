// field_records.c - records: structs by their tables of fields.
//
//   read      JSON --> for each field: there? of its kind? --> struct
//   write     struct --> for each field: lacking? --> JSON
//
// What is read was written by this file or by an earlier pons: it is taken as far as it is
// understood, so that a thread that an earlier pons has stored goes on. Memory ends the process.
// Any thread.
#include "brain/records/field_records.h"

#include "pons/buf.h"
#include "pons/out_of_memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char nothing[] = "";

// Where a field lies in a struct.
#define AT(type, s, f)   ((type *)(void *)((char *)(s) + (f)->at))
#define SEEN(type, s, f) (*(type const *)(const void *)((const char *)(s) + (f)->at))

// ---- one field ----------------------------------------------------------------------------------

static void preset(const pons__field *f, void *s)
{
    switch (f->kind) {
    case PONS_KIND_TEXT:
        *AT(const char *, s, f) = nothing;
        break;
    case PONS_KIND_WORD:
        *AT(int, s, f) = (int)f->preset;
        break;
    case PONS_KIND_INT:
        *AT(int64_t, s, f) = (int64_t)f->preset;
        break;
    case PONS_KIND_NUM:
        *AT(double, s, f) = f->preset;
        break;
    case PONS_KIND_BOOL:
        *AT(bool, s, f) = f->preset != 0.0;
        break;
    default:
        break; // as calloc has it
    }
}

static bool of_kind(const pons__field *f, const pons_value *v)
{
    switch (f->kind) {
    case PONS_KIND_TEXT:
    case PONS_KIND_NAME:
        return json_is_string(v);
    case PONS_KIND_WORD:
        return json_is_string(v) && pons__word_find(f->words, json_string_value(v), -1) >= 0;
    case PONS_KIND_INT:
    case PONS_KIND_NUM:
        return json_is_number(v);
    case PONS_KIND_BOOL:
        return json_is_boolean(v);
    case PONS_KIND_RECORD:
        return json_is_object(v);
    case PONS_KIND_LIST:
        return json_is_array(v);
    default:
        return !json_is_null(v);
    }
}

// What no integer can hold becomes the next that one can.
static int64_t whole(double v)
{
    const double most = 9007199254740992.0; // 2^53
    return (int64_t)(v > most ? most : v < -most ? -most : v);
}

static void read_field(const pons__field *f, const pons_value *v, void *s)
{
    switch (f->kind) {
    case PONS_KIND_TEXT:
    case PONS_KIND_NAME:
        pons__set_text(AT(const char *, s, f), json_string_value(v));
        break;
    case PONS_KIND_WORD:
        *AT(int, s, f) = pons__word_find(f->words, json_string_value(v), (int)f->preset);
        break;
    case PONS_KIND_INT:
        *AT(int64_t, s, f) =
            json_is_integer(v) ? json_integer_value(v) : whole(json_number_value(v));
        break;
    case PONS_KIND_NUM:
        *AT(double, s, f) = json_number_value(v);
        break;
    case PONS_KIND_BOOL:
        *AT(bool, s, f) = json_is_true(v);
        break;
    case PONS_KIND_JSON:
        pons__json(AT(const pons_value *, s, f), pons_value_ref(v));
        break;
    case PONS_KIND_RECORD:
        *AT(void *, s, f) = pons__record_read(f->of, v);
        break;
    case PONS_KIND_LIST:
        pons__list_read(f->of, v, AT(pons__list, s, f));
        break;
    }
}

static pons_value *write_field(const pons__field *f, const void *s)
{
    switch (f->kind) {
    case PONS_KIND_TEXT: // NULL of a struct that nobody made by its table: nothing was said
        return json_string_nocheck(SEEN(char *, s, f) ? SEEN(char *, s, f) : nothing);
    case PONS_KIND_NAME:
        return SEEN(char *, s, f) ? json_string_nocheck(SEEN(char *, s, f)) : json_null();
    case PONS_KIND_WORD:
        return json_string_nocheck(f->words[SEEN(int, s, f)]);
    case PONS_KIND_INT:
        return json_integer(SEEN(int64_t, s, f));
    case PONS_KIND_NUM:
        return isfinite(SEEN(double, s, f)) ? json_real(SEEN(double, s, f)) : json_null();
    case PONS_KIND_BOOL:
        return json_boolean(SEEN(bool, s, f));
    case PONS_KIND_JSON:
        return SEEN(pons_value *, s, f) ? pons_value_ref(SEEN(pons_value *, s, f)) : json_null();
    case PONS_KIND_RECORD:
        return pons__record_write(f->of, SEEN(void *, s, f));
    case PONS_KIND_LIST:
        return pons__list_write(f->of, &SEEN(pons__list, s, f));
    }
    return json_null();
}

static bool lacking(const pons__field *f, const void *s)
{
    switch (f->kind) {
    case PONS_KIND_TEXT:
        return !SEEN(char *, s, f) || !*SEEN(char *, s, f);
    case PONS_KIND_WORD:
        return SEEN(int, s, f) == (int)f->preset;
    case PONS_KIND_INT:
        return SEEN(int64_t, s, f) == (int64_t)f->preset;
    case PONS_KIND_NUM: {
        const double v = SEEN(double, s, f);
        return !isfinite(v) || (!isnan(f->preset) && !(v < f->preset || v > f->preset));
    }
    case PONS_KIND_BOOL:
        return !SEEN(bool, s, f);
    case PONS_KIND_LIST:
        return SEEN(pons__list, s, f).n == 0;
    default:
        return !SEEN(void *, s, f);
    }
}

static void clear_field(const pons__field *f, void *s)
{
    switch (f->kind) {
    case PONS_KIND_TEXT:
        pons__set_text(AT(const char *, s, f), NULL);
        break;
    case PONS_KIND_NAME:
        pons__set_text(AT(const char *, s, f), NULL);
        *AT(const char *, s, f) = NULL;
        break;
    case PONS_KIND_JSON:
        pons__json(AT(const pons_value *, s, f), NULL);
        break;
    case PONS_KIND_RECORD:
        pons__record_free(f->of, *AT(void *, s, f));
        *AT(void *, s, f) = NULL;
        break;
    case PONS_KIND_LIST:
        pons__list_clear(f->of, AT(pons__list, s, f));
        break;
    default:
        break;
    }
}

// ---- records ------------------------------------------------------------------------------------

void *pons__record_new(const pons__record *r)
{
    void *s = pons_need_zeroed(1, r->size);
    for (size_t i = 0; i < r->n; i++) {
        preset(&r->fields[i], s);
    }
    return s;
}

void *pons__record_read(const pons__record *r, const pons_value *v)
{
    void *s = pons__record_new(r);
    for (size_t i = 0; i < r->n; i++) {
        const pons_value *member = pons_get(v, r->fields[i].name);
        if (member && of_kind(&r->fields[i], member)) {
            read_field(&r->fields[i], member, s);
        }
    }
    return s;
}

void *pons__record_copy(const pons__record *r, const void *s)
{
    if (!s) {
        return NULL;
    }
    pons_autovalue v = pons__record_write(r, s);
    return pons__record_read(r, v);
}

void pons__record_free(const pons__record *r, void *s)
{
    if (s) {
        for (size_t i = 0; i < r->n; i++) {
            clear_field(&r->fields[i], s);
        }
        free(s);
    }
}

pons_value *pons__record_write(const pons__record *r, const void *s)
{
    if (!s) {
        return json_null();
    }
    pons_value *v = json_object();
    for (size_t i = 0; i < r->n; i++) {
        const pons__field *f = &r->fields[i];
        const bool lacks = f->lacks != PONS_LACKS_NEVER && lacking(f, s);
        if (lacks && f->lacks == PONS_LACKS_KEY) {
            continue;
        }
        json_object_set_new_nocheck(v, f->name, lacks ? json_null() : write_field(f, s));
    }
    return v;
}

// ---- members ------------------------------------------------------------------------------------

int pons__word_find(const char *const *words, const char *word, int fallback)
{
    for (int i = 0; word && words[i]; i++) {
        if (strcmp(words[i], word) == 0) {
            return i;
        }
    }
    return fallback;
}

// Without a character at its end of which a precision or a buffer has left a part: nothing that reads JSON would
// take it.
static size_t whole_length(const char *text)
{
    const size_t n = strlen(text);
    size_t at = n;
    while (at > 0 && n - at < 3 && ((unsigned char)text[at - 1] & 0xC0u) == 0x80u) {
        at--;
    }
    const bool leads = at > 0 && ((unsigned char)text[at - 1] & 0xC0u) == 0xC0u;
    return leads && pons_utf8_sequence(text + at - 1, n - at + 1) == 0 ? at - 1 : n;
}

void pons__set_text(const char **at, const char *text)
{
    const char *old = *at;
    char *copy = text && *text ? pons_need_text(text) : NULL;
    if (copy) {
        copy[whole_length(copy)] = '\0';
    }
    *at = copy ? copy : nothing;
    if (old != nothing) {
        free((char *)old);
    }
}

void pons__set_textf(const char **at, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *text = pons_need((size_t)(n < 0 ? 0 : n) + 1);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, fmt, again);
    va_end(again);
    pons__set_text(at, text); // the arguments may have been the old text
    free(text);
}

void pons__json(const pons_value **at, const pons_value *value)
{
    const pons_value *old = *at;
    *at = value;
    pons_value_unref(old);
}

// ---- lists --------------------------------------------------------------------------------------

void pons__list_add(pons__list *l, void *record)
{
    l->at = pons_need_more(l->at, (l->n + 1) * sizeof *l->at);
    l->at[l->n++] = record;
}

void *pons__list_take(pons__list *l, size_t i)
{
    void *record = l->at[i];
    memmove(l->at + i, l->at + i + 1, (l->n - i - 1) * sizeof *l->at);
    l->n--;
    return record;
}

size_t pons__list_place(const pons__list *l, size_t at, const char *text)
{
    size_t i = 0;
    for (; i < l->n; i++) {
        const char *has = *(const char *const *)(const void *)((const char *)l->at[i] + at);
        if (has && strcmp(has, text) == 0) {
            break;
        }
    }
    return i;
}

void *pons__list_find(const pons__list *l, size_t at, const char *text)
{
    const size_t i = pons__list_place(l, at, text);
    return i < l->n ? l->at[i] : NULL;
}

void pons__list_clear(const pons__record *r, pons__list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        pons__record_free(r, l->at[i]);
    }
    free((void *)l->at);
    *l = (pons__list){0};
}

void pons__list_copy(const pons__record *r, pons__list *to, const pons__list *from)
{
    pons_autovalue v = pons__list_write(r, from);
    pons__list_read(r, v, to);
}

bool pons__list_equal(const pons__record *r, const pons__list *a, const pons__list *b)
{
    pons_autovalue x = pons__list_write(r, a);
    pons_autovalue y = pons__list_write(r, b);
    return json_equal(x, y);
}

pons_value *pons__list_write(const pons__record *r, const pons__list *l)
{
    pons_value *v = json_array();
    for (size_t i = 0; i < l->n; i++) {
        json_array_append_new(v, pons__record_write(r, l->at[i]));
    }
    return v;
}

void pons__list_read(const pons__record *r, const pons_value *v, pons__list *ret)
{
    pons__list_clear(r, ret);
    pons_each(item, v) {
        pons__list_add(ret, pons__record_read(r, item));
    }
}
