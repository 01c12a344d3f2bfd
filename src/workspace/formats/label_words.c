// label_words.c - the words of a page.
//
// A string stands as it is. What is no string, or would not be read back as it was (line breaks,
// blanks at an end), stands as JSON between back-ticks; so a page holds any value. Other words between back-ticks
// are Markdown's code: `move_to` says move_to, `a` / `b` says a / b.
#include "workspace/formats/label_words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *word, *icon;
} icons[] = {
    {"done", "✅"}, {"running", "⏳"}, {"pending", "⬜"}, {"failed", "❌"}, {"cancelled", "🚫"},
};

// Compares labels: letters without case, and no blanks or marks of emphasis.
static bool same(const char *label, size_t label_len, const char *text, size_t len)
{
    size_t i = 0, k = 0;
    for (;;) {
        while (i < label_len && strchr(" *_`:\t", label[i])) {
            i++;
        }
        while (k < len && strchr(" *_`:\t", text[k])) {
            k++;
        }
        if (i == label_len || k == len) {
            return i == label_len && k == len;
        }
        if (tolower((unsigned char)label[i++]) != tolower((unsigned char)text[k++])) {
            return false;
        }
    }
}

int pons__ws_label_field(ws_kind kind, const char *text, size_t len)
{
    const ws_kind_info *k = pons__ws_kind_of(kind);
    for (size_t i = 0; len && i < k->n_fields; i++) {
        const ws_field *f = &k->fields[i];
        const char *const own[] = {f->seed_label, f->paos_label, f->name};
        for (size_t n = 0; n < 3; n++) {
            if (own[n] && same(own[n], strlen(own[n]), text, len)) {
                return (int)i;
            }
        }
    }
    for (size_t i = 0; len && i < k->n_fields; i++) {
        for (const char *at = k->fields[i].labels; at && *at;) {
            const size_t n = strcspn(at, "|");
            if (same(at, n, text, len)) {
                return (int)i;
            }
            at += n + (at[n] == '|');
        }
    }
    return -1;
}

const char *pons__ws_label(const ws_field *f, pons_ws_dialect d)
{
    if (d != PONS_WS_SEED && f->paos_label) {
        return f->paos_label;
    }
    return f->seed_label ? f->seed_label : f->name;
}

bool pons__ws_label_is_plain(const char *key)
{
    const size_t n = strlen(key);
    return n > 0 && n < 60 && strcmp(key, WS_EXTRA) != 0 && !strpbrk(key, "*_:|`\\<>\n\r\t[]") &&
           key[0] != ' ' && key[n - 1] != ' ';
}

// ---- values -------------------------------------------------------------------------------------

static pons_value *word_said(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof icons / sizeof icons[0]; i++) {
        const size_t n = strlen(icons[i].icon);
        if (len >= n && memcmp(text, icons[i].icon, n) == 0) {
            text += n;
            len -= n;
            // A selector of the picture's look may follow.
            if (len >= 3 && memcmp(text, "\xef\xb8\x8f", 3) == 0) {
                text += 3;
                len -= 3;
            }
            while (len && *text == ' ') {
                text++;
                len--;
            }
            return len ? json_stringn(text, len) : json_string(icons[i].word);
        }
    }
    return json_stringn(text, len);
}

// `a`, or `a` / `b`, `c`: nothing but code and what stands between its names. The text without the marks; NULL: it
// is something else.
static pons_value *code_said(const char *text, size_t len)
{
    pons_autobuf out = PONS_BUF_INIT;
    for (size_t i = 0; i < len;) {
        const char *end = text[i] == '`' ? memchr(text + i + 1, '`', len - i - 1) : NULL;
        const size_t n = end ? (size_t)(end - text) - i - 1 : 0;
        if (n == 0) {
            return NULL;
        }
        pons_buf_bytes(&out, text + i + 1, n);
        i += n + 2;
        const size_t from = i;
        while (i < len && text[i] != '`') {
            i++;
        }
        for (size_t k = from; k < i; k++) {
            static const char pause[] = "、";
            const bool wide =
                i - k >= sizeof pause - 1 && !memcmp(text + k, pause, sizeof pause - 1);
            if (!wide && !strchr(" /,", text[k])) {
                return NULL;
            }
            k += wide ? sizeof pause - 2 : 0;
        }
        pons_buf_bytes(&out, text + from, i - from);
    }
    return out.len && text[len - 1] == '`' ? json_stringn(out.data, out.len) : NULL;
}

pons_value *pons__ws_said(const ws_field *f, const char *text, size_t len)
{
    pons_value *v = NULL;
    if (len == 0) {
        return NULL;
    }
    if (len > 2 && text[0] == '`' && text[len - 1] == '`') {
        pons_autobuf wrapped = PONS_BUF_INIT;
        pons_buf_printf(&wrapped, "[%.*s]", (int)len - 2, text + 1);
        pons_value *list = NULL;
        if (pons_value_parse(wrapped.data, wrapped.len, &list, NULL) == PONS_OK &&
            json_array_size(list) == 1) {
            v = json_incref(json_array_get(list, 0));
        }
        json_decref(list);
        v = v ? v : code_said(text, len);
        if (v) {
            return v;
        }
    }
    return f && f->type == WS_WORD ? word_said(text, len) : json_stringn(text, len);
}

static bool stands_as_it_is(const char *s, bool cell)
{
    const size_t n = strlen(s);
    return n > 0 && s[0] != ' ' && s[0] != '\t' && s[n - 1] != ' ' && s[n - 1] != '\t' &&
           !strpbrk(s, cell ? "\n\r|\\" : "\n\r") && s[0] != '`' && strstr(s, "<!--") == NULL;
}

void pons__ws_say(pons_buf *out, const ws_field *f, const pons_value *v, bool cell, bool with_icons)
{
    const char *s = json_string_value(v);
    for (size_t i = 0;
         s && with_icons && f && f->type == WS_WORD && i < sizeof icons / sizeof icons[0]; i++) {
        if (strcmp(s, icons[i].word) == 0) {
            pons_buf_printf(out, "%s %s", icons[i].icon, s);
            return;
        }
    }
    if (s && stands_as_it_is(s, cell)) {
        pons_buf_str(out, s);
        return;
    }
    char *text = NULL;
    const long n = pons_value_line(v, &text);
    pons_buf_byte(out, '`');
    for (long i = 0; i < n; i++) {
        if (text[i] == '`' || text[i] == '|' || text[i] == '<') {
            pons_buf_printf(out, "\\u%04x", (unsigned)text[i]); // they are in strings only
        } else {
            pons_buf_byte(out, (uint8_t)text[i]);
        }
    }
    pons_buf_byte(out, '`');
    free(text);
}

// ---- quantities ---------------------------------------------------------------------------------

// Words before a number that is the most there may be.
static const char *const about[] = {"~",    "≈",      "约",  "大约",  "<=",    "≤",       "<",
                                    "最大", "不超过", "max", "up to", "about", "approx.", "ca."};

// Units by what the field's name ends with.
static const struct {
    const char *ends, *names; // with "|" between them
    double times;
} units[] = {
    {"_m", "mm|millimetres|millimeters|毫米", 1e-3},
    {"_m", "cm|centimetres|centimeters|厘米", 1e-2},
    {"_m", "m|metres|meters|metre|meter|米", 1},
    {"_kg", "kg|kilograms|公斤|千克", 1},
    {"_kg", "g|grams|克", 1e-3},
    {"_m3", "m³|m^3|m3|立方米", 1},
    {"_m3", "L|litres|liters", 1e-3},
    {"_mps", "m/s|米/秒", 1},
    {"_mps", "cm/s", 1e-2},
    {"_mps", "mm/s", 1e-3},
    {"_mps", "km/h", 1 / 3.6},
};

// The length of the one of the names that the text begins with, as a word; 0: none.
static size_t begins_with_one_of(const char *names, const char *s)
{
    for (const char *at = names; *at;) {
        const size_t n = strcspn(at, "|");
        const char next = strncasecmp(at, s, n) == 0 ? s[n] : 'x';
        if (!isalnum((unsigned char)next) && next != '/' && next != '^' && next != '\xc2') { // ²³
            return n;
        }
        at += n + (at[n] == '|');
    }
    return 0;
}

// Behind a number and its unit there may be words that say more of it: "from base", "(configurable)". A further
// number may be another limit, and which of them holds nobody can know.
static bool is_remark(const char *s)
{
    return strpbrk(s, "0123456789") == NULL;
}

static const char *behind_about(const char *s)
{
    for (size_t i = 0; i < sizeof about / sizeof *about; i++) {
        const size_t n = strlen(about[i]);
        if (strncasecmp(s, about[i], n) == 0) {
            s += n + strspn(s + n, " ");
            i = (size_t)-1;
        }
    }
    return s;
}

bool pons__ws_quantity(const char *field, const char *text, size_t len, double *ret)
{
    char buf[128], *end = NULL;
    if (len >= sizeof buf) {
        return false;
    }
    memcpy(buf, text, len);
    buf[len] = '\0';
    const char *s = behind_about(buf);
    if (!isdigit((unsigned char)*s) && *s != '.' && *s != '+') { // strtod reads "nan" and "inf" too
        return false;
    }
    const double v = strtod(s, &end);
    if (end == s || !isfinite(v) || strpbrk(s, "xX") == s + 1) {
        return false;
    }
    const char *unit = end + strspn(end, " ");
    const size_t field_len = strlen(field);
    if (!*unit) {
        *ret = v;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t tail = strlen(units[i].ends), n = begins_with_one_of(units[i].names, unit);
        if (n && field_len > tail && strcmp(field + field_len - tail, units[i].ends) == 0 &&
            is_remark(unit + n)) {
            *ret = v * units[i].times;
            return true;
        }
    }
    return false;
}
