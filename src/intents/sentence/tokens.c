// tokens.c - cutting a sentence into words: at each place the longest of what is known there.
#include "intents/sentence/tokens.h"

#include "intents/sentence/slot_match.h"
#include "intents/sentence/world_names.h"

#include <string.h>

// An English word, or a Chinese character.
static size_t unknown_end(const char *s, size_t pos, size_t end)
{
    size_t hi = pos + pons__char_len(s, pos);
    while (hi < end && (unsigned char)s[pos] < 0x80 && (unsigned char)s[hi] < 0x80 &&
           !strchr(" ,;:\"", s[hi])) {
        hi++;
    }
    return hi;
}

static bool longer(pons__token *t, size_t after, pons__word_class is)
{
    const bool is_longer = after > t->hi;
    if (is_longer) {
        t->hi = after;
        t->is = is;
    }
    return is_longer;
}

// "Carefully" changes nothing; "the family" would.
static bool adverb(const char *s, size_t lo, size_t hi)
{
    return hi - lo > 4 && strncmp(s + hi - 2, "ly", 2) == 0;
}

static pons__token token_at(const pons__parse_state *s, size_t pos, size_t end)
{
    const char *text = s->f.s;
    pons__token t = {.is = WORD_UNKNOWN, .lo = pons__skip_spaces(text, pos, end)};
    pons__word_class is = WORD_NONE;
    int64_t nth = 0;
    bool numbered = false;
    double seconds = 0, number = 0, times = 0;
    const size_t bare = pons__number_at(text, t.lo, end, &number);
    const size_t lasts = pons__duration_at(s, t.lo, end, &seconds);
    longer(&t, pons__name_here(s, t.lo, end, &t.name), WORD_NAME);
    const size_t word = pons__lexicon_at(&s->r->lexicon, text, t.lo, end, &is);
    if (longer(&t, word, is)) {
        t.name = NULL;
    }
    if (lasts > bare && longer(&t, lasts, WORD_DURATION)) { // a bare number has no unit
        t.number = seconds;
    }
    if (longer(&t, pons__nth_at(s, t.lo, end, &nth, &numbered), WORD_NTH)) {
        t.nth = nth;
        t.numbered = numbered;
    }
    if (longer(&t, pons__times_at(s, t.lo, end, &times), WORD_TIMES)) {
        t.number = times;
    }
    if (t.hi <= t.lo + 1 &&
        strchr(",;:.!?", text[t.lo])) { // a comma is a separator of the lists, too
        t.hi = t.lo + 1;
        t.is = WORD_MARK;
    } else if (t.hi == 0 && strchr("\"'~()", text[t.lo])) {
        longer(&t, t.lo + 1, WORD_IGNORED);
    } else if (t.hi == 0) {
        t.hi = unknown_end(text, t.lo, end);
        t.is = adverb(text, t.lo, t.hi) ? WORD_IGNORED : WORD_UNKNOWN;
    }
    return t;
}

static bool ends_clause(pons__word_class is)
{
    return is == WORD_MARK || is == WORD_THEN;
}

// "If you don't mind", "when it suits you": a condition of nothing but courtesy. It ends with the clause, or where another
// word stands that begins a wish.
static void drop_courtesy(const pons__parse_state *s, pons__token *t, size_t n)
{
    const pons__words *courtesy = &s->r->lexicon.owned[WORD_COURTESY];
    for (size_t i = 0; i < n; i++) {
        size_t k = i + 1;
        while (k < n && !ends_clause(t[k].is)) {
            k++;
        }
        size_t pos = t[i].hi, after;
        const size_t end = t[k - 1].hi;
        while (t[i].is == WORD_SUPPOSES && pos < end &&
               (after = pons__word_at(courtesy, s->f.s, pos, end, NULL))) {
            pos = after;
        }
        for (; k > i + 1 && pos == end && i < k; i++) {
            t[i].is = WORD_IGNORED;
        }
    }
}

size_t pons__tokens_of(const pons__parse_state *s, pons__token ret[PONS__TOKENS_MAX])
{
    size_t n = 0;
    for (size_t pos = 0; pons__skip_spaces(s->f.s, pos, s->f.n) < s->f.n; n++) {
        if (n == PONS__TOKENS_MAX) {
            return 0;
        }
        ret[n] = token_at(s, pos, s->f.n);
        pos = ret[n].hi;
    }
    drop_courtesy(s, ret, n);
    return n;
}
