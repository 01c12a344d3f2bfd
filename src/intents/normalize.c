// normalize.c - making what people type comparable: folding, words, numbers.
//
// Everything the rules look at is folded first (normalize.h says how), the names of the world
// and the words of config/intents.yaml included, so that matching is a comparison of bytes. Each
// folded byte remembers where it came from, because what the robot is to say must keep its case.
#include "intents/normalize.h"

#include "pons/error.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// A numeral: a word and what it is worth.
typedef struct numeral {
    const char *word;
    double value;
} numeral;

// ---- folding ------------------------------------------------------------------------------------

// The character at text[0..len), len ≥ 1; a bad byte stands for itself (the input was checked).
static uint32_t decode(const char *text, size_t len, size_t *ret_bytes)
{
    unsigned char c = (unsigned char)text[0];
    size_t n = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (n > len) {
        n = 1;
    }
    uint32_t v = n == 1 ? c : c & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        v = v << 6 | ((unsigned char)text[i] & 0x3Fu);
    }
    *ret_bytes = n;
    return v;
}

static size_t encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6) {
        out[i] = (char)(0x80u | (c & 0x3Fu));
    }
    out[0] = (char)(lead[n] | c);
    return n;
}

static char fold_ascii(unsigned char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    return c == '_' || c < ' ' || c == 0x7F ? ' ' : (char)c;
}

static uint32_t fold_char(uint32_t c)
{
    if (c >= 0xFF01 && c <= 0xFF5E) { // full-width ASCII
        c -= 0xFEE0;
        if (c == '!' || c == '?' || c == '.') {
            return ';';
        }
    }
    if (c < 0x80) {
        return (unsigned char)fold_ascii((unsigned char)c);
    }
    switch (c) {
    case 0x3002: // 。 …
    case 0x2026:
        return ';';
    case 0x00A0:
    case 0x3000: // ideographic space
        return ' ';
    case 0x201C: // “ ” „ 「 」 『 』 《 》
    case 0x201D:
    case 0x201E:
    case 0x300C:
    case 0x300D:
    case 0x300E:
    case 0x300F:
    case 0x300A:
    case 0x300B:
        return '"';
    case 0x2018:
    case 0x2019:
        return '\'';
    default:
        return c;
    }
}

static void join_hyphens(pons__fold *f)
{
    for (size_t i = 1; i + 1 < f->n; i++) {
        if (f->s[i] == '-' && isalpha((unsigned char)f->s[i - 1]) &&
            isalpha((unsigned char)f->s[i + 1])) {
            f->s[i] = ' ';
        } else if (f->s[i] == '-' && f->s[i - 1] == ' ' && f->s[i + 1] == ' ') {
            f->s[i] = ','; // a dash
        }
    }
}

static bool is_ascii(char c)
{
    return ((unsigned char)c & 0x80u) == 0;
}

// One space between words, none beside a character that is not ASCII, none at the ends.
static void drop_spaces(pons__fold *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (f->s[i] == ' ') {
            size_t next = pons__skip_spaces(f->s, i, f->n);
            bool edge = n == 0 || next == f->n;
            if (edge || !is_ascii(f->s[n - 1]) || !is_ascii(f->s[next]) || f->s[n - 1] == ' ') {
                continue;
            }
        }
        f->s[n] = f->s[i];
        f->at[n++] = f->at[i];
    }
    f->at[n] = f->at[f->n];
    f->s[n] = '\0';
    f->n = n;
}

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || c == '\'';
}

static void mark_quotes(pons__fold *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const char *close = NULL;
        if (f->s[i] == '"') {
            close = memchr(f->s + i + 1, '"', f->n - i - 1);
        } else if (f->s[i] == '\'' && (i == 0 || !is_word_byte(f->s[i - 1]))) {
            // A single quote closes where no letter follows; "don't" opens nothing.
            for (close = f->s + i + 1; *close; close++) {
                if (*close == '\'' && !is_word_byte(close[1])) {
                    break;
                }
            }
        }
        if (close && *close) {
            size_t last = (size_t)(close - f->s);
            memset(f->quoted + i, true, last - i + 1);
            i = last;
        }
    }
}

// ---- numbers ------------------------------------------------------------------------------------

static size_t digits_at(const char *s, size_t pos, size_t end, double *ret)
{
    double v = 0;
    for (; pos < end && isdigit((unsigned char)s[pos]); pos++) {
        v = v * 10 + (s[pos] - '0');
    }
    if (pos + 1 < end && s[pos] == '.' && isdigit((unsigned char)s[pos + 1])) {
        double unit = 0.1;
        for (pos++; pos < end && isdigit((unsigned char)s[pos]); pos++, unit /= 10) {
            v += unit * (s[pos] - '0');
        }
    }
    *ret = v;
    return pos;
}

static size_t lookup(const numeral *table, size_t n, const char *s, size_t pos, size_t end,
                     double *ret)
{
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(table[i].word);
        if (len <= end - pos && memcmp(s + pos, table[i].word, len) == 0) {
            *ret = table[i].value;
            return len;
        }
    }
    return 0;
}

// Two digits side by side, and no more, are some number between them: 两三, 四五十. 五零 and 二零二六 are digits of one.
static bool is_approximate(size_t run, double last, double v)
{
    return run == 2 && last > 0 && v > 0;
}

// 十五, 二十, 一百二十, 两, 半, 一点五. *ret_approximate: it is 两三; there is no such number then.
static size_t chinese_at(const char *s, size_t pos, size_t end, double *ret, bool *ret_approximate)
{
    static const numeral digit[] = {{"零", 0}, {"〇", 0}, {"一", 1}, {"二", 2},
                                    {"两", 2}, {"三", 3}, {"四", 4}, {"五", 5},
                                    {"六", 6}, {"七", 7}, {"八", 8}, {"九", 9}};
    static const numeral power[] = {{"十", 10}, {"百", 100}, {"千", 1000}};
    static const char half[] = "半", point[] = "点";
    if (pons__literal_at(s, pos, end, half)) {
        *ret = 0.5;
        return pos + strlen(half);
    }
    double total = 0, current = -1, v, last = 0;
    size_t start = pos, n, run = 0;
    bool approximate = false;
    for (;;) {
        if ((n = lookup(digit, sizeof digit / sizeof *digit, s, pos, end, &v))) {
            run++;
            approximate = is_approximate(run, last, v);
            last = v;
            current = current > 0 ? current * 10 + v : v; // 一五三 as in telephone numbers
        } else if ((n = lookup(power, sizeof power / sizeof *power, s, pos, end, &v))) {
            if (approximate) {
                break;
            }
            total += (current < 0 ? 1 : current) * v;
            current = -1;
            run = 0;
        } else {
            break;
        }
        pos += n;
    }
    if (ret_approximate) {
        *ret_approximate = approximate;
    }
    if (pos == start || approximate) {
        return 0;
    }
    total += current > 0 ? current : 0;
    size_t after = pons__literal_at(s, pos, end, point);
    double unit = 0.1;
    while (after && (n = lookup(digit, sizeof digit / sizeof *digit, s, after, end, &v))) {
        total += unit * v;
        unit /= 10;
        pos = after = after + n;
    }
    *ret = total;
    return pos;
}

static size_t english_word(const numeral *table, size_t n, const char *s, size_t pos, size_t end,
                           double *ret)
{
    for (size_t i = 0; i < n; i++) {
        size_t after = pons__literal_at(s, pos, end, table[i].word);
        if (after) {
            *ret = table[i].value;
            return after;
        }
    }
    return 0;
}

// "fifteen", "twenty five", "a hundred and twenty", "half a", "two and a half", "a couple of".
static size_t english_at(const char *s, size_t pos, size_t end, double *ret)
{
    static const numeral ones[] = {{"one", 1}, {"two", 2},   {"three", 3}, {"four", 4}, {"five", 5},
                                   {"six", 6}, {"seven", 7}, {"eight", 8}, {"nine", 9}};
    static const numeral teens[] = {{"zero", 0},      {"ten", 10},      {"eleven", 11},
                                    {"twelve", 12},   {"thirteen", 13}, {"fourteen", 14},
                                    {"fifteen", 15},  {"sixteen", 16},  {"seventeen", 17},
                                    {"eighteen", 18}, {"nineteen", 19}};
    static const numeral tens[] = {{"twenty", 20}, {"thirty", 30},  {"forty", 40},  {"fifty", 50},
                                   {"sixty", 60},  {"seventy", 70}, {"eighty", 80}, {"ninety", 90}};
    static const numeral quarters[] = {
        {"a quarter of an", 0.25}, {"quarter of an", 0.25}, {"three quarters of an", 0.75}};
    static const numeral vague[] = {{"half a", 0.5},
                                    {"half an", 0.5},
                                    {"half of a", 0.5},
                                    {"half of an", 0.5},
                                    {"half of one", 0.5},
                                    {"half", 0.5},
                                    {"a couple of", 2},
                                    {"a couple", 2},
                                    {"a few", 3},
                                    {"an", 1},
                                    {"a", 1}};
#define WORD(table, at, ret_v) english_word(table, sizeof table / sizeof *table, s, at, end, ret_v)
    double total = 0, v = 0;
    size_t p, after;
    if ((p = WORD(quarters, pos, &total))) {
        *ret = total;
        return p;
    }
    if ((p = WORD(tens, pos, &total))) {
        if ((after = WORD(ones, p, &v))) {
            total += v;
            p = after;
        }
    } else if (!(p = WORD(ones, pos, &total)) && !(p = WORD(teens, pos, &total)) &&
               !(p = WORD(vague, pos, &total))) {
        return 0;
    }
#undef WORD
    if ((after = pons__literal_at(s, p, end, "hundred"))) {
        total *= 100;
        p = after;
        size_t rest = pons__literal_at(s, p, end, "and");
        if ((after = english_at(s, rest ? rest : p, end, &v)) && v > 1 && v < 100) {
            total += v;
            p = after;
        }
    }
    if ((after = pons__literal_at(s, p, end, "and a half"))) {
        total += 0.5;
        p = after;
    }
    *ret = total;
    return p;
}

// ---- public functions ---------------------------------------------------------------------------

int pons__fold_init(pons__fold *f, const char *text, size_t len)
{
    // Folding never makes a character longer. One block: the offsets, then the text, then the marks.
    f->at = malloc((len + 1) * (sizeof *f->at + 2));
    if (!f->at) {
        *f = (pons__fold){0};
        return PONS_ENOMEM;
    }
    f->s = (char *)(f->at + len + 1);
    f->quoted = (bool *)(f->s + len + 1);
    f->n = 0;
    memset(f->quoted, false, len + 1);
    for (size_t i = 0; i < len;) {
        if (text[i] >= 'a' && text[i] <= 'z') { // most of what there is
            f->s[f->n] = text[i];
            f->at[f->n++] = (uint32_t)i++;
            continue;
        }
        size_t bytes = 1, n = 1;
        char out[4];
        if (is_ascii(text[i])) {
            out[0] = fold_ascii((unsigned char)text[i]);
        } else {
            n = encode(fold_char(decode(text + i, len - i, &bytes)), out);
        }
        // A stop, bang or question mark ends a sentence where white space follows it.
        if ((out[0] == '.' || out[0] == '!' || out[0] == '?') &&
            (i + bytes >= len || isspace((unsigned char)text[i + bytes]))) {
            out[0] = ';';
        }
        for (size_t k = 0; k < n; k++) {
            f->s[f->n] = out[k];
            f->at[f->n++] = (uint32_t)i;
        }
        i += bytes;
    }
    f->s[f->n] = '\0';
    f->at[f->n] = (uint32_t)len;
    // Most words have none of these.
    if (memchr(f->s, '-', f->n)) {
        join_hyphens(f);
    }
    if (memchr(f->s, ' ', f->n)) {
        drop_spaces(f);
    }
    if (memchr(f->s, '"', f->n) || memchr(f->s, '\'', f->n)) {
        mark_quotes(f);
    }
    return PONS_OK;
}

int pons__fold_put(pons__fold *f, size_t lo, size_t hi, const char *word)
{
    const size_t len = strlen(word), n = f->n - (hi - lo) + len;
    pons__fold to = {.at = malloc((n + 1) * (sizeof *to.at + 2)), .n = n};
    if (!to.at) {
        return PONS_ENOMEM;
    }
    to.s = (char *)(to.at + n + 1);
    to.quoted = (bool *)(to.s + n + 1);
    for (size_t i = 0; i <= n; i++) {
        const bool inside = i >= lo && i < lo + len;
        const size_t behind = inside ? lo : i - len + (hi - lo);
        const size_t from = i < lo ? i : behind;
        to.at[i] = f->at[from];
        to.s[i] = inside ? word[i - lo] : f->s[from];
        to.quoted[i] = f->quoted[from];
    }
    pons__fold_fini(f);
    *f = to;
    return PONS_OK;
}

void pons__fold_fini(pons__fold *f)
{
    free(f->at); // and the rest of its block
    *f = (pons__fold){0};
}

void pons__fold_cut(pons__fold *f, size_t lo, size_t hi)
{
    size_t tail = f->n - hi;
    memmove(f->s + lo, f->s + hi, tail + 1);
    memmove(f->at + lo, f->at + hi, (tail + 1) * sizeof *f->at);
    memmove(f->quoted + lo, f->quoted + hi, tail * sizeof *f->quoted);
    f->n -= hi - lo;
}

size_t pons__skip_spaces(const char *s, size_t pos, size_t end)
{
    while (pos < end && s[pos] == ' ') {
        pos++;
    }
    return pos;
}

size_t pons__char_len(const char *s, size_t pos)
{
    size_t n = 1;
    while (((unsigned char)s[pos + n] & 0xC0u) == 0x80u) {
        n++;
    }
    return n;
}

size_t pons__literal_at(const char *s, size_t pos, size_t end, const char *literal)
{
    pos = pons__skip_spaces(s, pos, end);
    if (pos >= end || s[pos] != literal[0]) { // most are none
        return 0;
    }
    size_t n = strlen(literal);
    if (n > end - pos || memcmp(s + pos, literal, n) != 0) {
        return 0;
    }
    // "go" is not the beginning of "gone", but it may touch a Chinese character.
    if (is_word_byte(literal[0]) && pos > 0 && is_word_byte(s[pos - 1])) {
        return 0;
    }
    if (is_word_byte(literal[n - 1]) && pos + n < end && is_word_byte(s[pos + n])) {
        return 0;
    }
    return pos + n;
}

size_t pons__word_at(const pons__words *w, const char *s, size_t pos, size_t end, size_t *ret_index)
{
    for (size_t i = 0; i < w->n; i++) {
        size_t after = pons__literal_at(s, pos, end, w->v[i]);
        if (after) {
            if (ret_index) {
                *ret_index = i;
            }
            return after;
        }
    }
    return 0;
}

size_t pons__number_at(const char *s, size_t pos, size_t end, double *ret)
{
    pos = pons__skip_spaces(s, pos, end);
    if (pos >= end) {
        return 0;
    }
    if (isdigit((unsigned char)s[pos])) {
        return digits_at(s, pos, end, ret);
    }
    return is_ascii(s[pos]) ? english_at(s, pos, end, ret) : chinese_at(s, pos, end, ret, NULL);
}

bool pons__approximate_at(const char *s, size_t pos, size_t end)
{
    double v;
    bool approximate = false;
    chinese_at(s, pos, end, &v, &approximate);
    return approximate;
}
