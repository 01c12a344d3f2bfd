// utf8.c - what a valid UTF-8 sequence is.
#include "base/base_internal.h"

size_t pons__utf8_sequence(const char *s, size_t len)
{
    const unsigned char *u = (const unsigned char *)s;
    if (len == 0)
        return 0;
    const unsigned char c = u[0];
    if (c < 0x80)
        return 1;
    const size_t n = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    if (c < 0xc2 || c > 0xf4 || len < n)
        return 0;
    // Overlong forms, surrogates and what lies beyond U+10FFFF show in the second byte.
    const unsigned char low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    if (u[1] < low || u[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    return n;
}
