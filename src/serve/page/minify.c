// minify.c - a page's file without what only its readers need: a sixth of what goes over the wire.
#include "serve/page/minify.h"

#include <stdbool.h>

// Behind the comment that begins at `at`; n: it does not end.
static size_t behind(const char *text, size_t n, size_t at, bool *ret_lines)
{
    *ret_lines = false;
    for (size_t i = at + 2; i + 1 < n; i++) {
        *ret_lines = *ret_lines || text[i] == '\n';
        if (text[i] == '*' && text[i + 1] == '/') {
            return i + 2;
        }
    }
    return n;
}

size_t pons__page_slim(char *text, size_t n)
{
    size_t to = 0;
    bool begins = true; // a line, so far
    for (size_t i = 0; i < n;) {
        bool lines = false;
        const bool opens = n - i > 3 && text[i] == '/' && text[i + 1] == '*';
        if (opens && (text[i + 2] == ' ' || (text[i + 2] == '*' && text[i + 3] != '/'))) {
            i = behind(text, n, i, &lines);
            if (lines && !begins) { // it has ended a line where one may matter
                text[to++] = '\n';
                begins = true;
            }
        } else if (begins && n - i > 1 && text[i] == '/' && text[i + 1] == '/') {
            while (i < n && text[i] != '\n') {
                i++;
            }
        } else if (begins && (text[i] == ' ' || text[i] == '\n')) {
            i++;
        } else {
            begins = text[i] == '\n';
            text[to++] = text[i++];
        }
    }
    return to;
}
