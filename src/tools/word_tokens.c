// word_tokens.c - the words of a text, for searching, in languages with and without spaces.
//
// Chinese and its neighbours write no spaces. A run of n such characters becomes n - 1 overlapping
// pairs and the last character alone; a query of two characters or more is then a phrase of pairs
// ("去厨房" is "去厨 厨房"), and one character is the beginning of a pair. SQLite's own trigrams
// would not find a word of two characters, which most Chinese words are.
#include "tools/word_tokens.h"

#include "pons/buf.h"
#include "tools/core/bytes_to_text.h"

#include <ctype.h>

#define WORD_MAX  64 // bytes; a longer run of letters is cut into pieces
#define QUERY_MAX 32 // words of a query

static uint32_t codepoint(const char *s, size_t n)
{
    static const uint8_t mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t cp = (uint8_t)s[0] & mask[n];
    for (size_t i = 1; i < n; i++) {
        cp = cp << 6 | ((uint8_t)s[i] & 0x3f);
    }
    return cp;
}

// Scripts without spaces: CJK ideographs and their extensions, kana, Hangul.
static bool unspaced(uint32_t cp)
{
    return (cp >= 0x3040 && cp <= 0x30ff) || (cp >= 0x3400 && cp <= 0x4dbf) ||
           (cp >= 0x4e00 && cp <= 0x9fff) || (cp >= 0xac00 && cp <= 0xd7af) ||
           (cp >= 0xf900 && cp <= 0xfaff) || (cp >= 0x20000 && cp <= 0x3134f);
}

static bool letter(uint32_t cp)
{
    return cp < 0x80
               ? isalnum((int)cp) || cp == '_'
               : cp >= 0xc0 && !(cp >= 0x2000 && cp <= 0x303f) && !(cp >= 0xfe10 && cp <= 0xfe6f) &&
                     !(cp >= 0xff00 && cp <= 0xff0f) && cp != 0xd7 && cp != 0xf7 && cp != 0xfffd;
}

// A run of unspaced characters as pairs and its last character.
static int give_pairs(const char *s, size_t n, pons__token_fn fn, void *user)
{
    bool joined = false;
    for (size_t i = 0; i < n;) {
        const size_t first = pons_utf8_sequence(s + i, n - i);
        const size_t second = i + first < n ? pons_utf8_sequence(s + i + first, n - i - first) : 0;
        const int rc = fn(user, s + i, first + second, joined);
        if (rc < 0) {
            return rc;
        }
        joined = true;
        i += first;
    }
    return PONS_OK;
}

static int give_word(const char *s, size_t n, pons__token_fn fn, void *user)
{
    char lower[WORD_MAX];
    for (size_t i = 0; i < n;) {
        size_t len = n - i < WORD_MAX ? n - i : pons__text_cut(s + i, WORD_MAX);
        for (size_t k = 0; k < len; k++) {
            const unsigned char ch = (unsigned char)s[i + k];
            lower[k] = (char)(ch < 0x80 ? tolower(ch) : ch);
        }
        const int rc = fn(user, lower, len, false);
        if (rc < 0) {
            return rc;
        }
        i += len;
    }
    return PONS_OK;
}

int pons__tokens(const char *text, size_t n, pons__token_fn fn, void *user)
{
    size_t from = 0;
    int kind = 0; // of the run: 0 none, 1 letters, 2 unspaced
    for (size_t i = 0; i <= n;) {
        const size_t len = i < n ? pons_utf8_sequence(text + i, n - i) : 0;
        const uint32_t cp = len ? codepoint(text + i, len) : 0;
        const int now = len == 0 ? 0 : unspaced(cp) ? 2 : letter(cp) ? 1 : 0;
        if (now != kind) {
            const int rc = kind == 2   ? give_pairs(text + from, i - from, fn, user)
                           : kind == 1 ? give_word(text + from, i - from, fn, user)
                                       : PONS_OK;
            if (rc < 0) {
                return rc;
            }
            from = i;
            kind = now;
        }
        i += len ? len : 1;
    }
    return PONS_OK;
}

static int index_word(void *user, const char *word, size_t n, bool joined)
{
    pons_buf *b = user;
    pons_buf_bytes(b, word, n);
    return pons_buf_byte(b, ' ');
}

int pons__tokens_index(pons_buf *b, const char *text, size_t n)
{
    return pons__tokens(text, n, index_word, b);
}

typedef struct query {
    pons_buf *b;
    bool any;
    int words;
    bool phrase; // the word before was part of an unspaced run
    size_t last; // where it begins in b
} query;

// "word" of letters, or one phrase of pairs; where any word will do, each pair is one: a question
// has more in it than what it asks for. The last character of a longer run is left out: its
// pair has it. A single unspaced character becomes the beginning of a pair.
static int query_word(void *user, const char *word, size_t n, bool joined)
{
    query *q = user;
    const size_t first = pons_utf8_sequence(word, n);
    const bool pairs = first > 0 && unspaced(codepoint(word, first));
    if (joined && n == first) {
        return PONS_OK;
    }
    if (q->words >= QUERY_MAX) {
        return PONS_OK;
    }
    if (joined && !q->any && q->words > 0) {
        q->b->len--; // the quotation mark opens again
        pons_buf_byte(q->b, ' ');
    } else {
        if (q->words > 0) {
            pons_buf_str(q->b, q->any ? " OR " : " AND ");
        }
        pons_buf_byte(q->b, '"');
    }
    pons_buf_bytes(q->b, word, n);
    q->words++;
    pons_buf_byte(q->b, '"');
    return pairs && n == first ? pons_buf_str(q->b, "*") : PONS_OK;
}

int pons__tokens_query(pons_buf *b, const char *text, size_t n, bool any)
{
    query q = {.b = b, .any = any};
    const int rc = pons__tokens(text, n, query_word, &q);
    return rc < 0 ? rc : q.words;
}
