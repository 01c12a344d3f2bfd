// utf8.c - valid UTF-8, and texts that stay valid and on one line when they are cut.
#include "base/text/utf8.h"

#include "pons/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

size_t pons_utf8_sequence(const char *s, size_t len)
{
    const unsigned char *u = (const unsigned char *)s;
    if (len == 0) {
        return 0;
    }
    const unsigned char c = u[0];
    if (c < 0x80) {
        return 1;
    }
    const size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || len < n) {
        return 0;
    }
    // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
    const unsigned char low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (u[1] < low || u[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < n; i++) {
        if ((u[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return n;
}

size_t pons_utf8_valid(const char *s, size_t len)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = UINT64_C(0x8080808080808080);
    size_t i = 0;
    while (i < len) {
        uint64_t eight; // of ASCII, none zero
        while (len - i >= sizeof eight &&
               (memcpy(&eight, s + i, sizeof eight), !((eight | (eight - ones)) & high))) {
            i += sizeof eight;
        }
        const size_t n = i < len && s[i] ? pons_utf8_sequence(s + i, len - i) : 0;
        if (n == 0) {
            break;
        }
        i += n;
    }
    return i;
}

void pons_utf8_copy(char *ret, size_t cap, const char *text)
{
    size_t n = 0;
    for (size_t k; text[n]; n += k) {
        k = pons_utf8_sequence(text + n, strlen(text + n));
        if (k == 0 || n + k >= cap) {
            break;
        }
    }
    memcpy(ret, text, n);
    ret[n] = '\0';
}

size_t pons__utf8_cut(const char *s, size_t n)
{
    size_t start = n;
    while (start > 0 && n - start < 4 && ((unsigned char)s[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start == 0) {
        return n;
    }
    const unsigned char lead = (unsigned char)s[start - 1];
    const size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return n - (start - 1) < want ? start - 1 : n;
}

void pons__format_line(char *dst, size_t cap, const char *fmt, va_list ap)
{
    const int n = vsnprintf(dst, cap, fmt, ap);
    if (n < 0) {
        dst[0] = '\0';
        return;
    }
    if ((size_t)n >= cap) {
        dst[pons__utf8_cut(dst, cap - 1)] = '\0';
    }
    for (char *c = dst; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = ' ';
        }
    }
}
