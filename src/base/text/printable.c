// printable.c - what of a text a person may be shown: one table of what may not.
#include "pons/printable.h"

#include <string.h>

#define REPLACEMENT "\xEF\xBF\xBD" // U+FFFD
#define LINE_BREAK  "\xE2\x8F\x8E" // U+23CE
#define TEXT_STYLE  0xFE0E         // variation selectors 15 and 16: ☺︎ and ☺️
#define EMOJI_STYLE 0xFE0F
#define BMP_END     0x10000

// Sorted. Unicode's Cc, Cs, Zl, Zp and what it calls ignorable by default, with the blocks of such
// characters whole, as more are assigned in them.
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x0000, 0x001F},      // C0
    {0x007F, 0x009F},      // DEL, C1
    {0x00AD, 0x00AD},      // soft hyphen
    {0x034F, 0x034F},      // grapheme joiner
    {0x061C, 0x061C},      // Arabic letter mark
    {0x115F, 0x1160},      // Hangul fillers
    {0x17B4, 0x17B5},      // Khmer vowels without a shape
    {0x180B, 0x180F},      // Mongolian selectors
    {0x200B, 0x200F},      // zero width, direction
    {0x2028, 0x202E},      // line, paragraph, direction
    {0x2060, 0x206F},      // joiners, isolates
    {0x3164, 0x3164},      // Hangul filler
    {0xD800, 0xDFFF},      // surrogates
    {0xFE00, 0xFE0F},      // variation selectors
    {0xFEFF, 0xFEFF},      // byte order mark
    {0xFFA0, 0xFFA0},      // Hangul filler
    {0xFFF0, 0xFFFB},      // annotations
    {0x13430, 0x1343F},    // hieroglyphs' format
    {0x1BCA0, 0x1BCA3},    // shorthand format
    {0x1D173, 0x1D17A},    // musical format
    {0xE0000, 0xE0FFF},    // tags, selectors
    {0x110000, 0xFFFFFFFF} // no code points
};

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

bool pons_plain_hides(uint32_t cp)
{
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0] && cp >= hidden[i].first; i++) {
        if (cp <= hidden[i].last) {
            return true;
        }
    }
    return false;
}

int pons_plain(pons_buf *b, const char *text, size_t n, bool lines)
{
    for (size_t i = 0; i < n && text[i];) {
        const size_t k = pons_utf8_sequence(text + i, strnlen(text + i, n - i < 4 ? n - i : 4));
        const uint32_t cp = k ? code_point(text + i, k) : UINT32_MAX;
        if (!pons_plain_hides(cp) || (lines && (cp == '\n' || cp == '\t'))) {
            pons_buf_bytes(b, text + i, k);
        } else if (cp == '\n' || cp == '\t') {
            pons_buf_str(b, cp == '\n' ? LINE_BREAK : " ");
        } else if (cp != TEXT_STYLE && cp != EMOJI_STYLE) {
            pons_buf_str(b, REPLACEMENT);
        }
        i += k ? k : 1;
    }
    return b->failed ? PONS_ENOMEM : PONS_OK;
}

int pons_plain_json(pons_buf *b, const char *text, size_t n)
{
    for (size_t i = 0; i < n;) {
        const size_t k = pons_utf8_sequence(text + i, n - i);
        const uint32_t cp = k ? code_point(text + i, k) : UINT32_MAX;
        if (k == 0) {
            pons_buf_str(b, REPLACEMENT);
        } else if (!pons_plain_hides(cp) || cp == '\n') {
            pons_buf_bytes(b, text + i, k);
        } else if (cp < BMP_END) {
            pons_buf_printf(b, "\\u%04x", (unsigned)cp);
        } else {
            pons_buf_printf(b, "\\u%04x\\u%04x", (unsigned)(0xD800 + ((cp - BMP_END) >> 10)),
                            (unsigned)(0xDC00 + ((cp - BMP_END) & 0x3FF)));
        }
        i += k ? k : 1;
    }
    return b->failed ? PONS_ENOMEM : PONS_OK;
}

size_t pons_text_whole(const char *text, size_t most)
{
    size_t n = strnlen(text, most);
    while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80) {
        n--;
    }
    return n;
}
