// yaml_scalar.c - what a plain scalar is by the core schema of YAML 1.2 (chapter 10.3), and what libfyaml is not
// given.
#include "base/yaml/yaml_scalar.h"

#include "pons/buf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLANK_LINES_MAX = 256, DIRECTIVE_MAX = 256, DIRECTIVES_MAX = 16 };

const char *pons__yaml_slow(const char *text, size_t len, uint32_t *ret_line)
{
    size_t begins = pons_utf8_mark(text, len); // the line
    int breaks = 0, directives = 0;
    *ret_line = 1;
    for (size_t i = begins; i < len; i++) {
        const char c = text[i];
        const bool directive = text[begins] == '%';
        directives += directive && i == begins;
        if (directive && (directives > DIRECTIVES_MAX || i - begins >= DIRECTIVE_MAX)) {
            return directives > DIRECTIVES_MAX ? "more than 16 directives (lines that begin with %)"
                                               : "a directive (a line that begins with %) of more "
                                                 "than 256 bytes";
        }
        if (c == '\n' || (c == '\r' && (i + 1 == len || text[i + 1] != '\n'))) {
            if (breaks++ > BLANK_LINES_MAX) {
                return "more than 256 blank lines, one after another";
            }
            begins = i + 1;
            ++*ret_line;
        } else if (c != ' ' && c != '\t' && c != '\r') {
            breaks = 0;
        }
    }
    return NULL;
}

bool pons__span_same(pons__span t, const char *word)
{
    return t.len == strlen(word) && memcmp(t.s, word, t.len) == 0;
}

bool pons__span_one_of(pons__span t, const char *const *words)
{
    for (; *words; words++) {
        if (pons__span_same(t, *words)) {
            return true;
        }
    }
    return false;
}

bool pons__yaml_is_null(pons__span t)
{
    return pons__span_one_of(t, (const char *const[]){"", "~", "null", "Null", "NULL", NULL});
}

bool pons__yaml_is_true(pons__span t)
{
    return pons__span_one_of(t, (const char *const[]){"true", "True", "TRUE", NULL});
}

bool pons__yaml_is_false(pons__span t)
{
    return pons__span_one_of(t, (const char *const[]){"false", "False", "FALSE", NULL});
}

static size_t skip_sign(pons__span t)
{
    return t.len > 0 && (t.s[0] == '-' || t.s[0] == '+');
}

static size_t skip_set(pons__span t, size_t i, const char *set)
{
    while (i < t.len && strchr(set, t.s[i]) && t.s[i]) {
        i++;
    }
    return i;
}

#define DECIMAL "0123456789"

// The base of an integer of the core schema, or 0. 0o17 and 0x1f take no sign.
int pons__yaml_int_base(pons__span t)
{
    if (t.len > 2 && t.s[0] == '0' && t.s[1] == 'o') {
        return skip_set(t, 2, "01234567") == t.len ? 8 : 0;
    }
    if (t.len > 2 && t.s[0] == '0' && t.s[1] == 'x') {
        return skip_set(t, 2, DECIMAL "abcdefABCDEF") == t.len ? 16 : 0;
    }
    const size_t start = skip_sign(t);
    return t.len > start && skip_set(t, start, DECIMAL) == t.len ? 10 : 0;
}

// [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?
bool pons__yaml_is_float(pons__span t)
{
    const size_t start = skip_sign(t);
    size_t i = skip_set(t, start, DECIMAL);
    size_t digits = i - start;
    if (i < t.len && t.s[i] == '.') {
        const size_t point = ++i;
        i = skip_set(t, i, DECIMAL);
        digits += i - point;
    }
    if (digits == 0) {
        return false;
    }
    if (i < t.len && (t.s[i] == 'e' || t.s[i] == 'E')) {
        i++;
        if (i < t.len && (t.s[i] == '-' || t.s[i] == '+')) {
            i++;
        }
        const size_t exponent = i;
        i = skip_set(t, i, DECIMAL);
        if (i == exponent) {
            return false;
        }
    }
    return i == t.len;
}

bool pons__yaml_is_not_finite(pons__span t)
{
    const size_t start = skip_sign(t);
    const pons__span rest = {t.s + start, t.len - start};
    return pons__span_one_of(rest, (const char *const[]){".inf", ".Inf", ".INF", NULL}) ||
           pons__span_one_of(t, (const char *const[]){".nan", ".NaN", ".NAN", NULL});
}

// ---- made ---------------------------------------------------------------------------------------

bool pons__yaml_int(pons__span t, int base, json_t **ret)
{
    char digits[72]; // 64 bits in any base, a sign, and some leading zeros
    const size_t skip = base == 10 ? 0 : 2;
    char *end = NULL;
    errno = 0;
    long long v = 0;
    if (t.len - skip < sizeof digits) {
        memcpy(digits, t.s + skip, t.len - skip);
        digits[t.len - skip] = '\0';
        v = strtoll(digits, &end, base);
    }
    if (!end || errno == ERANGE) {
        return false;
    }
    *ret = json_integer(v);
    return true;
}

bool pons__yaml_float(pons__span t, json_t **ret)
{
    char text[512];
    double d = INFINITY;
    if (t.len < sizeof text) {
        memcpy(text, t.s, t.len);
        text[t.len] = '\0';
        d = strtod(text, NULL);
    }
    if (!isfinite(d)) {
        return false;
    }
    *ret = json_real(d);
    return true;
}
