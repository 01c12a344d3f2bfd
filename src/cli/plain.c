// plain.c - words of a model, a tool or a server, on a person's terminal.
//
// What decides on an approval is what the person sees: text from outside must not move the cursor,
// erase a line, or turn its direction. Control characters and the marks that reorder text are shown
// as U+FFFD, as are bytes that are not UTF-8.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "pons/buf.h"

static uint32_t code_point(const char *s, size_t n)
{
    const unsigned char *u = (const unsigned char *)s;
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t cp = u[0] & masks[n];
    for (size_t i = 1; i < n; i++) {
        cp = cp << 6 | (u[i] & 0x3FU);
    }
    return cp;
}

static bool commands(uint32_t cp, bool lines)
{
    if (cp == '\n' || cp == '\t') {
        return !lines;
    }
    return cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || cp == 0x061C || cp == 0x200E || cp == 0x200F ||
           (cp >= 0x2028 && cp <= 0x202E) || (cp >= 0x2066 && cp <= 0x2069) || cp == 0xFEFF;
}

void cli_show(FILE *to, const char *text, size_t n, bool lines)
{
    for (size_t i = 0; i < n && text[i];) {
        const size_t k = pons_utf8_sequence(text + i, strnlen(text + i, n - i < 4 ? n - i : 4));
        const bool bad = k == 0 || commands(code_point(text + i, k), lines);
        if (bad) {
            fputs("\xEF\xBF\xBD", to);
        } else {
            fwrite(text + i, 1, k, to);
        }
        i += k ? k : 1;
    }
}

void cli_show_format(FILE *to, const char *fmt, va_list ap)
{
    char *text = NULL;
    const int n = vasprintf(&text, fmt, ap);
    if (n >= 0) {
        cli_show(to, text, (size_t)n, true);
        free(text);
    }
}
