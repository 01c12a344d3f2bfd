// repair_output.c - what the lenient reader says (refusals, repairs) and what it writes (strict JSON, marks).
#include "plan/json_tokens.h"
#include "plan/repair/repair.h"
#include "pons/growing_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int pons__lenient_refuse(pons__lenient *r, const char *at, const char *fmt, ...)
{
    char what[PONS_ERROR_MESSAGE_MAX];
    int line, column;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    pons_error_set(r->err, PONS_EINVAL, "plan", "%s", what);
    pons__places_find(&r->places, (size_t)(at - r->text), &line, &column);
    pons_error_source(r->err, "%d:%d", line, column);
    return PONS_EINVAL;
}

void pons__lenient_tell(pons__lenient *r, pons_repair_kind kind, const char *at, const char *fmt,
                        ...)
{
    char what[PONS_ERROR_MESSAGE_MAX];
    pons_plan_repair repair = {.kind = kind, .what = what};
    if (!r->fn) {
        return;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    pons__places_find(&r->places, (size_t)(at - r->text), &repair.line, &repair.column);
    r->fn(r->user, &repair);
}

// ---- writing ------------------------------------------------------------------------------------

void pons__lenient_emit(pons__lenient *r, const char *s)
{
    pons_buf_str(&r->out->text, s);
}

void pons__lenient_emit_string(pons__lenient *r, const char *s, size_t len)
{
    pons_buf *b = &r->out->text;
    if (pons_buf_reserve(b, 6 * len + 2) < 0) {
        return;
    }
    char *end = pons__put_string(b->data + b->len, s, len);
    b->len = (size_t)(end - b->data);
    *end = '\0';
}

void pons__repaired_mark(pons__repaired *o, size_t given)
{
    if (!pons_list_reserve(&o->marks, &o->cap_marks, o->n_marks + 1, sizeof *o->marks)) {
        o->text.failed = true;
        return;
    }
    o->marks[o->n_marks++] = (pons__mark){(uint32_t)o->text.len, (uint32_t)given};
}

// A name without the marks that Markdown wants before its underscores.
void pons__lenient_emit_name(pons__lenient *r, const char *s, size_t len)
{
    if (!memchr(s, '\\', len)) {
        pons__lenient_emit_string(r, s, len);
        return;
    }
    pons__lenient_tell(r, PONS_REPAIR_MARKDOWN, s, "the name %.*s as Markdown has it", (int)len, s);
    pons_buf_clear(&r->word);
    for (size_t i = 0; i < len; i++) {
        if (s[i] != '\\') {
            pons_buf_byte(&r->word, (uint8_t)s[i]);
        }
    }
    if (r->word.failed) {
        r->out->text.failed = true;
        return;
    }
    pons__lenient_emit_string(r, r->word.data, r->word.len);
}

// What is written next comes from `at`.
void pons__lenient_mark(pons__lenient *r, const char *at)
{
    pons__repaired_mark(r->out, (size_t)(at - r->text));
}

void pons__repaired_fini(pons__repaired *r)
{
    pons_buf_fini(&r->text);
    free(r->marks);
    *r = (pons__repaired){0};
}
