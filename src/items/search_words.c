// search_words.c - the words of a text, as every store finds items by them.
//
// A word is a run of letters and digits in small letters, cut at WORD_MAX bytes; in scripts that put no
// space between words it is each character. Everything else is between words. The tables cover the
// scripts that have capitals (Latin, Greek, Cyrillic, Armenian) and what is no letter in the blocks
// that people write with; a character that no table has is a letter. Words of bytes that are no
// UTF-8 are not: such bytes are between words.
#include "pons/buf.h"
#include "pons/items.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 64 };

typedef struct range {
    uint32_t from, to;
} range;

static const range no_letters[] = {
    {0x00, 0x2f},     {0x3a, 0x40},     {0x5b, 0x60},     {0x7b, 0xa9},       {0xab, 0xb4},
    {0xb6, 0xb9},     {0xbb, 0xbf},     {0xd7, 0xd7},     {0xf7, 0xf7},       {0x2000, 0x206f},
    {0x20a0, 0x20cf}, {0x2190, 0x2bff}, {0x2e00, 0x2e7f}, {0x3000, 0x3004},   {0x3008, 0x3020},
    {0x3030, 0x3030}, {0xe000, 0xf8ff}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe6f},   {0xff00, 0xff0f},
    {0xff1a, 0xff20}, {0xff3b, 0xff40}, {0xff5b, 0xff65}, {0x1f000, 0x1faff},
};

static const range no_spaces[] = {
    // a character is a word
    {0x0e01, 0x0e3a}, {0x0e40, 0x0eff}, {0x1000, 0x109f}, {0x1780, 0x17ff},
    {0x2e80, 0x2fdf}, {0x3005, 0x3007}, {0x3021, 0x30ff}, {0x3400, 0x4dbf},
    {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0xff66, 0xff9f}, {0x20000, 0x3ffff},
};

typedef struct gathering {
    pons_buf out;
    pons_value *seen; // as a set
    char word[WORD_MAX + 1];
    size_t len;
    bool full; // no further word fits
} gathering;

// ---- characters ---------------------------------------------------------------------------------

static bool in(const range *list, size_t n, uint32_t c)
{
    if (c >= '0' && c < 0x80) { // most of them: the first rows of no_letters
        const bool letter = (c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        return list == no_letters && !letter;
    }
    for (size_t i = 0; i < n && list[i].from <= c; i++) {
        if (c <= list[i].to) {
            return true;
        }
    }
    return false;
}

static uint32_t small(uint32_t c)
{
    static const struct {
        uint32_t from, to, plus; // plus 0: those that are even (odd: from is) become the next one
    } rows[] = {
        {'A', 'Z', 32},      {0xc0, 0xde, 32},   {0x100, 0x12f, 0},  {0x132, 0x137, 0},
        {0x139, 0x148, 0},   {0x14a, 0x177, 0},  {0x179, 0x17e, 0},  {0x388, 0x38a, 37},
        {0x391, 0x3ab, 32},  {0x400, 0x40f, 80}, {0x410, 0x42f, 32}, {0x460, 0x481, 0},
        {0x48a, 0x4bf, 0},   {0x4d0, 0x52f, 0},  {0x531, 0x556, 48}, {0x1e00, 0x1e95, 0},
        {0x1ea0, 0x1eff, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && rows[i].from <= c; i++) {
        if (c <= rows[i].to) {
            return rows[i].plus ? c + rows[i].plus : c + (c % 2 == rows[i].from % 2);
        }
    }
    if (c >= 0xff10 && c <= 0xff5a) { // wide digits and letters
        return small(c - 0xff10 + '0');
    }
    return c == 0x386 ? 0x3ac : c == 0x38c ? 0x3cc : c == 0x178 ? 0xff : c;
}

static uint32_t decode(const char *s, size_t n)
{
    static const uint8_t lead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (uint8_t)s[0] & lead[n];
    for (size_t i = 1; i < n; i++) {
        c = c << 6 | ((uint8_t)s[i] & 0x3f);
    }
    return c;
}

static size_t encode(uint32_t c, char ret[4])
{
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; c >>= 6) {
        ret[i] = (char)(0x80 | (c & 0x3f));
    }
    ret[0] = (char)(lead[n] | c);
    return n;
}

static int end_word(gathering *g)
{
    if (!g->len || g->full) {
        g->len = 0;
        return PONS_OK;
    }
    g->word[g->len] = '\0';
    const size_t len = g->len;
    g->len = 0;
    if (json_object_get(g->seen, g->word)) {
        return PONS_OK;
    }
    if (g->out.len + len + 1 > PONS_ITEM_WORDS_MAX) {
        g->full = true;
        return PONS_OK;
    }
    int st = g->out.len ? pons_buf_byte(&g->out, ' ') : PONS_OK;
    st = st ? st : pons_buf_bytes(&g->out, g->word, len);
    return st || json_object_set_new(g->seen, g->word, json_true()) ? PONS_ENOMEM : PONS_OK;
}

static int add_character(gathering *g, uint32_t c)
{
    char bytes[4];
    int st = PONS_OK;
    if (in(no_letters, sizeof no_letters / sizeof *no_letters, c)) {
        return end_word(g);
    }
    const bool alone = in(no_spaces, sizeof no_spaces / sizeof *no_spaces, c);
    if (alone) {
        st = end_word(g);
    }
    const size_t n = encode(small(c), bytes);
    if (g->len + n <= WORD_MAX) { // the rest of a longer word says no more
        memcpy(g->word + g->len, bytes, n);
        g->len += n;
    }
    return st || !alone ? st : end_word(g);
}

int pons_items_words(const char *text, char **ret, pons_error *err)
{
    gathering g = {.out = PONS_BUF_INIT, .seen = json_object()};
    size_t left = strlen(text);
    int st = g.seen ? pons_buf_reserve(&g.out, 1) : PONS_ENOMEM;
    while (left && !st) {
        const size_t n = pons_utf8_sequence(text, left);
        st = n ? add_character(&g, decode(text, n)) : end_word(&g);
        text += n ? n : 1;
        left -= n ? n : 1;
    }
    st = st ? st : end_word(&g);
    pons_value_unref(g.seen);
    char *words = st ? NULL : pons_buf_take(&g.out, NULL);
    pons_buf_fini(&g.out);
    if (!words) {
        return pons_error_set(err, PONS_ENOMEM, "items", "no memory for the words of a text");
    }
    *ret = words;
    return PONS_OK;
}
