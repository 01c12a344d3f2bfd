// spelling.c - the distance between a word and those that it may have been meant to be.
//
// The edits are those of optimal string alignment: letters put in, left out, changed, and two
// neighbours swapped, which is how most slips of a hand look (Damerau, 1964). Capital and small letters are
// the same. A word that was not written to its end is nearer than any slip.
#include "pons/spelling.h"

#include <stdbool.h>
#include <stdint.h>
#include <strings.h>

enum {
    EDITS_MAX = 2,  // more of them make another word
    TWO_FROM = 7,   // letters of a word in which two are a slip
    ONE_FROM = 2,   // and one
    BEGUN_FROM = 3, // letters of a word that is the beginning of another
    LENGTH_MAX = 32 // longer words are not compared
};

pons_meant pons_meant_of(const char *word, size_t n)
{
    return (pons_meant){.word = word, .n = n, .edits = EDITS_MAX + 1};
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static bool same(uint32_t a, uint32_t b) // of ASCII; the locale is nobody's here
{
    const bool letter = (a >= 'a' && a <= 'z') || (a >= 'A' && a <= 'Z');
    return a == b || (letter && (a ^ b) == ('a' ^ 'A'));
}

// The characters of UTF-8, of at most LENGTH_MAX bytes: how many.
static size_t letters_of(const char *text, size_t n, uint32_t ret[LENGTH_MAX])
{
    size_t made = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)text[i];
        if ((c & 0xC0u) == 0x80u && made > 0) {
            ret[made - 1] = ret[made - 1] << 8 | c;
        } else {
            ret[made++] = c;
        }
    }
    return made;
}

static int edits(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    int rows[3][LENGTH_MAX + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= m; j++) {
        above[j] = (int)j;
        before[j] = 0;
    }
    for (size_t i = 1; i <= n; i++) {
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            const int change = above[j - 1] + !same(a[i - 1], b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1])) {
                row[j] = least(row[j], before[j - 2] + 1);
            }
        }
        int *spent = before;
        before = above;
        above = row;
        row = spent;
    }
    return above[m];
}

void pons_meant_try(pons_meant *m, const char *known, size_t len)
{
    if (m->n > LENGTH_MAX || len > LENGTH_MAX) {
        return;
    }
    const bool begun = m->n >= BEGUN_FROM && m->n < len && strncasecmp(m->word, known, m->n) == 0;
    uint32_t word[LENGTH_MAX], other[LENGTH_MAX];
    const size_t letters = letters_of(known, len, other);
    const int n = begun ? 0 : edits(word, letters_of(m->word, m->n, word), other, letters);
    if (n < m->edits && letters >= (n > 1 ? TWO_FROM : ONE_FROM)) {
        m->best = known;
        m->edits = n;
    }
}
