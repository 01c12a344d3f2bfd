// utf8.h - where a text may be cut, and messages of one line that were cut there.
#pragma once

#include <stdarg.h>
#include <stddef.h>

// The longest length <= n that does not split a sequence at the end of s's first n bytes, which may
// be cut from a longer text.
size_t pons__utf8_cut(const char *s, size_t n);

// As vsnprintf, but what does not fit is cut at a character, and what would break a terminal or a
// line becomes a space.
void pons__format_line(char *dst, size_t cap, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));
