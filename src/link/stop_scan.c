// stop_scan.c - finds a stop in bytes that are no message.
//
// Nothing is parsed: a line that is broken may be broken anywhere, so neither braces nor quotes
// before it say what it means. Wherever these come in this order, it counts:
//
//      "type"   :   "stop"
//            ^   ^         between them spaces and control characters, zeros too
//       ^          ^       a letter may be spelled as an escape, \u0074
//
// A quote within a text is written \", so a text that merely speaks of a stop is none. One that is
// found in the midst of a goal's broken arguments is: to stop for nothing is the safe mistake.
//
// Byte by byte, with nothing kept but the place in the pattern, so a line may come in any pieces and
// be of any length. Any thread.
#include "link/stop_scan.h"

#include <string.h>

// The pattern. Its words lie between quotes; a character of a word, or its closing quote, follows at
// once, the others after any space.
static const char pattern[] = "\"type\":\"stop\"";
enum {
    TYPE_ENDS = 5,   // place of the quote that closes "type"
    VALUE_OPENS = 7, // and of the one that opens "stop"
    VALUE = 8,       // its first letter
    ALL = sizeof pattern - 1
};
#define HEX_DIGITS 4
#define ESCAPE_ALL (2 + HEX_DIGITS) // characters of \u0074

static void next(pons__stop_scan *s, uint32_t c, bool escaped)
{
    const bool between = s->at == TYPE_ENDS + 1 || s->at == VALUE_OPENS;
    if (c == (uint32_t)pattern[s->at] && !(escaped && c == '"')) {
        s->at++;
    } else if (between && c <= ' ') {
        return;
    } else if (s->at == VALUE && c == (uint32_t)pattern[1]) {
        s->at = 2; // the value's quote opens a "type" instead
    } else {
        s->at = c == '"' && !escaped ? 1 : 0;
    }
}

static bool in_word(const pons__stop_scan *s)
{
    return (s->at > 0 && s->at <= TYPE_ENDS) || s->at >= VALUE;
}

static int hex(unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c + ('a' - 'A') : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static void feed(pons__stop_scan *s, unsigned char c)
{
    if (s->escape == 0 && c == '\\' && in_word(s)) {
        s->escape = 1;
        s->code = 0;
    } else if (s->escape == 1 && c == 'u') {
        s->escape = 2;
    } else if (s->escape >= 2 && hex(c) >= 0) {
        s->code = s->code << 4 | (uint32_t)hex(c);
        if (++s->escape == ESCAPE_ALL) {
            s->escape = 0;
            next(s, s->code, true);
        }
    } else if (s->escape > 0) { // an escape of another kind, or none: no letter of ours
        s->at = 0;
        if (s->escape > 1) {
            s->escape = 0;
            next(s, c, false);
        }
        s->escape = 0;
    } else {
        next(s, c, false);
    }
}

bool pons__stop_seen(pons__stop_scan *s, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && !s->seen; i++) {
        feed(s, (unsigned char)bytes[i]);
        s->seen = s->at == ALL;
    }
    return s->seen;
}

bool pons__stop_in(const char *bytes, size_t n)
{
    pons__stop_scan s = {0};
    return pons__stop_seen(&s, bytes, n);
}
