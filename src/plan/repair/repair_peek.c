// repair_peek.c - what stands at a place of a text, seen without taking it.
#include "plan/repair/repair.h"

#include <ctype.h>
#include <string.h>

enum { COMMENTS_AHEAD_MAX = 64 };

static const pons__quote quotes[] = {
    {"\"\"\"", "\"\"\"", NULL}, {"'''", "'''", NULL}, {"\"", "\"", NULL}, {"'", "'", NULL},
    {"`", "`", NULL},           {"“", "”", "“"},      {"”", "”", "“"},    {"„", "“", "”"},
    {"‘", "’", NULL},           {"＂", "＂", NULL},   {"「", "」", NULL}, {"«", "»", NULL}};

bool pons__lenient_starts(const char *s, const char *end, const char *with)
{
    const size_t n = strlen(with);
    return (size_t)(end - s) >= n && memcmp(s, with, n) == 0;
}

bool pons__lenient_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool pons__lenient_word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}

bool pons__lenient_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

// An underscore as Markdown has it, which models that write for a page put into names.
bool pons__lenient_escaped_underscore(const char *s, const char *end)
{
    return s + 1 < end && s[0] == '\\' && s[1] == '_';
}

// The end of a word with dots in it: RiskLevel.LOW
const char *pons__lenient_word_end(const char *s, const char *end)
{
    while (s < end) {
        if (pons__lenient_escaped_underscore(s, end)) {
            s += 2;
        } else if (pons__lenient_word_byte(*s) ||
                   (*s == '.' && s + 1 < end && pons__lenient_word_start(s[1]))) {
            s++;
        } else {
            break;
        }
    }
    return s;
}

const char *pons__lenient_pass_blanks(const char *s, const char *end)
{
    while (s < end && pons__lenient_blank(*s)) {
        s++;
    }
    return s;
}

const char *pons__lenient_pass_separators(const char *s, const char *end)
{
    while (s < end && (pons__lenient_blank(*s) || *s == ',' || *s == ';')) {
        s++;
    }
    return s;
}

const pons__quote *pons__lenient_quote_at(const char *s, const char *end)
{
    for (size_t i = 0; i < sizeof quotes / sizeof *quotes; i++) {
        if (pons__lenient_starts(s, end, quotes[i].open)) {
            return &quotes[i];
        }
    }
    return NULL;
}

// The end of a quoted string, without a look at what is in it; NULL: not one, or no end.
const char *pons__lenient_quoted_end(const char *s, const char *end)
{
    const pons__quote *q = pons__lenient_quote_at(s, end);
    if (!q) {
        return NULL;
    }
    for (s += strlen(q->open); s < end; s++) {
        if (*s == '\\') {
            s++;
        } else if (pons__lenient_starts(s, end, q->close)) {
            return s + strlen(q->close);
        } else if (q->close_too && pons__lenient_starts(s, end, q->close_too)) {
            return s + strlen(q->close_too);
        }
    }
    return NULL;
}

// A mark that stands for a colon: its length, or 0.
size_t pons__lenient_colon_length(const char *s, const char *end)
{
    return pons__lenient_starts(s, end, "：")    ? strlen("：")
           : pons__lenient_starts(s, end, "=>")  ? 2
           : s < end && (*s == ':' || *s == '=') ? 1
                                                 : 0;
}

// Whether a key and its colon stand at s.
bool pons__lenient_key_at(const char *s, const char *end)
{
    const char *after =
        s < end && (pons__lenient_word_byte(*s) || pons__lenient_escaped_underscore(s, end))
            ? pons__lenient_word_end(s, end)
            : pons__lenient_quoted_end(s, end);
    if (!after) {
        return false;
    }
    after = pons__lenient_pass_blanks(after, end);
    return pons__lenient_colon_length(after, end) > 0;
}

// f( or a.b(
bool pons__lenient_call_at(const char *s, const char *end)
{
    if (s == end || !pons__lenient_word_start(*s)) {
        return false;
    }
    const char *after = pons__lenient_word_end(s, end);
    return after < end && *after == '(';
}

// The next `mark` of the text at or behind s.
const char *pons__lenient_look_ahead(const pons__lenient *r, pons__ahead *a, const char *s,
                                     const char *mark_text)
{
    const char *end = r->text_end;
    if (!a->at || s < a->from || s > a->at) {
        const char *found = memmem(s, (size_t)(end - s), mark_text, strlen(mark_text));
        *a = (pons__ahead){.from = s, .at = found ? found : end};
    }
    return a->at;
}

// Looks ahead over so many comments at most: each { of a text may have them all in front of it.
const char *pons__lenient_pass_comments(pons__lenient *r, const char *s)
{
    for (int n = 0; n < COMMENTS_AHEAD_MAX; n++) {
        s = pons__lenient_pass_blanks(s, r->end);
        if (pons__lenient_starts(s, r->end, "//") || pons__lenient_starts(s, r->end, "#")) {
            s = pons__lenient_look_ahead(r, &r->newline, s, "\n");
        } else if (pons__lenient_starts(s, r->end, "/*")) {
            const char *close = pons__lenient_look_ahead(r, &r->comment_end, s + 2, "*/");
            s = close < r->text_end ? close + 2 : close;
        } else {
            return s;
        }
        if (s >= r->end) {
            return r->end;
        }
    }
    return pons__lenient_pass_blanks(s, r->end);
}

static bool looks_call(pons__lenient *r, const char *s)
{
    if (!pons__lenient_call_at(s, r->end)) {
        return false;
    }
    const char *in = pons__lenient_pass_comments(r, pons__lenient_word_end(s, r->end) + 1);
    if (in < r->end && *in == ')') {
        return true;
    }
    const char *name = pons__lenient_word_end(in, r->end);
    const char *after = pons__lenient_pass_blanks(name, r->end);
    if (in < r->end && pons__lenient_word_start(*in) && after < r->end && *after == '=') {
        return true;
    }
    return pons__lenient_quote_at(in, r->end) ||
           (in < r->end && (*in == '{' || isdigit((unsigned char)*in)));
}

// 'f(x=1)'
static bool looks_quoted_call(pons__lenient *r, const char *s)
{
    const pons__quote *q = pons__lenient_quote_at(s, r->end);
    return q && looks_call(r, s + strlen(q->open));
}

// Whether what stands behind a { may be the first key of an object.
static bool looks_object(pons__lenient *r, const char *in)
{
    const char *after = pons__lenient_quoted_end(in, r->end);
    if (after) {
        after = pons__lenient_pass_blanks(after, r->end);
        return after == r->end || pons__lenient_colon_length(after, r->end) ||
               pons__lenient_quote_at(after, r->end) || *after == '[' || *after == '{' ||
               isdigit((unsigned char)*after);
    }
    if (pons__lenient_quote_at(in, r->end)) {
        return true; // a key without an end
    }
    if (in < r->end && *in == ',' &&
        pons__lenient_quote_at(pons__lenient_pass_comments(r, in + 1), r->end)) {
        return true;
    }
    return pons__lenient_key_at(in, r->end);
}

// Whether s begins what should be a plan: then the reader is committed.
bool pons__lenient_looks(pons__lenient *r, const char *s, bool line_start)
{
    if (*s == '[' || pons__lenient_starts(s, r->end, "［")) {
        if (s < r->lost) {
            return false;
        }
        while (s < r->end && (*s == '[' || pons__lenient_starts(s, r->end, "［"))) {
            s = pons__lenient_pass_comments(r, s + (*s == '[' ? 1 : strlen("［")));
        }
        if (s < r->end &&
            (pons__lenient_looks(r, s, true) || looks_call(r, s) || looks_quoted_call(r, s))) {
            return true;
        }
        r->lost = s;
        return false;
    }
    if (*s == '{' || pons__lenient_starts(s, r->end, "｛")) {
        return looks_object(r, pons__lenient_pass_comments(r, s + (*s == '{' ? 1 : strlen("｛"))));
    }
    return line_start && looks_call(r, s);
}
