// bytes_to_text.c - bytes that are to become text for a model: what they are when they are not text, valid
// UTF-8 whatever they were, and web pages without their markup.
#include "tools/core/bytes_to_text.h"

#include "pons/buf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SNIFF_BYTES     8192
#define REPLACEMENT     "\xef\xbf\xbd" // U+FFFD
#define BAD_SHARE       10             // one byte in so many may be invalid in a text
#define ENTITY_MAX      10
#define CODEPOINT_MAX   0x10ffff
#define SURROGATE_FIRST 0xd800
#define SURROGATE_LAST  0xdfff
#define LATIN_FIRST     0xa0

static const struct {
    const char *magic;
    size_t n, at;
    const char *kind;
} magics[] = {
    {"\x89PNG\r\n\x1a\n", 8, 0, "a PNG image"},
    {"\xff\xd8\xff", 3, 0, "a JPEG image"},
    {"GIF8", 4, 0, "a GIF image"},
    {"WEBP", 4, 8, "a WebP image"},
    {"WAVE", 4, 8, "a WAV recording"},
    {"ftyp", 4, 4, "a video (MP4)"},
    {"%PDF-", 5, 0, "a PDF document"},
    {"PK\x03\x04", 4, 0, "a ZIP archive or an office document"},
    {"\x1f\x8b", 2, 0, "a gzip archive"},
    {"BZh", 3, 0, "a bzip2 archive"},
    {"\xfd"
     "7zXZ",
     5, 0, "an xz archive"},
    {"\x28\xb5\x2f\xfd", 4, 0, "a zstd archive"},
    {"7z\xbc\xaf", 4, 0, "a 7z archive"},
    {"ustar", 5, 257, "a tar archive"},
    {"\x7f"
     "ELF",
     4, 0, "an ELF program"},
    {"SQLite format 3", 15, 0, "an SQLite database"},
    {"OggS", 4, 0, "an Ogg recording"},
    {"ID3", 3, 0, "an MP3 recording"},
    {"\xff\xfe", 2, 0, "UTF-16 text"},
    {"\xfe\xff", 2, 0, "UTF-16 text"},
};

const char *pons__binary_kind(const void *bytes, size_t n)
{
    const char *s = bytes;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        if (n >= magics[i].at + magics[i].n &&
            memcmp(s + magics[i].at, magics[i].magic, magics[i].n) == 0) {
            return magics[i].kind;
        }
    }
    n = n > SNIFF_BYTES ? SNIFF_BYTES : n;
    size_t bad = 0;
    for (size_t i = 0; i < n;) {
        const size_t len = pons_utf8_sequence(s + i, n - i);
        if (s[i] == '\0') {
            return "a binary file";
        }
        bad += len == 0 && n - i >= 4; // the last sequence may be cut
        i += len ? len : 1;
    }
    return bad > n / BAD_SHARE ? "neither text in UTF-8 nor a known kind of file" : NULL;
}

int pons__text_append(pons_buf *b, const char *bytes, size_t n, size_t *ret_bad)
{
    size_t bad = 0, from = 0, i = 0;
    pons_buf_reserve(b, n);
    while (i < n) {
        const unsigned char ch = (unsigned char)bytes[i];
        const size_t len = pons_utf8_sequence(bytes + i, n - i);
        const bool control = (ch < 0x20 && ch != '\n' && ch != '\t' && ch != '\r') || ch == 0x7f;
        if (len > 0 && !control) {
            i += len;
            continue;
        }
        pons_buf_bytes(b, bytes + from, i - from);
        pons_buf_str(b, REPLACEMENT);
        bad++;
        from = ++i;
    }
    if (ret_bad) {
        *ret_bad += bad;
    }
    return pons_buf_bytes(b, bytes + from, n - from);
}

size_t pons__text_cut(const char *s, size_t n)
{
    size_t start = n;
    while (start > 0 && n - start < 4 && ((unsigned char)s[start - 1] & 0xc0) == 0x80) {
        start--;
    }
    if (start == 0 || (unsigned char)s[start - 1] < 0xc0) {
        return n;
    }
    return pons_utf8_sequence(s + start - 1, n - start + 1) ? n : start - 1;
}

// ---- web pages ----------------------------------------------------------------------------------

static bool is_tag(const char *s, size_t n, const char *name)
{
    const size_t len = strlen(name);
    return n > len && strncasecmp(s, name, len) == 0 && !isalnum((unsigned char)s[len]);
}

static bool is_block(const char *s, size_t n)
{
    static const char *const blocks[] = {
        "p",  "br", "div",   "li",      "tr", "h1",  "h2",    "h3",      "h4",     "h5",    "h6",
        "ul", "ol", "table", "section", "hr", "pre", "title", "article", "header", "footer"};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        if (is_tag(s, n, blocks[i])) {
            return true;
        }
    }
    return false;
}

// At most one empty line in a row.
static void end_line(pons_buf *b)
{
    if (b->len > 0 && !(b->len > 1 && b->data[b->len - 1] == '\n')) {
        pons_buf_byte(b, '\n');
    }
}

// HTML's names of U+00A0 to U+00FF in their order, and others that pages use.
static const char *const latin_names[] = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",
    "copy",   "ordf",   "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn",
    "sup2",   "sup3",   "acute",  "micro",  "para",   "middot", "cedil",  "sup1",   "ordm",
    "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",  "Atilde",
    "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",   "Igrave",
    "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde",
    "Ouml",   "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",
    "szlig",  "agrave", "aacute", "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil",
    "egrave", "eacute", "ecirc",  "euml",   "igrave", "iacute", "icirc",  "iuml",   "eth",
    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide", "oslash", "ugrave",
    "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};
static const struct {
    const char *name;
    unsigned long cp;
} names[] = {{"amp", '&'},        {"lt", '<'},        {"gt", '>'},        {"quot", '"'},
             {"apos", '\''},      {"OElig", 0x0152},  {"oelig", 0x0153},  {"Scaron", 0x0160},
             {"scaron", 0x0161},  {"Yuml", 0x0178},   {"ndash", 0x2013},  {"mdash", 0x2014},
             {"lsquo", 0x2018},   {"rsquo", 0x2019},  {"sbquo", 0x201A},  {"ldquo", 0x201C},
             {"rdquo", 0x201D},   {"bdquo", 0x201E},  {"dagger", 0x2020}, {"Dagger", 0x2021},
             {"bull", 0x2022},    {"hellip", 0x2026}, {"permil", 0x2030}, {"prime", 0x2032},
             {"Prime", 0x2033},   {"lsaquo", 0x2039}, {"rsaquo", 0x203A}, {"euro", 0x20AC},
             {"trade", 0x2122},   {"larr", 0x2190},   {"uarr", 0x2191},   {"rarr", 0x2192},
             {"darr", 0x2193},    {"harr", 0x2194},   {"rArr", 0x21D2},   {"hArr", 0x21D4},
             {"minus", 0x2212},   {"infin", 0x221E},  {"asymp", 0x2248},  {"ne", 0x2260},
             {"equiv", 0x2261},   {"le", 0x2264},     {"ge", 0x2265},     {"sum", 0x2211},
             {"radic", 0x221A},   {"part", 0x2202},   {"Delta", 0x0394},  {"Omega", 0x03A9},
             {"alpha", 0x03B1},   {"beta", 0x03B2},   {"gamma", 0x03B3},  {"delta", 0x03B4},
             {"epsilon", 0x03B5}, {"theta", 0x03B8},  {"lambda", 0x03BB}, {"mu", 0x03BC},
             {"pi", 0x03C0},      {"sigma", 0x03C3},  {"tau", 0x03C4},    {"phi", 0x03C6},
             {"omega", 0x03C9},   {"ensp", 0x2002},   {"emsp", 0x2003},   {"thinsp", 0x2009}};

static unsigned long named_entity(const char *s, size_t n)
{
    if (n == 4 && memcmp(s, "nbsp", n) == 0) {
        return ' '; // a text has no lines to keep together
    }
    for (size_t i = 0; i < sizeof latin_names / sizeof latin_names[0]; i++) {
        if (strlen(latin_names[i]) == n && memcmp(latin_names[i], s, n) == 0) {
            return LATIN_FIRST + i;
        }
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i].name) == n && memcmp(names[i].name, s, n) == 0) {
            return names[i].cp;
        }
    }
    return 0;
}

static int append_codepoint(pons_buf *b, unsigned long cp)
{
    if (cp < 0x20 || cp > CODEPOINT_MAX || (cp >= SURROGATE_FIRST && cp <= SURROGATE_LAST)) {
        return PONS_EINVAL;
    }
    if (cp < 0x80) {
        return pons_buf_byte(b, (uint8_t)cp);
    }
    const int more = cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    pons_buf_byte(b, (uint8_t)(lead[more] | (cp >> (6 * more))));
    for (int i = more - 1; i >= 0; i--) {
        pons_buf_byte(b, (uint8_t)(0x80 | ((cp >> (6 * i)) & 0x3f)));
    }
    return PONS_OK;
}

// Returns the bytes that the entity, or the lone '&', took.
static size_t entity(pons_buf *b, const char *s, size_t n)
{
    const char *end = memchr(s, ';', n < ENTITY_MAX ? n : ENTITY_MAX);
    const size_t len = end ? (size_t)(end - s) : 0;
    if (len > 2 && s[1] == '#') {
        const bool hex = s[2] == 'x' || s[2] == 'X';
        char digits[ENTITY_MAX] = "";
        memcpy(digits, s + 2 + hex, len - 2 - hex);
        char *stop = NULL;
        const unsigned long cp = strtoul(digits, &stop, hex ? 16 : 10);
        if (digits[0] && *stop == '\0' && append_codepoint(b, cp) >= 0) {
            return len + 1;
        }
    }
    const unsigned long named = len > 0 ? named_entity(s + 1, len - 1) : 0;
    if (named && append_codepoint(b, named) >= 0) {
        return len + 1;
    }
    pons_buf_byte(b, '&');
    return 1;
}

// A tag or a comment. Returns its bytes; *until is the element that is left out behind it.
static size_t read_tag(pons_buf *b, const char *html, size_t n, const char **until, bool *space)
{
    static const char *const silent[] = {"script", "style", "noscript", "svg", "template", "head"};
    const bool comment = n >= 4 && memcmp(html, "<!--", 4) == 0;
    const char *end = comment ? memmem(html, n, "-->", 3) : memchr(html, '>', n), *tag = html + 1;
    const size_t len = end ? (size_t)(end - html) + (comment ? 3 : 1) : n;
    const bool closes = len > 1 && *tag == '/';
    for (size_t k = 0; !comment && !closes && k < sizeof silent / sizeof silent[0]; k++) {
        *until = is_tag(tag, len - 1, silent[k]) ? silent[k] : *until;
    }
    if (!*until && is_block(tag + closes, len - 1 - closes)) {
        end_line(b);
        *space = false;
    }
    return len;
}

// One pass, whose time is the page's length whatever is in it. (Why not a library: ARCHITECTURE.md.)
int pons__html_text(pons_buf *b, const char *html, size_t n)
{
    const char *until = NULL; // the element whose end is waited for
    bool space = false;
    for (size_t i = 0; i < n;) {
        if (until && !(html[i] == '<' && n - i > 2 && html[i + 1] == '/' &&
                       is_tag(html + i + 2, n - i - 2, until))) {
            i++; // a script may have any < of its own
            continue;
        }
        until = NULL;
        if (html[i] == '<') {
            i += read_tag(b, html + i, n - i, &until, &space);
            continue;
        }
        if (isspace((unsigned char)html[i])) {
            space = b->len > 0 && b->data[b->len - 1] != '\n';
            i++;
            continue;
        }
        if (space) {
            pons_buf_byte(b, ' ');
            space = false;
        }
        if (html[i] == '&') {
            i += entity(b, html + i, n - i);
        } else {
            pons_buf_byte(b, (uint8_t)html[i++]);
        }
    }
    return b->failed ? PONS_ENOMEM : PONS_OK;
}
