// xml_text.c - a scanner of XML that knows comments, instructions, tags and quotes, and nothing else.
#include "pons/xml_text.h"

#include <stdlib.h>
#include <string.h>

typedef struct scan {
    char *s;
    size_t n, at;
    bool attributes;
} scan;

static bool is(const scan *x, const char *word)
{
    const size_t n = strlen(word);
    return x->n - x->at >= n && memcmp(x->s + x->at, word, n) == 0;
}

// One of XML's own five, or a number; but that of PONS_XML_BARE.
static bool is_reference(const scan *x)
{
    static const char *const names[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (is(x, names[i])) {
            return true;
        }
    }
    char number[12] = "";
    const size_t left = x->n - x->at;
    memcpy(number, x->s + x->at, left < sizeof number - 1 ? left : sizeof number - 1);
    char *end = number;
    const bool hex = strncmp(number, "&#x", 3) == 0;
    const long v =
        strncmp(number, "&#", 2) == 0 ? strtol(number + 2 + hex, &end, hex ? 16 : 10) : 0;
    return *end == ';' && v > 0 && v != PONS_XML_BARE;
}

// To the end of what `end` closes. dash: `--` within it, which XML has not in comments.
static void pass(scan *x, const char *end, bool dash)
{
    for (; x->at < x->n && !is(x, end); x->at++) {
        char *c = &x->s[x->at];
        if (*c == PONS_XML_BARE || (dash && is(x, "--"))) {
            *c = ' ';
        }
    }
    x->at += x->at < x->n ? strlen(end) : 0;
}

static void pass_quoted(scan *x)
{
    const char quote = x->s[x->at++];
    for (; x->at < x->n && x->s[x->at] != quote; x->at++) {
        char *c = &x->s[x->at];
        if (x->attributes && (*c == '<' || (*c == '&' && !is_reference(x)))) {
            *c = PONS_XML_BARE;
        }
    }
}

static void pass_tag(scan *x)
{
    for (; x->at < x->n && x->s[x->at] != '>'; x->at++) {
        if (x->s[x->at] == '"' || x->s[x->at] == '\'') {
            pass_quoted(x);
            if (x->at == x->n) {
                return;
            }
        }
    }
}

void pons_xml_soften(char *text, size_t n, bool attributes)
{
    scan x = {.s = text, .n = n, .attributes = attributes};
    while (x.at < n && strchr(" \t\r\n", text[x.at]) && text[x.at]) {
        x.at++;
    }
    if (x.at > 0 &&
        is(&x,
           "<?xml ")) { // a declaration must come first, and says nothing that is not so without it
        const size_t from = x.at;
        pass(&x, "?>", false);
        memset(text + from, ' ', x.at - from);
    }
    while (x.at < n) {
        if (is(&x, "<!--")) {
            x.at += strlen("<!--");
            pass(&x, "-->", true);
        } else if (is(&x, "<![CDATA[")) {
            pass(&x, "]]>", false);
        } else if (is(&x, "<?")) {
            pass(&x, "?>", false);
        } else if (text[x.at] == '<') {
            pass_tag(&x);
        } else {
            if (text[x.at] == PONS_XML_BARE || (text[x.at] == '&' && !is_reference(&x))) {
                text[x.at] = ' '; // of text only that there is some counts
            }
            x.at++;
        }
    }
}
