// spelling.c - the distance between a word and those that it may have been meant to be.
//
// The edits are those of optimal string alignment: letters put in, left out, changed, and two
// neighbours swapped, which is how most slips of a hand look (Damerau, 1964). Capital and small letters are
// the same. A word that was not written to its end is nearer than any slip.
#include "pons/spelling.h"

#include <stdbool.h>
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

static bool same(char a, char b) // of ASCII; the locale is nobody's here
{
    const bool letter = (a >= 'a' && a <= 'z') || (a >= 'A' && a <= 'Z');
    return a == b || (letter && (a ^ b) == ('a' ^ 'A'));
}

static int edits(const char *a, size_t n, const char *b, size_t m)
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
    const int n = begun ? 0 : edits(m->word, m->n, known, len);
    if (n < m->edits && len >= (n > 1 ? TWO_FROM : ONE_FROM)) {
        m->best = known;
        m->edits = n;
    }
}
