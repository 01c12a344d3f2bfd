// labels.c - the words of a page.
//
// A string stands as it is. What is no string, or would not be read back as it was (line breaks,
// blanks at an end), stands as JSON between back-ticks; so a page holds any value.
#include "workspace/dialect/labels.h"

#include "pons/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool pons__ws_quantity(const char *field, const char *text, size_t len, double *ret)
{
    static const struct {
        const char *ends, *unit;
        double times;
    } units[] = {
        {"_m", "mm", 1e-3}, {"_m", "cm", 1e-2}, {"_m", "m", 1},     {"_m", "米", 1},
        {"_kg", "kg", 1},   {"_kg", "g", 1e-3}, {"_m3", "m³", 1},   {"_m3", "m^3", 1},
        {"_m3", "m3", 1},   {"_m3", "L", 1e-3}, {"_mps", "m/s", 1}, {"_mps", "cm/s", 1e-2},
        {"_kg", "公斤", 1},
    };
    char buf[64];
    char *end = NULL;
    static const char *const about[] = {"~", "≈", "约", "<", "≤", "<="};
    for (size_t i = 0; i < sizeof about / sizeof about[0]; i++) {
        const size_t n = strlen(about[i]);
        if (len >= n && memcmp(text, about[i], n) == 0) {
            text += n;
            len -= n;
            i = (size_t)-1;
        }
    }
    snprintf(buf, sizeof buf, "%.*s", (int)(len < sizeof buf ? len : sizeof buf - 1), text);
    const double v = strtod(buf, &end);
    if (end == buf || !isfinite(v) || v < 0) {
        return false;
    }
    end += strspn(end, " ");
    if (!*end) {
        *ret = v;
        return true;
    }
    const size_t field_len = strlen(field);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        const size_t n = strlen(units[i].ends);
        if (field_len > n && strcmp(field + field_len - n, units[i].ends) == 0 &&
            strcmp(end, units[i].unit) == 0) {
            *ret = v * units[i].times;
            return true;
        }
    }
    return false;
}
