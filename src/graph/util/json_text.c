// json_text.c - JSON text into a buffer, the common small cases without an allocation. A buffer that
// finds no memory says so by its `failed`.
#include "graph/util/json_text.h"

#include <stdlib.h>
#include <string.h>

void pons__json_quoted(pons_buf *b, const char *s)
{
    size_t n = strlen(s);
    bool plain = true;
    for (size_t i = 0; i < n && plain; i++) {
        plain = (unsigned char)s[i] >= ' ' && s[i] != '"' && s[i] != '\\';
    }
    if (plain) {
        pons_buf_bytes(b, "\"", 1);
        pons_buf_bytes(b, s, n);
        pons_buf_bytes(b, "\"", 1);
        return;
    }
    pons_autovalue v = json_string_nocheck(s);
    pons__json_value(b, v);
}

void pons__json_int(pons_buf *b, int64_t n)
{
    char text[24];
    size_t at = sizeof text;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    do {
        text[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (n < 0) {
        text[--at] = '-';
    }
    pons_buf_bytes(b, text + at, sizeof text - at);
}

void pons__json_value(pons_buf *b, const pons_value *v)
{
    if (json_is_integer(v)) { // the common small ones without an allocation
        pons__json_int(b, json_integer_value(v));
        return;
    }
    char *text = NULL;
    long n = pons_value_dump(v, &text);
    if (n < 0) {
        b->failed = true;
        return;
    }
    pons_buf_bytes(b, text, (size_t)n);
    free(text);
}
