// repair_scalars.c - strings and numbers of the lenient grammar, and the words of the protocol's enumerations.
#include "plan/plan_enums.h"
#include "plan/repair/repair.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static int hex(const char *s, const char *end, int n)
{
    int v = 0;
    if (end - s < n) {
        return -1;
    }
    for (int i = 0; i < n; i++) {
        if (!isxdigit((unsigned char)s[i])) {
            return -1;
        }
        v = v * 16 +
            (isdigit((unsigned char)s[i]) ? s[i] - '0' : tolower((unsigned char)s[i]) - 'a' + 10);
    }
    return v;
}

static int put_code(pons__lenient *r, const char *at, int64_t c)
{
    char u[4];
    size_t n = 0;
    if (c < 0) {
        return pons__lenient_refuse(r, at, "an escape without its digits");
    }
    if (c == 0) {
        return pons__lenient_refuse(r, at, "a zero character in a string");
    }
    if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) {
        return pons__lenient_refuse(r, at, "half of a surrogate pair, or no character at all");
    }
    if (c < 0x80) {
        u[n++] = (char)c;
    } else if (c < 0x800) {
        u[n++] = (char)(0xc0 | c >> 6);
        u[n++] = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        u[n++] = (char)(0xe0 | c >> 12);
        u[n++] = (char)(0x80 | (c >> 6 & 63));
        u[n++] = (char)(0x80 | (c & 63));
    } else {
        u[n++] = (char)(0xf0 | c >> 18);
        u[n++] = (char)(0x80 | (c >> 12 & 63));
        u[n++] = (char)(0x80 | (c >> 6 & 63));
        u[n++] = (char)(0x80 | (c & 63));
    }
    return pons_buf_bytes(&r->word, u, n);
}

// \uXXXX with its other half, \u{…}: r->at is at the backslash.
static int unicode_escape(pons__lenient *r, bool *ret_odd)
{
    const char *at = r->at;
    if (at + 2 < r->end && at[2] == '{') {
        int64_t c = 0;
        const char *s = at + 3;
        for (; s < r->end && isxdigit((unsigned char)*s) && c <= 0x10ffff; s++) {
            c = c * 16 + hex(s, r->end, 1);
        }
        if (s == at + 3 || s == r->end || *s != '}') {
            return pons__lenient_refuse(r, at, "an escape without its digits");
        }
        *ret_odd = true;
        r->at = s + 1;
        return put_code(r, at, c);
    }
    int64_t c = hex(at + 2, r->end, 4);
    r->at += 6;
    if (c >= 0xd800 && c <= 0xdbff && pons__lenient_starts(r->at, r->end, "\\u")) {
        const int low = hex(r->at + 2, r->end, 4);
        if (low >= 0xdc00 && low <= 0xdfff) {
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
            r->at += 6;
        }
    }
    return put_code(r, at, c);
}

// One escape. What Python and JavaScript have and JSON has not is told; a backslash before
// anything else stands for itself, as in Python.
static int escape(pons__lenient *r, bool *odd)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *at = r->at;
    const char c = at + 1 < r->end ? at[1] : '\0';
    const char *letter = c ? strchr(letters, c) : NULL;
    if (letter) {
        r->at += 2;
        return pons_buf_byte(&r->word, (uint8_t)bytes[letter - letters]);
    }
    if (c == 'u') {
        return unicode_escape(r, odd);
    }
    *odd = true;
    if (c == 'x' || c == 'U') {
        const int n = c == 'x' ? 2 : 8;
        r->at += 2 + n;
        return put_code(r, at, hex(at + 2, r->end, n));
    }
    if (c == '\'' || c == '`') {
        r->at += 2;
        return pons_buf_byte(&r->word, (uint8_t)c);
    }
    if (c == '\n') { // the string goes on in the next line
        r->at += 2;
        return PONS_OK;
    }
    if (c == 'a' || c == 'v') {
        r->at += 2;
        return pons_buf_byte(&r->word, c == 'a' ? 7 : 11);
    }
    if (isdigit((unsigned char)c) || c == 'N') {
        return pons__lenient_refuse(r, at, "an escape that can be read in two ways");
    }
    r->at++;
    return pons_buf_byte(&r->word, '\\');
}

// Decodes one quoted run into r->word.
static int quoted(pons__lenient *r, bool raw)
{
    const char *start = r->at;
    const pons__quote *q = pons__lenient_quote_at(r->at, r->end);
    bool odd = false, control = false;
    r->at += strlen(q->open);
    for (;;) {
        if (r->at >= r->end) {
            return pons__lenient_refuse(r, start, "this string has no end");
        }
        if (pons__lenient_starts(r->at, r->end, q->close)) {
            r->at += strlen(q->close);
            break;
        }
        if (q->close_too && pons__lenient_starts(r->at, r->end, q->close_too)) {
            r->at += strlen(q->close_too);
            break;
        }
        int rc = PONS_OK;
        if (*r->at == '\\' && !raw) {
            const bool was = odd;
            const char *at = r->at;
            rc = escape(r, &odd);
            if (odd && !was) {
                pons__lenient_tell(r, PONS_REPAIR_ESCAPE, at, "an escape that JSON does not have");
            }
        } else {
            control = control || (unsigned char)*r->at < 0x20;
            pons_buf_byte(&r->word, (uint8_t)*r->at++);
        }
        if (rc < 0) {
            return rc;
        }
    }
    if (control) {
        pons__lenient_tell(r, PONS_REPAIR_RAW_CONTROL, start,
                           "a line break or tab as it stands in a string");
    }
    if (strcmp(q->open, "\"") != 0) {
        pons__lenient_tell(r, PONS_REPAIR_QUOTES, start, "%s for \"", q->open);
    }
    return PONS_OK;
}

int pons__lenient_string(pons__lenient *r, bool as_key, bool raw)
{
    pons_buf_clear(&r->word);
    int rc = quoted(r, raw);
    while (rc >= 0 && !as_key) { // "a" + "b"
        const char *after = pons__lenient_pass_blanks(r->at, r->end);
        const bool plus = after < r->end && *after == '+';
        const char *next = plus ? pons__lenient_pass_blanks(after + 1, r->end) : after;
        if (!plus || !pons__lenient_quote_at(next, r->end)) {
            break;
        }
        pons__lenient_tell(r, PONS_REPAIR_CONCATENATION, after, "two strings put together");
        r->at = next;
        rc = quoted(r, false);
    }
    if (rc < 0) {
        return rc;
    }
    pons__lenient_emit_string(r, r->word.data ? r->word.data : "", r->word.len);
    r->last = PONS__LAST_WHOLE;
    return r->word.failed ? pons_error_set(r->err, PONS_ENOMEM, "plan", "out of memory") : PONS_OK;
}

// ---- numbers and words --------------------------------------------------------------------------

static int number_end(pons__lenient *r, const char *start)
{
    size_t len;
    const char c = r->at < r->end ? *r->at : ' ';
    r->last = PONS__LAST_NUMBER;
    if (pons__lenient_blank(c) || c == ',' || c == ';' || pons__lenient_closer_at(r, &len) ||
        c == '#' || pons__lenient_starts(r->at, r->end, "//") ||
        pons__lenient_starts(r->at, r->end, "/*") || pons__lenient_starts(r->at, r->end, "，") ||
        pons__lenient_starts(r->at, r->end, "、")) {
        return PONS_OK;
    }
    return pons__lenient_refuse(r, start, "not a number that can be read in one way");
}

static int prefixed(pons__lenient *r, const char *start, bool negative, int base)
{
    uint64_t v = 0;
    char text[32];
    const char *digits = r->at;
    for (; r->at < r->end && isxdigit((unsigned char)*r->at); r->at++) {
        const int d = hex(r->at, r->end, 1);
        if (d >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
            __builtin_add_overflow(v, (uint64_t)d, &v)) {
            return pons__lenient_refuse(r, start, "not a number that can be read in one way");
        }
    }
    if (r->at == digits) {
        return pons__lenient_refuse(r, start, "a number without digits");
    }
    snprintf(text, sizeof text, "%s%llu", negative ? "-" : "", (unsigned long long)v);
    pons__lenient_tell(r, PONS_REPAIR_NUMBER, start, "%.*s is %s", (int)(r->at - start), start,
                       text);
    pons__lenient_emit(r, text);
    return number_end(r, start);
}

// Digits, with _ between them. Returns how many there are.
static int take_digits(pons__lenient *r, pons_buf *b, bool *odd)
{
    int n = 0;
    for (; r->at < r->end; r->at++) {
        const bool between = *r->at == '_' && n > 0 && r->at + 1 < r->end &&
                             isdigit((unsigned char)r->at[1]) && r->at[-1] != '_';
        if (between) {
            *odd = true;
        } else if (isdigit((unsigned char)*r->at)) {
            pons_buf_byte(b, (uint8_t)*r->at);
            n++;
        } else {
            break;
        }
    }
    return n;
}

// Of 0x, 0o and 0b; 0: none of them.
static int base_of(char letter)
{
    switch (tolower((unsigned char)letter)) {
    case 'x':
        return 16;
    case 'o':
        return 8;
    case 'b':
        return 2;
    default:
        return 0;
    }
}

static int take_fraction(pons__lenient *r, pons_buf *b, bool *odd)
{
    if (r->at >= r->end || *r->at != '.') {
        return 0;
    }
    r->at++;
    pons_buf_byte(b, '.');
    const int n = take_digits(r, b, odd);
    if (n == 0) { // 5. is 5.0
        *odd = true;
        pons_buf_byte(b, '0');
    }
    return n;
}

int pons__lenient_number(pons__lenient *r)
{
    const char *start = r->at;
    const bool negative = *start == '-';
    bool odd = *start == '+';
    pons_buf *b = &r->word;
    pons_buf_clear(b);
    if (negative || *start == '+') {
        r->at++;
    }
    if (r->at + 1 < r->end && *r->at == '0') {
        const int base = base_of(r->at[1]);
        if (base) {
            r->at += 2;
            return prefixed(r, start, negative, base);
        }
    }
    if (negative) {
        pons_buf_byte(b, '-');
    }
    const char *first = r->at;
    int n = take_digits(r, b, &odd);
    if (n > 1 && *first == '0') {
        return pons__lenient_refuse(r, start, "a number with zeros in front");
    }
    if (n == 0) {
        odd = true;
        pons_buf_byte(b, '0');
    }
    n += take_fraction(r, b, &odd);
    if (n == 0) {
        return pons__lenient_refuse(r, start, "a number without digits");
    }
    if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
        pons_buf_byte(b, (uint8_t)*r->at++);
        if (r->at < r->end && (*r->at == '+' || *r->at == '-')) {
            pons_buf_byte(b, (uint8_t)*r->at++);
        }
        if (take_digits(r, b, &odd) == 0) {
            return pons__lenient_refuse(r, start, "a number without its exponent");
        }
    }
    if (odd) {
        pons__lenient_tell(r, PONS_REPAIR_NUMBER, start, "%.*s is %.*s", (int)(r->at - start),
                           start, (int)b->len, b->data);
    }
    pons_buf_bytes(&r->out->text, b->data, b->len);
    return number_end(r, start);
}

// RiskLevel.LOW, ToolCallType.SPEAK.value: the value of a member of the protocol's enumerations.
const char *pons__lenient_enum_value(const char *s, size_t len)
{
    static const struct {
        const char *name;
        const pons__words *words;
    } enums[] = {{"RiskLevel.", &pons__risk_words},
                 {"StepStatus.", &pons__step_words},
                 {"PlanStatus.", &pons__plan_words},
                 {"ToolCallType.", &pons__tool_words}};
    if (len > 6 && memcmp(s + len - 6, ".value", 6) == 0) {
        len -= 6;
    }
    for (size_t e = 0; e < sizeof enums / sizeof *enums; e++) {
        const size_t n = strlen(enums[e].name);
        const char *hit = memmem(s, len, enums[e].name, n);
        if (!hit || (hit > s && hit[-1] != '.')) {
            continue;
        }
        char member[PONS__LENIENT_WORD];
        const size_t m = len - (size_t)(hit + n - s);
        if (m >= sizeof member) {
            return NULL;
        }
        for (size_t i = 0; i < m; i++) {
            member[i] = (char)tolower((unsigned char)hit[n + i]);
        }
        const int i = pons__words_find(enums[e].words, member, m);
        return i < 0 ? NULL : enums[e].words->words[i];
    }
    return NULL;
}

bool pons__lenient_is_word(const char *s, size_t len, const char *word_)
{
    return strlen(word_) == len && strncasecmp(s, word_, len) == 0;
}
